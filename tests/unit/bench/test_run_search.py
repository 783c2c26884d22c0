from kebab.bench.run import measure_search
from tests.fakes.runner import VERSION


def names(context):
    return {one.name for one in context.results.figures}


def test_without_a_model_only_lexical_search_is_measured_and_the_gap_is_reported(make_context):
    context = make_context()

    measure_search(context)

    assert names(context) == {"search.import_click", "search.lexical"}
    assert [(gap.name, gap.failed) for gap in context.results.gaps] == [("search.hybrid", False)]


def test_with_a_model_both_are_measured(make_context, models):
    context = make_context(version=VERSION, models=models)

    measure_search(context)

    assert {"search.lexical", "search.hybrid", "search.onnxruntime"} <= names(context)
    assert context.results.gaps == []


def test_every_turn_asks_another_question(make_context):
    context = make_context(runs=3)

    measure_search(context)

    asked = [one[one.index("search") + 1] for one in context.runner.commands if "search" in one]
    assert len(set(asked)) == len(asked) == 4


def test_an_answer_without_its_vectors_does_not_count(make_context, models):
    context = make_context(
        version=VERSION, models=models, degraded=[{"channel": "vector", "reason": "no model"}]
    )

    measure_search(context)

    assert ("search.hybrid", "no model") in [(gap.name, gap.reason) for gap in context.results.gaps]


def test_notes_that_could_not_be_indexed_are_one_failure(make_context):
    context = make_context(broken="ingest")

    measure_search(context)

    assert [(gap.name, gap.failed) for gap in context.results.gaps] == [("search", True)]
