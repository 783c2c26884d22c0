"""Declares golden sets, evaluation reports and reports of benchmarks as wire records."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from kebab.wire.citation import Count, Positive
from kebab.wire.record import Reply, Request
from kebab.wire.search import ConfidenceName, ModeName, Unit


class GoldenQuery(
    Request[Reply],
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=False,
    omit_defaults=True,
    tag="golden_query.v1",
):
    """A question with its right answers: a line of a golden set. Other members are ignored."""

    query: Annotated[str, Meta(min_length=1)]
    """The question."""
    id: str | int | None = None
    """The id of the question; by default the number of its line."""
    doc: str | None = None
    """The right document, by its path below its source or by the last components of that path."""
    line_start: Positive | None = None
    """The first right line, from 1; without it any passage of the document is right."""
    line_end: Positive | None = None
    """The last right line, inclusive; by default `line_start`."""
    answers: list[str] = msgspec.field(default_factory=list)
    """What a right answer says. For readers; not used to measure."""
    relevant: dict[str, int] = msgspec.field(default_factory=dict)
    """Grades by document; a document with a grade above 0 is right too."""
    answerable: bool = True
    """Whether the notes answer the question; if not, it is right to find nothing convincing."""
    kind: str | None = None
    """How the question was generated. For readers; not used to measure."""


class EvalDraft(Reply, frozen=True, kw_only=True, tag="eval_draft.v1"):
    """A golden set that was generated from the notes."""

    path: str
    """The path of the file."""
    written: bool
    """Whether the file was written; false when the notes gave no question."""
    wanted: Count
    """The requested number of questions."""
    answerable: Count
    """The number of questions that the notes gave."""
    unanswerable: Count
    """The number of questions of made-up words, which nothing answers."""
    documents: Count
    """The number of documents that the questions come from."""
    by_language: dict[str, Count]
    """Answerable questions by the language of their document; `unknown` where there is none."""
    by_kind: dict[str, Count]
    """Questions by how they were generated."""
    seed: int
    """The seed of the random choice; the same notes and seed give the same questions."""
    corpus_revision: int
    """The revision of the index that the questions come from."""


PairedMetric: TypeAlias = Literal["hit@1", "hit@5", "hit@10", "mrr@10", "ndcg@10"]
"""A metric that every answerable question has a value of."""
MetricName: TypeAlias = Literal[
    "hit@1",
    "hit@5",
    "hit@10",
    "mrr@10",
    "ndcg@10",
    "empty_rate",
    "refusal_precision",
    "refusal_recall",
    "false_refusal_rate",
    "calibration_error",
    "median_ms",
    "p95_ms",
]
"""Every metric of a report."""


class EvalFigure(Struct, frozen=True, kw_only=True):
    """One metric over all questions, with its bootstrap interval."""

    metric: MetricName
    """The name of the metric."""
    value: float | None
    """The value; null when no question counts."""
    low: float | None
    """The lower end of the interval."""
    high: float | None
    """The upper end of the interval."""
    count: Count
    """The number of questions that count."""
    unit: Literal["share", "ms"]
    """The unit of the value."""


class EvalBin(Struct, frozen=True, kw_only=True):
    """First hits of similar score; for calibrated scores, `right` is about `mean_score`."""

    start: Unit
    """The lowest score of the bin."""
    end: Unit
    """The upper limit of the score, exclusive; inclusive in the last bin."""
    count: Count
    """The number of first hits."""
    mean_score: float | None
    """Their mean score; null without hits."""
    right: float | None
    """The share of right hits; null without hits."""
    low: float | None
    """The lower end of the interval of `right`."""
    high: float | None
    """The upper end of the interval of `right`."""


class EvalOutcome(Struct, frozen=True, kw_only=True):
    """The result of one question."""

    id: str
    """The id of the question."""
    query: str
    """The text of the question."""
    answerable: bool
    """Whether the notes answer the question."""
    rank: Positive | None
    """The rank of the first right hit, from 1; null when there is none."""
    ndcg: Unit
    """The nDCG@10 of the question."""
    hits: Count
    """The number of hits."""
    score: Unit | None
    """The score of the first hit; null without hits."""
    confidence: ConfidenceName | None
    """The confidence of the first hit; null without hits."""
    refused: bool
    """Whether no hit is above `weak`."""
    duration_ms: float
    """The duration of the search."""


class EvalDegraded(Struct, frozen=True, kw_only=True):
    """A channel that was not available for some questions."""

    channel: str
    """`vector` or `lexical`."""
    reason: str
    """The reason why it was not available."""
    questions: Count
    """The number of these questions."""


class EvalMode(Struct, frozen=True, kw_only=True):
    """The results of one search mode."""

    mode: ModeName
    """The channels that were searched."""
    figures: list[EvalFigure]
    """Every metric."""
    hit_curve: list[float]
    """hit@k for k from 1 to the limit; empty when no question can be answered."""
    reliability: list[EvalBin]
    """The first hits, grouped by score."""
    degraded: list[EvalDegraded]
    """The channels that were not available for some questions."""
    outcomes: list[EvalOutcome]
    """The result of every question, in the order of the golden set."""


class EvalSkipped(Struct, frozen=True, kw_only=True):
    """A mode that was not measured."""

    mode: ModeName
    """The mode."""
    reason: str
    """The reason why it was not measured."""


class EvalSettings(Struct, frozen=True, kw_only=True):
    """The settings of the measurement."""

    limit: Positive
    """The maximum number of hits for a question."""
    per_doc: Positive | None
    """The maximum number of hits from one document."""
    rerank: bool = False
    """Whether modes with vectors compare the first passages with the question by token."""
    by_doc: bool
    """Whether any passage of the right document counts as right, whatever its lines."""
    resamples: Positive
    """The number of bootstrap samples for an interval."""
    level: Unit
    """The share of the samples that an interval holds."""
    seed: int
    """The seed of the samples."""


class EvalVersions(Struct, frozen=True, kw_only=True):
    """The versions that were measured."""

    kebab: str
    """The version of kebab."""
    parser: str
    """The version of the Markdown parser."""
    chunker: str
    """The version of the chunker."""
    embedding: str | None
    """The embedding version; null without a model."""
    index: str
    """The version of the vector index."""


class EvalGolden(Struct, frozen=True, kw_only=True):
    """The golden set."""

    path: str
    """The path of the file of questions, as it was given."""
    digest: str
    """A hash of all questions and their right answers."""
    answerable: Count
    """The number of questions that the notes answer."""
    unanswerable: Count
    """The number of questions that the notes do not answer."""
    with_lines: Count
    """The number of questions with known lines."""
    graded: Count
    """The number of questions with grades by document."""
    missing: list[str]
    """Right documents that are not indexed, at most ten of them."""
    missing_count: Count
    """The number of all such documents."""


class EvalReport(Reply, frozen=True, kw_only=True, tag="eval_report.v1"):
    """The results of a golden set in every search mode."""

    golden: EvalGolden
    """The golden set."""
    settings: EvalSettings
    """The settings of the measurement."""
    versions: EvalVersions
    """The versions that were measured."""
    corpus_revision: int
    """The revision of the index at the last question."""
    modes: list[EvalMode]
    """The results of every measured mode."""
    skipped: list[EvalSkipped]
    """The modes that could not be measured."""
    duration_ms: Count
    """The duration of the run."""
    moved: bool = False
    """Whether the index changed during the run, so that not all questions met the same revision."""


class EvalProgress(Reply, frozen=True, kw_only=True, tag="eval_progress.v1"):
    """The progress of a run; written to stderr."""

    name: str
    """The name of the current step."""
    done: Count
    """The number of finished questions."""
    total: Count
    """The number of all questions."""
    elapsed_ms: Count
    """The time since the run began."""


class EvalSide(Struct, frozen=True, kw_only=True):
    """One of two compared reports."""

    path: str
    """The path of the report, as it was given."""
    measured_at: str | None
    """The time of the measurement, RFC 3339."""
    versions: EvalVersions
    """The versions that were measured."""
    corpus_revision: int
    """The revision of the index."""


class EvalChange(Struct, frozen=True, kw_only=True):
    """A question with a better or a worse result."""

    id: str
    """The id of the question."""
    query: str
    """The text of the question."""
    difference: float
    """The change of the metric; below 0 the result is worse."""
    rank_a: Positive | None
    """The rank of the first right hit in the first report; null when there was none."""
    rank_b: Positive | None
    """The rank of the first right hit in the second report; null when there is none."""


class EvalPair(Struct, frozen=True, kw_only=True):
    """Two modes compared by one metric, question by question."""

    mode_a: ModeName
    """The mode of the first report."""
    mode_b: ModeName
    """The mode of the second report."""
    metric: PairedMetric
    """The metric."""
    a: float
    """The mean of the first report."""
    b: float
    """The mean of the second report."""
    difference: float
    """`b` minus `a`."""
    low: float
    """The lower end of the bootstrap interval of `difference`."""
    high: float
    """The upper end of the bootstrap interval of `difference`."""
    p_value: Unit
    """The share of random sign changes that give a difference as large, two-sided."""
    wins: Count
    """The number of questions with a better result in the second report."""
    losses: Count
    """The number of questions with a worse result in the second report."""
    ties: Count
    """The number of questions with equal results."""
    better: list[EvalChange]
    """The better questions, the largest difference first."""
    worse: list[EvalChange]
    """The worse questions, the largest difference first."""


class EvalComparison(Reply, frozen=True, kw_only=True, tag="eval_comparison.v1"):
    """Two reports on the same golden set, compared."""

    a: EvalSide
    """The first report."""
    b: EvalSide
    """The second report."""
    digest: str
    """The hash of the golden set of both reports."""
    questions: Count
    """The number of questions that count."""
    pairs: list[EvalPair]
    """Every comparison."""
    test: Literal["sign_flip"]
    """The test of `p_value`: a two-sided randomisation test of paired differences."""
    flips: Positive
    """The number of random sign changes."""
    resamples: Positive
    """The number of bootstrap samples for an interval."""
    level: Unit
    """The share of the samples that an interval holds."""
    seed: int
    """The seed of the samples and of the sign changes."""
