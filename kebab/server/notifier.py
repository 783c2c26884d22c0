"""Collects the changes of files in watched folders.

Linux reports changes in a folder and not below it. Every folder that a scan would look into is
watched, so that changes in ignored folders cost nothing. Only this module uses `watchfiles`.
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kebab.app.watched import WATCHES_RECURSIVELY, WatchedFolder
from kebab.core.files import IGNORE_FILES, to_slashes
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.platform import is_linux

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
