from kebab.bench import search
from tests.fakes.runner import VERSION


def names(rig):
    return {one.name for one in rig.ledger.figures}


def test_without_a_model_words_alone_are_measured_and_it_is_said(make_rig):
    rig = make_rig()

    search.measure(rig)

    assert names(rig) == {"search.import_click", "search.lexical"}
    assert [(gap.name, gap.failed) for gap in rig.ledger.gaps] == [("search.hybrid", False)]


def test_with_a_model_both_are_measured(make_rig, models):
    rig = make_rig(version=VERSION, models=models)

    search.measure(rig)

    assert {"search.lexical", "search.hybrid", "search.onnxruntime"} <= names(rig)
    assert rig.ledger.gaps == []


def test_every_turn_asks_another_question(make_rig):
    rig = make_rig(runs=3)

    search.measure(rig)

    asked = [one[one.index("search") + 1] for one in rig.runner.commands if "search" in one]
    assert len(set(asked)) == len(asked) == 4


def test_an_answer_without_its_vectors_does_not_count(make_rig, models):
    rig = make_rig(
        version=VERSION, models=models, degraded=[{"channel": "vector", "reason": "no model"}]
    )

    search.measure(rig)

    assert ("search.hybrid", "no model") in [(gap.name, gap.reason) for gap in rig.ledger.gaps]


def test_notes_that_could_not_be_indexed_are_one_failure(make_rig):
    rig = make_rig(broken="ingest")

    search.measure(rig)

    assert [(gap.name, gap.failed) for gap in rig.ledger.gaps] == [("search", True)]
