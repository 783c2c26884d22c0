"""Measures search with golden questions: reads them, searches, judges the hits, computes figures.

A hit is right by its document and lines, or by a grade of its document. All figures are plain means
over the questions, so the same index gives the same figures.
"""

import math
import statistics
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec.structs import replace

from kebab.app.facade import Kebab
from kebab.core.progress import Progress, ProgressCallback, ProgressKind
from kebab.errors.catalog import EmbeddingMismatch, EmbeddingUnavailable, InvalidInput
from kebab.errors.system import escape_undecodable, translate_os_errors
from kebab.wire import evals
from kebab.wire.evals import GoldenQuery
from kebab.wire.health import SchemaRequest
from kebab.wire.library import ListRequest
from kebab.wire.record import Citation, CodeCitation, LineCitation, decode_request
from kebab.wire.search import ModeName, SearchHit, SearchRequest, SearchResponse

DEPTH = 10
"""The number of hits that MRR and nDCG look at."""
MODES: tuple[ModeName, ...] = ("hybrid", "lexical", "vector")
_BOM = b"\xef\xbb\xbf"
_BINS = 10
_INTERVAL_S = 0.5
_SHOWN = 10
_NO_ANSWER = "neither `doc` nor a grade above 0 says what answers; or say `answerable: false`"


def list_relevant(question: GoldenQuery) -> list[str]:
    """Return the right documents of a question; none when nothing answers it."""
    graded = [doc for doc, grade in question.relevant.items() if grade > 0]
    named = [question.doc, *graded] if question.doc else graded
    return named if question.answerable else []


def evaluate(
    kebab: Kebab,
    queries: Path,
    send: ProgressCallback,
    *,
    modes: Sequence[ModeName] = (),
    rerank: bool = False,
) -> evals.EvalReport:
    """Search for every question in these modes, and compute the figures.

    Without `modes` every available mode is measured. With `rerank` those with vectors compare the
    first passages with the question token by token.

    Raises:
        InvalidInput: The golden set is invalid.
        IoError: It cannot be read.
        NotIndexed: There is no index.
        EmbeddingUnavailable: A selected mode needs vectors, and there are none.
        EmbeddingMismatch: A selected mode needs vectors, and the settings name another model.
    """
    questions = load_questions(queries)
    build = kebab.run(SchemaRequest())
    measured: list[evals.EvalMode] = []
    skipped: list[evals.EvalSkipped] = []
    for mode in dict.fromkeys(modes or MODES):
        try:
            measured.append(
                _measure_mode(kebab, questions, mode, send, rerank=rerank and mode != "lexical")
            )
        except (EmbeddingUnavailable, EmbeddingMismatch) as fault:
            if modes:
                raise
            skipped.append(evals.EvalSkipped(mode=mode, reason=str(fault)))
    return evals.EvalReport(
        golden=_describe_questions(kebab, queries, questions),
        kebab_version=build.kebab_version,
        models=build.models,
        modes=measured,
        skipped=skipped,
    )


def _measure_mode(
    kebab: Kebab,
    questions: Sequence[GoldenQuery],
    mode: ModeName,
    send: ProgressCallback,
    *,
    rerank: bool,
) -> evals.EvalMode:
    """Return the outcomes of all questions. The first is searched twice, once to load models."""
    event = Progress(ProgressKind.HEARTBEAT, phase=mode, total=len(questions), unit="questions")
    started = last = time.monotonic()
    send(event._replace(done=0))
    _search(kebab, questions[0], mode, rerank=rerank)
    degraded: Counter[tuple[str, str]] = Counter()
    outcomes: list[evals.EvalOutcome] = []
    for done, question in enumerate(questions, 1):
        begun = time.perf_counter()
        reply = _search(kebab, question, mode, rerank=rerank)
        outcomes.append(build_outcome(question, reply, (time.perf_counter() - begun) * 1000))
        degraded.update((channel.channel, channel.reason) for channel in reply.degraded)
        now = time.monotonic()
        if now - last >= _INTERVAL_S or done == len(questions):
            last = now
            send(event._replace(done=done, elapsed_ms=int((now - started) * 1000)))
    return evals.EvalMode(
        mode=mode,
        figures=compute_figures(outcomes),
        degraded=[
            evals.EvalDegraded(channel=channel, reason=reason, questions=count)
            for (channel, reason), count in degraded.most_common()
        ],
        outcomes=outcomes,
    )


def _search(kebab: Kebab, question: GoldenQuery, mode: ModeName, *, rerank: bool) -> SearchResponse:
    request = SearchRequest(
        query=question.query, mode=mode, limit=DEPTH, rerank=True if rerank else None
    )
    try:
        return kebab.run(request)
    except InvalidInput as fault:
        cause = f"question {question.id} cannot be asked: {fault.cause}"
        raise InvalidInput(field=fault.field, cause=cause) from fault


def _describe_questions(
    kebab: Kebab, queries: Path, questions: Sequence[GoldenQuery]
) -> evals.EvalGolden:
    answerable = [question for question in questions if question.answerable]
    documents = kebab.run(ListRequest(limit=None)).documents
    indexed = {suffix for each in documents for suffix in _list_path_suffixes(each.doc_path)}
    relevant = dict.fromkeys(doc for each in answerable for doc in list_relevant(each))
    missing = [doc for doc in relevant if _split_path(doc) not in indexed]
    return evals.EvalGolden(
        path=escape_undecodable(str(queries)),
        answerable=len(answerable),
        unanswerable=len(questions) - len(answerable),
        missing=missing[:_SHOWN],
        missing_count=len(missing),
    )


def load_questions(queries: Path) -> list[GoldenQuery]:
    """Return the questions of a file of JSON lines.

    Raises:
        InvalidInput: A line is invalid, or there is none; `field` is the file and the line.
        IoError: The file cannot be read.
    """
    questions: dict[str, GoldenQuery] = {}
    with translate_os_errors(queries, "read"):
        raw = queries.read_bytes()
    for number, line in enumerate(raw.removeprefix(_BOM).split(b"\n"), 1):
        if not line.strip():
            continue
        position = f"{queries}:{number}"
        try:
            golden: GoldenQuery = decode_request(line, GoldenQuery)
        except InvalidInput as fault:
            where = "" if fault.field == "$" else f" at `{fault.field}`"
            raise InvalidInput(field=position, cause=f"{fault.cause}{where}") from fault
        name = str(number if golden.id is None else golden.id)
        if name in questions:
            raise InvalidInput(field=position, cause=f"another line has the same id: {name}")
        if contradiction := _find_contradiction(golden):
            raise InvalidInput(field=position, cause=contradiction)
        questions[name] = replace(golden, id=name)
    if not questions:
        raise InvalidInput(field=str(queries), cause="it holds no question")
    return list(questions.values())


def _find_contradiction(golden: GoldenQuery) -> str | None:
    """Return why a line is no question with an answer; None when it is one."""
    first, last = golden.line_start, golden.line_end
    if not golden.query.strip():
        return "`query` is blank"
    if not golden.answerable:
        return None
    if (first is not None or last is not None) and (first is None or not golden.doc):
        return f"lines without `{'line_start' if first is None else 'doc'}`"
    if first is not None and last is not None and last < first:
        return "`line_end` is before `line_start`"
    return None if list_relevant(golden) else _NO_ANSWER


def build_outcome(
    question: GoldenQuery, reply: SearchResponse, duration_ms: float
) -> evals.EvalOutcome:
    """Return the judged result of one question."""
    first = reply.hits[0] if reply.hits else None
    ranks = (rank for rank, hit in enumerate(reply.hits, 1) if _is_relevant(question, hit))
    rank = next(ranks, None)
    return evals.EvalOutcome(
        id=str(question.id),
        query=question.query,
        answerable=question.answerable,
        rank=rank,
        ndcg=_compute_ndcg(question, reply.hits, rank),
        hits=len(reply.hits),
        score=first.score if first else None,
        confidence=first.confidence if first else None,
        refused=all(hit.confidence == "weak" for hit in reply.hits),
        duration_ms=duration_ms,
    )


def _is_relevant(question: GoldenQuery, hit: SearchHit) -> bool:
    """Return whether a hit answers: by document and lines, or by a grade above 0."""
    if not question.answerable:
        return False
    if question.doc and _is_same_document(question.doc, hit.doc_path):
        first = question.line_start
        lines = first and (first, question.line_end or first)
        return not lines or _overlaps_citation(lines, hit.citation)
    return _find_grade(hit.doc_path, question.relevant)[1] > 0


def _is_same_document(doc: str, path: str) -> bool:
    """Return whether `doc` is `path`, or its last parts."""
    return _split_path(doc) in _list_path_suffixes(path)


def _split_path(path: str) -> tuple[str, ...]:
    """Return the parts of a path, in NFC."""
    parts = unicodedata.normalize("NFC", path).split("/")
    return tuple(part for part in parts if part not in ("", "."))


@lru_cache(maxsize=1 << 16)
def _list_path_suffixes(path: str) -> tuple[tuple[str, ...], ...]:
    """Return all parts of a path, all but the first, and so on."""
    parts = _split_path(path)
    return tuple(parts[start:] for start in range(len(parts)))


def _overlaps_citation(lines: tuple[int, int], citation: Citation) -> bool:
    match citation:
        case LineCitation():
            first, last = citation.line.start, citation.line.end
        case CodeCitation():
            first, last = citation.code.start, citation.code.end
        case _:
            return False
    return first <= lines[1] and lines[0] <= last


def _find_grade(path: str, relevant: Mapping[str, int]) -> tuple[str, int]:
    """Return the best judgement of a document: its name there, and a grade of at least 0."""
    matching = (
        (max(0, grade), doc) for doc, grade in relevant.items() if _is_same_document(doc, path)
    )
    grade, name = max(matching, default=(0, ""))
    return name, grade


def _compute_ndcg(question: GoldenQuery, hits: Sequence[SearchHit], rank: int | None) -> float:
    """Return nDCG@10: of documents where there are grades, else of the relevant hit alone.

    DCG is the sum of `grade / log2(1 + rank)`, divided by that of the best order (Järvelin and
    Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002, in the
    form of trec_eval's `ndcg_cut`: linear gain, no discount at rank 1). The rank of a document is
    that of its first passage; no grade counts twice.
    """
    if not question.relevant:
        return _compute_dcg([0] * (rank - 1) + [1]) if rank is not None and rank <= DEPTH else 0.0
    best = sorted((grade for grade in question.relevant.values() if grade > 0), reverse=True)
    unused = dict(question.relevant)
    gains = []
    for path in dict.fromkeys(hit.doc_path for hit in hits):
        name, grade = _find_grade(path, unused)
        unused.pop(name, None)
        gains.append(grade)
    ideal = _compute_dcg(best[:DEPTH])
    return _compute_dcg(gains[:DEPTH]) / ideal if ideal else 0.0


def _compute_dcg(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(1 + rank) for rank, gain in enumerate(gains, 1))


def _has_hit(outcome: evals.EvalOutcome, depth: int) -> float:
    return float(outcome.rank is not None and outcome.rank <= depth)


METRICS: dict[evals.MetricName, Callable[[evals.EvalOutcome], float]] = {
    "hit@1": lambda one: _has_hit(one, 1),
    "hit@5": lambda one: _has_hit(one, 5),
    "hit@10": lambda one: _has_hit(one, 10),
    "mrr@10": lambda one: 1 / one.rank if one.rank and one.rank <= DEPTH else 0.0,
    "ndcg@10": lambda one: one.ndcg,
    "empty_rate": lambda one: float(one.hits == 0),
    "false_refusal_rate": lambda one: float(one.refused),
}
"""By metric, the value of one answerable question; the figure of a mode is the mean."""


def compute_figures(outcomes: Sequence[evals.EvalOutcome]) -> list[evals.EvalFigure]:
    """Return every metric of a mode.

    Recall of refusals is the share of refused questions among the unanswerable ones, undefined
    without such questions. The calibration error is the mean distance of score and share of right
    first hits over ten bins of scores, weighted by their sizes (Guo et al., "On calibration of
    modern neural networks", ICML 2017).
    """
    answerable = [one for one in outcomes if one.answerable]
    others = [one for one in outcomes if not one.answerable]
    times = [one.duration_ms for one in outcomes]
    return [
        *(_build_mean(name, [*map(compute, answerable)]) for name, compute in METRICS.items()),
        _build_mean("refusal_recall", [float(one.refused) for one in others]),
        _compute_calibration_error(outcomes),
        evals.EvalFigure(
            metric="median_ms",
            unit="ms",
            value=statistics.median_low(times) if times else None,
            count=len(times),
        ),
    ]


def _build_mean(name: evals.MetricName, values: Sequence[float]) -> evals.EvalFigure:
    mean = statistics.fmean(values) if values else None
    return evals.EvalFigure(metric=name, unit="share", value=mean, count=len(values))


def _compute_calibration_error(outcomes: Sequence[evals.EvalOutcome]) -> evals.EvalFigure:
    gaps = [0.0] * _BINS
    scored = [(one.score, one.rank == 1) for one in outcomes if one.score is not None]
    for score, is_right in scored:
        gaps[min(_BINS - 1, int(score * _BINS))] += score - is_right
    value = math.fsum(map(abs, gaps)) / len(scored) if scored else None
    return evals.EvalFigure(
        metric="calibration_error", unit="share", value=value, count=len(scored)
    )
