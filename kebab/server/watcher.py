"""Keeps an index current: runs an ingest when files change, and from time to time over everything.

Nothing is forgotten: the changes of a run that fails are part of the next one, and whatever may
have escaped the notifier is found by a scan of everything. `kebab watch` runs the loop in the
foreground, and `kebab serve --watch` in a thread.
"""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct, field

from kebab.app.classify import build_view, classify_error
from kebab.app.context import AppContext, SystemClock
from kebab.app.facade import Kebab
from kebab.config.settings import Settings
from kebab.core.ports import Clock
from kebab.core.progress import Cancel
from kebab.errors.catalog import Locked, NotIndexed
from kebab.errors.signal import Signal
from kebab.server.notifier import (
    Changes,
    FolderWatch,
    Reports,
    WatchedFolder,
    find_watched_folders,
    require_watchfiles,
    watch_folders,
)
from kebab.wire.error import ErrorReply
from kebab.wire.ingest import IngestReport, IngestRequest
from kebab.wire.stream import WatchEvent, WatchReport

_TICK_S = 2.0
"""The time between two looks at the folders themselves."""

_SCAN_INTERVAL_S = 3600.0
"""The time between two scans of everything while the system reports changes."""

_POLL_INTERVAL_S = 15.0
"""The time between two scans while it reports none."""

_REST_SHARE = 4
_LONGEST_REST_S = 10.0
"""The time between two runs, in processor time of the last one, so that a file that changes all
the time takes a fifth of one processor; a long run is seldom followed by the next one anyway."""

_COUNTS = ("new", "updated", "moved", "removed", "errors")
_FIRST_RETRY_S = 0.25
_LAST_RETRY_S = 60.0
_LAST_LOCK_RETRY_S = 5.0


class WatchPorts(Struct, frozen=True, kw_only=True):
    """What a watcher needs.

    `ingest` runs in silence, `ingest_first` shows its progress. `describe` turns a signal into the
    error that callers see.
    """

    ingest: Callable[[IngestRequest], IngestReport]
    ingest_first: Callable[[IngestRequest], IngestReport]
    folders: FolderWatch
    clock: Clock
    describe: Callable[[Signal], ErrorReply]
    emit: Callable[[WatchEvent], None]
    is_stopped: Callable[[], bool]
    measure_work: Callable[[], float] = time.process_time


class _Pending(Struct):
    """What the next run reads, and when it may begin."""

    paths: set[str] = field(default_factory=set)
    everything: bool = True
    due: float = 0.0

    def add(self, changes: Changes) -> None:
        self.paths |= changes.paths
        self.everything = self.everything or changes.everything


class Watcher:
    """Watches the files that an index is made of, until it is cancelled."""

    def __init__(self, ports: WatchPorts, paths: list[str]) -> None:
        self._ports = ports
        self._paths = paths
        self._pending = _Pending()
        self._runs = self._failures = 0
        self._retry_s = 0.0
        self._last_error: str | None = None
        self._last_scan = self._started = ports.clock.monotonic()
        self._looked = self._started
        self._faulty: set[tuple[str, str]] = set()
        self._interrupted = False
        self._is_polling = False

    def run(self) -> WatchReport:
        """Bring the index up to date, then follow changes; return the summary in the end.

        Raises:
            Signal: The first run fails for another reason than a lock.
        """
        try:
            while not self._is_stopped and not self._index(self._ports.ingest_first, first=True):
                time.sleep(min(0.1, max(0.0, self._pending.due - self._now)))
            if not self._is_stopped:
                self._open_folders()
                self._ports.emit(WatchEvent(kind="started", folders=self._ports.folders.locations))
            while not self._is_stopped:
                if self._pending.due <= self._now and (
                    self._pending.everything or self._pending.paths
                ):
                    self._index(self._ports.ingest)
                self._collect()
        finally:
            self._ports.folders.close()
        return self._build_report()

    @property
    def _now(self) -> float:
        return self._ports.clock.monotonic()

    @property
    def _is_stopped(self) -> bool:
        return self._interrupted or self._ports.is_stopped()

    def _open_folders(self) -> None:
        """Watch the folders as they are now; what changed before is found by a scan."""
        self._ports.folders.open()
        self._pending.everything = True
        self._report_obstacle()

    def _report_obstacle(self) -> None:
        obstacle = self._ports.folders.obstacle
        if obstacle and not self._is_polling:
            message = f"{obstacle.reason}; the folders are scanned from time to time instead"
            event = WatchEvent(kind="polling", message=message, hint=obstacle.hint)
            self._ports.emit(event)
        self._is_polling = obstacle is not None

    def _collect(self) -> None:
        """Wait for changes, and look at the folders."""
        self._pending.add(self._ports.folders.wait())
        self._report_obstacle()
        if self._now - self._looked >= _TICK_S:
            self._looked = self._now
            if self._ports.folders.has_moved():
                self._open_folders()
        interval = _POLL_INTERVAL_S if self._is_polling else _SCAN_INTERVAL_S
        if self._now - self._last_scan >= interval:
            self._pending.everything = True

    def _index(
        self, ingest: Callable[[IngestRequest], IngestReport], *, first: bool = False
    ) -> bool:
        """Run over what is pending; return whether that worked."""
        taken, self._pending = self._pending, _Pending(everything=False)
        request = IngestRequest(paths=self._paths)
        if not taken.everything:
            request = IngestRequest(paths=sorted(taken.paths), changed=True)
        began, worked = self._now, self._ports.measure_work()
        try:
            report = ingest(request)
        except Signal as signal:
            if first and not isinstance(signal, Locked):
                raise
            # The next run takes the changes of this one, and the reason is said once.
            self._pending.paths |= taken.paths
            self._pending.everything = taken.everything or isinstance(signal, NotIndexed)
            is_locked = isinstance(signal, Locked)
            longest = _LAST_LOCK_RETRY_S if is_locked else _LAST_RETRY_S
            self._retry_s = min(longest, max(_FIRST_RETRY_S, 2 * self._retry_s))
            self._pending.due = self._now + self._retry_s
            self._failures += not is_locked
            error = self._ports.describe(signal)
            if self._last_error != (about := f"{error.code} {'' if is_locked else error.message}"):
                self._last_error = about
                self._ports.emit(WatchEvent(kind="waiting" if is_locked else "failed", error=error))
            return False
        self._retry_s, self._last_error = 0.0, None
        rest = _REST_SHARE * (self._ports.measure_work() - worked)
        self._pending.due = self._now + (0.0 if first else min(rest, _LONGEST_REST_S))
        if taken.everything:
            self._last_scan = began
        self._interrupted = report.cancelled
        self._count(report, everything=taken.everything, always=first)
        return True

    def _count(self, report: IngestReport, *, everything: bool, always: bool) -> None:
        """Count a run, and report it if it did anything.

        A scan of everything meets the same faulty files again, which is no news.
        """
        counts = {name: getattr(report, name) for name in _COUNTS}
        faulty = {(item.source, item.doc_path) for item in report.items if item.error}
        if everything and faulty <= self._faulty:
            counts["errors"] = 0
        self._faulty = faulty if everything else self._faulty | faulty
        if any(counts.values()) or report.embedding.embedded or always:
            self._runs += 1
            self._ports.emit(WatchEvent(kind="indexed", report=report))

    def _build_report(self) -> WatchReport:
        return WatchReport(
            folders=self._ports.folders.locations,
            runs=self._runs,
            failures=self._failures,
            polling=self._is_polling,
            interrupted=self._interrupted,
            duration_ms=round((self._now - self._started) * 1000),
        )


Ingest = Callable[[IngestRequest], IngestReport]


def build_watcher(  # noqa: PLR0913 - what differs between the foreground and a thread
    kebab: Kebab,
    settings: Settings,
    config_path: Path,
    paths: list[str],
    *,
    cancel: Cancel,
    emit: Callable[[WatchEvent], None],
    ingest_first: Ingest | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Watcher:
    """Return the watcher of some paths, or of every source.

    Raises:
        DependencyMissing: The library is not installed.
    """
    require_watchfiles()
    reader = AppContext(settings, config_path=config_path, read_only=True)

    def find_folders() -> list[WatchedFolder]:
        with closing(reader):  # a watcher at rest has no database open
            return find_watched_folders(reader, paths)

    def has_ended() -> bool:
        return cancel.requested or is_stopped()

    def ingest(request: IngestRequest) -> IngestReport:
        return kebab.run(request, cancel=cancel)

    def describe(signal: Signal) -> ErrorReply:
        return classify_error(signal, operation="watch", view=build_view(settings)).reply

    def watch(folders: Sequence[str]) -> Reports:
        return watch_folders(folders, has_ended, settings.watch.debounce_ms)

    ports = WatchPorts(
        ingest=ingest,
        ingest_first=ingest_first or ingest,
        folders=FolderWatch(find_folders, watch),
        clock=SystemClock(),
        describe=describe,
        emit=emit,
        is_stopped=has_ended,
    )
    return Watcher(ports, paths)


_STOP_S = 10.0
"""How long a run may take to end after it was cancelled."""


class WatcherThread:
    """A watcher of every source in a thread; an error that ends it is its last event."""

    def __init__(
        self, settings: Settings, config_path: Path, emit: Callable[[WatchEvent], None]
    ) -> None:
        self._settings = settings
        self._config_path = config_path
        self._emit = emit
        self._cancel = Cancel()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End the watcher, and wait until a run has ended."""
        self._cancel.request()
        self._thread.join(_STOP_S)

    def _run(self) -> None:
        emit, cancel = self._emit, self._cancel
        try:
            with Kebab(self._settings, config_path=self._config_path) as kebab:
                build_watcher(
                    kebab, self._settings, self._config_path, [], cancel=cancel, emit=emit
                ).run()
        except Exception as fault:  # noqa: BLE001 - the server goes on
            classified = classify_error(fault, operation="watch", view=build_view(self._settings))
            emit(WatchEvent(kind="ended", error=classified.reply))
