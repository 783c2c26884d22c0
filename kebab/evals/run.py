"""Runs a golden set in every search mode, and compares two reports question by question."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from kebab.app.facade import Kebab
from kebab.errors.catalog import EmbeddingMismatch, EmbeddingUnavailable, InvalidInput
from kebab.evals import metrics
from kebab.evals.metrics import (
    DEPTH,
    METRICS,
    GoldenFiles,
    Question,
    compute_digest,
    compute_figures,
    compute_hit_curve,
    compute_ndcg,
    compute_reliability,
    find_rank,
    list_path_suffixes,
    load_questions,
    read_report,
    split_path,
)
from kebab.text.normalize import escape_undecodable
from kebab.wire import evals
from kebab.wire.health import SchemaRequest
from kebab.wire.library import ListRequest
from kebab.wire.search import ModeName, SearchRequest, SearchResponse

OutcomePairs: TypeAlias = list[tuple[evals.EvalOutcome, evals.EvalOutcome]]


class CompareOptions(Struct, frozen=True, kw_only=True):
    """What to compare. Without `modes` all modes of both reports; `against` is a mode of b."""

    modes: tuple[ModeName, ...] = ()
    metrics: tuple[evals.PairedMetric, ...] = ("mrr@10",)
    against: ModeName | None = None


def compare_reports(before: Path, after: Path, options: CompareOptions) -> evals.EvalComparison:
    """Compare two reports.

    Raises:
        InvalidInput: A file is no report, the questions differ, or a mode is missing.
        IoError: A file cannot be read.
    """
    a, b = read_report(before), read_report(after)
    if a.golden.digest != b.golden.digest:
        cause = f"measured on another golden set, or judged otherwise, than {before}"
        raise InvalidInput(field=str(after), cause=cause)
    return evals.EvalComparison(
        a=_describe_side(before, a),
        b=_describe_side(after, b),
        digest=a.golden.digest,
        questions=a.golden.answerable,
        pairs=list(_compare_modes((before, a), (after, b), options)),
        test="sign_flip",
        flips=metrics.FLIPS,
        resamples=metrics.RESAMPLES,
        level=metrics.LEVEL,
        seed=metrics.SEED,
    )


def _describe_side(path: Path, report: evals.EvalReport) -> evals.EvalSide:
    return evals.EvalSide(
        path=escape_undecodable(str(path)),
        measured_at=report.timestamp if isinstance(report.timestamp, str) else None,
        versions=report.versions,
        corpus_revision=report.corpus_revision,
    )


def _compare_modes(
    a: tuple[Path, evals.EvalReport], b: tuple[Path, evals.EvalReport], options: CompareOptions
) -> Iterator[evals.EvalPair]:
    others = {mode.mode for mode in b[1].modes}
    shared = [mode.mode for mode in a[1].modes if mode.mode in others]
    modes = list(dict.fromkeys(options.modes)) or shared
    if not modes:
        raise InvalidInput(field=str(b[0]), cause=f"it has no mode in common with {a[0]}")
    for mode in modes:
        one, other = _get_mode(*a, mode), _get_mode(*b, options.against or mode)
        pairs = _pair_outcomes(one.outcomes, other.outcomes, b[0])
        for metric in dict.fromkeys(options.metrics):
            yield _compare_metric(metric, one.mode, other.mode, pairs)


def _get_mode(path: Path, report: evals.EvalReport, name: ModeName) -> evals.EvalMode:
    mode = next((mode for mode in report.modes if mode.mode == name), None)
    if mode is None:
        raise InvalidInput(field=str(path), cause=f"`{name}` was not measured")
    return mode


def _pair_outcomes(
    a: Sequence[evals.EvalOutcome], b: Sequence[evals.EvalOutcome], path: Path
) -> OutcomePairs:
    """Return the outcomes of each answerable question on both sides."""
    first = {one.id: one for one in a if one.answerable}
    second = {one.id: one for one in b if one.answerable}
    if not first or first.keys() != second.keys():
        raise InvalidInput(field=str(path), cause="no outcome of each question is in both reports")
    return [(one, second[name]) for name, one in first.items()]


def _compare_metric(
    metric: evals.PairedMetric, mode_a: ModeName, mode_b: ModeName, pairs: OutcomePairs
) -> evals.EvalPair:
    compute = METRICS[metric]
    values = [(compute(a), compute(b)) for a, b in pairs]
    differences = [after - before for before, after in values]
    changes = [
        evals.EvalChange(
            id=a.id, query=a.query, difference=difference, rank_a=a.rank, rank_b=b.rank
        )
        for (a, b), difference in zip(pairs, differences, strict=True)
        if difference
    ]
    changes.sort(key=lambda change: abs(change.difference), reverse=True)
    better = [change for change in changes if change.difference > 0]
    worse = [change for change in changes if change.difference < 0]
    mean, low, high = metrics.estimate_mean(differences).require_values()
    return evals.EvalPair(
        mode_a=mode_a,
        mode_b=mode_b,
        metric=metric,
        a=sum(before for before, _ in values) / len(values),
        b=sum(after for _, after in values) / len(values),
        difference=mean,
        low=low,
        high=high,
        p_value=metrics.compute_p_value(differences),
        wins=len(better),
        losses=len(worse),
        ties=len(values) - len(changes),
        better=better,
        worse=worse,
    )


SendProgress: TypeAlias = Callable[[evals.EvalProgress], None]
MODES: tuple[ModeName, ...] = ("hybrid", "lexical", "vector")
_INTERVAL_S = 0.5
_SHOWN = 10


class ProgressReporter:
    """Sends the progress of a run, at most twice a second."""

    def __init__(self, send: SendProgress, clock: Callable[[], float] = time.monotonic) -> None:
        self._send = send
        self._clock = clock
        self._started = clock()
        self._last = self._started - _INTERVAL_S

    def get_elapsed_ms(self) -> int:
        """Return how long the run has taken so far."""
        return int((self._clock() - self._started) * 1000)

    def report(self, name: str, done: int, total: int) -> None:
        """Send the current step, unless the last one is recent; always send both ends."""
        now = self._clock()
        if now - self._last >= _INTERVAL_S or done in (0, total):
            self._last = now
            elapsed = self.get_elapsed_ms()
            self._send(evals.EvalProgress(name=name, done=done, total=total, elapsed_ms=elapsed))


class EvalOptions(Struct, frozen=True, kw_only=True):
    """How to search. Without `modes` every available mode is measured."""

    modes: tuple[ModeName, ...] = ()
    limit: int = DEPTH
    per_doc: int | None = None
    rerank: bool = False
    by_doc: bool = False


class ModeRun(Struct, frozen=True, kw_only=True):
    """The outcomes of all questions in one mode."""

    outcomes: list[evals.EvalOutcome]
    degraded: list[evals.EvalDegraded]
    revisions: list[int]


class QuestionRunner(Struct, frozen=True, kw_only=True):
    """Searches one knowledge base for questions, always with the same options."""

    kebab: Kebab
    progress: ProgressReporter
    options: EvalOptions

    def run(self, questions: Sequence[Question], mode: ModeName) -> ModeRun:
        """Return the outcome of each question. The first runs twice, once to load models."""
        self.progress.report(mode, 0, len(questions))
        self._search(questions[0], mode)
        degraded: Counter[tuple[str, str]] = Counter()
        outcomes: list[evals.EvalOutcome] = []
        revisions: dict[int, None] = {}
        for question in questions:
            started = time.perf_counter()
            reply = self._search(question, mode)
            duration_ms = (time.perf_counter() - started) * 1000
            outcomes.append(build_outcome(question, reply, duration_ms))
            revisions[reply.corpus_revision] = None
            degraded.update((channel.channel, channel.reason) for channel in reply.degraded)
            self.progress.report(mode, len(outcomes), len(questions))
        counts = [
            evals.EvalDegraded(channel=channel, reason=reason, questions=count)
            for (channel, reason), count in degraded.most_common()
        ]
        return ModeRun(outcomes=outcomes, degraded=counts, revisions=[*revisions])

    def _search(self, question: Question, mode: ModeName) -> SearchResponse:
        request = SearchRequest(
            query=question.text,
            mode=mode,
            limit=self.options.limit,
            per_doc=self.options.per_doc,
            rerank=(self.options.rerank and mode != "lexical") or None,
        )
        try:
            return self.kebab.run(request)
        except InvalidInput as fault:
            cause = f"question {question.id} cannot be asked: {fault.cause}"
            raise InvalidInput(field=fault.field, cause=cause) from fault


def build_outcome(
    question: Question, reply: SearchResponse, duration_ms: float
) -> evals.EvalOutcome:
    """Return the judged result of one question."""
    first = reply.hits[0] if reply.hits else None
    return evals.EvalOutcome(
        id=question.id,
        query=question.text,
        answerable=question.answerable,
        rank=find_rank(question, reply.hits),
        ndcg=compute_ndcg(question, reply.hits),
        hits=len(reply.hits),
        score=first.score if first else None,
        confidence=first.confidence if first else None,
        refused=all(hit.confidence == "weak" for hit in reply.hits),
        duration_ms=duration_ms,
    )


def evaluate(
    kebab: Kebab, files: GoldenFiles, options: EvalOptions, send: SendProgress
) -> evals.EvalReport:
    """Run a golden set and compute its metrics.

    Raises:
        InvalidInput: The golden set is invalid.
        IoError: One of its files cannot be read.
        NotIndexed: There is no index.
        EmbeddingUnavailable: A selected mode needs vectors, and there are none.
        EmbeddingMismatch: A selected mode needs vectors, and the settings name another model.
    """
    progress = ProgressReporter(send)
    questions = load_questions(files)
    if options.by_doc:
        questions = [replace(question, lines=None) for question in questions]
    runner = QuestionRunner(kebab=kebab, progress=progress, options=options)
    golden = _describe_golden_set(kebab, files, questions)
    skipped: list[evals.EvalSkipped] = []
    runs = dict(_run_modes(runner, questions, skipped))
    revisions = [revision for run in runs.values() for revision in run.revisions]
    build = kebab.run(SchemaRequest())
    return evals.EvalReport(
        golden=golden,
        settings=evals.EvalSettings(
            limit=options.limit,
            per_doc=options.per_doc,
            rerank=options.rerank,
            by_doc=options.by_doc,
            resamples=metrics.RESAMPLES,
            level=metrics.LEVEL,
            seed=metrics.SEED,
        ),
        versions=evals.EvalVersions(
            kebab=build.kebab_version,
            parser=build.models.parser_version,
            chunker=build.models.chunker_version,
            embedding=build.models.embedding_version,
            index=build.models.index_version,
        ),
        corpus_revision=revisions[-1] if revisions else build.models.corpus_revision,
        modes=[
            evals.EvalMode(
                mode=mode,
                figures=compute_figures(run.outcomes),
                hit_curve=compute_hit_curve(run.outcomes, options.limit),
                reliability=compute_reliability(run.outcomes),
                degraded=run.degraded,
                outcomes=run.outcomes,
            )
            for mode, run in runs.items()
        ],
        skipped=skipped,
        duration_ms=progress.get_elapsed_ms(),
        moved=len(set(revisions)) > 1,
    )


def _run_modes(
    runner: QuestionRunner, questions: Sequence[Question], skipped: list[evals.EvalSkipped]
) -> Iterator[tuple[ModeName, ModeRun]]:
    """Yield the outcomes of each mode; a mode that was not selected may be skipped."""
    for mode in dict.fromkeys(runner.options.modes or MODES):
        try:
            yield mode, runner.run(questions, mode)
        except (EmbeddingUnavailable, EmbeddingMismatch) as fault:
            if runner.options.modes:
                raise
            skipped.append(evals.EvalSkipped(mode=mode, reason=str(fault)))


def _describe_golden_set(
    kebab: Kebab, files: GoldenFiles, questions: Sequence[Question]
) -> evals.EvalGolden:
    answerable = [question for question in questions if question.answerable]
    documents = kebab.run(ListRequest(limit=None)).documents
    indexed = {suffix for each in documents for suffix in list_path_suffixes(each.doc_path)}
    relevant = dict.fromkeys(doc for each in answerable for doc in each.documents)
    missing = [doc for doc in relevant if split_path(doc) not in indexed]
    return evals.EvalGolden(
        path=escape_undecodable(str(files.queries)),
        digest=compute_digest(questions),
        answerable=len(answerable),
        unanswerable=len(questions) - len(answerable),
        with_lines=sum(one.lines is not None for one in answerable),
        graded=sum(bool(one.relevant) for one in answerable),
        missing=missing[:_SHOWN],
        missing_count=len(missing),
    )
