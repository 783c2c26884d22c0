"""Publishes the progress of an ingest to other processes, and reads that of another process."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, UnsetType, structs

from kebab.app.conversions import format_timestamp
from kebab.store.sqlite.lock import IngestState, read_writer
from kebab.wire.coverage import Indexing, format_indexing, format_left

if TYPE_CHECKING:
    from kebab.app.context import AppContext
    from kebab.core.progress import Progress, ProgressCallback
    from kebab.store.sqlite.writer import SqliteWriter
    from kebab.wire.health import Doctor
    from kebab.wire.search import DegradedChannel

INTERVAL_S = 1.0
"""The shortest time between two writes of the progress."""

_UNITS: dict[str | None, Literal["files", "passages"]] = {"files": "files", "chunks": "passages"}


class ProgressPublisher:
    """A progress callback that also writes counts of files and chunks beside the writer lock."""

    def __init__(
        self,
        report: "ProgressCallback",
        publish: Callable[[IngestState], None],
        started: float,
        monotonic: Callable[[], float],
    ) -> None:
        self._report = report
        self._publish = publish
        self._monotonic = monotonic
        self._state = IngestState(started)
        self._due = monotonic() + INTERVAL_S
        publish(self._state)

    def __call__(self, event: "Progress") -> None:
        """Report an event, and publish its counts when the last ones are old."""
        self._report(event)
        if event.unit in _UNITS and event.done is not None:
            changed = event.unit != self._state.unit
            self._state = IngestState(
                self._state.started,
                event.done,
                event.total,
                event.unit,
                event.per_second,
                event.seconds_left,
            )
            if changed or self._monotonic() >= self._due:
                self._due = self._monotonic() + INTERVAL_S
                self._publish(self._state)


def watch_progress(
    context: "AppContext", library: "SqliteWriter", report: "ProgressCallback"
) -> ProgressPublisher:
    """Return a progress callback that also publishes the counts beside the lock of the library."""
    clock = context.clock
    return ProgressPublisher(report, library.publish, clock.now(), clock.monotonic)


def read_indexing(context: "AppContext") -> Indexing | UnsetType:
    """Return the ingest that is running now; UNSET when there is none."""
    writer = read_writer(context.paths.data)
    if writer is None or writer.ingest is None:
        return UNSET
    state = writer.ingest
    return Indexing(
        pid=writer.pid,
        started_at=format_timestamp(state.started),
        done=state.done,
        total=state.total,
        unit=_UNITS.get(state.unit),
        per_second=state.rate,
        seconds_left=state.left,
    )


def explain_degraded(
    channels: "Iterable[DegradedChannel]", indexing: Indexing | UnsetType
) -> "list[DegradedChannel]":
    """Return degraded channels; while an ingest runs, none suggests to run one."""
    if isinstance(indexing, UnsetType):
        return list(channels)
    state = f"; indexing: {format_indexing(indexing)}"
    if indexing.unit == "passages" and indexing.seconds_left is not None:
        state = f", about {format_left(indexing.seconds_left)} left"
    return [
        structs.replace(channel, reason=f"{channel.reason}{state}", hint=None)
        if suggests_ingest(channel.hint)
        else channel
        for channel in channels
    ]


_PENDING = "pending"
"""The check of passages without vectors; a running ingest computes them."""


def explain_checks(report: "Doctor", indexing: Indexing | UnsetType) -> "Doctor":
    """Return the report of doctor; while an ingest runs, no note suggests to run one."""
    if isinstance(indexing, UnsetType):
        return report
    checks = [
        structs.replace(check, fix=None)
        if check.status == "warn" and (check.name == _PENDING or suggests_ingest(check.fix))
        else check
        for check in report.checks
    ]
    return structs.replace(report, checks=checks, indexing=indexing)


def suggests_ingest(hint: str | None) -> bool:
    """Return whether a hint is to run an ingest."""
    words = (hint or "").split()
    return words[:1] == ["kebab"] and "ingest" in words
