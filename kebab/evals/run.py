"""Runs a golden set in every search mode and builds the report."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kebab.app.facade import Kebab
from kebab.errors.catalog import EmbeddingMismatch, EmbeddingUnavailable, InvalidInput
from kebab.evals import bootstrap
from kebab.evals.golden import GoldenFiles, Question, compute_digest, load_questions
from kebab.evals.metrics import (
    DEPTH,
    compute_figures,
    compute_hit_curve,
    compute_ndcg,
    compute_reliability,
    find_rank,
    list_path_suffixes,
    split_path,
)
from kebab.text.normalize import escape_undecodable
from kebab.wire.evals import (
    EvalDegraded,
    EvalGolden,
    EvalMode,
    EvalOutcome,
    EvalProgress,
    EvalReport,
    EvalSettings,
    EvalSkipped,
    EvalVersions,
)
from kebab.wire.health import Introspection, SchemaRequest
from kebab.wire.library import ListRequest
from kebab.wire.search import ModeName, SearchRequest, SearchResponse

SendProgress: TypeAlias = Callable[[EvalProgress], None]
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
            self._send(EvalProgress(name=name, done=done, total=total, elapsed_ms=elapsed))


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions:
    """How to search. Without `modes` every available mode is measured."""

    modes: tuple[ModeName, ...] = ()
    limit: int = DEPTH
    per_doc: int | None = None
    rerank: bool = False
    by_doc: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeRun:
    """The outcomes of all questions in one mode."""

    outcomes: list[EvalOutcome]
    degraded: list[EvalDegraded]
    revisions: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRunner:
    """Searches one knowledge base for questions, always with the same options."""

    kebab: Kebab
    progress: ProgressReporter
    limit: int
    per_doc: int | None = None
    rerank: bool = False

    def run(self, questions: Sequence[Question], mode: ModeName) -> ModeRun:
        """Return the outcome of each question. The first runs twice, once to load models."""
        self.progress.report(mode, 0, len(questions))
        self._search(questions[0], mode)
        degraded: Counter[tuple[str, str]] = Counter()
        outcomes: list[EvalOutcome] = []
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
            EvalDegraded(channel=channel, reason=reason, questions=count)
            for (channel, reason), count in degraded.most_common()
        ]
        return ModeRun(outcomes=outcomes, degraded=counts, revisions=[*revisions])

    def _search(self, question: Question, mode: ModeName) -> SearchResponse:
        request = SearchRequest(
            query=question.text,
            mode=mode,
            limit=self.limit,
            per_doc=self.per_doc,
            rerank=(self.rerank and mode != "lexical") or None,
        )
        try:
            return self.kebab.search(request)
        except InvalidInput as fault:
            cause = f"question {question.id} cannot be asked: {fault.cause}"
            raise InvalidInput(field=fault.field, cause=cause) from fault


def build_outcome(question: Question, reply: SearchResponse, duration_ms: float) -> EvalOutcome:
    """Return the judged result of one question."""
    first = reply.hits[0] if reply.hits else None
    return EvalOutcome(
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
) -> EvalReport:
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
    runner = QuestionRunner(
        kebab=kebab,
        progress=progress,
        limit=options.limit,
        per_doc=options.per_doc,
        rerank=options.rerank,
    )
    golden = _describe_golden_set(kebab, files, questions)
    skipped: list[EvalSkipped] = []
    runs = dict(_run_modes(runner, questions, options, skipped))
    revisions = [revision for run in runs.values() for revision in run.revisions]
    build = kebab.schema(SchemaRequest())
    return EvalReport(
        golden=golden,
        settings=EvalSettings(
            limit=options.limit,
            per_doc=options.per_doc,
            rerank=options.rerank,
            by_doc=options.by_doc,
            resamples=bootstrap.RESAMPLES,
            level=bootstrap.LEVEL,
            seed=bootstrap.SEED,
        ),
        versions=_describe_versions(build),
        corpus_revision=revisions[-1] if revisions else build.models.corpus_revision,
        modes=[_measure_mode(mode, run, options.limit) for mode, run in runs.items()],
        skipped=skipped,
        duration_ms=progress.get_elapsed_ms(),
        moved=len(set(revisions)) > 1,
    )


def _run_modes(
    runner: QuestionRunner,
    questions: Sequence[Question],
    options: EvalOptions,
    skipped: list[EvalSkipped],
) -> Iterator[tuple[ModeName, ModeRun]]:
    """Yield the outcomes of each mode; a mode that was not selected may be skipped."""
    for mode in dict.fromkeys(options.modes or MODES):
        try:
            yield mode, runner.run(questions, mode)
        except (EmbeddingUnavailable, EmbeddingMismatch) as fault:
            if options.modes:
                raise
            skipped.append(EvalSkipped(mode=mode, reason=str(fault)))


def _measure_mode(mode: ModeName, run: ModeRun, limit: int) -> EvalMode:
    return EvalMode(
        mode=mode,
        figures=compute_figures(run.outcomes),
        hit_curve=compute_hit_curve(run.outcomes, limit),
        reliability=compute_reliability(run.outcomes),
        degraded=run.degraded,
        outcomes=run.outcomes,
    )


def _describe_golden_set(
    kebab: Kebab, files: GoldenFiles, questions: Sequence[Question]
) -> EvalGolden:
    answerable = [question for question in questions if question.answerable]
    missing = _find_missing_documents(kebab, answerable)
    return EvalGolden(
        path=escape_undecodable(str(files.queries)),
        digest=compute_digest(questions),
        answerable=len(answerable),
        unanswerable=len(questions) - len(answerable),
        with_lines=sum(one.lines is not None for one in answerable),
        graded=sum(bool(one.relevant) for one in answerable),
        missing=missing[:_SHOWN],
        missing_count=len(missing),
    )


def _find_missing_documents(kebab: Kebab, questions: Sequence[Question]) -> list[str]:
    """Return the relevant documents that are not indexed."""
    documents = kebab.list(ListRequest(limit=None)).documents
    indexed = {suffix for one in documents for suffix in list_path_suffixes(one.doc_path)}
    relevant = dict.fromkeys(doc for one in questions for doc in one.documents)
    return [doc for doc in relevant if split_path(doc) not in indexed]


def _describe_versions(build: Introspection) -> EvalVersions:
    models = build.models
    return EvalVersions(
        kebab=build.kebab_version,
        parser=models.parser_version,
        chunker=models.chunker_version,
        embedding=models.embedding_version,
        index=models.index_version,
    )
