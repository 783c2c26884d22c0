"""One run: a golden set asked in every mode, and its report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kebab.app.facade import Kebab
from kebab.app.requests import ListOptions
from kebab.errors.catalog import EmbeddingMismatch, EmbeddingUnavailable
from kebab.evals import resample
from kebab.evals.asking import Asked, Asker, Pace, Tell
from kebab.evals.figures import figures, hit_curve, reliability
from kebab.evals.golden import Sources, digest, load
from kebab.evals.judge import DEPTH, endings, names_of
from kebab.evals.question import Question
from kebab.text.normalize import escape_undecodable
from kebab.wire.evals import (
    EvalGolden,
    EvalMode,
    EvalReport,
    EvalSettings,
    EvalSkipped,
    EvalVersions,
)
from kebab.wire.introspect import ModelInfo
from kebab.wire.search import ModeName

MODES: tuple[ModeName, ...] = ("hybrid", "lexical", "vector")
_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions:
    """How to ask. Without `modes` every mode that can be had is measured."""

    modes: tuple[ModeName, ...] = ()
    limit: int = DEPTH
    per_doc: int | None = None
    by_doc: bool = False


def evaluate(kebab: Kebab, sources: Sources, options: EvalOptions, tell: Tell) -> EvalReport:
    """Ask and measure.

    Raises:
        InvalidInput: The golden set cannot be used.
        IoError: One of its files cannot be read.
        NotIndexed: There is no index.
        EmbeddingUnavailable: A mode that was named needs vectors, and there are none.
        EmbeddingMismatch: It needs them, and the settings name another model.
    """
    pace = Pace(tell)
    questions = load(sources)
    if options.by_doc:
        questions = [replace(one, lines=None) for one in questions]
    asker = Asker(kebab=kebab, pace=pace, limit=options.limit, per_doc=options.per_doc)
    golden = _golden(kebab, sources, questions)
    skipped: list[EvalSkipped] = []
    asked = dict(_asked(asker, questions, options, skipped))
    modes = [_measured(mode, one, options.limit) for mode, one in asked.items()]
    revisions = [revision for one in asked.values() for revision in one.revisions]
    known = kebab.introspect()
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
    asker: Asker, questions: Sequence[Question], options: EvalOptions, skipped: list[EvalSkipped]
) -> Iterator[tuple[ModeName, Asked]]:
    """Yield what became of the questions in each mode; one that nobody named may be left out."""
    for mode in dict.fromkeys(options.modes or MODES):
        try:
            yield mode, asker.ask(questions, mode)
        except (EmbeddingUnavailable, EmbeddingMismatch) as fault:
            if options.modes:
                raise
            skipped.append(EvalSkipped(mode=mode, reason=str(fault)))


def _measured(mode: ModeName, asked: Asked, limit: int) -> EvalMode:
    return EvalMode(
        mode=mode,
        figures=figures(asked.outcomes),
        hit_curve=hit_curve(asked.outcomes, limit),
        reliability=reliability(asked.outcomes),
        degraded=asked.degraded,
        outcomes=asked.outcomes,
    )


def _golden(kebab: Kebab, sources: Sources, questions: Sequence[Question]) -> EvalGolden:
    answerable = [one for one in questions if one.answerable]
    lacking = _missing(kebab, answerable)
    return EvalGolden(
        path=escape_undecodable(str(sources.queries)),
        digest=digest(questions),
        answerable=len(answerable),
        unanswerable=len(questions) - len(answerable),
        with_lines=sum(one.lines is not None for one in answerable),
        graded=sum(bool(one.relevant) for one in answerable),
        missing=lacking[:_SHOWN],
        missing_count=len(lacking),
    )


def _missing(kebab: Kebab, questions: Sequence[Question]) -> list[str]:
    """Return the documents that answer and are not indexed."""
    listed = kebab.list_documents(ListOptions(limit=-1)).documents
    known = {ending for one in listed for ending in endings(one.doc_path)}
    wanted = dict.fromkeys(doc for one in questions for doc in one.documents)
    return [doc for doc in wanted if names_of(doc) not in known]


def _settings(options: EvalOptions) -> EvalSettings:
    return EvalSettings(
        limit=options.limit,
        per_doc=options.per_doc,
        by_doc=options.by_doc,
        resamples=resample.RESAMPLES,
        level=resample.LEVEL,
        seed=resample.SEED,
    )


def _versions(build: str, models: ModelInfo) -> EvalVersions:
    return EvalVersions(
        kebab=build,
        parser=models.parser_version,
        chunker=models.chunker_version,
        embedding=models.embedding_version,
        index=models.index_version,
    )
