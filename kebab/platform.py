"""Contains what the systems of POSIX do beyond the standard library, and where they differ.

Files are replaced as a whole or not at all, so that a power cut does not lose what must stay.

Linux and macOS run the same code. What macOS does not have is off, and `list_missing_features`
names it.
"""

import fcntl
import importlib.util
import os
import resource
import select
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import EEXIST
from math import inf
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from subprocess import Popen

SYSTEM = sys.platform
"""`linux` or `darwin`; tests replace it."""


def is_linux() -> bool:
    """Return whether this is Linux."""
    return SYSTEM == "linux"


def list_missing_features() -> list[str]:
    """Return what kebab does on Linux and not on this system."""
    others = ["memory limits of workers", "processor time of workers (the clock decides)"]
    return [] if is_linux() else others


def find_editor() -> str:
    """Return an editor of this machine."""
    import shutil

    known = ("nano", "vim", "vi", "nvim", "micro", "hx", "emacs", "code")
    return next(filter(shutil.which, known), "vi")


# Files.


def shorten_path(path: str) -> str:
    """Return a path as a person would write it: below the working folder without that."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (OSError, ValueError):
        return path


def find_data_folder(packed: str, unpacked: str) -> Path:
    """Return a folder of what the wheel has as `_data`, or of what the checkout has instead."""
    folder = Path(__file__).with_name("_data") / packed
    return folder if folder.is_dir() else Path(__file__).parents[1] / unpacked


def is_private(status: os.stat_result) -> bool:
    """Return whether only this user can open a file."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)


def copy_owner(file: int, status: os.stat_result) -> None:
    """Give an open file the owner, if possible, and the permissions of another one."""
    with suppress(OSError):
        os.fchown(file, status.st_uid, status.st_gid)
    os.fchmod(file, stat.S_IMODE(status.st_mode))


def sync_path(path: str | os.PathLike[str]) -> None:
    """Wait until the disk has a file, or the names of a folder.

    Raises:
        OSError: The system refuses.
    """
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def is_on_read_only_disk(path: str | os.PathLike[str]) -> bool:
    """Return whether the file system refuses every write."""
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def lock_descriptor(file: int, *, shared: bool = False) -> bool:
    """Try to lock an open file without waiting; return whether that was possible.

    A second descriptor of the same file meets the lock too. Closing the descriptor frees it, and
    so does the end of the process.
    """
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# Files that a power cut must not lose. Whoever replaces a file that cannot be computed again uses
# these: the stores, the settings files, the fixes of a review. A file is written and synced under
# another name first, then renamed, and then the folder is synced; in another order a cut may leave
# an empty file.

_PAUSE_S = 0.01
"""The time between two tries to take a lock."""


@contextmanager
def replace_file(target: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """Yield a draft that takes the place of a file when the block ends without an error.

    A new draft has the permissions `mode`, and its name ends with the number of the thread. What is
    in its place is lost only with the rename.

    Raises:
        OSError: The system refuses; the file is as it was.
    """
    draft = target.with_name(f".{target.name}.{threading.get_native_id()}")
    try:
        # A link in its place is not followed.
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with os.fdopen(os.open(draft, flags, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
        sync_names(target.parent)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def create_copy(paths: Iterable[Path], data: bytes, status: os.stat_result) -> Path:
    """Write a copy to the first path that is free; it gets the owner and permissions of a status.

    Raises:
        OSError: The system refuses; no part of a copy stays.
    """
    for path in paths:
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        try:
            with os.fdopen(file, "wb") as copy:
                copy.write(data)
                copy.flush()
                copy_owner(copy.fileno(), status)
                os.fsync(copy.fileno())
        except BaseException:
            path.unlink()
            raise
        sync_names(path.parent)
        return path
    raise FileExistsError(EEXIST, "too many copies of the original")


def sync_names(folder: Path) -> None:
    """Wait until the disk has the names in a folder, where the system can."""
    with suppress(OSError):
        sync_path(folder)


def create_folder(path: Path, mode: int = 0o777) -> None:
    """Create a folder and those above it unless they exist, and wait until the disk has them."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(mode=mode, parents=True, exist_ok=True)
    for folder in missing:
        sync_names(folder.parent)


def delete_path(path: Path) -> None:
    """Delete a file, or a folder with its content; of a link only the link.

    Raises:
        OSError: The system refuses.
    """
    if path.is_dir() and not path.is_symlink():
        from shutil import rmtree

        rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def hold_lock(path: Path, *, wait: bool = True, most_s: float = inf) -> Iterator[bool]:
    """Yield whether this process alone holds the lock of a file, which is made if it is missing.

    It waits at most `most_s`. The system frees the lock of a process that ends.

    Raises:
        OSError: The system refuses.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        held, deadline = lock_descriptor(file), time.monotonic() + most_s
        while wait and not held and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
            held = lock_descriptor(file)
        yield held
    finally:
        os.close(file)


# Processes.

_PR_SET_PDEATHSIG = 1


class ProcessEnd(NamedTuple):
    """How a process ended."""

    status: int
    peak_bytes: int = 0
    cpu_seconds: float = 0.0


def start_with_connections(
    arguments: Sequence[str], connections: Sequence["Connection"], environment: dict[str, str]
) -> "Popen[bytes]":
    """Start a process that opens these connections by their descriptors, and prints nothing.

    Ctrl-C does not reach it.

    Raises:
        OSError: The system cannot start a process.
    """
    import subprocess

    return subprocess.Popen(  # noqa: S603 - the caller's own program
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        pass_fds=[connection.fileno() for connection in connections],
        start_new_session=True,
    )


def get_pipe_size(descriptor: int, wanted: int = 0) -> int:
    """Return how many bytes a pipe holds, if possible as many as wanted; 0 when it is unknown."""
    if not is_linux():
        return 0
    if wanted:
        with suppress(OSError):  # this user has too many of them
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, wanted)
    return int(fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ))


def kill_tree(process: "Popen[Any]") -> None:
    """Kill a process that leads a session, and the processes that it started."""
    with suppress(OSError):  # it has ended
        os.killpg(process.pid, signal.SIGKILL)


def wait_for_end(process: "Popen[Any]", *, poll: bool = False) -> ProcessEnd | None:
    """Return how a process ended; with `poll`, None while it runs.

    Nothing else may wait for it, because the system tells it once.
    """
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
    if is_linux():
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise SystemExit(1)


def limit_memory(size: int) -> None:
    """Limit the memory of this process in bytes, where the system can; 0 means no limit.

    On Linux the limit counts what is written to, not address space that a library reserves. macOS
    accepts a limit and does not hold it.
    """
    if not size:
        return
    kind = resource.RLIMIT_DATA if is_linux() else resource.RLIMIT_AS
    with suppress(OSError, ValueError):
        _, hard = resource.getrlimit(kind)
        soft = size if hard == resource.RLIM_INFINITY else min(size, hard)
        resource.setrlimit(kind, (soft, hard))


def read_memory_limit() -> int | None:
    """Return how many bytes of address space this process may use; None without a limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def read_address_space() -> int:
    """Return the address space of this process in bytes; 0 where the system does not say."""
    return _read_own_pages(0)


def read_memory() -> int:
    """Return the memory of this process in bytes, or the most that it has had."""
    return _read_own_pages(1) or read_peak_memory()


def read_peak_memory() -> int:
    """Return the most memory that this process has had in bytes."""
    return _to_bytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _to_bytes(maxrss: int) -> int:
    return maxrss if SYSTEM == "darwin" else maxrss * 1024  # only macOS counts bytes


def _read_own_pages(column: int) -> int:
    """Return a size from the list of Linux about this process in bytes; 0 elsewhere."""
    with suppress(OSError):
        if is_linux():
            with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - called for every reply
                return int(file.readline().split()[column]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def read_processor_time(pid: int) -> float:
    """Return the processor time of another process in seconds; 0 when it cannot be read."""
    if is_linux():
        with suppress(OSError):  # the process has ended
            # The number of the clock, as `clock_getcpuclockid` of the C library computes it.
            return time.clock_gettime(~pid << 3 | 2)
    return 0.0


def count_cores() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return (len(affinity(0)) if affinity else os.cpu_count()) or 1


# Alarms, which interrupt the Python code of the main thread.

_SHORTEST_S = 0.001
_ACTION: TypeAlias = Callable[[], float]


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


# Outputs.


def is_reader_gone(descriptor: int) -> bool:
    """Return whether the reader of a pipe closed it."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def interrupt_main_thread() -> None:
    """Send the main thread what Ctrl-C sends; this ends its waiting too."""
    main = threading.main_thread().ident
    assert main is not None, "the main thread runs"
    signal.pthread_kill(main, signal.SIGINT)


# Libraries: each change states the measurement that justifies it, on a machine with two cores.

_LANCE_THREADS = "2"
_LANCE_REST_CLIENT = "lance_namespace_urllib3_client"


def limit_blas_threads() -> None:
    """Let numpy multiply on one thread; the user's own setting wins.

    A product of a matrix and a vector waits for memory, so a second thread does not help. Measured
    for 100,000 vectors: 5.5 ms with one thread, 8.5 ms with two; both take 5.5 ms of wall time.
    numpy reads the setting once, on import.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def limit_lance_threads() -> None:
    """Let LanceDB use two threads; the user's own setting wins.

    Measured for 25 appends and one compaction of 100,000 vectors: 0.8 to 1.0 s and 370 MB with two
    threads, 1.6 s and 480 MB with 64. LanceDB reads the settings once, on import.
    """
    os.environ.setdefault("LANCE_CPU_THREADS", _LANCE_THREADS)
    os.environ.setdefault("LANCE_IO_THREADS", _LANCE_THREADS)


def skip_lance_rest_client() -> None:
    """Let `import lancedb` find the client of its server as a package whose code has not run.

    LanceDB needs only the models in there; a table on disk never makes a call over HTTP. Measured:
    the import takes 648 ms instead of 1121 ms (medians of 7 processes).
    """
    _skip_code_of_package(_LANCE_REST_CLIENT)


def skip_mcp_client() -> None:
    """Let modules of the package `mcp` be imported without its client and its framework.

    Measured, with pydantic's `defer_build`: `kebab mcp` with one search takes 1.36 s of
    processor time instead of 1.63 s (medians of 6, both beside load).
    """
    _skip_code_of_package("mcp")
    _skip_code_of_package("mcp.server")


def _skip_code_of_package(name: str) -> None:
    """Let imports find a package whose own code has not run; its modules run as usual."""
    if name not in sys.modules and (spec := importlib.util.find_spec(name)):
        sys.modules[name] = importlib.util.module_from_spec(spec)


def skip_httpx_command_line() -> None:
    """Let `import httpx` not import its command line, and with it click, rich and pygments.

    Measured: the import takes 98 ms instead of 156 ms (medians of 12 processes).
    """
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # None blocks the import
