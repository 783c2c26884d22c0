"""Converts exceptions to `error.v1` and exit statuses. No other module reads a signal."""

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from kebab.app.redaction import redact
from kebab.app.trace import find_trace
from kebab.config.settings import Settings
from kebab.errors.catalog import Cancelled, Generic, IoError
from kebab.errors.signal import Exit, Rerun, Signal, build_error_fields
from kebab.errors.system import (
    build_import_error,
    build_io_error,
    build_memory_error,
    build_read_error,
    is_interruption,
    is_memory_fault,
)
from kebab.errors.translations.languages import ENGLISH, Language, find_wordings
from kebab.wire.error import ErrorReply

_MOST_CAUSES = 20
_NO_MEMORY = "out of memory"
"""How the stores word a lack of memory that they meet while they read or write."""
_INCLUDED_COMMANDS = {"model use": "model pull"}
"""The command that another command includes."""


@dataclass(frozen=True, slots=True)
class View:
    """How errors are worded: the language, and the level of detail."""

    language: Language = ENGLISH
    hides_home: bool = False
    verbose: bool = False


DEFAULT_VIEW = View()


@dataclass(frozen=True, slots=True)
class ClassifiedError:
    """An exception as `error.v1`. A quiet one is not reported, because the reader is gone."""

    reply: ErrorReply
    exit: Exit
    quiet: bool = False
    rerun: Rerun | None = None
    """How the failed command line can be repeated so that it succeeds."""


def build_view(settings: Settings, *, verbose: bool = False) -> View:
    """Return how errors are worded under these settings."""
    return View(settings.lang, settings.errors.redact_home, verbose)


def classify_error(
    fault: BaseException, *, operation: str, view: View = DEFAULT_VIEW
) -> ClassifiedError:
    """Return the public view of an exception. It changes nothing."""
    signal = _convert_to_signal(fault, operation)
    reply = build_error_reply(signal, operation=operation, view=view)
    if trace := find_trace():
        reply = msgspec.structs.replace(reply, trace=trace)
    if view.verbose and (causes := list_causes(fault)[fault is signal :]):
        shown = [redact(cause, hides_home=view.hides_home) for cause in causes]
        reply = msgspec.structs.replace(reply, details={**reply.details, "chain": shown})
    gone = isinstance(fault, BrokenPipeError)
    status = Exit.READER_GONE if gone else signal.meaning.exit
    return ClassifiedError(reply, status, quiet=gone, rerun=signal.plan_rerun())


def build_error_reply(signal: Signal, *, operation: str, view: View = DEFAULT_VIEW) -> ErrorReply:
    """Build `error.v1` for a signal, without secrets.

    A signal whose message is not public gets a neutral message, and keeps only details that are
    numbers or truth values.
    """
    meaning = signal.meaning
    # The templates hold no secrets, so only the details are redacted.
    safe = _redact_details(signal, view)
    shown = safe if meaning.public else Generic()
    words = find_wordings(type(shown), view.language)
    fields = build_error_fields(
        signal,
        operation=operation,
        message=shown.format_message(words),
        hint=_drop_circular_hint(shown.format_hint(words), operation),
        details=_list_public_details(safe),
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


def _redact_details(signal: Signal, view: View) -> Signal:
    """Return a copy of a signal whose details hold no secrets."""
    details = signal.details().items()
    safe = {name: redact(value, hides_home=view.hides_home) for name, value in details}
    return replace(signal, **safe)  # type: ignore[type-var]


def _list_public_details(signal: Signal) -> dict[str, Any]:
    """Return the details that a caller may see; without `--verbose` there is no `chain`."""
    public = signal.meaning.public
    return {
        name: value
        for name, value in signal.details().items()
        if (public or isinstance(value, int | float)) and (name, value) != ("chain", None)
    }


def _convert_to_signal(fault: BaseException, operation: str) -> Signal:
    if _is_lack_of_memory(fault):
        return build_memory_error(operation)
    if is_interruption(fault):
        return Cancelled(operation=operation)
    if isinstance(fault, Signal):
        return fault
    if isinstance(fault, OSError):
        return _convert_os_error(fault)
    if isinstance(fault, ImportError):
        return build_import_error(fault) or Generic()
    return Generic()


def _convert_os_error(fault: OSError) -> Signal:
    if fault.filename is not None:
        return build_io_error(fault, "read", fault.filename)
    if isinstance(fault, FileNotFoundError):
        # Only the working folder is looked up without a name.
        return build_read_error(".", "the working folder was deleted")
    return Generic()


def _is_lack_of_memory(fault: BaseException) -> bool:
    if isinstance(fault, Signal):
        return isinstance(fault, IoError) and _NO_MEMORY in fault.cause.lower()
    return isinstance(
        fault, MemoryError | OSError | RuntimeError | ImportError
    ) and is_memory_fault(fault)


def _drop_circular_hint(hint: str | None, operation: str) -> str | None:
    """Return the hint; None when it only repeats the failed command without a new flag."""
    commands = (operation, _INCLUDED_COMMANDS.get(operation))
    circular = any(name and f"{hint} ".startswith(f"kebab {name} ") for name in commands)
    return None if circular and hint and " --" not in hint else hint
