"""Reads golden sets, judges the relevance of hits, and computes metrics.

The metrics have bootstrap intervals, and differences the p-value of a paired randomisation test.
Every draw is from a fixed seed, so the same outcomes always give the same figures.
"""

import errno
import hashlib
import json
import math
import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct, field, structs

from kebab.errors.catalog import InvalidInput
from kebab.errors.system import build_read_error, translate_os_errors
from kebab.wire.citation import Citation, CodeCitation, LineCitation
from kebab.wire.evals import (
    EvalBin,
    EvalFigure,
    EvalOutcome,
    EvalReport,
    GoldenQuery,
    MetricName,
    PairedMetric,
)
from kebab.wire.record import decode_request, encode_json
from kebab.wire.search import SearchHit

Judgements: TypeAlias = Mapping[str, Mapping[str, int]]
"""The grades of documents, by the id of the question."""

_BOM = b"\xef\xbb\xbf"
_BEIR, _TREC = 3, 4
"""The number of columns of a judgement; TREC has an iteration after the query."""


class Question(Struct, frozen=True, kw_only=True):
    """One question. `lines` is first and last, inclusive; None means anywhere in `doc`."""

    id: str
    text: str
    doc: str | None = None
    lines: tuple[int, int] | None = None
    relevant: Mapping[str, int] = field(default_factory=dict)
    answerable: bool = True

    @property
    def documents(self) -> list[str]:
        """The relevant documents."""
        graded = [doc for doc, grade in self.relevant.items() if grade > 0]
        return graded if self.doc is None else [self.doc, *graded]


class GoldenFiles(Struct, frozen=True, kw_only=True):
    """The files of a golden set."""

    queries: Path
    unanswerable: Path | None = None
    qrels: Path | None = None


def load_questions(files: GoldenFiles) -> list[Question]:
    """Return every question of a golden set.

    Raises:
        InvalidInput: A line is invalid, or there is none; `field` is the file and the line.
        IoError: A file cannot be read.
    """
    judged = read_qrels(files.qrels) if files.qrels else {}
    questions = list(_read_questions(files.queries, judged))
    if files.unanswerable:
        questions += _read_questions(files.unanswerable, {}, none_answers=True)
    if not questions:
        raise InvalidInput(field=str(files.queries), cause="it holds no question")
    if files.qrels and judged.keys().isdisjoint(question.id for question in questions):
        raise InvalidInput(field=str(files.qrels), cause="it judges none of the questions")
    return questions


def compute_digest(questions: Sequence[Question]) -> str:
    """Return a hash of questions and their answers that does not depend on file names."""
    rows = [
        [
            question.id,
            question.text,
            question.doc,
            question.lines,
            sorted(question.relevant.items()),
            question.answerable,
        ]
        for question in questions
    ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def read_qrels(path: Path) -> Judgements:
    """Return the relevance judgements of a file in BEIR or TREC format.

    Raises:
        InvalidInput: A line is no judgement.
        IoError: The file cannot be read.
    """
    judgements: dict[str, dict[str, int]] = {}
    for number, raw in _read_lines(path):
        line = raw.decode("utf-8", "replace")
        columns = line.strip().split("\t" if "\t" in line else None)
        try:
            query, doc, grade = columns[0], columns[-2], int(columns[-1])
        except (ValueError, IndexError) as fault:
            if number == 1 and len(columns) == _BEIR:
                continue  # the header
            cause = "not a judgement: query, document and a whole number"
            raise InvalidInput(field=f"{path}:{number}", cause=cause) from fault
        if len(columns) not in (_BEIR, _TREC):
            cause = f"{len(columns)} columns, not {_BEIR} or {_TREC}"
            raise InvalidInput(field=f"{path}:{number}", cause=cause)
        judgements.setdefault(query, {})[doc] = grade
    return judgements


def _read_questions(
    path: Path, judged: Judgements, *, none_answers: bool = False
) -> Iterator[Question]:
    first_lines: dict[str, int] = {}
    for number, line in _read_lines(path):
        position = f"{path}:{number}"
        try:
            golden: GoldenQuery = decode_request(line, GoldenQuery)
        except InvalidInput as fault:
            where = "" if fault.field == "$" else f" at `{fault.field}`"
            raise InvalidInput(field=position, cause=f"{fault.cause}{where}") from fault
        prefix = "unanswerable " if none_answers else ""
        name = f"{prefix}{number if golden.id is None else golden.id}"
        if name in first_lines:
            cause = f"the id of line {first_lines[name]}, too: {name}"
            raise InvalidInput(field=position, cause=cause)
        first_lines[name] = number
        if not golden.query.strip():
            raise InvalidInput(field=position, cause="`query` is blank")
        if golden.answerable and not none_answers:
            relevant = {**golden.relevant, **judged.get(name, {})}
            lines = _find_line_range(golden, position)
            question = Question(
                id=name, text=golden.query, doc=golden.doc or None, lines=lines, relevant=relevant
            )
            if not question.documents:
                raise InvalidInput(field=position, cause=_NO_ANSWER)
            yield question
        else:
            yield Question(id=name, text=golden.query, answerable=False)


_NO_ANSWER = "neither `doc` nor a grade above 0 says what answers; or say `answerable: false`"


def _find_line_range(golden: GoldenQuery, position: str) -> tuple[int, int] | None:
    if golden.line_start is None and golden.line_end is None:
        return None
    if golden.line_start is None or not golden.doc:
        missing = "line_start" if golden.line_start is None else "doc"
        raise InvalidInput(field=position, cause=f"lines without `{missing}`")
    last = golden.line_start if golden.line_end is None else golden.line_end
    if last < golden.line_start:
        raise InvalidInput(field=position, cause="`line_end` is before `line_start`")
    return golden.line_start, last


def _read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield every line that is not blank, with its number."""
    with translate_os_errors(path, "read"):
        raw = path.read_bytes()
    for number, line in enumerate(raw.removeprefix(_BOM).split(b"\n"), 1):
        if line.strip():
            yield number, line


def check_output_path(path: Path) -> None:
    """Check that a file can be created, before a long run rather than after it.

    Raises:
        IoError: The folder does not exist, or the path is a folder.
    """
    with translate_os_errors(path, "create"):
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "no such folder")
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")


def encode_queries(queries: Iterable[GoldenQuery]) -> bytes:
    """Return golden questions as JSONL."""
    return b"".join(encode_json(query) + b"\n" for query in queries)


def write_file(path: Path, data: bytes) -> None:
    """Write a file atomically; the old content stays until the new one is complete.

    Raises:
        IoError: The file system refused.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with translate_os_errors(path, "write"):
            temporary.write_bytes(data)
            temporary.replace(target)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def read_report(path: Path) -> EvalReport:
    """Return a report that `kebab eval run --out` wrote.

    Raises:
        InvalidInput: The file is no report.
        IoError: It cannot be read.
    """
    if path.is_dir():
        raise build_read_error(path, "it is a folder")
    with translate_os_errors(path, "read"):
        raw = path.read_bytes()
    try:
        report: EvalReport = decode_request(raw, EvalReport)
    except InvalidInput as fault:
        cause = f"not an `eval_report.v1`: {fault.cause}"
        raise InvalidInput(field=str(path), cause=cause) from fault
    return report


if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[float64]
    Statistic: TypeAlias = Callable[[Array], Array]

SEED = 1
RESAMPLES = 1_000
LEVEL = 0.95
FLIPS = 10_000
_CELLS = 4_000_000
"""The most numbers in memory at once."""
_TOLERANCE = 1e-9
"""Sums that differ by less are equal, because sums are rounded."""


class Estimate(Struct, frozen=True):
    """A value with its interval; all None when there is nothing to measure."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    count: int = 0

    def require_values(self) -> tuple[float, float, float]:
        """Return value, low and high of an estimate that has them."""
        assert self.value is not None
        assert self.low is not None
        assert self.high is not None
        return self.value, self.low, self.high


def estimate_mean(values: Sequence[float]) -> Estimate:
    """Estimate the mean."""
    return _estimate([[value] for value in values], lambda table: table[..., 0].mean(axis=-1))


def estimate_ratio(pairs: Sequence[tuple[float, float]]) -> Estimate:
    """Estimate the sum of the first numbers divided by the sum of the second ones."""
    return _estimate(pairs, lambda table: table[..., 0].sum(axis=-1) / table[..., 1].sum(axis=-1))


def estimate_quantile(values: Sequence[float], share: float) -> Estimate:
    """Estimate the value below which a share of all values lies."""
    import numpy as np

    rows = [[value] for value in values]
    return _estimate(rows, lambda table: np.quantile(table[..., 0], share, axis=-1))


def estimate_mean_gap(rows: Sequence[tuple[int, float]], bins: int) -> Estimate:
    """Estimate the sum over bins of the absolute mean gap; each row is a bin and its gap."""
    import numpy as np

    table = [[gap if column == number else 0.0 for column in range(bins)] for number, gap in rows]
    return _estimate(table, lambda table: np.abs(table.mean(axis=-2)).sum(axis=-1))


def compute_p_value(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of paired differences by a randomisation test.

    If both sides were alike, each difference could as well have the other sign. The p-value is
    the share of random signs whose sum is at least as far from 0 as the observed sum. The
    observed signs count as one draw, so the p-value is never 0 (Fisher's randomisation test;
    Smucker, Allan and Carterette, "A comparison of statistical significance tests for information
    retrieval evaluation", CIKM 2007).
    """
    import numpy as np

    nonzero = np.array([difference for difference in differences if difference], dtype=float)
    if not nonzero.size:
        return 1.0
    observed = abs(nonzero.sum()) - _TOLERANCE
    generator = np.random.default_rng(SEED)
    reached = 0
    for draws in _split_draws(FLIPS, nonzero.size):
        signs = generator.integers(0, 2, size=(draws, nonzero.size), dtype=np.int8) * 2 - 1
        reached += int((np.abs(signs @ nonzero) >= observed).sum())
    return (reached + 1) / (FLIPS + 1)


def _estimate(rows: Sequence[Sequence[float]], statistic: "Statistic") -> Estimate:
    """Return a statistic of rows with its percentile interval (Efron and Tibshirani, 1993).

    The statistic takes an array of samples, rows and columns and returns one number for each
    sample. Samples without a value are left out.
    """
    import numpy as np

    if not rows:
        return Estimate()
    table = np.array(rows, dtype=float)
    count, columns = table.shape
    generator = np.random.default_rng(SEED)
    with np.errstate(invalid="ignore", divide="ignore"):
        (value,) = statistic(table[np.newaxis])
        resampled = [
            statistic(table[generator.integers(0, count, size=(draws, count))])
            for draws in _split_draws(RESAMPLES, count * columns)
        ]
    samples = np.concatenate(resampled)
    finite = samples[np.isfinite(samples)]
    if not np.isfinite(value) or not finite.size:
        return Estimate()
    low, high = np.quantile(finite, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(value), float(low), float(high), count)


def _split_draws(total: int, cells: int) -> Iterator[int]:
    """Yield how many samples to draw at once, so that they fit into memory."""
    size = max(1, _CELLS // max(1, cells))
    for start in range(0, total, size):
        yield min(size, total - start)


DEPTH = 10
"""The number of hits that MRR and nDCG look at."""


def find_rank(question: Question, hits: Sequence[SearchHit]) -> int | None:
    """Return the 1-based rank of the first relevant hit, or None when there is none."""
    return next((rank for rank, hit in enumerate(hits, 1) if is_relevant(question, hit)), None)


def is_relevant(question: Question, hit: SearchHit) -> bool:
    """Return whether a hit answers: by document and lines, or by a grade above 0."""
    if not question.answerable:
        return False
    if question.doc is not None and is_same_document(question.doc, hit.doc_path):
        return question.lines is None or _overlaps_citation(question.lines, hit.citation)
    return _find_grade(hit.doc_path, question.relevant)[1] > 0


def is_same_document(doc: str, path: str) -> bool:
    """Return whether `doc` is `path`, or its last parts."""
    return split_path(doc) in list_path_suffixes(path)


def split_path(path: str) -> tuple[str, ...]:
    """Return the parts of a path, in NFC."""
    parts = unicodedata.normalize("NFC", path).split("/")
    return tuple(part for part in parts if part not in ("", "."))


@lru_cache(maxsize=1 << 16)
def list_path_suffixes(path: str) -> tuple[tuple[str, ...], ...]:
    """Return all parts of a path, all but the first, and so on."""
    parts = split_path(path)
    return tuple(parts[start:] for start in range(len(parts)))


def compute_ndcg(question: Question, hits: Sequence[SearchHit]) -> float:
    """Return nDCG@10: of documents where there are grades, else of the relevant hit alone.

    DCG is the sum of `grade / log2(1 + rank)`, divided by that of the best order (Järvelin and
    Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002, in the
    form of trec_eval's `ndcg_cut`: linear gain, no discount at rank 1). The rank of a document is
    that of its first passage.
    """
    if not question.relevant:
        rank = find_rank(question, hits)
        return _compute_dcg([0] * (rank - 1) + [1]) if rank is not None and rank <= DEPTH else 0.0
    best = sorted((grade for grade in question.relevant.values() if grade > 0), reverse=True)
    ideal = _compute_dcg(best[:DEPTH])
    return _compute_dcg(_list_gains(question.relevant, hits)[:DEPTH]) / ideal if ideal else 0.0


def _list_gains(relevant: Mapping[str, int], hits: Sequence[SearchHit]) -> list[int]:
    """Return the grade of each document in the order of its first hit; no grade counts twice."""
    unused = dict(relevant)
    gains = []
    for path in dict.fromkeys(hit.doc_path for hit in hits):
        name, grade = _find_grade(path, unused)
        unused.pop(name, None)
        gains.append(grade)
    return gains


def _find_grade(path: str, relevant: Mapping[str, int]) -> tuple[str, int]:
    """Return the best judgement of a document: its name there, and a grade of at least 0."""
    matching = (
        (max(0, grade), doc) for doc, grade in relevant.items() if is_same_document(doc, path)
    )
    grade, name = max(matching, default=(0, ""))
    return name, grade


def _compute_dcg(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(1 + rank) for rank, gain in enumerate(gains, 1))


def _overlaps_citation(lines: tuple[int, int], citation: Citation) -> bool:
    match citation:
        case LineCitation():
            first, last = citation.line.start, citation.line.end
        case CodeCitation():
            first, last = citation.code.start, citation.code.end
        case _:
            return False
    return first <= lines[1] and lines[0] <= last


BINS = 10

METRICS: dict[PairedMetric, Callable[[EvalOutcome], float]] = {
    "hit@1": lambda one: float(_has_hit(one, 1)),
    "hit@5": lambda one: float(_has_hit(one, 5)),
    "hit@10": lambda one: float(_has_hit(one, 10)),
    "mrr@10": lambda one: 1 / one.rank if one.rank and one.rank <= DEPTH else 0.0,
    "ndcg@10": lambda one: one.ndcg,
}
"""By metric, the value of one answerable question; the figure of a mode is the mean."""


def compute_figures(outcomes: Sequence[EvalOutcome]) -> list[EvalFigure]:
    """Return every metric of a mode."""
    answerable = [outcome for outcome in outcomes if outcome.answerable]
    figures = [
        _build_figure(name, estimate_mean([*map(compute, answerable)]))
        for name, compute in METRICS.items()
    ]
    empty = estimate_mean([float(one.hits == 0) for one in answerable])
    times = [outcome.duration_ms for outcome in outcomes]
    gaps = [(_find_bin(score), score - ok) for score, ok in _judge_first_hits(outcomes)]
    calibration_error = estimate_mean_gap(gaps, BINS)
    return [
        *figures,
        _build_figure("empty_rate", empty),
        *_compute_refusals(outcomes),
        _build_figure("calibration_error", calibration_error),
        _build_figure("median_ms", estimate_quantile(times, 0.5), "ms"),
        _build_figure("p95_ms", estimate_quantile(times, 0.95), "ms"),
    ]


def compute_hit_curve(outcomes: Sequence[EvalOutcome], limit: int) -> list[float]:
    """Return hit@k for each k up to the limit."""
    answerable = [outcome for outcome in outcomes if outcome.answerable]
    if not answerable:
        return []
    return [
        sum(_has_hit(one, k) for one in answerable) / len(answerable) for k in range(1, limit + 1)
    ]


def compute_reliability(outcomes: Sequence[EvalOutcome]) -> list[EvalBin]:
    """Return the first hits of all questions in ten bins of equal width by score.

    The diagram and `calibration_error`, the mean distance of score and share over bins weighted
    by their sizes, are those of Guo et al., "On calibration of modern neural networks", ICML 2017.
    """
    return [_build_bin(number, outcomes) for number in range(BINS)]


def _build_bin(number: int, outcomes: Sequence[EvalOutcome]) -> EvalBin:
    inside = [
        (score, ok) for score, ok in _judge_first_hits(outcomes) if _find_bin(score) == number
    ]
    share = estimate_mean([float(ok) for _, ok in inside])
    return EvalBin(
        start=number / BINS,
        end=(number + 1) / BINS,
        count=len(inside),
        mean_score=sum(score for score, _ in inside) / len(inside) if inside else None,
        right=share.value,
        low=share.low,
        high=share.high,
    )


def _judge_first_hits(outcomes: Sequence[EvalOutcome]) -> Iterator[tuple[float, bool]]:
    """Yield the score of each first hit, and whether it is relevant."""
    return ((outcome.score, outcome.rank == 1) for outcome in outcomes if outcome.score is not None)


def _find_bin(score: float) -> int:
    return min(BINS - 1, int(score * BINS))


def _compute_refusals(outcomes: Sequence[EvalOutcome]) -> Iterator[EvalFigure]:
    """Yield how well refusals detect unanswerable questions; undefined without such questions.

    Precision is the share of unanswerable questions among the refused ones, recall the share of
    refused questions among the unanswerable ones, and the false refusal rate the share of refused
    questions among the answerable ones.
    """
    unanswerable = [outcome for outcome in outcomes if not outcome.answerable]
    judged = outcomes if unanswerable else []
    precision = [(one.refused and not one.answerable, one.refused) for one in judged]
    recall = [(one.refused, True) for one in unanswerable]
    false = [(outcome.refused, True) for outcome in outcomes if outcome.answerable]
    yield _build_figure("refusal_precision", estimate_ratio(precision))
    yield _build_figure("refusal_recall", estimate_ratio(recall))
    yield _build_figure("false_refusal_rate", estimate_ratio(false))


def _has_hit(outcome: EvalOutcome, k: int) -> bool:
    return outcome.rank is not None and outcome.rank <= k


def _build_figure(
    name: MetricName, estimate: Estimate, unit: Literal["share", "ms"] = "share"
) -> EvalFigure:
    return EvalFigure(metric=name, unit=unit, **structs.asdict(estimate))
