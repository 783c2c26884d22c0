"""Runs an operation by its name, from a JSON object to the object that `--json` prints.

HTTP, MCP and other surfaces without flags use it:

1. `decode_operation_request` or `convert_operation_request` makes the request.
2. `run_operation` runs it on a knowledge base.
3. `format_reply` adds the envelope.
4. `report_failure` turns an exception of any step into `error.v1`, and logs it.
"""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from kebab.app.audit_log import FailedCall, log_failure
from kebab.app.classify import ClassifiedError, build_view, classify_error
from kebab.app.request_defaults import fill_request, list_request_defaults
from kebab.app.timestamps import format_timestamp
from kebab.config.settings import Settings
from kebab.core.progress import Cancel
from kebab.errors.catalog import Generic
from kebab.errors.signal import Exit
from kebab.wire.exit_status import find_exit_status
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import Reply, Request, add_envelope, decode_request, to_invalid_input

if TYPE_CHECKING:
    from kebab.app.facade import Kebab

R = TypeVar("R", bound=Reply)

_COMMANDS = {
    "explain_paths": "ingest",
    "ingest_text": "ingest",
    "inspect_error": "errors",
    "review_apply": "review",
    "review_rm": "review",
    "review_rules": "review",
    "review_runs": "review",
}
"""The commands of the operations that flags of another command run."""


def find_command_name(operation: str) -> str:
    """Return the command in the shell that runs an operation, as the envelope has it."""
    return _COMMANDS.get(operation) or operation.replace("_", " ")


def decode_operation_request(operation: str, raw: bytes, settings: Settings) -> Request:
    """Decode a request from JSON; nothing at all means an empty object.

    Fields that it leaves out have the values of the settings, as on the command line.

    Raises:
        InvalidInput: The text is not JSON, or breaks the schema; `field` is the JSON path.
    """
    raw = raw if raw.strip() else b"{}"
    request: Request = decode_request(raw, OPERATIONS[operation].request)
    defaults = list_request_defaults(operation, settings)
    return fill_request(request, msgspec.json.decode(raw), defaults) if defaults else request


def convert_operation_request(
    operation: str, fields: Mapping[str, Any], settings: Settings
) -> Request:
    """Return the request of a decoded JSON object; the rest is as in `decode_operation_request`.

    Raises:
        InvalidInput: The object breaks the schema; `field` is the JSON path.
    """
    try:
        request = msgspec.convert(dict(fields), OPERATIONS[operation].request)
    except (msgspec.ValidationError, RecursionError) as fault:
        raise to_invalid_input(fault) from fault
    return fill_request(request, fields, list_request_defaults(operation, settings))


def run_operation(
    kebab: "Kebab",
    operation: str,
    request: Request,
    *,
    report: Callable[[Any], None] | None = None,
    cancel: Cancel | None = None,
) -> Reply:
    """Run an operation; `report` and `cancel` go only to operations that take them.

    Raises:
        Signal: The operation fails.
    """
    declared = OPERATIONS[operation]
    options: dict[str, Any] = {}
    if report is not None and declared.events is not None:
        options["report"] = report
    if cancel is not None and declared.cancellable:
        options["cancel"] = cancel
    reply: Reply = getattr(kebab, operation)(request, **options)
    return reply


def find_operation_status(reply: Reply, cancel: Cancel | None = None) -> Exit:
    """Return the exit status of a reply; a cancelled change of models leaves passages pending."""
    from kebab.wire.health import ModelReport

    if isinstance(reply, ModelReport) and cancel is not None and cancel.requested and reply.pending:
        return Exit.INTERRUPTED
    return find_exit_status(reply)


def format_reply(operation: str, reply: Reply, *, cancel: Cancel | None = None) -> Reply:
    """Return a reply with the envelope that the command line gives it."""
    return _add_envelope(operation, reply, find_operation_status(reply, cancel))


def format_event(operation: str, event: Reply, status: Exit | None = None) -> Reply:
    """Return an event with its envelope; only a terminal event has a status."""
    return _add_envelope(operation, event, status)


def report_failure(
    operation: str,
    fault: BaseException,
    settings: Settings | None,
    call: FailedCall | None = None,
) -> ClassifiedError:
    """Log an exception, and return it as `error.v1` with its envelope.

    Args:
        operation: The name of the operation.
        fault: The exception.
        settings: The settings of the call; None when they are unusable.
        call: What the log holds about the call; by default the command of the operation.
    """
    command = find_command_name(operation)
    view = build_view(settings or Settings())
    classified = classify_error(fault, operation=command, view=view)
    reply = classified.reply
    if reply.code == Generic.meaning.code:
        reply = msgspec.structs.replace(reply, hint=f"kebab errors --id {reply.correlation_id}")
    provider = settings.models.llm.provider if settings else None
    log_failure(fault, classified, call or FailedCall(tuple(command.split()), provider=provider))
    return ClassifiedError(
        _add_envelope(operation, reply, classified.exit), classified.exit, classified.quiet
    )


def _add_envelope(operation: str, reply: R, status: Exit | None) -> R:
    return add_envelope(
        reply,
        command=find_command_name(operation),
        timestamp=format_timestamp(time.time()),
        exit_code=None if status is None else int(status),
    )
