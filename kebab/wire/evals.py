"""Declares golden questions and the reports of `kebab eval` as wire records."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from kebab.wire.health import ModelInfo
from kebab.wire.record import Count, Positive, Reply, Request
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


MetricName: TypeAlias = Literal[
    "hit@1",
    "hit@5",
    "hit@10",
    "mrr@10",
    "ndcg@10",
    "empty_rate",
    "refusal_recall",
    "false_refusal_rate",
    "calibration_error",
    "median_ms",
]
"""Every metric of a report."""


class EvalFigure(Struct, frozen=True, kw_only=True):
    """One metric over all questions."""

    metric: MetricName
    value: float | None
    """The value; null when no question counts."""
    count: Count
    """The number of questions that count."""
    unit: Literal["share", "ms"]


class EvalOutcome(Struct, frozen=True, kw_only=True):
    """The result of one question."""

    id: str
    query: str
    answerable: bool
    """Whether the notes answer the question."""
    rank: Positive | None
    """The rank of the first right hit, from 1; null when there is none."""
    ndcg: Unit
    hits: Count
    score: Unit | None
    """The score of the first hit; null without hits."""
    confidence: ConfidenceName | None
    """The confidence of the first hit; null without hits."""
    refused: bool
    """Whether no hit is above `weak`."""
    duration_ms: float


class EvalDegraded(Struct, frozen=True, kw_only=True):
    """A channel that was not available for some questions."""

    channel: str
    """`vector` or `lexical`."""
    reason: str
    questions: Count


class EvalMode(Struct, frozen=True, kw_only=True):
    """The results of one search mode."""

    mode: ModeName
    figures: list[EvalFigure]
    degraded: list[EvalDegraded]
    outcomes: list[EvalOutcome]


class EvalSkipped(Struct, frozen=True, kw_only=True):
    """A mode that was not measured."""

    mode: ModeName
    reason: str


class EvalGolden(Struct, frozen=True, kw_only=True):
    """The golden set."""

    path: str
    """The path of the file of questions, as it was given."""
    answerable: Count
    """The number of questions that the notes answer."""
    unanswerable: Count
    """The number of questions that the notes do not answer."""
    missing: list[str]
    """Right documents that are not indexed, at most ten of them."""
    missing_count: Count
    """The number of all such documents."""


class EvalReport(Reply, frozen=True, kw_only=True, tag="eval_report.v1"):
    """The results of a golden set in every search mode."""

    golden: EvalGolden
    kebab_version: str
    models: ModelInfo
    modes: list[EvalMode]
    skipped: list[EvalSkipped]
