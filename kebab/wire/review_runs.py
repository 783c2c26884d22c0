"""Declares the stored runs of reviews, their fixes, the rules and the counters as wire records."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from kebab.wire.citation import Count, Positive
from kebab.wire.record import Reply, Request
from kebab.wire.review import KindName, SeverityName, TierName


class ReviewRunsRequest(Request, frozen=True, kw_only=True, tag="review_runs_request.v1"):
    """Nothing is asked: all stored runs are listed."""


class ReviewRun(Struct, frozen=True, kw_only=True):
    """A stored run of a review or a translation."""

    run_id: str
    """The id of the run."""
    kind: Literal["review", "translate"]
    """What the run does."""
    names: list[str]
    """What was named in the request."""
    tier: TierName
    """How thorough the work is."""
    model: str | None
    """The language model; null when none is asked."""
    created_at: str
    """When the run began, RFC 3339 in UTC with `Z`."""
    updated_at: str
    """When a unit was last finished."""
    documents: Count
    """The number of documents."""
    units_done: Count
    """The number of units that are finished."""
    item_count: Count
    """The number of items so far."""
    completed: bool
    """Whether all units are finished."""


class ReviewRuns(Reply, frozen=True, kw_only=True, tag="review_runs.v1"):
    """The stored runs, the newest first."""

    runs: list[ReviewRun]
    """The runs."""
    keep_days: Positive
    """After how many days without use a run is deleted."""


class ReviewRmRequest(Request, frozen=True, kw_only=True, tag="review_rm_request.v1"):
    """Runs to delete."""

    runs: Annotated[list[str], Meta(min_length=1)]
    """The ids of the runs."""


class ReviewRemoved(Reply, frozen=True, kw_only=True, tag="review_removed.v1"):
    """The runs that were deleted."""

    runs: list[str]
    """The ids of the runs."""
    found: bool
    """Always true; an unknown run is `not_found.v1`."""


class ReviewApplyRequest(Request, frozen=True, kw_only=True, tag="review_apply_request.v1"):
    """Fixes of a run to write into the files that were reviewed."""

    run_id: str
    """The run."""
    uids: list[str] | None = None
    """The items whose fixes are applied; null means all that have one."""
    dry_run: bool = False
    """Whether to return the differences only."""


class AppliedFile(Struct, frozen=True, kw_only=True):
    """A file whose fixes were applied, or would be."""

    file: str
    """The absolute path of the file."""
    backup: str | None
    """The absolute path of the copy of the original; null for a dry run."""
    applied: Count
    """The number of fixes."""
    overlapping: Count
    """The number of fixes that were left out, because an earlier one changes the same text."""
    diff: str
    """The differences in the unified format."""


class ReviewApplied(Reply, frozen=True, kw_only=True, tag="review_applied.v1"):
    """What applying the fixes of a run changed."""

    run_id: str
    """The run."""
    dry_run: bool
    """Whether nothing was written."""
    files: list[AppliedFile]
    """The files with fixes."""


class ReviewRulesRequest(Request, frozen=True, kw_only=True, tag="review_rules_request.v1"):
    """A rule to explain, or all."""

    rule: str | None = None
    """The id of the rule; null means all."""


class ReviewRule(Struct, frozen=True, kw_only=True):
    """A rule that needs no language model."""

    id: str
    """The id, such as `broken-link`."""
    kind: KindName
    """The kind of its findings, `k`."""
    severity: SeverityName
    """The severity of its findings."""
    summary: str
    """What it finds, in one sentence."""
    explanation: str
    """Why that is a fault, what is not, and what to do."""
    example: str
    """Text with the fault."""
    enabled: bool
    """Whether the settings leave it switched on."""


class ReviewRules(Reply, frozen=True, kw_only=True, tag="review_rules.v1"):
    """The rules of a review, sorted by id."""

    rules: list[ReviewRule]
    """The rules."""


class StatsRequest(Request, frozen=True, kw_only=True, tag="stats_request.v1"):
    """The period whose work is counted."""

    since: str | None = None
    """The start: a date, or an age such as `7d`; null means everything that is stored."""


class TierStats(Struct, frozen=True, kw_only=True):
    """The work of one tier in the period."""

    kind: Literal["review", "translate"]
    """What was done."""
    tier: TierName
    """How thorough the work was."""
    runs: Count
    """The number of runs with work in the period."""
    units: Count
    """The number of finished units."""
    items: Count
    """The number of items."""
    requests: Count
    """The number of requests to the language model."""
    items_per_response: float
    """The mean number of items of a response."""
    prompt_tokens: Count
    """The tokens that the model read."""
    completion_tokens: Count
    """The tokens that the model wrote."""
    latency_ms: float
    """The mean time of a request."""
    downshift_count: Count
    """How often a request was repeated with lower limits."""
    forced_pagination_count: Count
    """How often a page ended because every limit was exhausted."""
    cursor_retry_count: Count
    """How often a page was requested again."""
    json_repair_count: Count
    """How often parts of a broken response were used."""


class ReviewStats(Reply, frozen=True, kw_only=True, tag="stats.v1"):
    """The work of reviews and translations in a period."""

    since: str | None
    """The start of the period; null means everything that is stored."""
    tiers: list[TierStats]
    """The work by tier."""
