import pytest

from tests.fakes.runner import VERSION
from tools.bench import warm_calls
from tools.bench.warm_calls import measure_warm_calls


def names(context):
    return {one.name.removeprefix("warm_call.") for one in context.results.figures}


def gaps(context):
    return [(gap.name, gap.failed) for gap in context.results.gaps]


def test_a_search_is_measured_whole_and_without_the_search_itself(make_context):
    context = make_context(seconds=0.02)

    measure_warm_calls(context)

    figures = {one.name: one for one in context.results.figures}
    assert figures["warm_call.lexical"].median == pytest.approx(0.02)
    assert figures["warm_call.lexical_overhead"].median == pytest.approx(0.015)
    assert figures["warm_call.lexical"].yardstick == "import click"
    assert figures["warm_call.lexical_overhead"].yardstick == "python -c pass"
    assert figures["warm_call.cold"].median == 0
    assert gaps(context) == [("warm_call.hybrid", False)]


def test_with_a_model_hybrid_searches_are_measured_too(make_context, models):
    context = make_context(version=VERSION, models=models)

    measure_warm_calls(context)

    assert {"lexical", "hybrid", "hybrid_overhead", "30_questions"} <= names(context)
    assert gaps(context) == []


def test_every_question_is_another_one(make_context, models):
    context = make_context(version=VERSION, models=models)

    measure_warm_calls(context)

    searches = [one for one in context.runner.commands if "search" in one]
    asked = {(one[one.index("search") + 1], one[one.index("--mode") + 1]) for one in searches}
    assert len(asked) == len(searches)


def test_the_process_has_its_own_runtime_folder_and_ends_afterwards(make_context):
    context = make_context()

    measure_warm_calls(context)

    last, environment = context.runner.commands[-1], context.runner.environments[-1]
    assert last[-2:] == ("serve", "--stop")
    assert environment["XDG_RUNTIME_DIR"].startswith(str(context.folder))


def test_it_ends_after_a_failure_too(make_context):
    context = make_context(warm="idle")

    measure_warm_calls(context)

    assert gaps(context) == [("warm_call", True)]
    assert "did not serve" in context.results.gaps[0].reason
    assert context.runner.commands[-1][-2:] == ("serve", "--stop")


def test_a_process_that_does_not_start_is_a_failure(make_context, monkeypatch):
    monkeypatch.setattr(warm_calls, "_START_S", 0.0)
    context = make_context(warm="slow")

    measure_warm_calls(context)

    assert gaps(context) == [("warm_call", True)]


def test_a_system_without_the_means_is_left_out_with_the_reason(make_context):
    context = make_context(warm="unknown")

    measure_warm_calls(context)

    assert gaps(context) == [("warm_call", False)]
    assert "lacks the means" in context.results.gaps[0].reason


@pytest.mark.parametrize("broken", ["ingest", "serve"])
def test_commands_that_fail_are_one_failure(make_context, broken):
    context = make_context(broken=broken)

    measure_warm_calls(context)

    assert gaps(context) == [("warm_call", True)]
