"""Declares errors, warnings, the error catalogue and the audit log as wire records."""

import dataclasses
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from kebab.errors.catalog import build_catalog
from kebab.errors.signal import Signal
from kebab.platform import find_data_folder
from kebab.wire.record import Hinted, LookupRequest, Record, Reply, Request, fill_record

RetryName = Literal["none", "transient", "permanent"]
SeverityName = Literal["info", "warn", "error", "critical"]


class ErrorReply(Reply, Hinted, frozen=True, kw_only=True, tag="error.v1"):
    """A fatal error. Decide by `code` only, and treat an unknown code as a failure."""

    code: str
    message: str
    details: dict[str, Any]
    hint: str | None
    kind: str
    """The family of the error."""
    operation: str
    target: str | None
    """The object of the operation: a path, a model or an id."""
    retryable: bool
    """Whether the same call may succeed later."""
    retry: RetryName
    """Whether to try again: `transient` yes, `permanent` only after a change, `none` no."""
    severity: SeverityName
    correlation_id: str
    """The id of the error in the log, which holds more details."""


class Warned(Reply, Hinted, frozen=True, kw_only=True, tag="warning.v1"):
    """A warning that stops nothing; written to stderr."""

    message: str
    hint: str | None = None


class DetailField(Record, frozen=True, kw_only=True, tag="error_detail.v1"):
    """One typed detail of a code."""

    name: str
    """The key in `details`."""
    type: str
    """The type of the value, as Python writes it."""


class ErrorRow(Record, frozen=True, kw_only=True, tag="error_row.v1"):
    """One error code with everything that callers may rely on."""

    code: str
    kind: str
    canonical: str
    """One of the six canonical codes."""
    domain: str
    origin: str
    """The layer that raises the error."""
    exit_code: int
    http_status: int
    grpc_status: str
    retry: RetryName
    severity: SeverityName
    public: bool
    """Whether the message is shown; otherwise a neutral sentence replaces it."""
    retired: bool
    """Whether the error is no longer raised."""
    message: str
    """The template of the message."""
    hint: str | None
    """The template of the hint."""
    details: list[DetailField]
    explanation: str


class ErrorCatalog(Reply, frozen=True, kw_only=True, tag="error_catalog.v1"):
    """Every error code, or the requested ones."""

    errors: list[ErrorRow]


class ExplainRequest(
    LookupRequest["ErrorCatalog"], frozen=True, kw_only=True, tag="explain_request.v1"
):
    """The errors to explain."""

    code: str | None = None
    """The code, the domain code or the canonical code; null means every error."""


Dimension: TypeAlias = Literal[
    "code", "kind", "retry", "severity", "operation", "provider", "model"
]
"""What faults are counted by."""


class AuditMeta(Struct, frozen=True, kw_only=True):
    """The circumstances of an error."""

    kebab_version: str
    python: str
    platform: str
    """The operating system and the machine."""
    argv: list[str]
    """The command line after `kebab`, without secrets."""
    data_dir: str | None
    """The data directory; null when the settings are unusable."""
    pid: int


class ErrorAudit(Reply, frozen=True, kw_only=True, tag="error_audit.v1"):
    """One error with the details that its public view leaves out; a line of the log.

    It contains no secrets. In the log the envelope is that of the failed call, as in its
    `error.v1`. `kebab errors --id` replies with an envelope of its own; `occurred_at`, `operation`
    and `status` stay.
    """

    correlation_id: str
    occurred_at: str
    operation: str
    status: int
    code: str
    kind: str
    retry: RetryName
    severity: SeverityName
    message: str
    """The message for developers, in English."""
    chain: list[str]
    """The exception and its causes, outermost first."""
    provider: str | None = None
    """The kind of the model server that the error is about; null for other errors."""
    model: str | None = None
    """The model that the error is about; null where no model is known."""
    traceback: list[str]
    """The traceback, line by line; the middle of a very long one is left out."""
    meta: AuditMeta


class ErrorCount(Struct, frozen=True, kw_only=True):
    """How often one value occurs."""

    value: str
    """The value: a code, kind, retry, severity, operation, provider or model."""
    count: int
    share: Annotated[float, Meta(ge=0, le=1)]
    first_at: str
    last_at: str
    correlation_ids: list[str]
    """The ids of the last of them, newest first; `kebab errors --id` shows one."""


class ErrorGroup(Struct, frozen=True, kw_only=True):
    """The errors, counted by one field."""

    by: Dimension
    counts: list[ErrorCount]


class ErrorStats(Reply, frozen=True, kw_only=True, tag="error_stats.v1"):
    """The errors of the log of this machine, counted."""

    since: str | None
    """The earliest time of the counted errors, RFC 3339; null means the whole log."""
    total: int
    unreadable: int
    """The number of lines that are damaged or not from kebab; they are not counted."""
    groups: list[ErrorGroup]
    """The errors by code, kind, retry, severity and operation, and by provider and model where
    errors have them; or by the requested field."""
    log: str
    """The path of the log; older lines are in files beside it that end in `.1` and `.2`."""


class ErrorsRequest(Request["ErrorStats"], frozen=True, kw_only=True, tag="errors_request.v1"):
    """The errors of the log to count."""

    since: str | None = None
    """Only errors from this time on: RFC 3339, `YYYY-MM-DD`, or an age like `24h`."""
    by: Dimension | None = None
    """The only field to count by; null means every field."""


class InspectErrorRequest(
    LookupRequest["ErrorAudit"], frozen=True, kw_only=True, tag="inspect_error_request.v1"
):
    """The error of the log to show in full."""

    name: str
    """A correlation id, or a unique prefix of one."""


def build_error_rows() -> list[ErrorRow]:
    """Return every row of the catalogue, by code."""
    return [build_error_row(signal) for _, signal in sorted(build_catalog().items())]


def build_error_row(signal: type[Signal]) -> ErrorRow:
    """Return one row of the catalogue as a wire object."""
    return fill_record(
        ErrorRow,
        signal,
        exit_code=signal.exit.value,
        http_status=signal.http,
        grpc_status=signal.grpc,
        details=list_details(signal),
        explanation=read_explanation(signal.code),
    )


def read_explanation(code: str) -> str:
    """Return the page that explains a code, without its title."""
    page = find_data_folder("errors", "docs/wire-schema/errors") / f"{code}.md"
    return page.read_text(encoding="utf-8").partition("\n\n")[2].rstrip("\n")


def list_details(signal: type[Signal]) -> list[DetailField]:
    """Return the typed details of a row."""
    fields = dataclasses.fields(signal)  # type: ignore[arg-type]
    return [DetailField(name=field.name, type=_format_type(field.type)) for field in fields]


def _format_type(annotation: Any) -> str:
    if isinstance(annotation, type):
        return annotation.__name__
    return str(annotation).replace("typing.", "")
