"""The repairs of `kebab doctor --fix`: their plan, their order and the run over them.

A repair names the check that finds its fault, so that detection is written once. It counts as
repaired when that check finds nothing any more. Everything that a repair replaces or deletes is in
the copy that is made before the first one that drops anything.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from msgspec import structs

from kebab.core.progress import Cancel
from kebab.doctor.checks import UPGRADE, Check, Finding, run_check
from kebab.errors.catalog import Locked
from kebab.errors.signal import Signal
from kebab.wire.repair import Repair, RepairCopy, RepairKind, RepairOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a repair would do; with a `reason` it cannot, and `hint` is a command that helps."""

    action: str
    drops: bool = False
    bytes: int = 0
    reason: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """A row of the table of repairs: the checks that find its fault, its plan, and the work.

    Only a check with one of the `statuses` is a fault. The checks that it `needs` must find nothing
    before. `apply` raises a signal when it cannot do its work, and may be called again after a kill
    at any point.
    """

    kind: RepairKind
    checks: Sequence[Check]
    plan: Callable[[], Plan]
    apply: Callable[[], None]
    needs: Sequence[Check] = ()
    statuses: Sequence[str] = ("fail", "warn")

    def find(self, known: dict[str, Finding]) -> tuple[str, Finding] | None:
        """Return the first check that finds a fault, and its finding.

        `known` has the findings of checks since the last change, and gets further ones.
        """
        if any(_run_check(check, known).status != "ok" for check in self.needs):
            return None
        for check in self.checks:
            finding = _run_check(check, known)
            if finding.status in self.statuses:
                return check.name, finding
            if finding.status != "ok":
                return None  # the next check needs this one
        return None


def _run_check(check: Check, known: dict[str, Finding]) -> Finding:
    if check.name not in known:
        known[check.name] = run_check(check)
    return known[check.name]


def plan_repairs(remedies: Sequence[Remedy]) -> list[Repair]:
    """Return every fault that has a repair, with what would be done."""
    known: dict[str, Finding] = {}
    return [repair for remedy in remedies if (repair := _plan_repair(remedy, known))]


def _plan_repair(remedy: Remedy, known: dict[str, Finding]) -> Repair | None:
    fault = remedy.find(known)
    if fault is None:
        return None
    check, finding = fault
    plan = remedy.plan()
    if finding.fix == UPGRADE:
        plan = Plan(action="nothing", reason=finding.summary, hint=UPGRADE)
    return Repair(
        kind=remedy.kind,
        check=check,
        summary=finding.summary,
        outcome="refused" if plan.reason else "planned",
        **asdict(plan),
    )


def run_repairs(
    remedies: Sequence[Remedy],
    make_copy: Callable[[], RepairCopy],
    report: Callable[[str], None],
    cancel: Cancel,
) -> tuple[list[Repair], RepairCopy | None]:
    """Run the repairs in order; return their outcomes, and the copy if one was needed.

    One repair may remove the fault of a later one, or uncover another, so each is planned again
    when its turn comes.

    Raises:
        Locked: Another process is writing.
    """
    done: list[Repair] = []
    known: dict[str, Finding] = {}
    copy: RepairCopy | None = None
    refused: Signal | None = None
    for remedy in remedies:
        cancelled = cancel.requested
        repair = _plan_repair(remedy, known)
        if repair is None:
            continue
        if cancelled or repair.outcome == "refused":
            done.append(repair)
            continue
        if repair.drops and copy is None and refused is None:
            report("copying the index")
            try:
                copy = make_copy()
            except Locked:
                raise
            except Signal as signal:
                refused = signal
        if repair.drops and refused is not None:
            done.append(_end(repair, "refused", refused))
            continue
        report(f"repairing: {remedy.kind.replace('_', ' ')}")
        done.append(_run(remedy, repair, known))
    return done, copy


def _run(remedy: Remedy, repair: Repair, known: dict[str, Finding]) -> Repair:
    """Run one repair; it is `repaired` only when its check finds nothing any more."""
    known.clear()
    try:
        remedy.apply()
    except Locked:
        raise
    except Signal as signal:
        return _end(repair, "failed", signal)
    fault = remedy.find(known)
    if fault is None:
        return structs.replace(repair, outcome="repaired")
    finding = fault[1]
    reason = f"the check still finds: {finding.summary}"
    return structs.replace(repair, outcome="failed", reason=reason, hint=finding.fix)


def _end(repair: Repair, outcome: RepairOutcome, signal: Signal) -> Repair:
    return structs.replace(
        repair, outcome=outcome, reason=signal.format_message(), hint=signal.format_hint()
    )
