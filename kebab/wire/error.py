"""Errors and warnings on the wire, and the catalogue."""

from typing import Any, Literal

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
