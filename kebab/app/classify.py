"""From any exception to what a caller sees: the only place that reads a signal."""

import re
import uuid
from dataclasses import dataclass
from typing import Any

from kebab.core.legible import legible
from kebab.errors.catalog import Cancelled, Generic
from kebab.errors.refusal import refusal
from kebab.errors.signal import Exit, Retry, Signal
from kebab.wire.error import ErrorReply

_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")
_SECRET = re.compile(r"(?i)\b(bearer\s+|token=|api[_-]?key=|password=)[^\s&\"']+")
_TARGETS = ("path", "model", "endpoint", "field", "option", "data_dir", "operation", "what")


@dataclass(frozen=True, slots=True)
class Fault:
    """A classified exception. A quiet one is not reported: the reader went away."""

    reply: ErrorReply
    exit: Exit
    quiet: bool = False


def classify(fault: BaseException, *, operation: str, verbose: bool = False) -> Fault:
    """Return the public view of an exception."""
    signal = _signal(fault, operation)
    if isinstance(signal, Generic) and verbose:
        signal.chain = chain(fault)
    gone = isinstance(fault, BrokenPipeError)
    status = Exit.READER_GONE if gone else signal.meaning.exit
    return Fault(reply(signal, operation=operation), status, quiet=gone)


def reply(signal: Signal, *, operation: str) -> ErrorReply:
    """Return `error.v1` for a signal, with secrets taken out."""
    meaning = signal.meaning
    details = {name: redacted(value) for name, value in signal.details().items()}
    if details.get("chain", ()) is None:
        del details["chain"]
    hint = signal.advice()
    return ErrorReply(
        code=meaning.code,
        message=redacted(signal.text()),
        details=details,
        hint=redacted(hint) if hint else None,
        kind=meaning.kind.value,
        operation=operation,
        target=_target(details),
        retryable=meaning.retry is Retry.TRANSIENT,
        retry=meaning.retry.value,
        severity=meaning.severity.value,
        correlation_id=uuid.uuid4().hex,
    )


def redacted(value: Any) -> Any:
    """Return a value with URL user info, tokens and the like replaced."""
    if isinstance(value, str):
        return _SECRET.sub(r"\1[redacted]", _USER_INFO.sub("[redacted]@", legible(value)))
    if isinstance(value, list):
        return [redacted(item) for item in value]
    return value


def chain(fault: BaseException) -> list[str]:
    """Return an exception and its causes, outermost first, one line each."""
    lines: list[str] = []
    cause: BaseException | None = fault
    while cause is not None:
        lines.append(redacted(f"{type(cause).__name__}: {cause}"))
        cause = cause.__cause__ or cause.__context__
    return lines


def _signal(fault: BaseException, operation: str) -> Signal:
    if isinstance(fault, Signal):
        return fault
    if isinstance(fault, KeyboardInterrupt):
        return Cancelled(operation=operation)
    if isinstance(fault, OSError) and fault.filename is not None:
        return refusal(fault, "read", fault.filename)
    return Generic()


def _target(details: dict[str, Any]) -> str | None:
    found = (details[name] for name in _TARGETS if isinstance(details.get(name), str))
    return next(found, None)
