"""Records errors in the log of this machine, counts and explains them.

An `ErrorAudit` is written for each failed call, except usage errors. The row of a code in the
catalogue is a subclass of `Signal`. Handlers of operations take the context first.
"""

import difflib
import os
import platform
import time
import traceback
from collections import defaultdict
from pathlib import Path
from typing import get_args

import msgspec
from msgspec import Struct

from kebab import __version__
from kebab.app.classify import ClassifiedError, list_causes
from kebab.app.context import AppContext
from kebab.app.filters import parse_time
from kebab.app.references import build_lookup_fault, build_not_found
from kebab.config.settings import Settings, resolve_paths
from kebab.core.documents import AmbiguousName
from kebab.errors.catalog import DependencyMissing, UsageInvalid, build_catalog
from kebab.errors.log import append_line, read_lines
from kebab.errors.redaction import redact, redact_arguments, redact_start
from kebab.errors.signal import Exit
from kebab.errors.system import escape_undecodable, translate_os_errors
from kebab.wire import error
from kebab.wire.error import AuditMeta, ErrorAudit
from kebab.wire.record import (
    DECODE_ERRORS,
    NotFound,
    add_envelope,
    encode_json,
    fill_record,
    format_timestamp,
)

_DIMENSIONS: tuple[error.Dimension, ...] = get_args(error.Dimension)
"""The fields of `ErrorAudit` that errors are counted by; the code is the first."""
_PARTIAL_DIMENSIONS: tuple[error.Dimension, ...] = ("provider", "model")
"""What only some errors have."""

_MAX_IDS = 3
"""The number of correlation ids that a count names."""

_MAX_CANDIDATES = 10


def count_errors(context: AppContext, request: error.ErrorsRequest) -> error.ErrorStats:
    """Count the errors of the log; a missing log has no errors.

    Raises:
        InvalidInput: `since` cannot be read.
        IoError: The log cannot be read.
    """
    log, since = context.log, request.since
    start = None if since is None else parse_time(since, "$.since", context.clock.now())
    first = None if start is None else format_timestamp(start)
    audits, unreadable = _read_audits(log)
    # Times of one format in UTC are ordered as their texts are.
    recent = [audit for audit in audits if first is None or audit.occurred_at >= first]
    groups = [_count_values(recent, by) for by in _DIMENSIONS]
    return error.ErrorStats(
        since=first,
        total=len(recent),
        unreadable=unreadable,
        groups=[
            group
            for group in groups
            if group.by == request.by
            or (not request.by and (group.counts or group.by not in _PARTIAL_DIMENSIONS))
        ],
        log=escape_undecodable(str(log)),
    )


def inspect_error(
    context: AppContext, request: error.InspectErrorRequest
) -> error.ErrorAudit | NotFound:
    """Return the error of the log whose id is or begins with a name; `NotFound` lists several.

    Raises:
        IoError: The log cannot be read.
    """
    name = escape_undecodable(request.name.strip().lower())
    audits, _ = _read_audits(context.log)
    found = [audit for audit in audits if name and audit.correlation_id.startswith(name)]
    if len(found) == 1:
        return found[0]
    ids = [audit.correlation_id for audit in reversed(found)]
    return build_not_found(
        name, "error", AmbiguousName(tuple(ids[:_MAX_CANDIDATES])) if ids else None
    )


def explain_codes(
    _context: AppContext, request: error.ExplainRequest
) -> error.ErrorCatalog | NotFound:
    """Return the rows of a code of any of the three systems, or every row.

    `NotFound` names similar codes.
    """
    rows, code = error.build_error_rows(), request.code
    found = [row for row in rows if code in (None, row.code, row.domain, row.canonical)]
    if code is None or found:
        return error.ErrorCatalog(errors=found)
    code = escape_undecodable(code)
    near = difflib.get_close_matches(code, build_catalog(), n=3)
    return build_lookup_fault(code, f"no such code: {code}", near)


def _read_audits(log: Path) -> tuple[list[error.ErrorAudit], int]:
    """Return the errors of the log, oldest first, and the number of unreadable lines."""
    audits: dict[str, error.ErrorAudit] = {}
    unreadable = 0
    with translate_os_errors(log, "read"):
        for line in filter(bytes.strip, read_lines(log)):
            try:
                audit = msgspec.json.decode(line, type=error.ErrorAudit)
            except DECODE_ERRORS:
                unreadable += 1
            else:
                # A file that is rotated while it is read yields its lines twice.
                audits[audit.correlation_id] = audit
    return sorted(audits.values(), key=lambda audit: audit.occurred_at), unreadable


def _count_values(audits: list[error.ErrorAudit], by: error.Dimension) -> error.ErrorGroup:
    values: dict[str, list[error.ErrorAudit]] = defaultdict(list)
    for audit in audits:
        if (value := getattr(audit, by)) is not None:
            values[value].append(audit)
    # The most frequent first; of equal numbers the last one, then by name.
    ranked = sorted(values.items())
    ranked.sort(key=lambda item: (len(item[1]), item[1][-1].occurred_at), reverse=True)
    return error.ErrorGroup(
        by=by,
        counts=[
            error.ErrorCount(
                value=value,
                count=len(found),
                share=len(found) / len(audits),
                first_at=found[0].occurred_at,
                last_at=found[-1].occurred_at,
                correlation_ids=[one.correlation_id for one in reversed(found[-_MAX_IDS:])],
            )
            for value, found in ranked
        ],
    )


_MAX_TEXT_CHARS = 4_000
_MAX_LINE_CHARS = 300
_MAX_ARGUMENTS = 100
_HEAD, _TAIL = 40, 120
"""The number of lines of a long traceback that are kept at its start and its end."""


class FailedCall(Struct, frozen=True):
    """The failed call: its command line after `kebab`, and its data directory if classified."""

    arguments: tuple[str, ...] = ()
    data_dir: str | None = None
    provider: str | None = None
    """The provider of the language model in the settings of the call."""


def record_error(
    fault: BaseException, classified: ClassifiedError, call: FailedCall, log: Path
) -> bool:
    """Append an error to the log, which only its owner can read; return whether it was written."""
    line = build_audit(fault, classified, call)
    command, when, status = line.operation, line.occurred_at, line.status
    return append_line(
        log, encode_json(add_envelope(line, command=command, timestamp=when, exit_code=status))
    )


def log_failure(fault: BaseException, classified: ClassifiedError, call: FailedCall) -> Path | None:
    """Log an exception that ends a call, unless it is an interruption or a usage error.

    Returns:
        The log when the message refers to it because it is not public, else None.
    """
    code = classified.reply.code
    if classified.exit == Exit.INTERRUPTED or code == UsageInvalid.code:
        return None
    try:
        log = resolve_paths(Settings()).log
    except DependencyMissing:
        return None  # the folders of this system are unknown
    logged = record_error(fault, classified, call, log)
    return log if logged and not build_catalog()[code].public else None


def build_audit(fault: BaseException, classified: ClassifiedError, call: FailedCall) -> ErrorAudit:
    """Build the audit view of an error, without secrets."""
    reply = classified.reply
    provider: str | None = reply.details.get("provider")
    lines = redact("".join(traceback.format_exception(fault))).splitlines()
    lines = [_shorten(line, _MAX_LINE_CHARS) for line in lines]
    if (dropped := len(lines) - _HEAD - _TAIL) > 0:
        lines = [*lines[:_HEAD], f"… {dropped} lines", *lines[-_TAIL:]]
    argv = redact_arguments(call.arguments[:_MAX_ARGUMENTS], _MAX_LINE_CHARS)
    return fill_record(
        ErrorAudit,
        reply,
        occurred_at=format_timestamp(time.time()),
        status=int(classified.exit),
        message=redact_start(str(fault), _MAX_TEXT_CHARS) or type(fault).__name__,
        chain=[_shorten(cause, _MAX_TEXT_CHARS) for cause in list_causes(fault)],
        provider=provider or (call.provider if "endpoint" in reply.details else None),
        model=reply.details.get("model"),
        traceback=lines,
        meta=AuditMeta(
            kebab_version=__version__,
            python=platform.python_version(),
            platform=f"{platform.system()} {platform.release()} {platform.machine()}",
            argv=argv,
            data_dir=redact(call.data_dir),
            pid=os.getpid(),
        ),
    )


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
