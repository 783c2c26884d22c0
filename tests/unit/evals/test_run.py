from pathlib import Path

import pytest

from kebab.config.settings import Settings
from kebab.errors.catalog import EmbeddingUnavailable, InvalidInput
from kebab.evals.metrics import GoldenFiles, Question
from kebab.evals.run import (
    CompareOptions,
    EvalOptions,
    ProgressReporter,
    QuestionRunner,
    build_outcome,
    compare_reports,
    evaluate,
)
from kebab.wire.record import encode_json
from kebab.wire.search import DegradedChannel
from tests.fakes import replies
from tests.fakes.facade import FakeKebab
from tests.fakes.outcomes import mode, nothing, outcome, report

LINES = (
    '{"query": "restore", "doc": "ops/backup.md", "line_start": 99}\n'
    '{"query": "backups", "doc": "gone.md"}\n'
    '{"query": "nothing", "answerable": false}\n'
)


class NoVectorsKebab(FakeKebab):
    """Has no vectors."""

    def search(self, request):
        if request.mode == "vector":
            raise EmbeddingUnavailable(model="auto", tried=[], cause="no weights")
        return super().search(request)


@pytest.fixture
def run_evaluation(tmp_path):
    path = tmp_path / "queries.jsonl"
    path.write_text(LINES)

    def run(kind=FakeKebab, **options):
        kebab = kind(Settings(), config_path=Path("none"))
        return evaluate(
            kebab, GoldenFiles(queries=path), EvalOptions(**options), lambda event: None
        )

    return run


def test_every_mode_is_measured_unless_some_are_selected(run_evaluation):
    assert [one.mode for one in run_evaluation().modes] == ["hybrid", "lexical", "vector"]
    assert [one.mode for one in run_evaluation(modes=("vector", "vector")).modes] == ["vector"]


def test_an_unavailable_mode_is_skipped_unless_it_is_selected(run_evaluation):
    report = run_evaluation(NoVectorsKebab)

    assert [one.mode for one in report.modes] == ["hybrid", "lexical"]
    assert report.skipped[0].mode == "vector"
    assert "no weights" in report.skipped[0].reason


def test_a_selected_mode_is_not_skipped(run_evaluation):
    with pytest.raises(EmbeddingUnavailable):
        run_evaluation(NoVectorsKebab, modes=("vector",))


def test_documents_that_are_not_indexed_are_named(run_evaluation):
    golden = run_evaluation().golden

    assert (golden.missing, golden.missing_count) == (["gone.md"], 1)


def test_questions_are_counted_by_kind(run_evaluation):
    golden = run_evaluation().golden

    assert (golden.answerable, golden.unanswerable) == (2, 1)
    assert (golden.with_lines, golden.graded) == (1, 0)


def test_lines_are_ignored_by_document(run_evaluation):
    strict, lenient = run_evaluation(), run_evaluation(by_doc=True)

    assert strict.modes[0].outcomes[0].rank is None
    assert lenient.modes[0].outcomes[0].rank == 1
    assert lenient.settings.by_doc
    assert strict.golden.digest != lenient.golden.digest


def test_the_report_describes_the_run(run_evaluation):
    report = run_evaluation(limit=20, per_doc=3, rerank=True)

    assert (report.settings.limit, report.settings.per_doc) == (20, 3)
    assert report.settings.rerank
    assert len(report.modes[0].hit_curve) == 20
    assert report.versions.kebab == "0.1.0"


class Moving(FakeKebab):
    """Changes with every search."""

    def search(self, request):
        reply = super().search(request)
        return replies.response(*reply.hits, corpus_revision=len(self.asked))


def test_a_change_of_the_index_during_the_run_is_reported(run_evaluation):
    assert run_evaluation(Moving).moved
    assert not run_evaluation().moved
    assert run_evaluation().corpus_revision == 7


class PartlyDegradedKebab(FakeKebab):
    """Has no vectors for long questions."""

    def search(self, request):
        reason = [DegradedChannel(channel="vector", reason="no model", hint=None)]
        degraded = reason if len(request.query) > 4 else []
        return replies.response(replies.hit(), degraded=degraded)


@pytest.fixture
def create_runner():
    def make(kind=FakeKebab, **changes):
        kebab = kind(Settings(), config_path=Path("none"))
        options = EvalOptions(limit=12, per_doc=2, **changes)
        progress = ProgressReporter(lambda event: None)
        return QuestionRunner(kebab=kebab, progress=progress, options=options)

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
    one = create_runner(rerank=True)

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


@pytest.fixture
def compare(tmp_path):
    def run(before, after, **options):
        for name, one in (("a.json", before), ("b.json", after)):
            (tmp_path / name).write_bytes(encode_json(one))
        return compare_reports(tmp_path / "a.json", tmp_path / "b.json", CompareOptions(**options))

    return run


def ranks(*found, **changes):
    return mode(*(outcome(str(at), rank) for at, rank in enumerate(found)), nothing("x"), **changes)


def test_questions_are_won_lost_and_tied(compare):
    reply = compare(report(ranks(1, 2, None, 4)), report(ranks(1, 1, 2, None)))

    (pair,) = reply.pairs
    assert (pair.wins, pair.losses, pair.ties) == (2, 1, 1)
    assert pair.difference == pytest.approx((0 + 0.5 + 0.5 - 0.25) / 4)
    assert pair.b - pair.a == pytest.approx(pair.difference)
    assert pair.low <= pair.difference <= pair.high


def test_changes_are_listed_with_the_largest_first(compare):
    (pair,) = compare(report(ranks(3, None, 1)), report(ranks(2, 1, None))).pairs

    assert [(one.id, one.rank_a, one.rank_b) for one in pair.better] == [
        ("1", None, 1),
        ("0", 3, 2),
    ]
    assert [(one.id, one.difference) for one in pair.worse] == [("2", -1)]


def test_a_report_has_no_difference_from_itself(compare):
    same = report(ranks(1, 2, None))

    (pair,) = compare(same, same).pairs
    assert (pair.wins, pair.losses, pair.difference, pair.p_value) == (0, 0, 0, 1)


def test_a_change_of_every_question_is_significant(compare):
    (pair,) = compare(report(ranks(*[2] * 30)), report(ranks(*[1] * 30))).pairs

    assert pair.p_value < 0.001


def test_shared_modes_are_compared_by_every_selected_metric(compare):
    before = report(ranks(1), ranks(2, mode="lexical"))
    after = report(ranks(1, mode="vector"), ranks(1, mode="lexical"))

    pairs = compare(before, after, metrics=("hit@1", "ndcg@10")).pairs

    assert [(one.mode_a, one.metric, one.wins) for one in pairs] == [
        ("lexical", "hit@1", 1),
        ("lexical", "ndcg@10", 1),
    ]


def test_modes_of_one_report_are_compared(compare):
    both = report(ranks(2), ranks(1, mode="lexical"))

    (pair,) = compare(both, both, modes=("hybrid",), against="lexical").pairs
    assert (pair.mode_a, pair.mode_b, pair.wins) == ("hybrid", "lexical", 1)


@pytest.mark.parametrize(
    ("after", "options", "words"),
    [
        (report(ranks(1), digest="e" * 64), {}, "another golden set"),
        (report(ranks(1)), {"modes": ("vector",)}, "`vector` was not measured"),
        (report(ranks(1)), {"against": "vector"}, "`vector` was not measured"),
        (report(ranks(1, mode="vector")), {}, "no mode in common"),
        (report(ranks(1, 2)), {}, "each question"),
        (report(mode(nothing("0"))), {}, "each question"),
    ],
)
def test_incomparable_reports_are_refused(compare, after, options, words):
    with pytest.raises(InvalidInput) as caught:
        compare(report(ranks(1)), after, **options)

    assert words in caught.value.cause
    assert caught.value.field.endswith(".json")
