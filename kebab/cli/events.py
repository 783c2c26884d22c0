"""Progress as `ingest_progress.v1` lines, ended by exactly one terminal event."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from kebab.app.project import progress
from kebab.core.progress import Progress, ProgressKind
from kebab.wire.ingest import IngestProgress, IngestReport
from kebab.wire.record import Reply

_TERMINAL = (ProgressKind.COMPLETED, ProgressKind.ABORTED)
Write: TypeAlias = Callable[[Reply, int | None], None]


class Events:
    """Writes events as they come, and holds the terminal one back until the status is known."""

    def __init__(self, write: Write, *, always_ends: bool) -> None:
        self._write = write
        self._always_ends = always_ends
        self._started = time.monotonic()
        self._told = False
        self._ended = False
        self._held: IngestProgress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what has begun when the work failed; a stream always gets its end."""
        gone = isinstance(fault, BrokenPipeError)
        if fault is not None and not gone and (self._told or self._always_ends):
            self.leave()

    def __call__(self, event: Progress) -> None:
        """Take an event."""
        if event.kind in _TERMINAL:
            self._held = progress(event)
        else:
            self._told = True
            self._write(progress(event), None)

    def stopping(self) -> None:
        """Say that the work ends soon."""
        message = "stopping after the current document"
        self._write(IngestProgress(kind="heartbeat", message=message, elapsed_ms=self._ms()), None)

    def leave(self) -> None:
        """End the events of work that did not come to its end."""
        self._end(IngestProgress(kind="aborted", elapsed_ms=self._ms()), None)

    def finish(self, status: int, report: IngestReport | None = None, *, cancelled: bool) -> None:
        """End the events, with the report when there is one to carry."""
        kind = "aborted" if cancelled else "completed"
        last = self._held or IngestProgress(kind=kind, elapsed_ms=self._ms())  # type: ignore[arg-type]
        self._end(replace(last, report=report or UNSET), status)

    def _end(self, event: IngestProgress, status: int | None) -> None:
        if not self._ended:
            self._ended = True
            self._write(event, status)

    def _ms(self) -> int:
        return round((time.monotonic() - self._started) * 1000)
