"""Collects what changed in the watched folders, and follows the folders themselves.

Linux reports changes in a folder and not below it. Every folder that a scan would look into is
watched, so that changes in ignored folders cost nothing.
"""

import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kebab.app.watched import WATCHES_RECURSIVELY, WatchedFolder
from kebab.core.files import IGNORE_FILES
from kebab.errors.signal import Signal
from kebab.watch.notifier import NoNotifier, Notifier

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

    Args:
        find_folders: Returns the folders to watch now.
        open_notifier: Opens a notifier, or says why that is not possible.
        stopped: Tells whether to stop waiting.
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
            folders = self._list_folders()
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

    def _list_folders(self) -> frozenset[str]:
        return frozenset(one for folder in self._state[0] for one in folder.list_folders())

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
        return folders, [_identify(folder.location) for folder in folders]

    def _sleep(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while not self._stopped() and (left := ends - time.monotonic()) > 0:
            time.sleep(min(left, _STOP_CHECK_S))


def _identify(path: str) -> tuple[int, int] | None:
    """Return the device and the number of a folder, None when it is gone."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a plain string
    except OSError:
        return None
    return status.st_dev, status.st_ino
