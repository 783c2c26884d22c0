"""Evaluation: golden questions, the report of a run, and two reports compared."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from kebab.wire.citation import Positive
from kebab.wire.record import Reply, Request
from kebab.wire.search import DegradedChannel, ModeName, Unit

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


class GoldenQuery(
    Request, frozen=True, kw_only=True, forbid_unknown_fields=False, tag="golden_query.v1"
):
    """A question with what answers it: a line of a golden set. Other members are passed over."""

    query: Annotated[str, Meta(min_length=1)]
    """The question."""
    id: str | int | None = None
    """Its name; the number of its line unless it is given."""
    doc: str | None = None
    """The document that answers, by its path below its source or by whole names at its end."""
    line_start: Positive | None = None
    """The first line that answers, 1-based; without it any passage of the document is right."""
    line_end: Positive | None = None
    """The last line that answers, inclusive; `line_start` unless it is given."""
    answers: list[str] = msgspec.field(default_factory=list)
    """What a right answer says. For readers; nothing is measured by it."""
    relevant: dict[str, int] = msgspec.field(default_factory=dict)
    """Grades by document; a document with a grade above 0 is right too."""
    answerable: bool = True
    """Whether anything answers it; where nothing does, finding nothing convincing is right."""


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
    confidence: Literal["strong", "fair", "weak"] | None
    """The confidence of the first hit; null without hits."""
    refused: bool
    """Whether no hit is above `weak`."""
    duration_ms: float
    """How long the search took."""


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
    degraded: list[DegradedChannel]
    """Channels that could not answer some question."""
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
    """The state of the index that answered."""
    modes: list[EvalMode]
    """Every mode that was measured."""
    skipped: list[EvalSkipped]
    """Modes that could not be measured."""
    duration_ms: Count
    """How long the run took."""


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
