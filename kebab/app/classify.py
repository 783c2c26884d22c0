"""From any exception to what a caller sees: the only place that reads a signal."""

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from kebab.app.redaction import redact
from kebab.config.settings import Settings
from kebab.errors.catalog import Cancelled, Generic
from kebab.errors.signal import Exit, Signal, build_error_fields
from kebab.errors.system import build_import_error, build_io_error, build_memory_error
from kebab.errors.translations.languages import ENGLISH, Language, find_wordings
from kebab.wire.error import ErrorReply

_MOST_CAUSES = 20
_INCLUDED = {"model use": "model pull"}
"""What a command has done by itself when it fails."""


@dataclass(frozen=True, slots=True)
class View:
    """How a caller is told of faults: in which language, and how much."""

    language: Language = ENGLISH
    hides_home: bool = False
    verbose: bool = False


DEFAULT_VIEW = View()


@dataclass(frozen=True, slots=True)
class ClassifiedError:
    """A classified exception. A quiet one is not reported: the reader went away."""

    reply: ErrorReply
    exit: Exit
    quiet: bool = False


def build_view(settings: Settings, *, verbose: bool = False) -> View:
    """Return how faults are told under these settings."""
    return View(settings.lang, settings.errors.redact_home, verbose)


def classify_error(
    fault: BaseException, *, operation: str, view: View = DEFAULT_VIEW
) -> ClassifiedError:
    """Return the public view of an exception."""
    signal = _convert_to_signal(fault, operation)
    told = build_error_reply(signal, operation=operation, view=view)
    if view.verbose and (causes := list_causes(fault)[fault is signal :]):
        shown = [redact(one, hides_home=view.hides_home) for one in causes]
        told = msgspec.structs.replace(told, details={**told.details, "chain": shown})
    gone = isinstance(fault, BrokenPipeError)
    return ClassifiedError(told, Exit.READER_GONE if gone else signal.meaning.exit, quiet=gone)


def build_error_reply(signal: Signal, *, operation: str, view: View = DEFAULT_VIEW) -> ErrorReply:
    """Return `error.v1` for a signal, with secrets taken out.

    When its message is not public, what is said is that something went wrong, and of its details
    there remains what cannot tell anything: numbers and truth values.
    """
    meaning = signal.meaning
    # Our own words stay as they are: only what was filled in can hold a secret.
    safe = _redact_details(signal, view)
    voice = safe if meaning.public else Generic()
    words = find_wordings(type(voice), view.language)
    fields = build_error_fields(
        signal,
        operation=operation,
        message=voice.format_message(words),
        hint=_drop_circular_hint(voice.format_hint(words), operation),
        details=_list_public_details(safe),
    )
    return ErrorReply(**fields)


def list_causes(fault: BaseException) -> list[str]:
    """Return an exception and its causes without secrets, outermost first, one line each."""
    lines: list[str] = []
    cause: BaseException | None = fault
    while cause is not None and len(lines) < _MOST_CAUSES:
        words = redact(str(cause))
        lines.append(f"{type(cause).__name__}: {words}" if words else type(cause).__name__)
        context = None if cause.__suppress_context__ else cause.__context__
        cause = cause.__cause__ or context
    return lines


def _redact_details(signal: Signal, view: View) -> Signal:
    """Return a signal whose details hold no secrets."""
    details = signal.details().items()
    safe = {name: redact(value, hides_home=view.hides_home) for name, value in details}
    return replace(signal, **safe)  # type: ignore[type-var]


def _list_public_details(signal: Signal) -> dict[str, Any]:
    """Return the details that a caller sees; what was not asked for is not there."""
    public = signal.meaning.public
    return {
        name: value
        for name, value in signal.details().items()
        if (public or isinstance(value, int | float)) and (name, value) != ("chain", None)
    }


def _convert_to_signal(fault: BaseException, operation: str) -> Signal:
    if isinstance(fault, Signal):
        return fault
    if isinstance(fault, KeyboardInterrupt):
        return Cancelled(operation=operation)
    if isinstance(fault, MemoryError):
        return build_memory_error()
    if isinstance(fault, OSError) and fault.filename is not None:
        return build_io_error(fault, "read", fault.filename)
    if isinstance(fault, ImportError):
        return build_import_error(fault) or Generic()
    return Generic()


def _drop_circular_hint(hint: str | None, operation: str) -> str | None:
    """Return a hint; None when it only names the command that just failed, with no flag added."""
    done = (operation, _INCLUDED.get(operation))
    circular = any(one and f"{hint} ".startswith(f"kebab {one} ") for one in done)
    return None if circular and hint and " --" not in hint else hint
