"""From any exception to what a caller sees: the only place that reads a signal."""

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from kebab.app.redaction import redacted
from kebab.config.model import Settings
from kebab.errors.catalog import Cancelled, Generic
from kebab.errors.reply import build_error_fields
from kebab.errors.signal import Exit, Signal
from kebab.errors.system import absent, exhausted, refusal
from kebab.errors.translations.languages import ENGLISH, Language, wordings
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


PLAIN = View()


@dataclass(frozen=True, slots=True)
class Fault:
    """A classified exception. A quiet one is not reported: the reader went away."""

    reply: ErrorReply
    exit: Exit
    quiet: bool = False


def seen_with(settings: Settings, *, verbose: bool = False) -> View:
    """Return how faults are told under these settings."""
    return View(settings.lang, settings.errors.redact_home, verbose)


def classify(fault: BaseException, *, operation: str, view: View = PLAIN) -> Fault:
    """Return the public view of an exception."""
    signal = _signal(fault, operation)
    told = reply(signal, operation=operation, view=view)
    if view.verbose and (causes := chain(fault)[fault is signal :]):
        shown = [redacted(one, hides_home=view.hides_home) for one in causes]
        told = msgspec.structs.replace(told, details={**told.details, "chain": shown})
    gone = isinstance(fault, BrokenPipeError)
    return Fault(told, Exit.READER_GONE if gone else signal.meaning.exit, quiet=gone)


def reply(signal: Signal, *, operation: str, view: View = PLAIN) -> ErrorReply:
    """Return `error.v1` for a signal, with secrets taken out.

    When its message is not public, what is said is that something went wrong, and of its details
    there remains what cannot tell anything: numbers and truth values.
    """
    meaning = signal.meaning
    # Our own words stay as they are: only what was filled in can hold a secret.
    safe = _safe(signal, view)
    voice = safe if meaning.public else Generic()
    words = wordings(type(voice), view.language)
    fields = build_error_fields(
        signal,
        operation=operation,
        message=voice.text(words),
        hint=_helpful(voice.advice(words), operation),
        details=_shown(safe),
    )
    return ErrorReply(**fields)


def chain(fault: BaseException) -> list[str]:
    """Return an exception and its causes without secrets, outermost first, one line each."""
    lines: list[str] = []
    cause: BaseException | None = fault
    while cause is not None and len(lines) < _MOST_CAUSES:
        words = redacted(str(cause))
        lines.append(f"{type(cause).__name__}: {words}" if words else type(cause).__name__)
        context = None if cause.__suppress_context__ else cause.__context__
        cause = cause.__cause__ or context
    return lines


def _safe(signal: Signal, view: View) -> Signal:
    """Return a signal whose details hold no secrets."""
    details = signal.details().items()
    safe = {name: redacted(value, hides_home=view.hides_home) for name, value in details}
    return replace(signal, **safe)  # type: ignore[type-var]


def _shown(signal: Signal) -> dict[str, Any]:
    """Return the details that a caller sees; what was not asked for is not there."""
    public = signal.meaning.public
    return {
        name: value
        for name, value in signal.details().items()
        if (public or isinstance(value, int | float)) and (name, value) != ("chain", None)
    }


def _signal(fault: BaseException, operation: str) -> Signal:
    if isinstance(fault, Signal):
        return fault
    if isinstance(fault, KeyboardInterrupt):
        return Cancelled(operation=operation)
    if isinstance(fault, MemoryError):
        return exhausted()
    if isinstance(fault, OSError) and fault.filename is not None:
        return refusal(fault, "read", fault.filename)
    if isinstance(fault, ImportError):
        return absent(fault) or Generic()
    return Generic()


def _helpful(hint: str | None, operation: str) -> str | None:
    """Return a hint; None when it only names the command that just failed, with no flag added."""
    done = (operation, _INCLUDED.get(operation))
    circular = any(one and f"{hint} ".startswith(f"kebab {one} ") for one in done)
    return None if circular and hint and " --" not in hint else hint
