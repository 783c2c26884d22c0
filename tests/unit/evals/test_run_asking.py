from dataclasses import replace
from pathlib import Path

import pytest

from kebab.config.settings import Settings
from kebab.errors.catalog import InvalidInput
from kebab.evals.metrics import Question
from kebab.evals.run import ProgressReporter, QuestionRunner, build_outcome
from kebab.wire.search import DegradedChannel
from tests.fakes import replies
from tests.fakes.facade import FakeKebab


class PartlyDegradedKebab(FakeKebab):
    """Has no vectors for long questions."""

    def search(self, request):
        reason = [DegradedChannel(channel="vector", reason="no model", hint=None)]
        degraded = reason if len(request.query) > 4 else []
        return replies.response(replies.hit(), degraded=degraded)


@pytest.fixture
def create_runner():
    def make(kind=FakeKebab, tell=lambda event: None):
        kebab = kind(Settings(), config_path=Path("none"))
        return QuestionRunner(kebab=kebab, progress=ProgressReporter(tell), limit=12, per_doc=2)

    return make


def question(text="restore", **changes):
    return Question(id="1", text=text, **{"doc": "backup.md", "lines": (13, 13), **changes})


def test_every_question_runs_once_and_the_first_twice(create_runner):
    one = create_runner()

    one.run([question("a"), question("b")], "lexical")

    searches = [
        (request.query, request.mode, request.limit, request.per_doc)
        for _, request in one.kebab.asked
    ]
    assert searches == [("a", "lexical", 12, 2), ("a", "lexical", 12, 2), ("b", "lexical", 12, 2)]


@pytest.mark.parametrize(("mode", "expected"), [("hybrid", True), ("lexical", None)])
def test_words_alone_are_never_reranked(create_runner, mode, expected):
    one = replace(create_runner(), rerank=True)

    one.run([question()], mode)

    assert {request.rerank for _, request in one.kebab.asked} == {expected}


def test_an_outcome_has_the_rank_and_the_confidence_of_the_first_hit(create_runner):
    found = create_runner().run([question()], "hybrid").outcomes[0]

    assert (found.rank, found.ndcg, found.hits) == (1, 1, 12)
    assert (found.score, found.confidence, found.refused) == (0.83, "strong", False)
    assert found.duration_ms > 0


def test_without_a_hit_there_is_no_score_and_that_is_a_refusal(create_runner):
    found = create_runner().run([question("nothing")], "hybrid").outcomes[0]

    assert (found.rank, found.hits, found.score, found.refused) == (None, 0, None, True)


@pytest.mark.parametrize(("confidences", "refused"), [(["weak"], True), (["weak", "fair"], False)])
def test_only_weak_hits_are_a_refusal(confidences, refused):
    hits = [replies.hit(rank, confidence=one) for rank, one in enumerate(confidences, 1)]

    assert build_outcome(question(), replies.response(*hits), 1.0).refused is refused


def test_degraded_searches_are_counted_by_reason(create_runner):
    found = create_runner(PartlyDegradedKebab).run(
        [question("long one"), question("abc"), question("restore")], "hybrid"
    )

    (channel,) = found.degraded
    assert (channel.channel, channel.reason, channel.questions) == ("vector", "no model", 2)


def test_a_question_that_cannot_be_asked_is_named(create_runner):
    with pytest.raises(InvalidInput, match="question 1 cannot be asked"):
        create_runner().run([question(" ")], "hybrid")


def test_progress_is_reported_at_both_ends_and_at_intervals():
    events = []
    times = iter([0.0, 0.0, 0.0, 0.1, 0.7, 0.7, 0.8, 0.8])
    progress = ProgressReporter(
        lambda event: events.append((event.done, event.elapsed_ms)), lambda: next(times)
    )

    for done in range(4):
        progress.report("hybrid", done, 3)

    assert [done for done, _ in events] == [0, 2, 3]
