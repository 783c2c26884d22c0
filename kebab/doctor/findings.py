"""A check, what it found, and the run of all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kebab import __version__
from kebab.core.ports import Clock
from kebab.errors.signal import Signal
from kebab.wire.health import CheckStatus, Doctor, DoctorCheck

_CIRCULAR = "kebab doctor"
"""A hint that is no help to a person who just ran it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What looking at one thing told; `fix` is the command that mends it."""

    status: CheckStatus
    summary: str
    fix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing to look at.

    `mend` is the fix when looking fails in a way that names none. The step is skipped unless
    every step named in `after` came out `ok`.
    """

    name: str
    look: Callable[[], Finding]
    mend: str
    after: tuple[str, ...] = ()


def succeed(summary: str) -> Finding:
    """Return that all is as it should be."""
    return Finding("ok", summary)


def warn(summary: str, fix: str) -> Finding:
    """Return that something wants attention while the rest works."""
    return Finding("warn", summary, fix)


def fail(summary: str, fix: str) -> Finding:
    """Return that something is broken."""
    return Finding("fail", summary, fix)


def skip(summary: str) -> Finding:
    """Return that there was nothing to look at, or no way to."""
    return Finding("skip", summary)


def format_count(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def run_all(steps: Sequence[Check], clock: Clock) -> Doctor:
    """Run every step and return the report; a step that fails does not stop the others."""
    checks: list[DoctorCheck] = []
    for step in steps:
        unmet = _find_unmet(step, checks)
        started = clock.monotonic()
        finding = skip(f"needs `{unmet}`") if unmet else _run_check(step)
        checks.append(
            DoctorCheck(
                name=step.name,
                status=finding.status,
                summary=finding.summary,
                fix=finding.fix,
                duration_ms=(clock.monotonic() - started) * 1000,
            )
        )
    return Doctor(
        ok=all(check.status != "fail" for check in checks),
        kebab_version=__version__,
        checks=checks,
    )


def _find_unmet(step: Check, done: Sequence[DoctorCheck]) -> str | None:
    met = {check.name for check in done if check.status == "ok"}
    return next((name for name in step.after if name not in met), None)


def _run_check(step: Check) -> Finding:
    try:
        return step.look()
    except Signal as signal:
        advice = signal.format_hint()
        return fail(signal.format_message(), advice if advice and advice != _CIRCULAR else step.mend)
    except OSError as fault:
        place = f": {fault.filename}" if fault.filename else ""
        return fail(f"{fault.strerror or fault}{place}", _suggest_chmod(fault) or step.mend)


def _suggest_chmod(fault: OSError) -> str | None:
    """Return how to give a permission that is missing; what cannot be read may be whole."""
    if not isinstance(fault, PermissionError) or not fault.filename:
        return None
    import shlex

    return f"chmod u+rw {shlex.quote(str(fault.filename))}"
