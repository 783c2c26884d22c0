"""SQLite, from above and from below: its statements and rows, and its own file system."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import apsw

from tests.faults.world import Fault, World, build_raising_fault

_NAME = "kebab-faults"
_SYSTEM = apsw.vfs_names()[0]

CODES = {
    "BUSY": apsw.SQLITE_BUSY,
    "LOCKED": apsw.SQLITE_LOCKED,
    "CORRUPT": apsw.SQLITE_CORRUPT,
    "FULL": apsw.SQLITE_FULL,
    "IOERR": apsw.SQLITE_IOERR,
    "READONLY": apsw.SQLITE_READONLY,
    "NOMEM": apsw.SQLITE_NOMEM,
    "INTERRUPT": apsw.SQLITE_INTERRUPT,
    "CANTOPEN": apsw.SQLITE_CANTOPEN,
    "NOTADB": apsw.SQLITE_NOTADB,
    "PROTOCOL": apsw.SQLITE_PROTOCOL,
    "TOOBIG": apsw.SQLITE_TOOBIG,
    "PERM": apsw.SQLITE_PERM,
    "ABORT": apsw.SQLITE_ABORT,
    "IOERR_READ": apsw.SQLITE_IOERR_READ,
    "IOERR_WRITE": apsw.SQLITE_IOERR_WRITE,
    "IOERR_FSYNC": apsw.SQLITE_IOERR_FSYNC,
    "IOERR_TRUNCATE": apsw.SQLITE_IOERR_TRUNCATE,
    "IOERR_FSTAT": apsw.SQLITE_IOERR_FSTAT,
    "IOERR_LOCK": apsw.SQLITE_IOERR_LOCK,
    "IOERR_ACCESS": apsw.SQLITE_IOERR_ACCESS,
    "IOERR_DELETE": apsw.SQLITE_IOERR_DELETE,
    "IOERR_NOMEM": apsw.SQLITE_IOERR_NOMEM,
}

_ANY = ("BUSY", "LOCKED", "CORRUPT", "FULL", "IOERR", "READONLY", "NOMEM", "INTERRUPT")
REFUSALS = {
    "sqlite.open": ("CANTOPEN", "IOERR", "NOMEM", "NOTADB", "PERM", "BUSY"),
    "sqlite.statement": (*_ANY, "CANTOPEN", "NOTADB", "PROTOCOL", "TOOBIG", "ABORT"),
    "sqlite.commit": ("BUSY", "FULL", "IOERR", "READONLY", "NOMEM", "INTERRUPT"),
    "sqlite.row": ("CORRUPT", "IOERR", "NOMEM", "INTERRUPT", "BUSY"),
    "vfs.open": ("CANTOPEN", "IOERR_NOMEM"),
    "vfs.read": ("IOERR_READ", "CORRUPT", "NOMEM"),
    "vfs.write": ("FULL", "IOERR_WRITE", "READONLY"),
    "vfs.sync": ("IOERR_FSYNC", "FULL"),
    "vfs.truncate": ("IOERR_TRUNCATE",),
    "vfs.size": ("IOERR_FSTAT",),
    "vfs.lock": ("BUSY", "IOERR_LOCK"),
    "vfs.look": ("IOERR_ACCESS",),
    "vfs.delete": ("IOERR_DELETE",),
}
"""What SQLite, or the system below it, can say at each point."""


def build_refusal(name: str) -> Fault:
    """Return the fault of a call that SQLite refuses with this code."""
    return build_raising_fault(name, lambda: apsw.exception_for(CODES[name]))


def list_faults(point: str) -> list[Fault]:
    """Return all that can go wrong at a point."""
    return [build_refusal(name) for name in REFUSALS[point]]


@contextmanager
def install(world: World) -> Iterator[None]:
    """Stand between kebab and SQLite, and between SQLite and the system."""

    def executed(_cursor: Any, statement: str, _bindings: Any) -> bool:
        if statement.lstrip().upper().startswith(("COMMIT", "RELEASE")):
            world.call("sqlite.commit", _do_nothing)
        world.call("sqlite.statement", _do_nothing)
        return True

    def read(_cursor: Any, row: Any) -> Any:
        world.call("sqlite.row", _do_nothing)
        return row

    def opened(database: apsw.Connection) -> None:
        world.call("sqlite.open", _do_nothing)
        database.exec_trace = executed
        database.row_trace = read

    hook = opened
    vfs = _Vfs(world)
    apsw.set_default_vfs(_NAME)
    apsw.connection_hooks.append(hook)
    try:
        yield
    finally:
        apsw.connection_hooks.remove(hook)
        apsw.set_default_vfs(_SYSTEM)
        vfs.unregister()


def _do_nothing() -> None:
    """Stand for a call of which only the refusal matters."""


class _Vfs(apsw.VFS):
    def __init__(self, world: World) -> None:
        self._world = world
        super().__init__(_NAME, _SYSTEM)

    def xOpen(self, name: Any, flags: list[int]) -> "_File":  # noqa: N802 - SQLite's name
        file: _File = self._world.call("vfs.open", _File, name, flags)
        file.watch(self._world)
        return file

    def xAccess(self, pathname: str, flags: int) -> Any:  # noqa: N802
        return self._world.call("vfs.look", super().xAccess, pathname, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001, N802
        self._world.call("vfs.delete", super().xDelete, filename, syncdir)

    def excepthook(self, etype: Any, evalue: Any, etraceback: Any) -> bool:
        """Keep quiet of what SQLite passes over."""
        return True


def _is_closing() -> bool:
    """Return whether a connection is being closed, by name or by a context manager.

    SQLite ignores what fails then, but an exception from here would not be ignored.
    """
    caller = sys._getframe(3)
    name = caller.f_code.co_name
    if name == "close" or caller.f_code.co_filename == contextlib.__file__:
        return True
    return isinstance(caller.f_locals.get("self"), closing)


class _File(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int]) -> None:
        super().__init__(_SYSTEM, name, flags)

    def _call(self, point: str, real: Callable[..., Any], *args: Any) -> Any:
        if _is_closing():
            return real(*args)
        return self._world.call(point, real, *args)

    def watch(self, world: World) -> None:
        self._world = world

    def xRead(self, amount: int, offset: int) -> Any:  # noqa: N802
        return self._call("vfs.read", super().xRead, amount, offset)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        self._call("vfs.write", super().xWrite, data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._call("vfs.sync", super().xSync, flags)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._call("vfs.truncate", super().xTruncate, newsize)

    def xFileSize(self) -> Any:  # noqa: N802
        return self._call("vfs.size", super().xFileSize)

    def xLock(self, level: int) -> None:  # noqa: N802
        self._call("vfs.lock", self._lock, level)

    def _lock(self, level: int) -> None:
        """Lock the file; closing tries that with one open for reading, and cares for no answer."""
        try:
            super().xLock(level)
        except apsw.IOError as fault:
            raise apsw.BusyError from fault

    def excepthook(self, etype: Any, evalue: Any, etraceback: Any) -> bool:
        """Keep quiet of what SQLite passes over."""
        return True
