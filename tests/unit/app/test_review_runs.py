import pytest

from kebab.app.review import list_rules, list_runs, remove_runs
from kebab.review.rules.registry import LINTERS, RULES
from kebab.wire.record import NotFound
from kebab.wire.review import (
    ReviewRemoved,
    ReviewRmRequest,
    ReviewRules,
    ReviewRulesRequest,
    ReviewRunsRequest,
)
from tests.fakes.review_store import make_finished, make_planned, make_run

TRANSLATION = '{"schema_version":"translate_request.v1","name":"a.md","to":"ko"}'


@pytest.fixture
def context(desk):
    return desk.context(review__keep_days=7)


def add_run(context, **changes):
    run = make_run(**changes)
    with context.open_review_store() as store:
        store.add_run(run)
        store.add_document(run.run_id, make_planned())
        store.add_unit(run.run_id, make_finished(0, 1, 2))


def describe(context, rule=None):
    reply = list_rules(context, ReviewRulesRequest(rule=rule))
    assert isinstance(reply, ReviewRules)
    return reply.rules


def test_runs_are_listed_with_what_is_done(context):
    add_run(context)
    (run,) = list_runs(context, ReviewRunsRequest()).runs

    assert (run.run_id, run.kind, run.names, run.tier) == ("r1", "review", ["notes"], "quick")
    assert (run.units_done, run.item_count, run.completed) == (1, 2, False)
    assert run.created_at == "1970-01-01T00:16:40.000Z"
    assert list_runs(context, ReviewRunsRequest()).keep_days == 7


def test_a_translation_names_its_document(context):
    add_run(context, kind="translate", tier="draft", request=TRANSLATION)
    (run,) = list_runs(context, ReviewRunsRequest()).runs

    assert (run.kind, run.tier, run.names) == ("translate", "draft", ["a.md"])


def test_listing_creates_nothing(context, desk):
    assert list_runs(context, ReviewRunsRequest()).runs == []
    assert not desk.data.exists()


def test_runs_are_deleted_all_or_none(context):
    add_run(context)
    add_run(context, run_id="r2")
    missing = remove_runs(context, ReviewRmRequest(runs=["r1", "r9"]))

    assert isinstance(missing, NotFound)
    assert len(list_runs(context, ReviewRunsRequest()).runs) == 2
    removed = remove_runs(context, ReviewRmRequest(runs=["r1", "r2", "r1"]))
    assert isinstance(removed, ReviewRemoved)
    assert removed.runs == ["r1", "r2"]
    assert list_runs(context, ReviewRunsRequest()).runs == []


def test_all_rules_are_described_with_their_switches(desk):
    context = desk.context(review__disable=[RULES[0].id])
    rules = describe(context)

    known = [*(rule.id for rule in RULES), *(rule.id for rule in LINTERS)]
    assert [rule.id for rule in rules] == known
    assert [rule.enabled for rule in rules] == [False, *([True] * (len(known) - 1))]


def test_one_rule_is_described(context):
    (rule,) = describe(context, "broken-link")

    assert (rule.id, rule.enabled) == ("broken-link", True)


def test_an_unknown_rule_gives_the_nearest(context):
    for name, nearest in (("brokn-link", ["broken-link"]), ("x" * 40, [])):
        missing = list_rules(context, ReviewRulesRequest(rule=name))

        assert isinstance(missing, NotFound)
        assert missing.error.candidates == nearest
