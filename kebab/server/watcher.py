"""Keeps an index current: runs an ingest when files change, and from time to time over everything.

Nothing is forgotten: the changes of a run that fails are part of the next one, and whatever may
have escaped the system is found by a scan of everything. `kebab watch` runs the loop in the
foreground, and `kebab serve --watch` in a thread.

Linux reports changes in a folder and not below it, so every folder that a scan would look into is
watched. A recursive watch would follow links out of the folder, fail at the first folder that the
user may not read, and spend the limit of the system on ignored folders. Only this module uses
`watchfiles`.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, field

from kebab.app.classify import View, classify_error
from kebab.app.context import AppContext
from kebab.app.facade import Kebab
from kebab.config.settings import Settings
from kebab.core.documents import Source, build_named_files_key, parse_named_files
from kebab.core.files import (
    IGNORE_FILES,
    ScanRules,
    cut_root,
    is_below,
    resolve_folder_links,
    resolve_links,
)
from kebab.core.progress import Cancel
from kebab.errors.catalog import Locked, NotIndexed
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.ingest.plan import list_ancestors
from kebab.platform import is_linux
from kebab.source.ignore import find_skip_reason_from_root
from kebab.source.walk import list_folders
from kebab.wire.error import ErrorReply
from kebab.wire.ingest import IngestReport, IngestRequest
from kebab.wire.stream import WatchEvent, WatchReport

_STEP_MS = 100
"""The time between two looks at collected changes; stopping takes as long."""
_LONGEST_GROUP_MS = 2_000
"""The longest time to collect changes that keep coming, before they are handed over."""
_LONGEST_SETTLING_S = 5.0
"""The longest time to wait for files to be quiet."""
_MANY_PATHS = 1_000
"""With more changed paths, everything is scanned: it costs less, and the system may have lost
some."""

_FULL = ("limit reached", "too many open files", os.strerror(28).casefold(), "max_user_")
_LIMIT_HINT = "sudo sysctl fs.inotify.max_user_watches=1048576 fs.inotify.max_user_instances=1024"

Reports: TypeAlias = Iterator[set[str]]
"""The paths that changed, or none after a silence; without end, and closed when it is deleted."""


WATCHES_RECURSIVELY = not is_linux()
"""Whether the system reports changes below a folder; Linux reports those in it only."""


class WatchedFolder(Struct, frozen=True):
    """The folder `below` the root of a source, or only the files `named` in it.

    Ignore rules do not apply to `named`. `claimed` are absolute paths that belong to another
    source or to kebab.
    """

    root: str
    rules: ScanRules
    below: str = ""
    named: frozenset[str] = frozenset()
    only_named: bool = False
    claimed: Mapping[str, str] = field(default_factory=dict)

    @property
    def location(self) -> str:
        """The absolute path of the folder."""
        return f"{self.root}/{self.below}" if self.below else self.root

    def list_folders(self) -> list[str]:
        """Return the folders in which changes matter; none when the folder cannot be read."""
        if self.only_named or WATCHES_RECURSIVELY:
            return [self.location] if os.path.isdir(self.location) else []  # noqa: PTH112 - a plain string
        try:
            return list_folders(self.root, self.rules, below=self.below, claimed=self.claimed)
        except OSError:
            return []

    def is_relevant(self, path: str) -> bool:
        """Return whether a change at an absolute path can change the index."""
        if path != self.location and not is_below(path, self.location):
            return False
        relative = cut_root(path, self.root)
        if relative in self.named or not relative:
            return True
        claimed = (f"{self.root}/{one}" in self.claimed for one in list_ancestors(relative))
        if self.only_named or any(claimed):
            return False
        if relative.rpartition("/")[2] in IGNORE_FILES:
            return True
        is_folder = os.path.isdir(path)  # noqa: PTH112 - a plain string
        with suppress(OSError):
            return not find_skip_reason_from_root(self.root, self.rules, relative, folder=is_folder)
        return True


def find_watched_folders(context: AppContext, paths: Sequence[str]) -> list[WatchedFolder]:
    """Return the folders to watch for what the user names, or for every source.

    The index has them already. A path that is gone is taken for a folder.

    Raises:
        NotIndexed: There is no index.
    """
    with context.open_reader() as reader:
        catalogue = context.build_catalogue(reader)
        sources = [one for one in catalogue.list_sources() if one.kind != "stdin"]
        named = {
            one.name: parse_named_files(reader.get_value(build_named_files_key(one.name)))
            for one in sources
        }
        if any(source.kind == "files" for source in sources):
            for document in catalogue.list_names():
                if any(one.name == document.source and one.kind == "files" for one in sources):
                    named[document.source].add(document.path)
    rules = context.build_scan_rules()
    private = dict.fromkeys(map(resolve_links, context.private_folders), "excluded")

    def build(source: Source, below: str = "") -> WatchedFolder:
        inside = [one.root for one in sources if is_below(one.root, source.root)]
        return WatchedFolder(
            root=source.root,
            rules=rules,
            below=below,
            named=frozenset(named[source.name]),
            only_named=source.kind == "files",
            claimed=private | dict.fromkeys(inside, "other_source"),
        )

    if not paths:
        return [build(one) for one in sources]
    found = []
    for path in paths:
        if os.path.isfile(path):  # noqa: PTH113 - a plain string
            folder, _, name = resolve_folder_links(path).rpartition("/")
            one = WatchedFolder(folder or "/", rules, named=frozenset({name}), only_named=True)
            found.append(one)
            continue
        place = resolve_links(path)
        owners = [
            one
            for one in sources
            if one.kind == "folder" and (one.root == place or is_below(place, one.root))
        ]
        if owners:
            nearest = max(owners, key=lambda source: len(source.root))
            found.append(build(nearest, cut_root(place, nearest.root)))
    return found


def watch_folders(folders: Sequence[str], stopped: Callable[[], bool], silence_ms: int) -> Reports:
    """Yield the paths that changed, or nothing after a silence, until it is stopped.

    Raises:
        OSError: A folder is gone or cannot be read, or the system refuses.
        RuntimeError: The library fails.
        KeyboardInterrupt: The user interrupted the process.
    """
    from watchfiles import watch

    stop_event: Any = SimpleNamespace(is_set=stopped)
    reports = watch(
        *folders,
        watch_filter=None,  # with one, changes that it leaves out would end no wait
        debounce=_LONGEST_GROUP_MS,
        step=_STEP_MS,
        stop_event=stop_event,
        rust_timeout=silence_ms,
        yield_on_timeout=True,
        recursive=WATCHES_RECURSIVELY,
        ignore_permission_denied=False,  # it would hide that the limit of the system is reached
    )
    for changes in reports:
        yield {path for _, path in changes}


class Obstacle(NamedTuple):
    """Why the system reports no changes, and what helps."""

    reason: str
    hint: str | None = None


class Changes(NamedTuple):
    """The paths that changed, or that everything may have changed."""

    paths: frozenset[str] = frozenset()
    everything: bool = False


EVERYTHING = Changes(everything=True)

_State: TypeAlias = tuple[list[WatchedFolder], list[tuple[int, int] | None]]


class FolderWatch:
    """Watches folders, which `watch` begins to do, and collects relevant changes in them."""

    def __init__(
        self,
        find_folders: Callable[[], list[WatchedFolder]],
        watch: Callable[[Sequence[str]], Reports],
    ) -> None:
        self._find_folders = find_folders
        self._watch = watch
        self._reports: Reports = iter(())
        self._state: _State = ([], [])
        self._watched: frozenset[str] = frozenset()
        self._is_stale = False
        self.obstacle: Obstacle | None = None
        """Why the system reports no changes; None while it does."""

    @property
    def locations(self) -> list[str]:
        """The absolute paths of the watched folders."""
        return sorted({folder.location for folder in self._state[0]})

    def open(self) -> set[str]:
        """Watch the folders as they are now; return the changes that were not handed over yet."""
        old = self._reports
        self.close()
        self.obstacle, self._is_stale = None, False
        self._state = self._read_state()
        folders = self._list_folders()
        late = set[str]()
        if folders:
            reports = self._watch(sorted(folders))
            try:
                late = next(reports, late)
            except (FileNotFoundError, PermissionError):
                self._is_stale = True
            except (OSError, RuntimeError) as fault:
                # inotify has a limit of watches and one of instances.
                text = str(fault).casefold()
                is_full = is_linux() and any(word in text for word in _FULL)
                reason = "the system watches no more folders" if is_full else str(fault)
                self.obstacle = Obstacle(reason, _LIMIT_HINT if is_full else None)
            else:
                self._reports, self._watched = reports, folders
                # One that appeared meanwhile is not watched.
                self._is_stale = folders != self._list_folders()
        with suppress(OSError, RuntimeError):
            late |= next(old, set())
        return late

    def close(self) -> None:
        """Stop watching."""
        self._reports, self._watched = iter(()), frozenset()

    def has_moved(self) -> bool:
        """Return whether other folders have to be watched, also of the same name."""
        return self._is_stale or self._read_state() != self._state

    def wait(self) -> Changes:
        """Return what changed, after the files were quiet for a while."""
        if not self._watched:
            time.sleep(_STEP_MS / 1000)
            return Changes()
        try:
            paths = self._collect()
        except (OSError, RuntimeError):
            self.close()
            self.open()
            return EVERYTHING
        if any(map(self._changes_folders, paths)):
            paths |= self.open()
        if len(paths) > _MANY_PATHS:
            return EVERYTHING
        return Changes(frozenset(filter(self._is_relevant, paths)))

    def _collect(self) -> set[str]:
        """Return the changed paths; with a relevant one, wait until the files are quiet."""
        paths = next(self._reports, set[str]())
        if not any(map(self._is_relevant, paths)):
            return set()
        ends = time.monotonic() + _LONGEST_SETTLING_S
        while time.monotonic() < ends and (more := next(self._reports, None)):
            paths |= more
        return paths

    def _is_relevant(self, path: str) -> bool:
        return any(folder.is_relevant(path) for folder in self._state[0])

    def _changes_folders(self, path: str) -> bool:
        """Return whether a change at a path may add or remove watched folders."""
        if WATCHES_RECURSIVELY:
            return False
        is_ignore_file = path.rpartition("/")[2] in IGNORE_FILES
        return path in self._watched or is_ignore_file or os.path.isdir(path)  # noqa: PTH112 - a plain string

    def _list_folders(self) -> frozenset[str]:
        return frozenset(one for root in self._state[0] for one in root.list_folders())

    def _read_state(self) -> _State:
        try:
            folders = self._find_folders()
        except Signal:
            folders = self._state[0]
        places: list[tuple[int, int] | None] = []
        for folder in folders:
            try:
                status = os.stat(folder.location)  # noqa: PTH116 - it is asked every two seconds
                places.append((status.st_dev, status.st_ino))  # another folder has others
            except OSError:
                places.append(None)
        return folders, places


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


Ingest: TypeAlias = Callable[[IngestRequest], IngestReport]


class _Pending(Struct):
    """What the next run reads, and when it may begin."""

    paths: set[str] = field(default_factory=set)
    everything: bool = True
    due: float = 0.0

    def add(self, changes: Changes) -> None:
        self.paths |= changes.paths
        self.everything = self.everything or changes.everything


@dataclass(kw_only=True, eq=False)
class Watcher:
    """Watches the files that an index is made of, until it is cancelled.

    `ingest` runs in silence, `ingest_first` shows its progress. `describe` turns a signal into the
    error that callers see.
    """

    paths: list[str]
    ingest: Ingest
    ingest_first: Ingest
    folders: FolderWatch
    describe: Callable[[Signal], ErrorReply]
    emit: Callable[[WatchEvent], None]
    is_stopped: Callable[[], bool]
    clock: Callable[[], float] = time.monotonic
    measure_work: Callable[[], float] = time.process_time

    def __post_init__(self) -> None:
        """Begin with a scan of everything."""
        self._pending = _Pending()
        self._runs = self._failures = 0
        self._retry_s = 0.0
        self._last_error: str | None = None
        self._last_scan = self._looked = self._started = self.clock()
        self._faulty: set[tuple[str, str]] = set()
        self._interrupted = self._is_polling = False

    def run(self) -> WatchReport:
        """Bring the index up to date, then follow changes; return the summary in the end.

        Raises:
            Signal: The first run fails for another reason than a lock.
        """
        try:
            while not self._has_ended() and not self._index(self.ingest_first, first=True):
                time.sleep(min(0.1, max(0.0, self._pending.due - self.clock())))
            if not self._has_ended():
                self._open_folders()
                self.emit(WatchEvent(kind="started", folders=self.folders.locations))
            while not self._has_ended():
                if self._pending.due <= self.clock() and (
                    self._pending.everything or self._pending.paths
                ):
                    self._index(self.ingest)
                self._collect()
        finally:
            self.folders.close()
        return WatchReport(
            folders=self.folders.locations,
            runs=self._runs,
            failures=self._failures,
            polling=self._is_polling,
            interrupted=self._interrupted,
            duration_ms=round((self.clock() - self._started) * 1000),
        )

    def _has_ended(self) -> bool:
        return self._interrupted or self.is_stopped()

    def _open_folders(self) -> None:
        """Watch the folders as they are now; what changed before is found by a scan."""
        self.folders.open()
        self._pending.everything = True
        self._report_obstacle()

    def _report_obstacle(self) -> None:
        obstacle = self.folders.obstacle
        if obstacle and not self._is_polling:
            message = f"{obstacle.reason}; the folders are scanned from time to time instead"
            event = WatchEvent(kind="polling", message=message, hint=obstacle.hint)
            self.emit(event)
        self._is_polling = obstacle is not None

    def _collect(self) -> None:
        """Wait for changes, and look at the folders."""
        self._pending.add(self.folders.wait())
        self._report_obstacle()
        if self.clock() - self._looked >= _TICK_S:
            self._looked = self.clock()
            if self.folders.has_moved():
                self._open_folders()
        interval = _POLL_INTERVAL_S if self._is_polling else _SCAN_INTERVAL_S
        if self.clock() - self._last_scan >= interval:
            self._pending.everything = True

    def _index(self, ingest: Ingest, *, first: bool = False) -> bool:
        """Run over what is pending; return whether that worked."""
        taken, self._pending = self._pending, _Pending(everything=False)
        request = IngestRequest(paths=self.paths)
        if not taken.everything:
            request = IngestRequest(paths=sorted(taken.paths), changed=True)
        began, worked = self.clock(), self.measure_work()
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
            self._pending.due = self.clock() + self._retry_s
            self._failures += not is_locked
            error = self.describe(signal)
            if self._last_error != (about := f"{error.code} {'' if is_locked else error.message}"):
                self._last_error = about
                self.emit(WatchEvent(kind="waiting" if is_locked else "failed", error=error))
            return False
        self._retry_s, self._last_error = 0.0, None
        rest = _REST_SHARE * (self.measure_work() - worked)
        self._pending.due = self.clock() + (0.0 if first else min(rest, _LONGEST_REST_S))
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
            self.emit(WatchEvent(kind="indexed", report=report))


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
    with translate_import_errors("watching files", "watchfiles", "watch"):
        import watchfiles  # noqa: F401
    reader = AppContext(settings, config_path=config_path, read_only=True)

    def find_folders() -> list[WatchedFolder]:
        with closing(reader):  # a watcher at rest has no database open
            return find_watched_folders(reader, paths)

    def has_ended() -> bool:
        return cancel.requested or is_stopped()

    def ingest(request: IngestRequest) -> IngestReport:
        return kebab.run(request, cancel=cancel)

    silence_ms, view = settings.watch.debounce_ms, View(settings.lang)
    return Watcher(
        paths=paths,
        ingest=ingest,
        ingest_first=ingest_first or ingest,
        folders=FolderWatch(find_folders, lambda some: watch_folders(some, has_ended, silence_ms)),
        describe=lambda signal: classify_error(signal, operation="watch", view=view).reply,
        emit=emit,
        is_stopped=has_ended,
    )


_STOP_S = 10.0
"""How long a run may take to end after it was cancelled."""


@contextmanager
def watch_in_thread(
    settings: Settings, config_path: Path, emit: Callable[[WatchEvent], None]
) -> Iterator[None]:
    """Watch every source while the context is open; an error that ends it is its last event."""
    cancel = Cancel()

    def run() -> None:
        try:
            with Kebab(settings, config_path=config_path) as kebab:
                build_watcher(kebab, settings, config_path, [], cancel=cancel, emit=emit).run()
        except Exception as fault:  # noqa: BLE001 - the server goes on
            classified = classify_error(fault, operation="watch", view=View(settings.lang))
            emit(WatchEvent(kind="ended", error=classified.reply))

    thread = threading.Thread(target=run, name="watcher", daemon=True)
    thread.start()
    try:
        yield
    finally:
        cancel.request()
        thread.join(_STOP_S)
