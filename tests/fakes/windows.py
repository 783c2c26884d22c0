"""Stand-ins for what only Windows has."""

import errno
import fcntl
import os
import struct
import time
from contextlib import suppress
from pathlib import Path
from typing import Any


class ByteRangeLocks:
    """Stands for `msvcrt`: locks of byte ranges, of one descriptor, and mandatory.

    A lock counts for every other descriptor, also in the same process. It may lie behind the end
    of the file. Nobody else can read what is locked, so nothing that has content may be locked.
    """

    LK_UNLCK, LK_NBLCK = 0, 2

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._held: dict[int, tuple[tuple[int, int], int]] = {}

    def locking(self, file: int, mode: int, size: int) -> None:
        """Lock or free bytes from the position of the descriptor on.

        Raises:
            PermissionError: Another descriptor has locked one of them, or they are not locked.
        """
        start = os.lseek(file, 0, os.SEEK_CUR)
        assert start >= os.fstat(file).st_size, "readers need these bytes"
        kind = fcntl.F_UNLCK if mode == self.LK_UNLCK else fcntl.F_WRLCK
        # Locks of open file descriptions have the same rules, but need a file open for writing.
        request = struct.pack("hhqqi4x", kind, os.SEEK_SET, start, size, 0)
        try:
            fcntl.fcntl(self._open_shadow(file), fcntl.F_OFD_SETLK, request)
        except BlockingIOError as fault:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from fault

    def close(self, file: int) -> None:
        """Close a descriptor of kebab, and free its locks."""
        if file in self._held:
            os.close(self._held.pop(file)[1])
        os.close(file)

    def get_osfhandle(self, file: int) -> int:
        """Return the handle of a descriptor."""
        return file

    def _open_shadow(self, file: int) -> int:
        status = os.fstat(file)
        identity = status.st_dev, status.st_ino
        if file in self._held and self._held[file][0] != identity:
            os.close(self._held.pop(file)[1])
        if file not in self._held:
            path = self._folder / f"{identity[0]}-{identity[1]}"
            self._held[file] = identity, os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        return self._held[file][1]


class Kernel:
    """Stands for functions of Windows itself; there is no console."""

    def GetConsoleOutputCP(self) -> int:  # noqa: N802 - the name of Windows
        """Return that there is no console."""
        return 0

    def OpenProcess(self, rights: int, inherit: bool, pid: int) -> int:  # noqa: FBT001, N802 - the name of Windows
        """Return a handle: the number of the process."""
        del rights, inherit
        return pid

    def GetProcessTimes(self, pid: int, *times: Any) -> bool:  # noqa: N802 - the name of Windows
        """Store the processor time in units of 100 ns."""
        with suppress(OSError):
            times[3]._obj.value = round(time.clock_gettime(~pid << 3 | 2) * 1e7)
        return True

    def CloseHandle(self, pid: int) -> None:  # noqa: N802 - the name of Windows
        """Do nothing."""
