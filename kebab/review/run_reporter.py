"""Builds the events of a run."""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from kebab.core.review_store import StoredRun, StoredUnit
from kebab.wire.review_stream import ReviewEvent, ReviewEventData

_UNITS_PER_PROGRESS = 100


class RunReporter:
    """Reports the events of one run. Units that take almost no time share events."""

    def __init__(
        self, run: StoredRun, report: Callable[[ReviewEvent], None], *, holds_pages: bool = False
    ) -> None:
        """Send the events to `report`; with `holds_pages` pages wait for `release`."""
        self._run_id = run.run_id
        self._report = report
        self._passed = 0
        self._held: list[ReviewEvent] | None = [] if holds_pages else None

    def release(self) -> None:
        """Send the pages that wait, and do not hold others."""
        held, self._held = self._held, None
        for event in held or ():
            self._report(event)

    def report(self, kind: Any, **fields: Any) -> None:
        """Report an event; `fields` are those of `ReviewEventData`."""
        data = ReviewEventData(run_id=self._run_id, **fields)
        event = ReviewEvent(type=kind, data=data)
        if kind == "items" and self._held is not None:
            self._held.append(event)
        else:
            self._report(event)

    def report_stage(self, unit: StoredUnit, file: str, status: str, **fields: Any) -> None:
        """Report the state of a unit of a file."""
        chunk_id = f"chunk-{unit.number}"
        self.report(
            "stage", chunk_id=chunk_id, stage=unit.unit.kind, status=status, label=file, **fields
        )

    def report_progress(self, number: int, total: int | None, *, always: bool = False) -> None:
        """Report that a unit is done: every hundredth, or `always`."""
        self._passed += 1
        if always or self._passed % _UNITS_PER_PROGRESS == 0:
            known = UNSET if total is None else total
            self.report("progress", chunk_id=f"chunk-{number}", emitted=number + 1, total=known)
