"""Declares errors, warnings, the error catalogue and the audit log as wire records."""

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from kebab.wire.citation import Positive
from kebab.wire.record import Record, Reply, Request

RetryName = Literal["none", "transient", "permanent"]
SeverityName = Literal["info", "warn", "error", "critical"]


class ErrorReply(Reply, frozen=True, kw_only=True, tag="error.v1"):
    """A fatal error. Branch on `code` only; treat an unknown code as failure."""

    code: str
    """Which row of the catalogue this is."""
    message: str
    """One sentence for a person."""
    details: dict[str, Any]
    """The typed details of this code."""
    hint: str | None
    """A command or a step that may mend it."""
    kind: str
    """The family of the error."""
    operation: str
    """What was being done."""
    target: str | None
    """What it was being done to: a path, a model, an id."""
    retryable: bool
    """Whether the same call may succeed later."""
    retry: RetryName
    """Whether trying again makes sense: `transient` yes, `permanent` only after a change."""
    retry_after_ms: int | None = None
    """Milliseconds to wait before trying again, a suggestion; null where that makes no sense."""
    severity: SeverityName
    """How bad it is."""
    correlation_id: str
    """The id under which the log holds more."""


class Warned(Reply, frozen=True, kw_only=True, tag="warning.v1"):
    """Something worth knowing that stops nothing; on stderr."""

    message: str
    """One sentence for a person."""
    hint: str | None = None
    """A command or a step that may mend it."""


class DetailField(Record, frozen=True, kw_only=True, tag="error_detail.v1"):
    """One typed detail of a code."""

    name: str
    """Its key in `details`."""
    type: str
    """Its type as Python writes it."""


class RetryAdvice(Record, frozen=True, kw_only=True, tag="error_backoff.v1"):
    """How long to wait before the same call is tried again; a suggestion, which may change.

    Wait `first_ms * factor ** (n - 1)` before attempt n, never longer than `ceiling_ms`; a caller
    that is not alone adds a random share to it.
    """

    first_ms: int
    """Milliseconds before the first attempt."""
    factor: float
    """By what each further wait is longer than the one before."""
    ceiling_ms: int
    """The longest wait, in milliseconds."""
    attempts: int
    """After how many attempts it is time to give up."""


class ErrorRow(Record, frozen=True, kw_only=True, tag="error_row.v1"):
    """One code with everything that callers may rely on."""

    code: str
    """The code."""
    kind: str
    """The family."""
    canonical: str
    """One of six canonical codes."""
    domain: str
    """The stable domain code."""
    origin: str
    """The layer that raises it."""
    exit_code: int
    """The exit status of the process."""
    http_status: int
    """The status of an HTTP answer."""
    grpc_status: str
    """The name of a gRPC status."""
    retry: RetryName
    """Whether trying again makes sense."""
    severity: SeverityName
    """How bad it is."""
    public: bool
    """Whether its message is shown; else a neutral sentence with a correlation id."""
    retired: bool
    """Whether it is no longer raised."""
    reserved: bool = False
    """Whether nothing raises it yet: it belongs to a surface that is still to come."""
    backoff: RetryAdvice | None = None
    """How long to wait before trying again; null where that makes no sense."""
    message: str
    """The template of the message."""
    hint: str | None
    """The template of the hint."""
    details: list[DetailField]
    """The typed details."""
    explanation: str
    """The long explanation."""


class ErrorCatalog(Reply, frozen=True, kw_only=True, tag="error_catalog.v1"):
    """Every code, or those that were asked for."""

    errors: list[ErrorRow]
    """The rows."""


class ExplainRequest(Request, frozen=True, kw_only=True, tag="explain_request.v1"):
    """Which error code to explain."""

    code: str | None = None
    """The code; null means every code."""


Dimension: TypeAlias = Literal["code", "kind", "retry", "severity"]
"""What faults are counted by."""


class AuditMeta(Struct, frozen=True, kw_only=True):
    """Where a fault happened."""

    kebab_version: str
    """The build."""
    python: str
    """The version of Python."""
    platform: str
    """The operating system and the machine."""
    argv: list[str]
    """The command line after `kebab`, without secrets."""
    data_dir: str | None
    """Where the knowledge base lies; null when the settings cannot say."""
    pid: int
    """The process."""


class ErrorAudit(Reply, frozen=True, kw_only=True, tag="error_audit.v1"):
    """One fault with what its public view leaves out; a line of the log, without secrets.

    In the log the envelope is that of the call that failed, as in its `error.v1`. `kebab errors
    --id` answers in an envelope of its own; `occurred_at`, `operation` and `status` stay.
    """

    correlation_id: str
    """The id that the public view named."""
    occurred_at: str
    """When, as RFC 3339 in UTC."""
    operation: str
    """The command that failed."""
    status: int
    """The exit status that it ended with."""
    code: str
    """Which row of the catalogue it was."""
    kind: str
    """The family of the error."""
    retry: RetryName
    """Whether trying again makes sense."""
    severity: SeverityName
    """How bad it was."""
    message: str
    """What happened, for a developer, in English."""
    chain: list[str]
    """The exception and its causes, outermost first."""
    traceback: list[str]
    """Where it was raised, line by line; the middle of a very long one is left out."""
    meta: AuditMeta
    """Where it happened."""


class ErrorCount(Struct, frozen=True, kw_only=True):
    """How often one value occurred."""

    value: str
    """The code, kind, retry or severity."""
    count: int
    """How many faults."""
    share: Annotated[float, Meta(ge=0, le=1)]
    """Their share of all that were counted."""
    first_at: str
    """When the first one happened, RFC 3339."""
    last_at: str
    """When the last one happened, RFC 3339."""
    correlation_ids: list[str]
    """The ids of the last ones, newest first; `kebab errors --id` shows one."""


class ErrorGroup(Struct, frozen=True, kw_only=True):
    """The faults, counted by one thing."""

    by: Dimension
    """What they are counted by."""
    counts: list[ErrorCount]
    """The counts, greatest first."""
    left_out: int
    """How many further values `--limit` left out."""


class ErrorStats(Reply, frozen=True, kw_only=True, tag="error_stats.v1"):
    """What went wrong lately, counted from the log of this machine."""

    since: str | None
    """Only faults from then on, RFC 3339; null means all that the log still holds."""
    total: int
    """How many faults were counted."""
    unreadable: int
    """How many lines of the log are none of ours, or broken; they are not counted."""
    groups: list[ErrorGroup]
    """The faults by code, kind, retry and severity, or by the one that was asked for."""
    log: str
    """The log; older lines lie beside it as `.1` and `.2`."""


class ErrorsRequest(Request, frozen=True, kw_only=True, tag="errors_request.v1"):
    """Which errors of the log to count."""

    since: str | None = None
    """Only errors since: RFC 3339, `YYYY-MM-DD`, or an age like `24h`."""
    by: Dimension | None = None
    """Count by this alone; null means by everything."""
    limit: Positive = 10
    """The most values of a count."""


class InspectErrorRequest(Request, frozen=True, kw_only=True, tag="inspect_error_request.v1"):
    """Which error of the log to show in full."""

    name: str
    """A correlation id, or a unique beginning of one."""
