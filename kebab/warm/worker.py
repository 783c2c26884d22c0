"""Serves calls in a process that keeps knowledge bases open, one call at a time."""

import gc
import io
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from kebab.app.pool import KebabPool
from kebab.config.settings import Daemon
from kebab.core.own_process import RunCold, refuse_own_work, require_own_process
from kebab.warm.call import Call, receive_call
from kebab.warm.demand import Demand, build_demand, send_demand

IDLE, BUSY = b"i", b"b"
"""What a worker tells its parent."""

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

    def __call__(self, settings: Any, *, read_only: bool = False, **options: Any) -> Any:
        """Return a knowledge base as a context manager.

        Raises:
            RunCold: The settings switch the warm process off.
        """
        if not settings.daemon.auto:
            raise RunCold
        self.daemon = settings.daemon
        if options.pop("report", None) is not None:
            raise RunCold
        if not read_only:
            self.demand = build_demand(settings, options["config_path"], os.environ)
        return self._pool.lease(settings, read_only=read_only, **options)


class Worker:
    """Takes calls from the listening socket until its parent ends or closes the control.

    Args:
        listener: The socket that all workers accept connections from.
        control: The connection to the parent.
        identity: What a call must have to be served.
        runner: How a call runs.
        is_current: Returns whether the code of this process is still the one on disk.
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
            if any(number == self._control.fileno() for number, _ in poll.poll()):
                return
            connection = self._accept()
            if connection is None:
                continue
            self._busy = True
            self._tell_parent(BUSY)
            self._serve_connection(connection)
            self._busy = False
            self._tell_parent(IDLE)

    def _tell_parent(self, state: bytes) -> None:
        """Tell the parent the state; when it no longer listens, end after the running call."""
        try:
            self._control.send(state)
        except OSError:  # it closed the control of a spare worker just as a call came
            self._stopping = True

    def _stop(self, number: int, frame: object) -> None:
        """End after the running call."""
        del number, frame
        self._stopping = True
        if not self._busy:
            os._exit(0)

    def _accept(self) -> socket.socket | None:
        try:
            return self._listener.accept()[0]
        except OSError:  # another worker was faster
            return None

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
            status = self._runner.run(call, self._opener, self._leave(call))
            call.ignore_client()
            call.send_result(status)
            self._send_demand()
        except RunCold:
            call.ignore_client()
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

    def _send_demand(self) -> None:
        """Tell the parent which watcher the call wants."""
        demand, self._opener.demand = self._opener.demand, None
        if demand is not None:
            send_demand(self._control, demand)

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
