from dataclasses import replace

import pytest

from kebab.app.review_start import build_workers, describe_failure, list_missing
from kebab.errors.catalog import (
    ConfigInvalid,
    InvalidInput,
    ModelNotPulled,
    ModelProtocol,
    ModelUnreachable,
)
from kebab.review.model_worker import ModelWorker
from kebab.wire.review import ReviewRequest
from tests.fakes.review_store import make_run

GONE = ModelUnreachable(endpoint="http://127.0.0.1:9", operation="review", cause="refused")
CRASHED = ModelProtocol(endpoint="http://127.0.0.1:9", operation="review", cause="it crashed")


def test_a_run_without_a_model_has_the_rules_only(desk):
    base, full = build_workers(desk.context(), make_run(model=None), ReviewRequest())

    assert (base.model, full) == (None, None)


def test_a_run_keeps_its_model(desk):
    context = desk.context(models__llm__model="another")
    base, full = build_workers(context, make_run(model="first:1b"), ReviewRequest(tier="deep"))

    assert isinstance(full, ModelWorker)
    assert (full.model, full.tier, full.rules) == ("first:1b", "deep", base)


def test_an_unknown_rule_is_refused(desk):
    with pytest.raises(InvalidInput):
        build_workers(desk.context(), make_run(), ReviewRequest(rules=["nonsense"]))
    with pytest.raises(ConfigInvalid):
        build_workers(desk.context(review__disable=["nonsense"]), make_run(), ReviewRequest())


def test_a_stored_run_can_be_continued_when_the_server_is_back():
    for failure in (GONE, CRASHED):
        assert describe_failure(failure, "r1").hint == "kebab review --run-id r1"
    misplaced = replace(CRASHED, setting="OLLAMA_HOST")
    assert describe_failure(misplaced, "r1").hint == misplaced.format_hint()
    assert describe_failure(GONE, None).hint == (
        "go on without a server: `kebab review --no-llm DOCUMENT`"
    )


def test_another_failure_keeps_its_own_hint():
    failure = ModelNotPulled(model="m", endpoint="http://127.0.0.1:9", operation="review")

    assert describe_failure(failure, "r1").hint == "ollama pull m"


def test_only_a_deep_review_goes_without_an_index(desk):
    def list_channels(**fields):
        _, full = build_workers(desk.context(), make_run(), ReviewRequest(**fields))
        return [(one.channel, one.hint) for one in list_missing(full)]

    assert list_missing(None) == ()
    assert list_channels(tier="quick") == []
    assert list_channels(tier="deep") == [("related", "kebab ingest FOLDER")]
    desk.write("a.md", "the cat")
    desk.ingest()
    assert list_channels(tier="deep") == []
