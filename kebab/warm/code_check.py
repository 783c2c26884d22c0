"""Notices when the code of a running process was replaced on disk."""

import os
import sys
import time


class CodeCheck:
    """Tells whether the modules of kebab are still those on disk.

    Args:
        package: The folder of the package; None means that of this process.
    """

    _EVERY_S = 1.0

    def __init__(self, package: str | None = None) -> None:
        self._started = time.time()
        self._checked = time.monotonic()
        self._current = True
        root = package or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        # An installer replaces all files, so one file tells; in a working copy each may change.
        self._installed = "-packages" in root
        self._first = os.path.join(root, "__init__.py")
        self._identity = _identify_file(self._first)

    def is_current(self) -> bool:
        """Return whether no loaded module changed; it is looked up once a second."""
        now = time.monotonic()
        if self._current and now - self._checked >= self._EVERY_S:
            self._checked = now
            self._current = _identify_file(self._first) == self._identity
            if self._current and not self._installed:
                self._current = not any(map(self._is_newer, _list_module_files()))
        return self._current

    def _is_newer(self, path: str) -> bool:
        try:
            return os.stat(path).st_mtime > self._started
        except OSError:
            return True


def _identify_file(path: str) -> tuple[int, ...]:
    """Return what changes when a file is replaced or written."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)


def _list_module_files() -> list[str]:
    found = [
        getattr(module, "__file__", None)
        for name, module in [*sys.modules.items()]
        if name.partition(".")[0] == "kebab"
    ]
    return [path for path in found if path]
