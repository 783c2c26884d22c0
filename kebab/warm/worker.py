"""Serves calls in a process that keeps knowledge bases open, one call at a time."""

import array
import errno
import fcntl
import gc
import io
import marshal
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from kebab.app.dispatch import KebabPool
from kebab.config.settings import Daemon, Settings, find_default_config, resolve_paths
from kebab.core.progress import RunCold, refuse_own_work, require_own_process
from kebab.errors.catalog import IoError, StoreCorrupt
from kebab.store.sqlite.connection import get_database_path
from kebab.warm.client import (
    ACKNOWLEDGED,
    ALIVE,
    COLD,
    LENGTH_BYTES,
    LIVE,
    RESULT,
    SHOW,
    is_own_peer,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

WATCH = b"w"
"""What a worker tells its parent before it sends a demand."""

_PATH_VARIABLES = ("KEBAB_MODELS_DIR", "KEBAB_WORKSPACE")
_FORM = 2


class Demand(NamedTuple):
    """What a watcher of one knowledge base needs."""

    data_dir: str
    flags: list[str]
    environ: dict[str, str]

    def has_index(self) -> bool:
        """Return whether the knowledge base exists."""
        return get_database_path(Path(self.data_dir)).exists()


def build_demand(
    settings: Settings, config_path: Path, environ: Mapping[str, str]
) -> Demand | None:
    """Return the demand of a call; None when its settings want no watcher, or it has no index.

    A watcher runs in another folder, so every path is made absolute.
    """
    if not settings.watch.auto:
        return None
    data_dir = str(resolve_paths(settings).data)
    flags = ["--data-dir", data_dir]
    config = config_path.absolute()
    if config != find_default_config().absolute():
        flags += ["--config", str(config)]
    paths = {
        name: os.path.abspath(os.path.expanduser(environ[name]))
        for name in _PATH_VARIABLES
        if environ.get(name)
    }
    demand = Demand(data_dir, flags, {**environ, **paths})
    return demand if demand.has_index() else None


def send_demand(control: socket.socket, demand: Demand) -> None:
    """Send a demand to the parent.

    Raises:
        OSError: The parent ended.
    """
    data = marshal.dumps(tuple(demand), _FORM)
    control.sendall(WATCH + len(data).to_bytes(LENGTH_BYTES, "big") + data)


def receive_demand(control: socket.socket) -> Demand:
    """Return the demand that follows `WATCH`.

    Raises:
        OSError: The worker ended or stopped while it sent the demand.
    """
    size = int.from_bytes(_receive(control, LENGTH_BYTES), "big")
    return Demand(*marshal.loads(_receive(control, size)))


def _receive(control: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = control.recv(size - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data


_RECEIVE_S = 1.0
_DESCRIPTORS = 3
_CHUNK = 1 << 16
_MAX_BYTES = 1 << 26
_LEAVING_COUNT = 2


class Request(NamedTuple):
    """What a client sends: the command line and the process state that it depends on."""

    identity: bytes
    arguments: list[str]
    folder: str
    environ: dict[str, str]
    umask: int


class Call:
    """One call, with the standard descriptors of its client.

    Output is kept, and sent together with the exit status, so that a worker that dies leaves
    nothing behind and the call can run cold. When the client has waited a while, the output so far
    is written to the descriptors, and the call goes on live.
    """

    def __init__(self, connection: socket.socket, request: Request, descriptors: list[int]) -> None:
        self.connection = connection
        self.request = request
        self.descriptors = descriptors
        self.write_live: Callable[[int, bytes], None] = lambda _stream, _data: None
        """Writes to a descriptor of the client; stream 1 is stdout and 2 stderr."""
        self.interrupted = 0
        """How often the client interrupted the call or left."""
        self._pieces: list[tuple[int, bytes]] = []
        self._live = False
        self._ended = False
        self._lock = threading.RLock()

    def collect(self, stream: int, data: bytes) -> bool:
        """Keep output; return whether that was possible, as a live call writes it itself."""
        with self._lock:
            if not self._live:
                self._pieces.append((stream, data))
            return not self._live

    def show_output(self) -> None:
        """Go on live if there is output."""
        with self._lock:
            if self._live or not self._pieces:
                return
            try:
                self.connection.sendall(LIVE)
            except OSError:  # the client left
                return
            self._live = True
            pieces, self._pieces = self._pieces, []
            for stream, data in pieces:
                self.write_live(stream, data)

    def acknowledge(self) -> None:
        """Tell the client that the call runs, and listen to the client from now on."""
        # With a timeout of its own a socket would wait for bytes in spite of `MSG_DONTWAIT`.
        self.connection.settimeout(None)
        self.connection.sendall(ACKNOWLEDGED)
        signal.signal(signal.SIGIO, self._hear)
        number = self.connection.fileno()
        fcntl.fcntl(number, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(number, fcntl.F_GETFL)
        fcntl.fcntl(number, fcntl.F_SETFL, flags | os.O_ASYNC)
        self._hear(signal.SIGIO, None)

    def ignore_client(self) -> None:
        """Hear no more of the client."""
        signal.signal(signal.SIGIO, signal.SIG_IGN)

    def _hear(self, _number: int, frame: "FrameType | None") -> None:
        """Read what the client sent; a client that left interrupts the call."""
        try:
            heard = self.connection.recv(64, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            heard = b""
        if not heard:
            self.ignore_client()
            self._interrupt(signal.SIGINT, frame)
        if SHOW in heard:
            with self._lock:
                if not self._ended:  # the client sees that this worker does not hang
                    self.show_output()
                    self._send(ALIVE)
        for signum in heard:
            if signum in (signal.SIGINT, signal.SIGTERM):
                self._interrupt(signum, frame)

    def _interrupt(self, number: int, frame: "FrameType | None") -> None:
        self.interrupted += 1
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            handler(number, frame)

    @property
    def is_live(self) -> bool:
        """Whether the client has shown output, so that the call cannot be repeated."""
        return self._live

    @property
    def is_abandoned(self) -> bool:
        """Whether so many interruptions came that the process must not be used again."""
        return self.interrupted >= _LEAVING_COUNT

    def send_result(self, status: int) -> None:
        """Send the exit status and the output that is left."""
        with self._lock:
            self._ended = True
            pieces, self._pieces = self._pieces, []
        data = marshal.dumps((int(status), pieces), _FORM)
        self._send(RESULT + len(data).to_bytes(LENGTH_BYTES, "big") + data)

    def send_cold(self) -> None:
        """Tell the client to run the call itself; one of a live call has to give up."""
        with self._lock:
            if not self._live:
                self._send(COLD)

    def _send(self, data: bytes) -> None:
        try:
            self.connection.sendall(data)
        except OSError:  # the client left
            return

    def close(self) -> None:
        """Close the connection and the descriptors."""
        self.connection.close()
        for number in self.descriptors:
            os.close(number)


def receive_call(connection: socket.socket) -> Call | None:
    """Return the call of a client; None when it left, or is not one of this user."""
    descriptors = array.array("i")
    try:
        if not is_own_peer(connection):
            return None
        data = _receive_bytes(connection, descriptors)
        if len(descriptors) != _DESCRIPTORS:
            raise OSError(errno.EBADMSG, "no descriptors")
        request = Request(*marshal.loads(data))
    except (OSError, ValueError, TypeError, EOFError):
        for number in descriptors:
            os.close(number)
        return None
    return Call(connection, request, list(descriptors))


def _receive_bytes(connection: socket.socket, descriptors: "array.array[int]") -> bytes:
    """Return the whole message, and append the descriptors that came with it."""
    deadline = time.monotonic() + _RECEIVE_S
    connection.settimeout(_RECEIVE_S)
    space = socket.CMSG_SPACE(_DESCRIPTORS * descriptors.itemsize)
    data, ancillary, _, _ = connection.recvmsg(_CHUNK, space)
    for level, kind, rights in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(rights[: len(rights) - len(rights) % descriptors.itemsize])
    for number in descriptors:
        os.set_inheritable(number, False)
    message = bytearray(data)
    while len(message) < LENGTH_BYTES or len(message) < LENGTH_BYTES + _read_size(message):
        more = connection.recv(_CHUNK)
        if not more or len(message) > _MAX_BYTES or time.monotonic() > deadline:
            raise OSError(errno.EBADMSG, "the call is not complete")
        message += more
    return bytes(message[LENGTH_BYTES:])


def _read_size(message: bytearray) -> int:
    return int.from_bytes(message[:LENGTH_BYTES], "big")


IDLE, BUSY, RELEASED, DISTRUST = b"i", b"b", b"r", b"d"
"""What a worker tells its parent; the last asks that the other workers close their files."""

RELEASE = b"r"
"""The parent asks a worker to close the files of all knowledge bases."""

REST_S, _TICK_S = 4.0, 1.0
"""Files of a knowledge base are closed when it was not used so long; how often a worker looks."""

_MB = 1 << 20


class CallRunner(NamedTuple):
    """How the command line runs a call; this package does not know it."""

    run: "Callable[[Call, KebabOpener, Callable[[int], NoReturn]], int]"
    """Runs a call with this factory of knowledge bases; the function ends the process at once."""
    preload: "Callable[[KebabOpener], None]"
    """Loads what most calls need."""


class KebabOpener:
    """Opens the knowledge bases of calls, each at most once."""

    def __init__(self) -> None:
        self._pool = KebabPool()
        self.daemon = Daemon()
        """The settings of the call that opened a knowledge base last."""
        self.demand: Demand | None = None
        """The watcher that the call wants."""
        self.holds_files = False
        """Whether files of a knowledge base may be open."""
        self.call: Call | None = None
        """The call that is served."""
        self.distrusts = False
        """Whether the call met a fault of a store."""

    def release_files(self, unused_s: float = 0.0) -> None:
        """Close the files of unused knowledge bases, so that their folders can be unmounted."""
        self.holds_files = self._pool.release_files(unused_s)

    def __call__(self, settings: Any, *, read_only: bool = False, **options: Any) -> Any:
        """Return a knowledge base as a context manager.

        Raises:
            RunCold: The settings switch the warm process off, or a store has a fault.
        """
        if not settings.daemon.auto:
            raise RunCold
        self.daemon = settings.daemon
        self.holds_files = True
        if options.pop("report", None) is not None:
            raise RunCold
        if not read_only:
            self.demand = build_demand(settings, options["config_path"], os.environ)
        return self._lease(settings, read_only=read_only, **options)

    @contextmanager
    def _lease(self, settings: Any, **options: Any) -> "Iterator[Any]":
        """Yield a knowledge base; after a fault of a store the client runs the call itself.

        The fault may come from what warm processes share of a database whose files were replaced.
        """
        try:
            with self._pool.lease(settings, **options) as kebab:
                yield kebab
        except (IoError, StoreCorrupt):
            if self.call is not None and self.call.is_live:
                raise
            self.distrusts = True
            raise RunCold from None


class Worker:
    """Takes calls from the listening socket until its parent ends or closes the control.

    `identity` is what a call must have to be served; `is_current` tells whether the code of
    this process is still the one on disk.
    """

    def __init__(
        self,
        listener: socket.socket,
        control: socket.socket,
        identity: bytes,
        runner: CallRunner,
        is_current: Callable[[], bool],
    ) -> None:
        self._listener = listener
        self._control = control
        self._identity = identity
        self._runner = runner
        self._is_current = is_current
        self._opener = KebabOpener()
        self._stopping = False
        self._busy = False

    def serve(self, *, preload: bool) -> None:
        """Serve calls until the end."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        refuse_own_work()
        if preload:
            self._runner.preload(self._opener)
        gc.collect()
        gc.freeze()
        poll = select.poll()
        for one in (self._listener, self._control):
            poll.register(one, select.POLLIN)
        self._tell_parent(IDLE)
        while not self._stopping:
            tick = int(_TICK_S * 1000) if self._opener.holds_files else None
            ready = {number for number, _ in poll.poll(tick)}
            if not ready:
                self._opener.release_files(REST_S)
            if self._control.fileno() in ready and not self._answer_parent():
                return
            if self._listener.fileno() not in ready:
                continue
            try:
                connection = self._listener.accept()[0]
            except OSError:  # another worker was faster
                continue
            self._busy = True
            self._tell_parent(BUSY)
            self._serve_connection(connection)
            self._opener.release_files(REST_S)
            self._busy = False
            self._tell_parent(IDLE)

    def _answer_parent(self) -> bool:
        """Do what the parent asks for; return whether it still listens."""
        try:
            if self._control.recv(1) != RELEASE:
                return False
        except OSError:
            return False
        self._opener.release_files()
        self._tell_parent(RELEASED)
        return True

    def _tell_parent(self, state: bytes) -> None:
        """Tell the parent the state; when it no longer listens, end after the running call."""
        try:
            self._control.send(state)
        except OSError:  # it closed the control of a spare worker just as a call came
            self._stopping = True

    def _stop(self, _number: int, _frame: object) -> None:
        """End after the running call."""
        self._stopping = True
        if not self._busy:
            os._exit(0)

    def _serve_connection(self, connection: socket.socket) -> None:
        call = receive_call(connection)
        if call is None:
            connection.close()
            return
        try:
            if call.request.identity != self._identity or not self._is_current():
                self._stopping = self._stopping or not self._is_current()
                call.send_cold()
            else:
                self._serve_call(call)
        except OSError:  # the client left
            return
        finally:
            call.close()

    def _serve_call(self, call: Call) -> None:
        """Run a call in the place of its client."""
        state = ProcessState.take()
        try:
            state.become(call)
        except OSError:  # its folder is gone
            call.send_cold()
            return
        try:
            call.acknowledge()
            self._opener.call, self._opener.distrusts = call, False
            status = self._runner.run(call, self._opener, self._leave(call))
            call.ignore_client()
            call.send_result(status)
            demand, self._opener.demand = self._opener.demand, None
            if demand is not None:
                send_demand(self._control, demand)
        except RunCold:
            call.ignore_client()
            if self._opener.distrusts:
                self._opener.release_files()
                self._tell_parent(DISTRUST)
            call.send_cold()
        except KeyboardInterrupt:  # between the end of the call and `ignore_client`
            call.send_result(130)
            self._stopping = True
        finally:
            call.ignore_client()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            state.restore()
        limit = self._opener.daemon.max_memory_mb * _MB
        if call.is_abandoned or read_memory(os.getpid()) > limit:
            self._stopping = True

    def _leave(self, call: Call) -> Callable[[int], NoReturn]:
        def leave(status: int) -> NoReturn:
            call.send_result(status)
            os._exit(status)

        return leave


class ProcessState(NamedTuple):
    """What a call changes in the process."""

    umask: int
    stdin: Any

    @classmethod
    def take(cls) -> "ProcessState":
        """Return the present state."""
        umask = os.umask(0o077)
        os.umask(umask)
        return cls(umask, sys.stdin)

    def become(self, call: Call) -> None:
        """Take over the folder, the environment, the umask and stdin of a client.

        Raises:
            OSError: The folder does not exist any more.
        """
        os.chdir(call.request.folder)
        os.umask(call.request.umask)
        replace_environment(call.request.environ)
        sys.stdin = io.TextIOWrapper(io.BufferedReader(_ForeignInput(call.descriptors[0])))

    def restore(self) -> None:
        """Restore the state, so that the process keeps no folder in use."""
        os.chdir("/")
        os.umask(self.umask)
        sys.stdin = self.stdin


class _ForeignInput(io.RawIOBase):
    """The stdin of a client; reading it takes text away from the call, so the call runs cold."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        """Refuse to read.

        Raises:
            RunCold: Always.
        """
        del buffer
        require_own_process()
        return 0


def replace_environment(wanted: dict[str, str]) -> None:
    """Set the environment variables of this process; only those that differ are touched."""
    zone = os.environ.get("TZ")
    for name in [name for name in os.environ if name not in wanted]:
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
    if os.environ.get("TZ") != zone:
        time.tzset()


def read_memory_share(pid: int) -> int:
    """Return the memory of a process in bytes, with its share of shared pages.

    It takes milliseconds. Where the system does not tell the share, it is the resident memory.
    """
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            found = [line.split()[1] for line in file if line.startswith(b"Pss:")]
            return int(found[0]) * 1024
    except (OSError, ValueError, IndexError):
        return read_memory(pid)


def read_memory(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError):
        return 0
