"""Lets kebab see another operating system, in this process and in those that it starts.

kebab gets copies of the modules of the standard library without the names that the other system
lacks (`stubs`); libraries keep the real ones. For Windows it gets stand-ins for what only Windows
has, with the behaviour that is documented, and files behave as there: a file that a process of the
simulation has open or mapped can be neither replaced nor deleted, folders cannot be opened, and
some names are refused. Paths are those of Windows (`windows_paths`). This proves that the code
needs no primitive of Linux; it does not prove that Windows and macOS do what their documentation
says.
"""

import builtins
import errno
import fcntl
import importlib
import io
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Self

from tools.other_systems.stubs import is_missing, list_missing_names
from tools.other_systems.windows_paths import (
    LIBRARIES,
    replace_paths,
    to_linux,
    to_windows,
    translate_library,
)

ROOT = Path(__file__).resolve().parents[2]
SYSTEM_VARIABLE, FOLDER_VARIABLE = "OTHER_SYSTEM", "OTHER_SYSTEM_FOLDER"
_LONGEST_WAIT_S = 30
_COPIED = (
    "sys",
    "os",
    "signal",
    "socket",
    "select",
    "time",
    "mmap",
    "subprocess",
    "_signal",
    "ctypes",
)
_STARTER = "from tools.other_systems.simulation import enter; enter()\n"
_BAD_NAME = re.compile(
    r'[<>"|?*:\x00-\x1f]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)', re.IGNORECASE
)


def build_environment(system: str, folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which every Python process simulates a system.

    `folder` takes what the processes tell each other.
    """
    (folder / "start").mkdir(parents=True, exist_ok=True)
    (folder / "processes").mkdir(exist_ok=True)
    (folder / "start" / "sitecustomize.py").write_text(_STARTER, encoding="utf-8")
    paths = (str(folder / "start"), str(ROOT), environ.get("PYTHONPATH", ""))
    return {
        **environ,
        SYSTEM_VARIABLE: system,
        FOLDER_VARIABLE: str(folder),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }


def enter() -> None:
    """Begin the simulation that the environment names."""
    system, folder = os.environ[SYSTEM_VARIABLE], Path(os.environ[FOLDER_VARIABLE])
    (folder / "processes" / str(os.getpid())).touch()
    copies: dict[str, Any] = {name: _Copy(name, system) for name in _COPIED}
    copies["sys"].platform = system
    if system == "win32":
        _add_windows(copies, folder)
        _refuse_as_windows(folder)
        copies["pathlib"] = _Copy("pathlib", system)
        replace_paths(copies)
    _replace_imports(copies, system)


class _Copy(ModuleType):
    """A module without the names that a system lacks, and with others."""

    def __init__(self, name: str, system: str) -> None:
        super().__init__(name)
        self.real = importlib.import_module(name)
        stub = name.removeprefix("_") if name == "_signal" else name
        self.missing = list_missing_names(stub, system)

    def __getattr__(self, name: str) -> Any:
        if name in self.missing:
            raise AttributeError(f"the other system has no `{self.__name__}.{name}`")
        return getattr(self.real, name)


def _replace_imports(copies: dict[str, Any], system: str) -> None:
    """Give modules of kebab the copies, and no module that the system lacks."""
    statement, function = builtins.__import__, importlib.import_module

    def find(name: str, importer: object) -> ModuleType | None:
        if str(importer).partition(".")[0] != "kebab":
            return None
        if is_missing(name, system):
            raise ModuleNotFoundError(f"the other system has no module `{name}`", name=name)
        if system == "win32" and name in LIBRARIES and name not in copies:
            copies[name] = translate_library(_Copy(name, system))
        return copies.get(name)

    def import_by_statement(
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002 - the name of the hook
        locals: Mapping[str, object] | None = None,  # noqa: A002 - the name of the hook
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        found = None if level else find(name, (globals or {}).get("__name__"))
        return found or statement(name, globals, locals, fromlist, level)

    def import_by_function(name: str, package: str | None = None) -> ModuleType:
        importer = sys._getframe(1).f_globals.get("__name__")  # noqa: SLF001 - who imports
        return find(name, importer) or function(name, package)

    builtins.__import__ = import_by_statement
    importlib.import_module = import_by_function


def _add_windows(copies: Mapping[str, Any], folder: Path) -> None:
    """Add what only Windows has."""
    system, calls = copies["os"], copies["subprocess"]
    system.name, system.O_BINARY = "nt", 0
    system.set_handle_inheritable = os.set_inheritable
    system.scandir = _ListedFolder
    system.kill = _refuse_kill
    calls.CREATE_NEW_PROCESS_GROUP, calls.CREATE_NO_WINDOW = 0x200, 0x08000000
    calls.STARTUPINFO = SimpleNamespace
    calls.Popen, calls.run = _WindowsPopen, _run
    copies["ctypes"].windll = SimpleNamespace(kernel32=Kernel())
    locks = ByteRangeLocks(folder / "locks")
    system.close = locks.close
    system.open = _refuse_names(_open)
    sys.modules["msvcrt"] = locks  # type: ignore[assignment]
    connections: Any = importlib.import_module("multiprocessing.connection")
    connections.PipeConnection = connections.Connection


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


class _WindowsPopen(subprocess.Popen[Any]):
    """Takes the arguments that Windows takes."""

    def __init__(self, *args: Any, **options: Any) -> None:
        for name in ("pass_fds", "preexec_fn", "start_new_session", "process_group"):
            if options.get(name):
                raise ValueError(f"{name} is not supported on Windows platforms")
        info = options.pop("startupinfo", None)
        flags = options.pop("creationflags", 0)
        handles = [] if info is None else info.lpAttributeList["handle_list"]
        assert all(map(os.get_inheritable, handles)), "only inheritable handles are inherited"
        super().__init__(*args, **options, pass_fds=handles, start_new_session=bool(flags & 0x200))


def _run(command: list[str], **options: Any) -> "subprocess.CompletedProcess[Any]":
    if command[0] == "taskkill":
        with suppress(ProcessLookupError):
            os.killpg(int(command[-1]), signal.SIGKILL)
        return subprocess.CompletedProcess(command, 0, b"", b"")
    with _WindowsPopen(command, **{k: v for k, v in options.items() if k != "check"}) as process:
        out, err = process.communicate(timeout=_LONGEST_WAIT_S)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _refuse_kill(pid: int, number: int) -> None:
    assert number, f"this ends process {pid} on Windows"
    os.kill(pid, number)


class _ListedFolder:
    """Stands for `os.scandir`: its entries have paths with backslashes and no numbers of files."""

    def __init__(self, path: str) -> None:
        self._real = os.scandir(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._real.close()

    def __iter__(self) -> "_ListedFolder":
        return self

    def __next__(self) -> "_ListedEntry":
        return _ListedEntry(next(self._real))


class _ListedEntry:
    def __init__(self, real: "os.DirEntry[str]") -> None:
        self._real = real
        self.name = real.name
        self.path = to_windows(real.path)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the facts of the folder about the file, which has no number there."""
        values = list(self._real.stat(follow_symlinks=follow_symlinks))
        times = self._real.stat(follow_symlinks=follow_symlinks)
        values[1:4] = 0, 0, 0
        names = ("st_atime_ns", "st_mtime_ns", "st_ctime_ns")
        return os.stat_result(values, {name: getattr(times, name) for name in names})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


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
            times[3]._obj.value = round(time.clock_gettime(~pid << 3 | 2) * 1e7)  # noqa: SLF001 - as C sees it
        return True

    def CloseHandle(self, pid: int) -> None:  # noqa: N802 - the name of Windows
        """Do nothing."""


def _refuse_as_windows(folder: Path) -> None:
    """Let calls on files fail that fail on Windows."""
    users = folder / "processes"
    for name, targets in {
        "replace": (0, 1),
        "rename": (0, 1),
        "unlink": (0,),
        "remove": (0,),
        "rmdir": (0,),
    }.items():
        setattr(os, name, _refuse_while_open(getattr(os, name), targets, users))
    shutil._use_fd_functions = False  # type: ignore[attr-defined]  # noqa: SLF001 - as on Windows
    opening = _refuse_names(io.open)
    builtins.open = io.open = opening
    os.mkdir = _refuse_names(os.mkdir)
    os.fsync = _refuse_readers(os.fsync)


def _refuse_while_open(call: Callable[..., Any], targets: tuple[int, ...], users: Path) -> Any:
    def call_checked(*args: Any, **options: Any) -> Any:
        for number in targets:
            path = os.fspath(args[number])
            if options.get("dir_fd") is not None:
                folder = os.readlink(f"/proc/self/fd/{options['dir_fd']}")  # noqa: PTH115 - text
                path = f"{folder}/{path}"
            user = _find_user(os.path.realpath(path), users)
            if user and not os.path.islink(path) and ".lance" not in path:  # noqa: PTH114
                text = f"process {user} has the file open"
                raise PermissionError(errno.EACCES, text, path)
        return call(*args, **options)

    return call_checked


def _find_user(path: str, users: Path) -> int | None:
    """Return a process of the simulation that has a file open or mapped."""
    for pid in os.listdir(users):  # noqa: PTH208 - plain names
        with suppress(OSError):
            for number in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - plain names
                if os.readlink(f"/proc/{pid}/fd/{number}") == path:  # noqa: PTH115 - text
                    return int(pid)
            with io.FileIO(f"/proc/{pid}/maps") as maps:
                if f" {path}\n".encode() in maps.readall():
                    return int(pid)
    return None


def _refuse_readers(call: Callable[[int], None]) -> Any:
    def call_checked(file: int) -> None:
        if fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Windows syncs only what is open for writing")
        call(file)

    return call_checked


def _open(path: Any, *args: Any, **options: Any) -> int:
    return os.open(path, *args, **options)


def _refuse_names(call: Callable[..., Any]) -> Any:
    def call_checked(path: Any, *args: Any, **options: Any) -> Any:
        # A temporary file is opened with its folder as the name.
        if isinstance(path, str | os.PathLike) and not options.get("opener"):
            text = to_linux(path)
            writes = "w" in str(args[:1]) or "x" in str(args[:1]) or call.__name__ == "mkdir"
            if writes and _BAD_NAME.search(os.path.basename(text)):  # noqa: PTH119 - text
                raise OSError(errno.EINVAL, "the name is invalid on Windows", text)
            if call.__name__ in ("open", "_open") and os.path.isdir(text):  # noqa: PTH112 - text
                raise PermissionError(errno.EACCES, "a folder cannot be opened on Windows", text)
        return call(path, *args, **options)

    return call_checked
