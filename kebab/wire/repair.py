"""Declares the request and the report of `doctor --fix` as wire records."""

from typing import Literal

from msgspec import Struct, field

from kebab.wire.health import Doctor
from kebab.wire.record import Hinted, Reply, Request

RepairOutcome = Literal["planned", "repaired", "refused", "failed"]


class Repair(Hinted, frozen=True, kw_only=True):
    """A fault that was found, and what is or was done about it."""

    check: str
    """The check of `doctor` that finds the fault, and that must find nothing afterwards."""
    summary: str
    """The fault in one sentence."""
    action: str
    """What would be or was done, in one sentence."""
    outcome: RepairOutcome
    """`planned` was not tried. `repaired` means that the check finds nothing wrong any more.
    `refused` means that nothing was changed, `failed` that the fault is still there; `reason` says
    why."""
    reason: str | None = None
    """Why it was refused or failed; null otherwise."""
    hint: str | None = None
    """The command that helps then; null when there is none."""


class MovedDatabase(Struct, frozen=True, kw_only=True):
    """A damaged database that was moved aside, and what only it had."""

    path: str
    """Its file now. Nothing deletes it but you, and `reset`."""
    documents: int | None = None
    """The number of documents in it; null when that cannot be read."""
    sessions: int | None = None
    """The number of ask sessions in it; null when that cannot be read."""


class RepairReport(Reply, frozen=True, kw_only=True, tag="repair_report.v1"):
    """The result of `doctor --fix`."""

    ok: bool
    """Whether no check of `health` failed."""
    dry_run: bool
    """Whether nothing was changed, because the caller only wants to see the plan."""
    cancelled: bool = False
    """Whether the caller stopped the repairs; a further call does what is left."""
    repairs: list[Repair]
    """Every fault that has a repair, in the order of the repairs."""
    moved: list[MovedDatabase] = field(default_factory=list)
    """The databases that were moved aside."""
    health: Doctor
    """What `doctor` finds: after the repairs, and without them for a dry run."""


class RepairRequest(Request["RepairReport"], frozen=True, kw_only=True, tag="repair_request.v1"):
    """Repair what `doctor` finds."""

    dry_run: bool = False
    """Whether to report only what would be done."""
    sources: list[str] = field(default_factory=list)
    """Folders or files that were indexed, for an index that does not tell any more."""
