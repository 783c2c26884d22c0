"""Tells whether the files of a store are still the ones that were opened.

Every part of this package that keeps a file open between two calls asks before it answers again:
a file may have been replaced, deleted, cut off or written over, also by a copy with the same size
and the same corpus revision.
"""

import os
import time
from collections.abc import Sequence
from typing import NamedTuple

_SETTLING_NS = 100_000_000
"""A state of files that changed just now is not relied on.

A second change within one step of the clock of the file system would leave no trace. The step is
up to 10 ms on Linux and less elsewhere; only FAT and HFS+ have steps of 1 or 2 s.
"""


class FileStamp(NamedTuple):
    """What changes when a file is replaced or written; programs cannot set `changed_ns`."""

    device: int
    inode: int
    size: int
    written_ns: int
    changed_ns: int


class FileState:
    """The state of some files, taken before they are opened.

    Args:
        paths: The files.
        logs: Files whose owner SQLite sets when it opens them as root, so `changed_ns` says
            nothing.
        mapped: Files that are written through memory, so that only their place and size count.
    """

    def __init__(
        self, paths: Sequence[str], logs: Sequence[str] = (), mapped: Sequence[str] = ()
    ) -> None:
        self._paths = paths
        self._logs = logs
        self._mapped = mapped
        self.stamps = self._take()
        """The stamp of each file, None where there is none."""
        newest = max((max(stamp[-2:]) for stamp in self.stamps if stamp), default=0)
        self._settled = time.time_ns() - newest > _SETTLING_NS

    def holds(self) -> bool:
        """Return whether no file can have changed since."""
        return self._settled and self._take() == self.stamps

    def _take(self) -> list[FileStamp | None]:
        logs = [(stamp := stamp_file(path)) and stamp._replace(changed_ns=0) for path in self._logs]
        places = [
            (stamp := stamp_file(path)) and stamp._replace(written_ns=0, changed_ns=0)
            for path in self._mapped
        ]
        return [*map(stamp_file, self._paths), *logs, *places]


def stamp_file(path: str) -> FileStamp | None:
    """Return the stamp of a file; None when there is none, or it cannot be reached."""
    try:
        status = os.stat(path)  # noqa: PTH116 - every search does it; `Path` takes twice as long
    except OSError:
        return None
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return FileStamp(status.st_dev, status.st_ino, status.st_size, *times)
