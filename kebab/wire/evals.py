"""Evaluation: the report of a run, and two reports compared."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from kebab.wire.citation import Positive
from kebab.wire.record import Reply
from kebab.wire.search import ConfidenceName, ModeName, Unit

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
Count: TypeAlias = Annotated[int, Meta(ge=0)]


class EvalFigure(Struct, frozen=True, kw_only=True):
    """One metric over all questions, with its bootstrap interval."""

    metric: MetricName
    """Which."""
    value: float | None
    """Its value; null when no question counts."""
    low: float | None
    """Where its interval begins."""
    high: float | None
    """Where its interval ends."""
    count: Count
    """How many questions count."""
    unit: Literal["share", "ms"]
    """In what."""


class EvalBin(Struct, frozen=True, kw_only=True):
    """First hits of similar score: when scores are honest, `right` is about `mean_score`."""

    start: Unit
    """The lowest score."""
    end: Unit
    """The score below which it ends; the last bin holds it too."""
    count: Count
    """How many first hits."""
    mean_score: float | None
    """Their mean score; null without any."""
    right: float | None
    """The share that is right; null without any."""
    low: float | None
    """Where the interval of `right` begins."""
    high: float | None
    """Where it ends."""


class EvalOutcome(Struct, frozen=True, kw_only=True):
    """What became of one question."""

    id: str
    """The question."""
    query: str
    """Its words."""
    answerable: bool
    """Whether anything answers it."""
    rank: Positive | None
    """The first right hit, 1-based; null when there is none."""
    ndcg: Unit
    """Its nDCG@10."""
    hits: Count
    """How many hits it has."""
    score: Unit | None
    """The score of the first hit; null without hits."""
    confidence: ConfidenceName | None
    """The confidence of the first hit; null without hits."""
    refused: bool
    """Whether no hit is above `weak`."""
    duration_ms: float
    """How long the search took."""


class EvalDegraded(Struct, frozen=True, kw_only=True):
    """A channel that could not answer some questions."""

    channel: str
    """`vector` or `lexical`."""
    reason: str
    """Why."""
    questions: Count
    """How many questions."""


class EvalMode(Struct, frozen=True, kw_only=True):
    """One mode of searching, measured."""

    mode: ModeName
    """Which channels answered."""
    figures: list[EvalFigure]
    """Every metric."""
    hit_curve: list[float]
    """hit@k for k from 1 to the limit; empty when no question can be answered."""
    reliability: list[EvalBin]
    """First hits by score."""
    degraded: list[EvalDegraded]
    """Channels that could not answer some questions."""
    outcomes: list[EvalOutcome]
    """Every question, in the order of the golden set."""


class EvalSkipped(Struct, frozen=True, kw_only=True):
    """A mode that was not measured."""

    mode: ModeName
    """Which."""
    reason: str
    """Why."""


class EvalSettings(Struct, frozen=True, kw_only=True):
    """How it was measured."""

    limit: Positive
    """The most hits of a question."""
    per_doc: Positive | None
    """The most hits of one document."""
    by_doc: bool
    """Whether any passage of the right document was right, whatever lines answer."""
    resamples: Positive
    """How many bootstrap samples an interval rests on."""
    level: Unit
    """The share of them that an interval holds."""
    seed: int
    """What they were drawn with."""


class EvalVersions(Struct, frozen=True, kw_only=True):
    """What was measured."""

    kebab: str
    """This build."""
    parser: str
    """The parser of Markdown."""
    chunker: str
    """What cut the documents."""
    embedding: str | None
    """What embedded them; null without a model."""
    index: str
    """How vectors are searched."""


class EvalGolden(Struct, frozen=True, kw_only=True):
    """The golden set."""

    path: str
    """The file of questions, as it was named."""
    digest: str
    """A hash of all questions with what answers them."""
    answerable: Count
    """Questions that something answers."""
    unanswerable: Count
    """Questions that nothing answers."""
    with_lines: Count
    """Questions whose lines are known."""
    graded: Count
    """Questions with grades by document."""
    missing: list[str]
    """Documents that answer and are not indexed, at most ten of them."""
    missing_count: Count
    """How many there are."""


class EvalReport(Reply, frozen=True, kw_only=True, tag="eval_report.v1"):
    """A golden set, asked in every mode."""

    golden: EvalGolden
    """What was asked."""
    settings: EvalSettings
    """How it was measured."""
    versions: EvalVersions
    """What was measured."""
    corpus_revision: int
    """The state of the index that answered the last question."""
    modes: list[EvalMode]
    """Every mode that was measured."""
    skipped: list[EvalSkipped]
    """Modes that could not be measured."""
    duration_ms: Count
    """How long the run took."""
    moved: bool = False
    """Whether the index changed meanwhile, so that not all questions met the same one."""


class EvalProgress(Reply, frozen=True, kw_only=True, tag="eval_progress.v1"):
    """What a run is at; on stderr."""

    name: str
    """What is measured."""
    done: Count
    """How many questions are over."""
    total: Count
    """How many there are."""
    elapsed_ms: Count
    """Since the run began."""


class EvalSide(Struct, frozen=True, kw_only=True):
    """One of two reports that are compared."""

    path: str
    """The file, as it was named."""
    measured_at: str | None
    """When it was measured, RFC 3339."""
    versions: EvalVersions
    """What was measured."""
    corpus_revision: int
    """The state of the index that answered."""


class EvalChange(Struct, frozen=True, kw_only=True):
    """A question that is answered better or worse."""

    id: str
    """The question."""
    query: str
    """Its words."""
    difference: float
    """How much better it is by the metric; below 0 it is worse."""
    rank_a: Positive | None
    """The first right hit before; null when there was none."""
    rank_b: Positive | None
    """The first right hit after; null when there is none."""


class EvalPair(Struct, frozen=True, kw_only=True):
    """Two modes compared by one metric, question by question."""

    mode_a: ModeName
    """The mode of the first report."""
    mode_b: ModeName
    """The mode of the second report."""
    metric: PairedMetric
    """By what."""
    a: float
    """The mean of the first report."""
    b: float
    """The mean of the second report."""
    difference: float
    """`b` less `a`."""
    low: float
    """Where the bootstrap interval of `difference` begins."""
    high: float
    """Where it ends."""
    p_value: Unit
    """How often a difference as large comes of signs drawn at random, two-sided."""
    wins: Count
    """Questions on which the second report is better."""
    losses: Count
    """Questions on which it is worse."""
    ties: Count
    """Questions on which both are alike."""
    better: list[EvalChange]
    """The wins, the largest difference first."""
    worse: list[EvalChange]
    """The losses, the largest difference first."""


class EvalComparison(Reply, frozen=True, kw_only=True, tag="eval_comparison.v1"):
    """Two reports on one golden set."""

    a: EvalSide
    """The first report."""
    b: EvalSide
    """The second report."""
    digest: str
    """The golden set of both."""
    questions: Count
    """How many questions count."""
    pairs: list[EvalPair]
    """Every comparison."""
    test: Literal["sign_flip"]
    """How `p_value` is had: a two-sided randomisation test of paired differences."""
    flips: Positive
    """How many random signs it rests on."""
    resamples: Positive
    """How many bootstrap samples an interval rests on."""
    level: Unit
    """The share of them that an interval holds."""
    seed: int
    """What both were drawn with."""
