"""What a check of `kebab doctor` returns, and the run over a list of checks."""

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kebab import __version__
from kebab.core.ports import Clock
from kebab.errors.hints import MAX_HINT_CHARS
from kebab.errors.signal import Signal
from kebab.wire.health import CheckStatus, Doctor, DoctorCheck

_CIRCULAR_HINT = "kebab doctor"
"""A hint of errors that does not help a user who has just run it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check; `fix` is the command that repairs a fault."""

    status: CheckStatus
    summary: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the health.

    `fix` is reported when the check raises an error that names no command. The check is skipped
    unless every check in `requires` has the status `ok`.
    """

    name: str
    run: Callable[[], Finding]
    fix: str
    requires: tuple[str, ...] = ()


def succeed(summary: str) -> Finding:
    """Return a finding without a fault."""
    return Finding("ok", summary)


def warn(summary: str, fix: str) -> Finding:
    """Return a finding that needs attention while the rest works."""
    return Finding("warn", summary, fix)


def fail(summary: str, fix: str) -> Finding:
    """Return the finding of a fault."""
    return Finding("fail", summary, fix)


def skip(summary: str) -> Finding:
    """Return a finding for a check that cannot run or has nothing to check."""
    return Finding("skip", summary)


def suggest_move(path: Path) -> str:
    """Return the command that moves a file or folder to a name that nothing has.

    A fix never deletes: what is moved away can be looked at, and moved back. A long folder is named
    only once, because a hint is short.
    """
    names = (f"{path.name}.old", *(f"{path.name}.old.{number}" for number in range(1, 100)))
    free = (path.with_name(name) for name in names if not os.path.lexists(path.with_name(name)))
    target = next(free)
    line = f"mv {shlex.quote(str(path))} {shlex.quote(str(target))}"
    if len(line) <= MAX_HINT_CHARS:
        return line
    folder = shlex.quote(str(path.parent))
    return f"cd {folder} && mv {shlex.quote(path.name)} {shlex.quote(target.name)}"


def format_count(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def run_all(checks: Sequence[Check], clock: Clock) -> Doctor:
    """Run every check and return the report; a check that fails does not stop the others."""
    done: list[DoctorCheck] = []
    for check in checks:
        met = {result.name for result in done if result.status == "ok"}
        unmet = next((name for name in check.requires if name not in met), None)
        started = clock.monotonic()
        finding = skip(f"needs `{unmet}`") if unmet else _run_check(check)
        done.append(
            DoctorCheck(
                name=check.name,
                status=finding.status,
                summary=finding.summary,
                fix=finding.fix,
                duration_ms=(clock.monotonic() - started) * 1000,
            )
        )
    healthy = all(check.status != "fail" for check in done)
    return Doctor(ok=healthy, kebab_version=__version__, checks=done)


def _run_check(check: Check) -> Finding:
    try:
        return check.run()
    except Signal as signal:
        hint = signal.format_hint()
        return fail(signal.format_message(), hint if hint and hint != _CIRCULAR_HINT else check.fix)
    except OSError as fault:
        location = f": {fault.filename}" if fault.filename else ""
        # The file itself may be intact, so the missing permission is granted.
        is_refused = isinstance(fault, PermissionError) and fault.filename
        fix = f"chmod u+rw {shlex.quote(str(fault.filename))}" if is_refused else check.fix
        return fail(f"{fault.strerror or fault}{location}", fix)
