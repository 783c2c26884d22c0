import pytest

from kebab.app.review import count_review_work
from kebab.errors.catalog import InvalidInput
from kebab.wire.review import StatsRequest
from tests.fakes.review_store import make_part, make_result, make_run, make_units


def add_run(context, **changes):
    """Store a run with a unit of the rules, and one of the model with two items."""
    run = make_run(**changes)
    with context.open_review_store() as store:
        store.add_run(run)
        store.add_document(run.run_id, make_part(), make_units())
        store.finish_unit(run.run_id, 0, make_result(1))
        usage = {"requests": 2, "latency_ms": 30.0, "prompt_tokens": 5, "downshifts": 1}
        store.finish_unit(run.run_id, 1, make_result(2, 3, **usage))


@pytest.fixture
def context(desk):
    return desk.context()


def count(context, since=None):
    return count_review_work(context, StatsRequest(since=since))


def test_work_is_counted_by_tier_with_means_per_request(context):
    add_run(context)
    add_run(context, run_id="r2")
    add_run(context, run_id="r3", tier="deep")

    deep, quick = count(context).tiers
    assert (deep.tier, deep.runs, quick.tier, quick.runs) == ("deep", 1, "quick", 2)
    assert (quick.units, quick.items, quick.requests) == (4, 6, 4)
    assert (quick.items_per_response, quick.latency_ms) == (1.0, 15.0)
    assert (quick.prompt_tokens, quick.downshift_count) == (10, 2)


def test_only_the_period_counts(context):
    add_run(context)

    assert len(count(context, "1d").tiers) == 1
    later = count(context, "2100-01-01T12:00:00Z")
    assert (later.since, later.tiers) == ("2100-01-01T12:00:00.000Z", [])


def test_nothing_is_stored_by_asking(context, desk):
    assert count(context).tiers == []
    assert not desk.data.exists()


def test_an_invalid_time_is_refused(context):
    with pytest.raises(InvalidInput):
        count(context, "whenever")
