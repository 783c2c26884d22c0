"""Finds the folders to watch, and collects the changes in them that matter to the index.

Linux reports changes in a folder and not below it, so every folder that a scan would look into is
watched. A recursive watch would follow links out of the folder, fail at the first folder that the
user may not read, and spend the system's limit on ignored folders. Only this module uses
`watchfiles`.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeAlias

from msgspec import Struct, field

from kebab.app.context import AppContext
from kebab.core.documents import Source, build_named_files_key, parse_named_files
from kebab.core.files import (
    IGNORE_FILES,
    ScanRules,
    cut_root,
    is_below,
    resolve_folder_links,
    resolve_links,
)
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.ingest.plan import list_ancestors
from kebab.platform import is_linux
from kebab.source.ignore import find_skip_reason_from_root
from kebab.source.walk import list_folders

_STEP_MS = 100
"""The time between two looks at collected changes; stopping takes as long."""

_LONGEST_GROUP_MS = 2_000
"""The longest time to collect changes that keep coming, before they are handed over."""

_LONGEST_SETTLING_S = 5.0
"""The longest time to wait for files to be quiet."""

_MANY_PATHS = 1_000
"""With more changed paths, everything is scanned: it costs less, and the system may have lost
some."""

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

    def contains(self, path: str) -> bool:
        """Return whether an absolute path is the folder or below it."""
        return path == self.location or is_below(path, self.location)

    def is_relevant(self, path: str) -> bool:
        """Return whether a change at an absolute path can change the index."""
        if not self.contains(path):
            return False
        relative = cut_root(path, self.root)
        if relative in self.named or not relative:
            return True
        if self.only_named:
            return False
        if self.claimed and any(
            f"{self.root}/{p}" in self.claimed for p in list_ancestors(relative)
        ):
            return False
        return relative.rpartition("/")[2] in IGNORE_FILES or not self._is_skipped(relative)

    def _is_skipped(self, path: str) -> bool:
        is_folder = os.path.isdir(f"{self.root}/{path}")  # noqa: PTH112 - a plain string
        try:
            reason = find_skip_reason_from_root(self.root, self.rules, path, folder=is_folder)
        except OSError:
            return False
        return reason is not None


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


def require_watchfiles() -> None:
    """Import the library.

    Raises:
        DependencyMissing: It is not installed.
    """
    with translate_import_errors("watching files", "watchfiles", "watch"):
        import watchfiles  # noqa: F401


class _StopEvent(NamedTuple):
    """What `watchfiles` asks whether to stop."""

    is_set: Callable[[], bool]


def watch_folders(folders: Sequence[str], stopped: Callable[[], bool], silence_ms: int) -> Reports:
    """Yield the paths that changed, or nothing after a silence, until it is stopped.

    Raises:
        OSError: A folder is gone or cannot be read, or the system refuses.
        RuntimeError: The library fails.
        KeyboardInterrupt: The user interrupted the process.
    """
    from watchfiles import watch

    reports = watch(
        *folders,
        watch_filter=None,  # with one, changes that it leaves out would end no wait
        debounce=_LONGEST_GROUP_MS,
        step=_STEP_MS,
        stop_event=_StopEvent(stopped),
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


def _describe_obstacle(fault: Exception) -> Obstacle:
    """Return why the system refuses; inotify has a limit of watches and one of instances."""
    text = str(fault).casefold()
    words = ("limit reached", "too many open files", os.strerror(28).casefold(), "max_user_")
    if is_linux() and any(word in text for word in words):
        return Obstacle("the system watches no more folders", _LIMIT_HINT)
    return Obstacle(str(fault))


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
                self.obstacle = _describe_obstacle(fault)
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
        return folders, [_identify_folder(folder.location) for folder in folders]


def _identify_folder(path: str) -> tuple[int, int] | None:
    """Return what changes when another folder takes the place; None without one."""
    with suppress(OSError):
        status = os.stat(path)  # noqa: PTH116 - it is asked every two seconds
        return status.st_dev, status.st_ino
    return None
