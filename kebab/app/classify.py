"""Converts exceptions to `error.v1`, without secrets. No other module reads a signal."""

from dataclasses import replace

import msgspec
from msgspec import Struct

from kebab.errors.catalog import Cancelled, Generic, IoError
from kebab.errors.hints import Rerun
from kebab.errors.redaction import redact
from kebab.errors.signal import ENGLISH, Exit, Language, Signal, build_error_fields, find_wordings
from kebab.errors.system import (
    build_import_error,
    build_io_error,
    build_memory_error,
    build_read_error,
    is_interruption,
    is_memory_fault,
)
from kebab.wire.error import ErrorReply

_MOST_CAUSES = 20
_NO_MEMORY = "out of memory"
"""How the stores word a lack of memory that they meet while they read or write."""
_INCLUDED_COMMANDS = {"model use": "model pull"}
"""The command that another command includes."""


class View(Struct, frozen=True):
    """How errors are worded: the language, and the level of detail."""

    language: Language = ENGLISH
    verbose: bool = False


DEFAULT_VIEW = View()


class ClassifiedError(Struct, frozen=True):
    """An exception as `error.v1`. A quiet one is not reported, because the reader is gone."""

    reply: ErrorReply
    exit: Exit
    quiet: bool = False
    rerun: Rerun | None = None
    """How the failed command line can be repeated so that it succeeds."""


def classify_error(
    fault: BaseException, *, operation: str, view: View = DEFAULT_VIEW
) -> ClassifiedError:
    """Return the public view of an exception. It changes nothing."""
    signal = _convert_to_signal(fault, operation)
    reply = build_error_reply(signal, operation=operation, view=view)
    if view.verbose and (causes := list_causes(fault)[fault is signal :]):
        shown = [redact(cause) for cause in causes]
        reply = msgspec.structs.replace(reply, details={**reply.details, "chain": shown})
    gone = isinstance(fault, BrokenPipeError)
    status = Exit.READER_GONE if gone else signal.exit
    return ClassifiedError(reply, status, quiet=gone, rerun=signal.plan_rerun())


def build_error_reply(signal: Signal, *, operation: str, view: View = DEFAULT_VIEW) -> ErrorReply:
    """Build `error.v1` for a signal, without secrets.

    A signal whose message is not public gets a neutral message, and keeps only details that are
    numbers or truth values.
    """
    # The templates hold no secrets, so only the details are redacted.
    redacted = {field: redact(content) for field, content in signal.details().items()}
    safe = replace(signal, **redacted)  # type: ignore[type-var]
    shown = safe if signal.public else Generic()
    words = find_wordings(type(shown), view.language)
    hint = shown.format_hint(words)
    # One that only repeats the failed command without a new flag is left out.
    commands = filter(None, (operation, _INCLUDED_COMMANDS.get(operation)))
    is_repeated = any(f"{hint} ".startswith(f"kebab {name} ") for name in commands)
    is_circular = is_repeated and " --" not in (hint or "")
    fields = build_error_fields(
        signal,
        operation=operation,
        message=shown.format_message(words),
        hint=None if is_circular else hint,
        # Without `--verbose` there is no `chain`.
        details={
            name: value
            for name, value in safe.details().items()
            if (signal.public or isinstance(value, int | float))
            and (name, value) != ("chain", None)
        },
    )
    return ErrorReply(**fields)


def list_causes(fault: BaseException) -> list[str]:
    """Return an exception and its causes as one line each, outermost first, without secrets."""
    lines: list[str] = []
    cause: BaseException | None = fault
    while cause is not None and len(lines) < _MOST_CAUSES:
        words = redact(str(cause))
        lines.append(f"{type(cause).__name__}: {words}" if words else type(cause).__name__)
        context = None if cause.__suppress_context__ else cause.__context__
        cause = cause.__cause__ or context
    return lines


def _convert_to_signal(fault: BaseException, operation: str) -> Signal:
    if _is_lack_of_memory(fault):
        return build_memory_error(operation)
    if is_interruption(fault):
        return Cancelled(operation=operation)
    if isinstance(fault, Signal):
        return fault
    if isinstance(fault, OSError) and fault.filename is not None:
        return build_io_error(fault, "read", fault.filename)
    if isinstance(fault, FileNotFoundError):
        # Only the working folder is looked up without a name.
        return build_read_error(".", "the working folder was deleted")
    missing = build_import_error(fault) if isinstance(fault, ImportError) else None
    return missing or Generic()


def _is_lack_of_memory(fault: BaseException) -> bool:
    if isinstance(fault, Signal):
        return isinstance(fault, IoError) and _NO_MEMORY in fault.cause.lower()
    return isinstance(
        fault, MemoryError | OSError | RuntimeError | ImportError
    ) and is_memory_fault(fault)
