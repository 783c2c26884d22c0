"""The last word where a library is missing that every command needs: by Python's own means."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kebab.errors.dependency import absent
from kebab.errors.signal import Exit, Retry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kebab.errors.catalog import DependencyMissing

_FRAMES = {"--json", "--output-format=json", "--stream", "--bulk"}


def bereft(fault: ImportError, write: Callable[[str], None], arguments: Sequence[str]) -> Exit:
    """Report a library that is missing; return the exit status."""
    signal = absent(fault)
    if signal is None:
        return Exit.ERROR
    machine = _FRAMES & {*arguments} or "--output-format json" in " ".join(arguments)
    write(json.dumps(_reply(signal)) + "\n" if machine else _lines(signal))
    return signal.meaning.exit


def _lines(signal: DependencyMissing) -> str:
    return f"error: {signal}\nhint: {signal.advice()}\ncode: {signal.meaning.code}\n"


def _reply(signal: DependencyMissing) -> dict[str, object]:
    """Return `error.v1`."""
    meaning = signal.meaning
    return {
        "schema_version": "error.v1",
        "command": "kebab",
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "exit_code": int(meaning.exit),
        "output_format": "json",
        "code": meaning.code,
        "message": str(signal),
        "details": signal.details(),
        "hint": signal.advice(),
        "kind": meaning.kind,
        "operation": "kebab",
        "target": None,
        "retryable": meaning.retry is Retry.TRANSIENT,
        "retry": meaning.retry,
        "retry_after_ms": None,
        "severity": meaning.severity,
        "correlation_id": uuid.uuid4().hex,
    }
