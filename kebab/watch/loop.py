"""Keeps an index current: runs an ingest when files change, and from time to time over everything.

Nothing is forgotten: the changes of a run that fails are part of the next one, and whatever may
have escaped the notifier is found by a scan of everything. Linux reports changes in a folder and
not below it. Every folder that a scan would look into is watched, so that changes in ignored
folders cost nothing. Only this module uses `watchfiles`.
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct, field

from kebab.app.watched import WATCHES_RECURSIVELY, WatchedFolder
from kebab.core.files import IGNORE_FILES, to_slashes
from kebab.core.ports import Clock
from kebab.errors.catalog import Locked, NotIndexed
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.platform import is_linux
from kebab.wire.error import ErrorReply
from kebab.wire.ingest import IngestReport, IngestRequest
from kebab.wire.stream import WatchEvent, WatchReport, WatchTotals

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

_STEP_MS = 100
"""The time between two looks at collected changes; stopping takes as long."""

_LONGEST_GROUP_MS = 2_000
"""The longest time to collect changes that keep coming, before they are handed over."""

_LIMIT_HINT = "sudo sysctl fs.inotify.max_user_watches=1048576 fs.inotify.max_user_instances=1024"


class Notifier(Protocol):
    """Collects changed paths from the moment it is opened."""

    def wait(self, seconds: float) -> set[str] | None:
        """Return the changed paths, none after that time; None when the notifier failed."""

    def close(self) -> None:
        """Stop."""


class NoNotifier(NamedTuple):
    """Why the system reports no changes, and what helps."""

    reason: str
    hint: str | None = None


class FileNotifier:
    """A notifier of this system."""

    def __init__(self, watcher: "RustNotify", stopped: Callable[[], bool]) -> None:
        self._watcher = watcher
        self._stop = SimpleNamespace(is_set=stopped)  # as `watchfiles` asks whether to stop

    def wait(self, seconds: float) -> set[str] | None:
        """Return the changed paths, none after that time; None when the notifier failed.

        Raises:
            KeyboardInterrupt: The user interrupted the process.
        """
        from watchfiles._rust_notify import WatchfilesRustInternalError

        milliseconds = max(1, round(seconds * 1000))
        step = min(_STEP_MS, milliseconds)
        try:
            changes = self._watcher.watch(_LONGEST_GROUP_MS, step, milliseconds, self._stop)
        except (OSError, WatchfilesRustInternalError):
            return None
        if changes == "signal":
            raise KeyboardInterrupt
        return set() if isinstance(changes, str) else {to_slashes(path) for _, path in changes}

    def close(self) -> None:
        """Stop."""
        self._watcher.close()


def require_watchfiles() -> None:
    """Import the library.

    Raises:
        DependencyMissing: It is not installed.
    """
    with translate_import_errors("watching files", "watchfiles", "watch"):
        import watchfiles  # noqa: F401


def open_notifier(folders: Sequence[str], stopped: Callable[[], bool]) -> Notifier | NoNotifier:
    """Open a notifier of changes in these folders; say why when the system refuses.

    Raises:
        FileNotFoundError: A folder is gone.
        PermissionError: A folder cannot be read any more.
        DependencyMissing: The library is not installed.
    """
    require_watchfiles()
    from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

    try:
        # The last argument would hide that the limit of the system is reached.
        watcher = RustNotify(list(folders), False, False, 0, WATCHES_RECURSIVELY, False)  # noqa: FBT003 - the library takes no names
    except (FileNotFoundError, PermissionError):
        raise
    except (OSError, WatchfilesRustInternalError) as fault:
        if _is_limit(fault):
            return NoNotifier("the system watches no more folders", _LIMIT_HINT)
        return NoNotifier(str(fault), None)
    return FileNotifier(watcher, stopped)


def _is_limit(fault: Exception) -> bool:
    """Return whether a limit of inotify is reached: of watches, or of instances."""
    text = str(fault).casefold()
    words = ("limit reached", "too many open files", os.strerror(28).casefold(), "max_user_")
    return is_linux() and any(word in text for word in words)


_MANY_PATHS = 1_000
"""With more changed paths, everything is scanned: it costs less, and the system may have lost
some."""

_MOST_ATTEMPTS = 5
"""How often the folders are listed again because others appeared or were gone."""

_LONGEST_SETTLING_S = 5.0
"""The longest time to wait for files to be quiet."""

_STOP_CHECK_S = 0.1


class Changes(NamedTuple):
    """The paths that changed, or that everything may have changed."""

    paths: frozenset[str] = frozenset()
    everything: bool = False


EVERYTHING = Changes(everything=True)

_State = tuple[list[WatchedFolder], list[tuple[int, int] | None]]


class FolderWatch:
    """Watches folders and collects relevant changes in them.

    `open_notifier` says why it is not possible to open one.
    """

    def __init__(
        self,
        find_folders: Callable[[], list[WatchedFolder]],
        open_notifier: Callable[[Sequence[str]], Notifier | NoNotifier],
        stopped: Callable[[], bool],
    ) -> None:
        self._find_folders = find_folders
        self._open_notifier = open_notifier
        self._stopped = stopped
        self._notifier: Notifier | None = None
        self._state: _State = ([], [])
        self._watched: frozenset[str] = frozenset()
        self._is_stale = False
        self.obstacle: NoNotifier | None = None
        """Why the system reports no changes; None while it does."""

    @property
    def locations(self) -> list[str]:
        """The absolute paths of the watched folders."""
        return sorted({folder.location for folder in self._state[0]})

    def open(self) -> frozenset[str]:
        """Watch the folders as they are now; return the changes that were not handed over yet."""
        old, self._notifier, self._watched = self._notifier, None, frozenset()
        self._state = self._read_state()
        self.obstacle, self._is_stale = None, False
        for _ in range(_MOST_ATTEMPTS):
            folders = frozenset(one for root in self._state[0] for one in root.list_folders())
            if folders == self._watched or not self._replace_notifier(folders):
                break
        late = old.wait(0) if old else None
        if old:
            old.close()
        return frozenset(late or ())

    def close(self) -> None:
        """Stop watching."""
        if self._notifier:
            self._notifier.close()
        self._notifier, self._watched = None, frozenset()

    def has_moved(self) -> bool:
        """Return whether folders were added, removed, or replaced by others of the same name."""
        return self._is_stale or self._read_state() != self._state

    def wait(self, seconds: float, debounce_s: float) -> Changes:
        """Return what changed, after the files were quiet for a while."""
        if self._notifier is None:
            self._sleep(seconds)
            return Changes()
        paths = self._notifier.wait(seconds)
        if paths is None:
            return self._reopen()
        if not any(map(self._is_relevant, paths)):
            return Changes()
        ends = time.monotonic() + _LONGEST_SETTLING_S
        while time.monotonic() < ends and not self._stopped():
            more = self._notifier.wait(debounce_s)
            if more is None:
                return self._reopen()
            if not more:
                break
            paths |= more
        return self._select(paths)

    def _select(self, paths: set[str]) -> Changes:
        """Return the relevant ones of some paths; watch the new folders among them."""
        if any(map(self._changes_folders, paths)):
            paths |= self.open()
        if len(paths) > _MANY_PATHS:
            return EVERYTHING
        return Changes(frozenset(filter(self._is_relevant, paths)))

    def _reopen(self) -> Changes:
        self.close()
        self.open()
        return EVERYTHING

    def _is_relevant(self, path: str) -> bool:
        return any(folder.is_relevant(path) for folder in self._state[0])

    def _changes_folders(self, path: str) -> bool:
        """Return whether a change at a path may add or remove watched folders."""
        if WATCHES_RECURSIVELY:
            return False
        is_ignore_file = path.rpartition("/")[2] in IGNORE_FILES
        return path in self._watched or is_ignore_file or os.path.isdir(path)  # noqa: PTH112 - a plain string

    def _replace_notifier(self, folders: frozenset[str]) -> bool:
        """Watch other folders; return whether to list them again, because some may be new."""
        self.close()
        if not folders:
            return False
        try:
            opened = self._open_notifier(sorted(folders))
        except (FileNotFoundError, PermissionError):
            self._is_stale = True
            return True
        if isinstance(opened, NoNotifier):
            self.obstacle = opened
            return False
        self._notifier, self._watched, self._is_stale = opened, folders, False
        return True

    def _read_state(self) -> _State:
        try:
            folders = self._find_folders()
        except Signal:
            folders = self._state[0]
        return folders, [_identify_folder(folder.location) for folder in folders]

    def _sleep(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while not self._stopped() and (left := ends - time.monotonic()) > 0:
            time.sleep(min(left, _STOP_CHECK_S))


def _identify_folder(path: str) -> tuple[int, int] | None:
    """Return what changes when another folder takes the place; None without one."""
    with suppress(OSError):
        status = os.stat(path)  # noqa: PTH116 - it is asked every two seconds
        return status.st_dev, status.st_ino
    return None


_TICK_S = 2.0
"""The longest time to wait for changes before the folders themselves are looked at."""

_SCAN_INTERVAL_S = 3600.0
"""The time between two scans of everything while the system reports changes."""

_SHORTEST_POLL_S = 5.0
_POLL_SHARE = 50
"""While the system reports no changes: the time between two scans, in durations of a scan."""

_REST_SHARE = 4
_LONGEST_REST_S = 10.0
"""The time between two runs, in processor time of the last one, so that a file that changes all
the time takes a fifth of one processor; a long run is seldom followed by the next one anyway."""

_FIRST_RETRY_S = 0.25
_LAST_RETRY_S = 60.0
_LAST_LOCK_RETRY_S = 5.0

_CLOCK_JUMP_S = 30.0
"""A larger difference between the clock and the time that passed means that the machine slept, or
that this process was stopped."""


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

    def __init__(self, ports: WatchPorts, paths: list[str], debounce_s: float) -> None:
        self._ports = ports
        self._paths = paths
        self._debounce_s = debounce_s
        self._pending = _Pending()
        self._totals = WatchTotals()
        self._runs = self._failures = 0
        self._retry_s = 0.0
        self._last_error: str | None = None
        self._last_scan = self._started = ports.clock.monotonic()
        self._scan_s = 0.0
        self._offset = ports.clock.now() - self._started
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
                self._collect()
                if self._pending.due <= self._now and (
                    self._pending.everything or self._pending.paths
                ):
                    self._index(self._ports.ingest)
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
        """Wait for changes, and look at the folders and at the clock."""
        wait_s = _TICK_S
        if self._pending.everything or self._pending.paths:
            wait_s = min(wait_s, max(0.0, self._pending.due - self._now))
        self._pending.add(self._ports.folders.wait(wait_s, self._debounce_s))
        self._report_obstacle()
        if self._now - self._looked >= _TICK_S:
            self._looked = self._now
            if self._ports.folders.has_moved():
                self._open_folders()
        if self._has_clock_jumped() or self._now - self._last_scan >= self._scan_interval:
            self._pending.everything = True

    @property
    def _scan_interval(self) -> float:
        if not self._is_polling:
            return _SCAN_INTERVAL_S
        return max(_SHORTEST_POLL_S, _POLL_SHARE * self._scan_s)

    def _has_clock_jumped(self) -> bool:
        offset = self._ports.clock.now() - self._now
        jumped = abs(offset - self._offset) > _CLOCK_JUMP_S
        self._offset = offset
        return jumped

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
        took = self._now - began
        self._retry_s, self._last_error = 0.0, None
        rest = _REST_SHARE * (self._ports.measure_work() - worked)
        self._pending.due = self._now + (0.0 if first else min(rest, _LONGEST_REST_S))
        if taken.everything:
            self._last_scan, self._scan_s = began, took
        self._interrupted = report.cancelled
        self._count(report, everything=taken.everything, always=first)
        return True

    def _count(self, report: IngestReport, *, everything: bool, always: bool) -> None:
        """Add a run to the totals, and report it if it did anything.

        A scan of everything meets the same faulty files again, which is no news.
        """
        names = WatchTotals.__struct_fields__
        counts = {name: getattr(report, name) for name in names}
        faulty = {(item.source, item.doc_path) for item in report.items if item.error}
        if everything and faulty <= self._faulty:
            counts["errors"] = 0
        self._faulty = faulty if everything else self._faulty | faulty
        if any(counts.values()) or report.embedding.embedded or always:
            self._runs += 1
            sums = {name: getattr(self._totals, name) + counts[name] for name in names}
            self._totals = WatchTotals(**sums)
            self._ports.emit(WatchEvent(kind="indexed", report=report))

    def _build_report(self) -> WatchReport:
        return WatchReport(
            folders=self._ports.folders.locations,
            runs=self._runs,
            totals=self._totals,
            failures=self._failures,
            polling=self._is_polling,
            interrupted=self._interrupted,
            duration_ms=round((self._now - self._started) * 1000),
        )
