"""Contains everything in which operating systems differ; nothing else of kebab asks which one runs.

Linux, macOS and Windows run the same code with other primitives: locks, alarms, pipes to workers,
paths, terminals. What a system does not have is off, and `list_missing_features` names it. Modules
of one system are imported inside functions, so that this module costs nothing at the start.
"""

import errno
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from subprocess import Popen

SYSTEM = sys.platform
"""`linux`, `darwin` or `win32`; tests replace it."""


def is_windows() -> bool:
    """Return whether this is Windows, all other systems being POSIX."""
    return SYSTEM == "win32"


def is_linux() -> bool:
    """Return whether this is Linux."""
    return SYSTEM == "linux"


def list_missing_features() -> list[str]:
    """Return what kebab does on Linux and not on this system."""
    if is_windows():
        files = "private permissions of files (the profile folder decides)"
        return ["memory limits of workers", files]
    others = ["memory limits of workers", "processor time of workers (the clock decides)"]
    return [] if is_linux() else others


# Files.


def open_descriptor(
    path: str | os.PathLike[str],
    flags: int,
    mode: int = 0o600,
    *,
    follow: bool = True,
    wait: bool = True,
) -> int:
    """Open a file that no child process inherits; return its descriptor.

    Args:
        path: The file.
        flags: `os.O_RDONLY` and the like.
        mode: The permissions of a new file.
        follow: Whether a link may be opened.
        wait: Whether opening and reading a pipe may wait.

    Raises:
        OSError: The system refuses, or the path is a link that must not be followed.
    """
    if is_windows():
        # There is no flag for it; making a link needs a privilege on Windows.
        if not follow and os.path.islink(path):  # noqa: PTH114 - text or path
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
        # Without O_BINARY the C library changes line ends.
        return os.open(path, flags | getattr(os, "O_BINARY", 0), mode)
    flags |= os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW) | (0 if wait else os.O_NONBLOCK)
    return os.open(path, flags, mode)


def read_at(file: int, size: int, offset: int) -> bytes:
    """Return the bytes at an offset; on Windows this moves the position of the descriptor."""
    if not is_windows():
        return os.pread(file, size, offset)
    os.lseek(file, offset, os.SEEK_SET)
    return os.read(file, size)


def write_at(file: int, data: bytes, offset: int) -> None:
    """Write bytes at an offset; on Windows this moves the position of the descriptor."""
    if is_windows():
        os.lseek(file, offset, os.SEEK_SET)
        os.write(file, data)
    else:
        os.pwrite(file, data, offset)


def get_inode(status: os.stat_result) -> int:
    """Return the number of a file; 0 on Windows, which lists folders without these numbers."""
    return 0 if is_windows() else status.st_ino


def is_private(status: os.stat_result) -> bool:
    """Return whether only this user can open a file; on Windows the folder above decides."""
    return is_windows() or (
        status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    )


def is_own(status: os.stat_result) -> bool:
    """Return whether a file belongs to this user; on Windows that is not asked."""
    return is_windows() or status.st_uid == os.geteuid()


def copy_owner(file: int, status: os.stat_result) -> None:
    """Give an open file the owner, if possible, and the permissions of another one."""
    if not is_windows():
        with suppress(OSError):
            os.fchown(file, status.st_uid, status.st_gid)
        os.fchmod(file, stat.S_IMODE(status.st_mode))


def make_private(file: int) -> None:
    """Let only this user open a file."""
    if not is_windows():
        os.fchmod(file, 0o600)


_REPLACE_S, _REPLACE_PAUSE_S = 1.0, 0.01
HELD_OPEN = "access was refused, perhaps because another process has the file open"


def rename_over(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Move a file to a name, and replace the file of that name in one step.

    Windows refuses this while another process has the target open; then it is tried for a second.

    Raises:
        OSError: The system refuses.
    """
    ends = time.monotonic() + _REPLACE_S
    while True:
        try:
            return os.replace(source, target)  # noqa: PTH105 - text or path
        except PermissionError as fault:
            if not is_windows():
                raise
            if time.monotonic() > ends:
                raise PermissionError(fault.errno, HELD_OPEN, os.fspath(target)) from fault
            time.sleep(_REPLACE_PAUSE_S)


def can_remove_open_files() -> bool:
    """Return whether a file can be deleted or replaced while a process has it open or mapped."""
    return not is_windows()


def sync_path(path: str | os.PathLike[str]) -> None:
    """Wait until the disk has a file, or the names of a folder; Windows cannot wait for a folder.

    Raises:
        OSError: The system refuses.
    """
    # Windows syncs only what is open for writing.
    if is_windows() and os.path.isdir(path):  # noqa: PTH112 - text or path
        return
    file = open_descriptor(path, os.O_RDWR if is_windows() else os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def is_on_read_only_disk(path: str | os.PathLike[str]) -> bool:
    """Return whether the file system refuses every write; on Windows False, as it is unknown."""
    return not is_windows() and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


# Locks. The system frees them when their process ends.

_FIRST_LOCKED, _LOCKED_BYTES, _SHARED_TRIES = 1 << 30, 510, 4
"""The bytes that stand for a lock lie behind every content, because Windows lets nobody else read
bytes that are locked."""


def lock_descriptor(file: int, *, shared: bool = False) -> bool:
    """Try to lock an open file without waiting; return whether that was possible.

    A second descriptor of the same file meets the lock too. `close_locked` frees it.
    """
    return _lock_bytes(file, shared=shared) if is_windows() else _lock_whole(file, shared=shared)


def close_locked(file: int) -> None:
    """Close a descriptor, and free its lock at once; closing alone may do that later on Windows."""
    if is_windows():
        msvcrt: Any = import_module("msvcrt")
        with suppress(OSError):  # it has no lock, or a shared one, which ends with the descriptor
            os.lseek(file, _FIRST_LOCKED, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_UNLCK, _LOCKED_BYTES)
    os.close(file)


def _lock_whole(file: int, *, shared: bool) -> bool:
    fcntl = import_module("fcntl")
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_bytes(file: int, *, shared: bool) -> bool:
    """Lock a range of bytes; a shared lock takes one of them, as SQLite did it on Windows 95."""
    msvcrt: Any = import_module("msvcrt")
    for _ in range(_SHARED_TRIES if shared else 1):
        # Two shared locks rarely choose the same byte, and then one of them chooses another.
        chosen = int.from_bytes(os.urandom(2), "big") % _LOCKED_BYTES if shared else 0
        os.lseek(file, _FIRST_LOCKED + chosen, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1 if shared else _LOCKED_BYTES)
        except PermissionError:
            continue
        return True
    return False


# Processes.

_PR_SET_PDEATHSIG = 1
_MAY_QUERY, _TICKS_PER_S = 0x1000, 10_000_000


class ProcessEnd(NamedTuple):
    """How a process ended; what the system does not say is 0."""

    status: int
    peak_bytes: int = 0
    cpu_seconds: float = 0.0


def start_with_connections(
    arguments: Sequence[str], connections: Sequence["Connection"], environment: dict[str, str]
) -> "Popen[bytes]":
    """Start a process that opens these connections by their handles, and prints nothing.

    Ctrl-C does not reach it.

    Raises:
        OSError: The system cannot start a process.
    """
    import subprocess

    null = subprocess.DEVNULL
    handles = [connection.fileno() for connection in connections]
    special: dict[str, Any] = {"pass_fds": handles}
    program = sys.executable
    if is_windows():
        # In a virtual environment the executable starts another one, whose number is not known.
        program = getattr(sys, "_base_executable", program)
        environment = {**environment, "__PYVENV_LAUNCHER__": sys.executable}
        inherit: Any = os
        for handle in handles:
            inherit.set_handle_inheritable(handle, True)  # noqa: FBT003 - takes no name
        startup: Any = subprocess
        info = startup.STARTUPINFO(lpAttributeList={"handle_list": handles})
        special = {"startupinfo": info}
    return subprocess.Popen(  # noqa: S603 - the caller's own program
        [program, *arguments],
        stdin=null,
        stdout=null,
        stderr=null,
        env=environment,
        **special,
        **separate_group(),
    )


def get_pipe_size(descriptor: int, wanted: int = 0) -> int:
    """Return how many bytes a pipe holds, if possible as many as wanted; 0 when it is unknown."""
    if not is_linux():
        return 0
    fcntl = import_module("fcntl")
    if wanted:
        with suppress(OSError):  # this user has too many of them
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, wanted)
    return int(fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ))


def open_connection(handle: int, *, writable: bool) -> "Connection":
    """Return the connection of an inherited handle, for one direction."""
    connections: Any = import_module("multiprocessing.connection")
    kind = connections.PipeConnection if is_windows() else connections.Connection
    connection: Connection = kind(handle, readable=not writable, writable=writable)
    return connection


def separate_group() -> dict[str, Any]:
    """Return the arguments of `Popen` for a process that Ctrl-C at the terminal does not reach."""
    import subprocess

    names: Any = subprocess
    if is_windows():
        return {"creationflags": names.CREATE_NEW_PROCESS_GROUP | names.CREATE_NO_WINDOW}
    return {"start_new_session": True}


def kill_tree(process: "Popen[Any]") -> None:
    """Kill a process that was started with `separate_group`, and the processes that it started."""
    with suppress(OSError):  # it has ended
        if is_windows():
            import subprocess

            command = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
            subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - of the system
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def wait_for_end(process: "Popen[Any]", *, poll: bool = False) -> ProcessEnd | None:
    """Return how a process ended; with `poll`, None while it runs.

    Nothing else may wait for it, because the system tells it once.
    """
    if is_windows():
        status = process.poll() if poll else process.wait()
        return None if status is None else ProcessEnd(status)
    pid, status, usage = os.wait4(process.pid, os.WNOHANG if poll else 0)
    if not pid:
        return None
    process.returncode = os.waitstatus_to_exitcode(status)
    used = usage.ru_utime + usage.ru_stime
    return ProcessEnd(process.returncode, _to_bytes(usage.ru_maxrss), used)


def end_with_parent(parent: int) -> None:
    """Let the system end this process together with the one that started it, where it can.

    Elsewhere a worker ends when its connections are closed.
    """
    if is_windows():
        return
    if is_linux():
        with suppress(ImportError, OSError, AttributeError):
            import_module("ctypes").CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise SystemExit(1)


def limit_memory(size: int) -> None:
    """Limit the memory of this process in bytes, where the system can; 0 means no limit.

    On Linux the limit counts what is written to, not address space that a library reserves. macOS
    accepts a limit and does not hold it.
    """
    if is_windows() or not size:
        return
    resource = import_module("resource")
    kind = resource.RLIMIT_DATA if is_linux() else resource.RLIMIT_AS
    with suppress(OSError, ValueError):
        _, hard = resource.getrlimit(kind)
        soft = size if hard == resource.RLIM_INFINITY else min(size, hard)
        resource.setrlimit(kind, (soft, hard))


def read_memory_limit() -> int | None:
    """Return how many bytes of address space this process may use; None without a limit."""
    return _read_limit("RLIMIT_AS")


def read_open_files_limit() -> int | None:
    """Return how many files this process may have open; None without a limit that can be read."""
    return _read_limit("RLIMIT_NOFILE")


def _read_limit(name: str) -> int | None:
    if is_windows():
        return None
    resource = import_module("resource")
    soft: int = resource.getrlimit(getattr(resource, name))[0]
    return None if soft == resource.RLIM_INFINITY else soft


def read_address_space() -> int:
    """Return the address space of this process in bytes; 0 where the system does not say."""
    return _read_own_pages(0)


def read_memory() -> int:
    """Return the memory of this process in bytes, or the most that it has had; 0 if unknown."""
    return _read_own_pages(1) or read_peak_memory()


def read_peak_memory() -> int:
    """Return the most memory that this process has had in bytes; 0 where the system hides it."""
    if is_windows():
        return 0
    resource = import_module("resource")
    return _to_bytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _to_bytes(maxrss: int) -> int:
    return maxrss if SYSTEM == "darwin" else maxrss * 1024  # only macOS counts bytes


def _read_own_pages(column: int) -> int:
    """Return a size from the list of Linux about this process in bytes; 0 elsewhere."""
    pages = _read_numbers("/proc/self/statm")
    return pages[column] * os.sysconf("SC_PAGE_SIZE") if pages else 0


def _read_numbers(path: str) -> list[int]:
    """Return the numbers in the first line of a file that Linux writes; none elsewhere."""
    with suppress(OSError):
        if is_linux():
            with open(path, "rb") as file:  # noqa: PTH123 - called for every reply
                return [int(word) for word in file.readline().split() if word.isdigit()]
    return []


def read_processor_time(pid: int) -> float:
    """Return the processor time of another process in seconds; 0 when it cannot be read."""
    if is_linux():
        with suppress(OSError):  # the process has ended
            # The number of the clock, as `clock_getcpuclockid` of the C library computes it.
            return time.clock_gettime(~pid << 3 | 2)
    return _read_windows_time(pid) if is_windows() else 0.0


def _read_windows_time(pid: int) -> float:
    ctypes = import_module("ctypes")
    kernel: Any = ctypes.windll.kernel32
    process = kernel.OpenProcess(_MAY_QUERY, False, pid)  # noqa: FBT003 - takes no names
    # The times of the start and the end, in the kernel and in the program.
    times = [ctypes.c_ulonglong() for _ in range(4)]
    try:
        is_known = process and kernel.GetProcessTimes(process, *map(ctypes.byref, times))
    finally:
        if process:
            kernel.CloseHandle(process)
    return (times[2].value + times[3].value) / _TICKS_PER_S if is_known else 0.0


def read_thread_time(thread: int) -> float | None:
    """Return the processor time of a running thread; None where no other thread can be asked."""
    find_clock = getattr(time, "pthread_getcpuclockid", None)
    return None if find_clock is None else time.clock_gettime(find_clock(thread))


def count_cores() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return (len(affinity(0)) if affinity else os.cpu_count()) or 1


def get_host_name() -> str:
    """Return the name of this machine, empty when it has none."""
    return os.environ.get("COMPUTERNAME", "") if is_windows() else os.uname().nodename


# Alarms, which interrupt the Python code of the main thread.

_SHORTEST_S = 0.001
_ACTION: TypeAlias = Callable[[], float]


def has_alarms() -> bool:
    """Return whether the system can interrupt the main thread.

    On Windows only another thread could do that, and none runs during a search of `re`.
    """
    return not is_windows()


@contextmanager
def set_alarms(processor: tuple[float, _ACTION], clock: tuple[float, _ACTION]) -> Iterator[None]:
    """Call two functions in the block: after processor time of the process, and by the clock.

    Each is given with its seconds. It runs on the main thread, which must be the caller, between
    two steps of Python code or in the search of a regular expression. It raises, or returns after
    how many further seconds it is called again.
    """
    with (
        _set_timer(signal.ITIMER_REAL, signal.SIGALRM, *clock),
        _set_timer(signal.ITIMER_PROF, signal.SIGPROF, *processor),
    ):
        yield


@contextmanager
def _set_timer(timer: int, sent: int, seconds: float, act: _ACTION) -> Iterator[None]:
    """Call the function in the block; a timer of others is set again after it."""
    is_active = True

    def handle(_number: int, _frame: FrameType | None) -> None:
        # One that runs late would start the timer again, and its signal may end the process.
        if is_active:
            signal.setitimer(timer, max(act(), _SHORTEST_S))

    started = time.monotonic()
    other_alarm, interval = signal.getitimer(timer)
    before = signal.signal(sent, handle)
    try:
        signal.setitimer(timer, seconds)
        yield
    finally:
        is_active = False
        signal.setitimer(timer, 0)
        signal.signal(sent, before or signal.SIG_DFL)
        if other_alarm:
            left = max(other_alarm - (time.monotonic() - started), _SHORTEST_S)
            signal.setitimer(timer, left, interval)


# Terminals and outputs.

_UTF8_CODE_PAGE, _SEQUENCES = 65_001, 4


def prepare_console() -> Callable[[], None]:
    """Let a Windows console show UTF-8 and colours; return what undoes it."""
    if not is_windows():
        return lambda: None
    kernel: Any = import_module("ctypes").windll.kernel32
    before = kernel.GetConsoleOutputCP()
    if before:  # there is a console
        kernel.SetConsoleOutputCP(_UTF8_CODE_PAGE)
        for number in (1, 2):
            with suppress(OSError):  # the descriptor is closed
                _show_sequences(kernel, number)
    return lambda: before and kernel.SetConsoleOutputCP(before)


def _show_sequences(kernel: Any, number: int) -> None:
    handle = import_module("msvcrt").get_osfhandle(number)
    mode = import_module("ctypes").c_ulong()
    if kernel.GetConsoleMode(handle, import_module("ctypes").byref(mode)):
        kernel.SetConsoleMode(handle, mode.value | _SEQUENCES)


def is_broken_pipe(fault: OSError) -> bool:
    """Return whether a write failed because the reader closed the pipe."""
    return isinstance(fault, BrokenPipeError) or (is_windows() and fault.errno == errno.EINVAL)


def is_reader_gone(descriptor: int) -> bool:
    """Return whether the reader of a pipe closed it; on Windows only a write tells."""
    if is_windows():
        return False
    import select

    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def wait_until_writable(descriptor: int) -> None:
    """Wait until an output that must not block takes more; Windows has no such outputs."""
    if not is_windows():
        import select

        select.select([], [descriptor], [])


def interrupt_main_thread() -> None:
    """Send the main thread what Ctrl-C sends; on POSIX this ends its waiting too."""
    main = threading.main_thread().ident
    if is_windows() or main is None:
        import_module("_thread").interrupt_main()
    else:
        signal.pthread_kill(main, signal.SIGINT)
