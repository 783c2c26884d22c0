"""Runs a golden set in every mode and reports."""

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
from kebab.wire.health import ModelInfo, SchemaRequest
from kebab.wire.library import ListRequest
from kebab.wire.search import ModeName, SearchRequest, SearchResponse

SendProgress: TypeAlias = Callable[[EvalProgress], None]
_INTERVAL_S = 0.5


class ProgressReporter:
    """Tells how far a run is, a few times a second at most."""

    def __init__(self, tell: SendProgress, clock: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._clock = clock
        self._started = clock()
        self._last = self._started - _INTERVAL_S

    def elapsed_ms(self) -> int:
        """Return how long the run has taken so far."""
        return int((self._clock() - self._started) * 1000)

    def at(self, name: str, done: int, total: int) -> None:
        """Tell what the run is at, unless it told so a moment ago; both ends are always told."""
        now = self._clock()
        if now - self._last >= _INTERVAL_S or done in (0, total):
            self._last = now
            elapsed = self.elapsed_ms()
            self._tell(EvalProgress(name=name, done=done, total=total, elapsed_ms=elapsed))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeRun:
    """What became of all questions in one mode."""

    outcomes: list[EvalOutcome]
    degraded: list[EvalDegraded]
    revisions: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRunner:
    """Asks one knowledge base, always in the same way."""

    kebab: Kebab
    pace: ProgressReporter
    limit: int
    per_doc: int | None = None

    def ask(self, questions: Sequence[Question], mode: ModeName) -> ModeRun:
        """Return the outcome of each question. The first is asked twice, once to load models."""
        self.pace.at(mode, 0, len(questions))
        self._search(questions[0], mode)
        degraded: Counter[tuple[str, str]] = Counter()
        outcomes: list[EvalOutcome] = []
        revisions: dict[int, None] = {}
        for outcome, reply in self._outcomes(questions, mode):
            outcomes.append(outcome)
            revisions[reply.corpus_revision] = None
            degraded.update((one.channel, one.reason) for one in reply.degraded)
            self.pace.at(mode, len(outcomes), len(questions))
        return ModeRun(outcomes=outcomes, degraded=_told(degraded), revisions=[*revisions])

    def _outcomes(
        self, questions: Sequence[Question], mode: ModeName
    ) -> Iterator[tuple[EvalOutcome, SearchResponse]]:
        for question in questions:
            before = time.perf_counter()
            reply = self._search(question, mode)
            spent = (time.perf_counter() - before) * 1000
            yield build_outcome(question, reply, spent), reply

    def _search(self, question: Question, mode: ModeName) -> SearchResponse:
        request = SearchRequest(
            query=question.text, mode=mode, limit=self.limit, per_doc=self.per_doc
        )
        try:
            return self.kebab.search(request)
        except InvalidInput as fault:
            cause = f"question {question.id} cannot be asked: {fault.cause}"
            raise InvalidInput(field=fault.field, cause=cause) from fault


def _told(degraded: Counter[tuple[str, str]]) -> list[EvalDegraded]:
    return [
        EvalDegraded(channel=channel, reason=reason, questions=count)
        for (channel, reason), count in degraded.most_common()
    ]


def build_outcome(question: Question, reply: SearchResponse, duration_ms: float) -> EvalOutcome:
    """Return what became of a question."""
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


MODES: tuple[ModeName, ...] = ("hybrid", "lexical", "vector")
_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions:
    """How to ask. Without `modes` every mode that can be had is measured."""

    modes: tuple[ModeName, ...] = ()
    limit: int = DEPTH
    per_doc: int | None = None
    by_doc: bool = False


def evaluate(
    kebab: Kebab, sources: GoldenFiles, options: EvalOptions, tell: SendProgress
) -> EvalReport:
    """Ask and measure.

    Raises:
        InvalidInput: The golden set cannot be used.
        IoError: One of its files cannot be read.
        NotIndexed: There is no index.
        EmbeddingUnavailable: A mode that was named needs vectors, and there are none.
        EmbeddingMismatch: It needs them, and the settings name another model.
    """
    pace = ProgressReporter(tell)
    questions = load_questions(sources)
    if options.by_doc:
        questions = [replace(one, lines=None) for one in questions]
    asker = QuestionRunner(kebab=kebab, pace=pace, limit=options.limit, per_doc=options.per_doc)
    golden = _golden(kebab, sources, questions)
    skipped: list[EvalSkipped] = []
    asked = dict(_asked(asker, questions, options, skipped))
    modes = [_measured(mode, one, options.limit) for mode, one in asked.items()]
    revisions = [revision for one in asked.values() for revision in one.revisions]
    known = kebab.schema(SchemaRequest())
    return EvalReport(
        golden=golden,
        settings=_settings(options),
        versions=_versions(known.kebab_version, known.models),
        corpus_revision=revisions[-1] if revisions else known.models.corpus_revision,
        modes=modes,
        skipped=skipped,
        duration_ms=pace.elapsed_ms(),
        moved=len(set(revisions)) > 1,
    )


def _asked(
    asker: QuestionRunner,
    questions: Sequence[Question],
    options: EvalOptions,
    skipped: list[EvalSkipped],
) -> Iterator[tuple[ModeName, ModeRun]]:
    """Yield what became of the questions in each mode; one that nobody named may be left out."""
    for mode in dict.fromkeys(options.modes or MODES):
        try:
            yield mode, asker.ask(questions, mode)
        except (EmbeddingUnavailable, EmbeddingMismatch) as fault:
            if options.modes:
                raise
            skipped.append(EvalSkipped(mode=mode, reason=str(fault)))


def _measured(mode: ModeName, asked: ModeRun, limit: int) -> EvalMode:
    return EvalMode(
        mode=mode,
        figures=compute_figures(asked.outcomes),
        hit_curve=compute_hit_curve(asked.outcomes, limit),
        reliability=compute_reliability(asked.outcomes),
        degraded=asked.degraded,
        outcomes=asked.outcomes,
    )


def _golden(kebab: Kebab, sources: GoldenFiles, questions: Sequence[Question]) -> EvalGolden:
    answerable = [one for one in questions if one.answerable]
    lacking = _missing(kebab, answerable)
    return EvalGolden(
        path=escape_undecodable(str(sources.queries)),
        digest=compute_digest(questions),
        answerable=len(answerable),
        unanswerable=len(questions) - len(answerable),
        with_lines=sum(one.lines is not None for one in answerable),
        graded=sum(bool(one.relevant) for one in answerable),
        missing=lacking[:_SHOWN],
        missing_count=len(lacking),
    )


def _missing(kebab: Kebab, questions: Sequence[Question]) -> list[str]:
    """Return the documents that answer and are not indexed."""
    listed = kebab.list(ListRequest(limit=None)).documents
    known = {ending for one in listed for ending in list_path_suffixes(one.doc_path)}
    wanted = dict.fromkeys(doc for one in questions for doc in one.documents)
    return [doc for doc in wanted if split_path(doc) not in known]


def _settings(options: EvalOptions) -> EvalSettings:
    return EvalSettings(
        limit=options.limit,
        per_doc=options.per_doc,
        by_doc=options.by_doc,
        resamples=bootstrap.RESAMPLES,
        level=bootstrap.LEVEL,
        seed=bootstrap.SEED,
    )


def _versions(build: str, models: ModelInfo) -> EvalVersions:
    return EvalVersions(
        kebab=build,
        parser=models.parser_version,
        chunker=models.chunker_version,
        embedding=models.embedding_version,
        index=models.index_version,
    )
