"""The file system below one folder: what Python asks of it, by kind of call and by area.

What SQLite, Lance and the runtime of the models ask of it themselves is not seen here.
"""

import builtins
import errno
import fcntl
import io
import mmap
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Self

import pytest

from tests.faults.world import Fault, World

PREFIX = "fs"

_AREAS = {
    "notes": "notes",
    "config": "settings",
    "state": "log",
    "cache": "models",
    "data/kebab/lance": "vectors",
    "data/kebab/stdin": "texts",
    "data/kebab/writer.lock": "lock",
    "data": "data",
}

REFUSALS = {
    "stat": ("EACCES", "EIO", "ENOENT", "ELOOP", "EINTR", "ESTALE"),
    "open": ("EACCES", "EIO", "ENOENT", "EMFILE", "EINTR"),
    "create": ("ENOSPC", "EACCES", "EROFS", "EIO", "EMFILE", "ENOENT"),
    "read": ("EIO", "EISDIR", "EINTR"),
    "write": ("ENOSPC", "EIO", "EROFS", "EDQUOT", "EINTR"),
    "list": ("EACCES", "EIO", "ENOENT", "EMFILE"),
    "entry": ("EACCES", "EIO", "ENOENT"),
    "make": ("ENOSPC", "EACCES", "EROFS", "EIO"),
    "remove": ("EACCES", "EIO", "EROFS", "EBUSY"),
    "rename": ("ENOSPC", "EACCES", "EIO", "EROFS"),
    "sync": ("EIO", "ENOSPC"),
    "lock": ("EWOULDBLOCK", "ENOLCK", "EIO", "EINTR"),
    "truncate": ("EIO", "EROFS"),
    "link": ("EACCES", "EIO"),
    "mode": ("EPERM", "EROFS"),
    "space": ("EIO", "EACCES"),
    "map": ("ENOMEM", "EACCES", "ENODEV"),
}
"""What the system can say to each kind of call."""

_NEVER = {("list", "vectors", "ENOENT")}
"""A folder that is gone for a moment, and back in the next: what is in it cannot be known then."""

_BY_PATH = {
    "stat": ("stat", "lstat"),
    "list": ("listdir",),
    "make": ("mkdir",),
    "remove": ("unlink", "remove", "rmdir"),
    "rename": ("rename", "replace"),
    "link": ("readlink",),
    "mode": ("chmod",),
}
_BY_NUMBER = {
    "stat": ("fstat",),
    "read": ("read", "pread"),
    "write": ("write", "pwrite"),
    "sync": ("fsync",),
    "truncate": ("ftruncate",),
    "mode": ("fchmod",),
}
_CHANGING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_readlink = os.readlink


def build_refusal(name: str) -> Fault:
    """Return the fault of a call that the system refuses, naming the file as the system does."""
    number = getattr(errno, name)

    def act(real: Callable[..., Any], *args: Any, **options: Any) -> Any:
        del real, options
        path = args[0] if args and isinstance(args[0], str | bytes | os.PathLike) else None
        raise OSError(number, os.strerror(number), path)

    return Fault(name, act)


def _read_half(real: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Give half of what is there; the rest never comes, as when the file is cut meanwhile."""
    found = real(*args, **options)
    return found[: len(found) // 2] if isinstance(found, bytes) else (found or 0) // 2


def _write_half(real: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Write half, and then the disk is full."""
    place = next(at for at, one in enumerate(args) if isinstance(one, bytes | memoryview))
    half = bytes(args[place])[: len(args[place]) // 2]
    real(*args[:place], half, *args[place + 1 :], **options)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def list_faults(point: str) -> list[Fault]:
    """Return all that can go wrong at a point."""
    kind, _, area = point.partition(".")[2].partition(":")
    found = [build_refusal(name) for name in REFUSALS[kind] if (kind, area, name) not in _NEVER]
    if kind == "read":
        found.append(Fault("short", _read_half))
    if kind == "write":
        found.append(Fault("torn", _write_half))
    return found


class Files:
    """The seam of the file system."""

    def __init__(self, world: World, home: Path) -> None:
        self._world = world
        self._home = f"{home}{os.sep}"

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Stand between kebab and the system."""
        for kind, names in _BY_PATH.items():
            for name in names:
                patch.setattr(os, name, self._by_path(kind, getattr(os, name)))
        for kind, names in _BY_NUMBER.items():
            for name in names:
                patch.setattr(os, name, self._by_number(kind, getattr(os, name)))
        # The space that others leave differs from run to run, and is told.
        patch.setattr(os, "statvfs", self._by_path("space", cache(os.statvfs)))
        patch.setattr(os, "open", self._os_open(os.open))

        real = os.scandir

        def called(path: Any = ".") -> Any:
            point = self.point("list", path)
            if point is None:
                return real(path)
            listing = self._world.call(point, real, path)
            return _Listing(listing, self._world, self.point("entry", path) or PREFIX)

        patch.setattr(os, "scandir", called)
        patch.setattr(fcntl, "flock", self._by_number("lock", fcntl.flock))
        patch.setattr(mmap, "mmap", self._by_number("map", mmap.mmap))
        opened = self._open(io.open)
        patch.setattr(io, "open", opened)
        patch.setattr(builtins, "open", opened)

    def point(self, kind: str, path: object, folder: int | None = None) -> str | None:
        """Return the point of a call on a path, None when it lies elsewhere."""
        if not self._world.armed:
            return None
        found = self._absolute(path, folder)
        if not found.startswith(self._home):
            return None
        inside = found.removeprefix(self._home)
        area = next(
            (name for place, name in _AREAS.items() if f"{inside}/".startswith(f"{place}/")),
            "home",
        )
        return f"{PREFIX}.{kind}:{area}"

    @staticmethod
    def _absolute(path: object, folder: int | None) -> str:
        if isinstance(path, int):
            return _place(path)
        if not isinstance(path, str | bytes | os.PathLike):
            return ""
        text = os.fsdecode(path)
        if text.startswith(os.sep):
            return text
        return f"{_place(folder) if folder is not None else os.getcwd()}{os.sep}{text}"  # noqa: PTH109

    def _by_path(self, kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(path: Any, *args: Any, **options: Any) -> Any:
            folder = options.get("dir_fd", options.get("src_dir_fd"))
            point = self.point(kind, path, folder)
            if point is None:
                return real(path, *args, **options)
            return self._world.call(point, real, path, *args, **options)

        return called

    def _by_number(self, kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(number: Any, *args: Any, **options: Any) -> Any:
            place = number if isinstance(number, int) else number.fileno()
            point = self.point(kind, place)
            if point is None:
                return real(number, *args, **options)
            return self._world.call(point, real, number, *args, **options)

        return called

    def _os_open(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(path: Any, flags: int, *args: Any, **options: Any) -> Any:
            kind = "create" if flags & _CHANGING else "open"
            point = self.point(kind, path, options.get("dir_fd"))
            if point is None:
                return real(path, flags, *args, **options)
            return self._world.call(point, real, path, flags, *args, **options)

        return called

    def _open(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
            kind = "open" if set(mode) <= set("rbt") else "create"
            point = None if isinstance(file, int) else self.point(kind, file)
            if point is None:
                return real(file, mode, *args, **options)
            area = point.partition(":")[2]
            return self._world.call(point, self._watched(area), file, mode, *args, **options)

        return called

    def _watched(self, area: str) -> Callable[..., Any]:
        """Return what opens a file of which every read and write is a call of its own."""

        def opened(
            file: Any,
            mode: str = "r",
            buffering: int = -1,
            *coding: Any,
            opener: Callable[[str, int], int] | None = None,
            **named: Any,
        ) -> Any:
            raw = _Raw(file, mode.replace("b", "").replace("t", ""), opener=opener)
            raw.watch(self._world, area)
            if buffering == 0:
                return raw
            held: Any
            if "+" in mode:
                held = io.BufferedRandom(raw)
            else:
                held = io.BufferedReader(raw) if "r" in mode else io.BufferedWriter(raw)
            return held if "b" in mode else io.TextIOWrapper(held, *coding, **named)

        return opened


class _Raw(io.FileIO):
    """A file that counts what is read and written."""

    def watch(self, world: World, area: str) -> None:
        self._world = world
        self._area = area

    def readall(self) -> Any:
        return self._world.call(f"{PREFIX}.read:{self._area}", super().readall)

    def readinto(self, buffer: Any) -> Any:
        return self._world.call(f"{PREFIX}.read:{self._area}", super().readinto, buffer)

    def write(self, data: Any) -> Any:
        return self._world.call(f"{PREFIX}.write:{self._area}", super().write, data)


class _Listing:
    """A folder's entries."""

    def __init__(self, listing: Any, world: World, point: str) -> None:
        self._listing = listing
        self._world = world
        self._point = point

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listing.close()

    def __iter__(self) -> Iterator["_Entry"]:
        return self

    def __next__(self) -> "_Entry":
        return _Entry(next(self._listing), self._world, self._point)

    def close(self) -> None:
        self._listing.close()


class _Entry:
    """An entry of a folder, of which a look at the file itself can fail."""

    def __init__(self, inner: Any, world: World, point: str) -> None:
        self._inner = inner
        self._world = world
        self._point = point

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __fspath__(self) -> str:
        path: str = self._inner.path
        return path

    def stat(self, *, follow_symlinks: bool = True) -> Any:
        look = self._inner.stat
        return self._world.call(self._point, look, follow_symlinks=follow_symlinks)


def _place(number: int) -> str:
    try:
        return _readlink(f"/proc/self/fd/{number}")
    except OSError:
        return ""
