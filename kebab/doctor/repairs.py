"""Repairs what the checks find: plans, applies, and checks again.

A repair belongs to a check: it runs when the finding names `doctor --fix`, and has succeeded when
the check finds nothing any more.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec import structs

from kebab.core.ports import Clock
from kebab.core.progress import Cancel
from kebab.doctor.checks import FIX, Check, run_all
from kebab.errors.catalog import Locked
from kebab.errors.signal import Signal
from kebab.wire.health import Doctor, DoctorCheck, Repair

OPERATION = "doctor --fix"
_NO_SOURCES = "nothing tells any more which folders the index was made of"


class Remedy(NamedTuple):
    """What a repair does, in words and as a function.

    One that `reads_sources` is refused when nothing tells which folders to read.
    """

    action: str
    apply: Callable[[], None]
    reads_sources: bool = False


class Repairs(NamedTuple):
    """The remedies of one knowledge base by the checks that find their faults.

    `list_checks` returns the checks of a knowledge base that is opened anew, and `knows_sources`
    whether folders are known to read again.
    """

    remedies: Mapping[str, Remedy]
    list_checks: Callable[[], Sequence[Check]]
    knows_sources: Callable[[], bool]
    clock: Clock

    def find_faults(self) -> list[DoctorCheck]:
        """Return the findings that have a remedy."""
        checks = [one for one in self.list_checks() if one.name in self.remedies]
        return [one for one in run_all(checks, self.clock).checks if one.fix == FIX]

    def plan(self, fault: DoctorCheck) -> Repair:
        """Return what would be done about a fault."""
        remedy = self.remedies[fault.name]
        planned = Repair(
            check=fault.name, summary=fault.summary, action=remedy.action, outcome="planned"
        )
        if remedy.reads_sources and not self.knows_sources():
            hint = f"kebab {OPERATION} --source FOLDER"
            return structs.replace(planned, outcome="refused", reason=_NO_SOURCES, hint=hint)
        return planned

    def run(self, cancel: Cancel, tell: Callable[[str], None]) -> list[Repair]:
        """Repair one fault after another, as each may remove or uncover others.

        Raises:
            Locked: Another process is writing.
        """
        done: dict[str, Repair] = {}
        while fault := next((one for one in self.find_faults() if one.name not in done), None):
            planned = self.plan(fault)
            if planned.outcome == "planned" and not cancel.requested:
                tell(f"repairing: {fault.name.replace('_', ' ')}")
                planned = self._apply(planned)
            done[fault.name] = planned
        return list(done.values())

    def _apply(self, planned: Repair) -> Repair:
        try:
            self.remedies[planned.check].apply()
        except Locked:
            raise
        except Signal as signal:
            reason, hint = signal.format_message(), signal.format_hint()
            return structs.replace(planned, outcome="failed", reason=reason, hint=hint)
        return structs.replace(planned, outcome="repaired")


def confirm_repairs(repairs: Sequence[Repair], health: Doctor) -> list[Repair]:
    """Return the repairs; one whose check still finds its fault has failed after all."""
    still = {one.name: one.summary for one in health.checks if one.fix == FIX}
    return [
        structs.replace(one, outcome="failed", reason=f"the check still finds: {still[one.check]}")
        if one.outcome == "repaired" and one.check in still
        else one
        for one in repairs
    ]
