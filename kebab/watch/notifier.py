"""Reports changes of files by means of the operating system. Only this module uses `watchfiles`."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kebab.app.watched import WATCHES_RECURSIVELY
from kebab.errors.system import translate_import_errors

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


class _StopFlag:
    """The form in which `watchfiles` asks whether to stop."""

    def __init__(self, stopped: Callable[[], bool]) -> None:
        self.is_set = stopped


class FileNotifier:
    """A notifier of this system."""

    def __init__(self, watcher: "RustNotify", stopped: Callable[[], bool]) -> None:
        self._watcher = watcher
        self._stop = _StopFlag(stopped)

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
        return set() if isinstance(changes, str) else {path for _, path in changes}

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
        return NoNotifier(_describe(fault), _LIMIT_HINT if _is_limit(fault) else None)
    return FileNotifier(watcher, stopped)


def _describe(fault: Exception) -> str:
    return "the system watches no more folders" if _is_limit(fault) else str(fault)


def _is_limit(fault: Exception) -> bool:
    """Return whether a limit of inotify is reached: of watches, or of instances."""
    text = str(fault).casefold()
    words = ("limit reached", "too many open files", os.strerror(28).casefold(), "max_user_")
    return sys.platform == "linux" and any(word in text for word in words)
