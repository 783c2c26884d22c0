"""The parent of the warm process: it starts and ends the workers.

It keeps the imports, and ends itself when its code was replaced on disk.

It has one thread and opens no database, so a worker that it forks is complete and clean.
"""

import gc
import json
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

from kebab import __version__
from kebab.warm.client import RELEASE_REQUEST, identify_file, is_own_peer
from kebab.warm.start import SocketLock, Sockets, remove_dead_sockets
from kebab.warm.watchers import Watchers
from kebab.warm.worker import (
    BUSY,
    DISTRUST,
    RELEASE,
    RELEASED,
    WATCH,
    CallRunner,
    Demand,
    Worker,
    read_memory_share,
    receive_demand,
)


class CodeCheck:
    """Tells whether the modules of kebab are still those on disk."""

    _EVERY_S = 1.0

    def __init__(self, package: str | None = None) -> None:
        self._started = time.time()
        self._checked = time.monotonic()
        self._current = True
        root = package or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        # An installer replaces all files, so one file tells; in a working copy each may change.
        self._installed = "-packages" in root
        self._first = os.path.join(root, "__init__.py")
        self._identity = identify_file(self._first)

    def is_current(self) -> bool:
        """Return whether no loaded module changed; it is looked up once a second."""
        now = time.monotonic()
        if self._current and now - self._checked >= self._EVERY_S:
            self._checked = now
            self._current = identify_file(self._first) == self._identity
            if self._current and not self._installed:
                found = [
                    getattr(module, "__file__", None)
                    for name, module in [*sys.modules.items()]
                    if name.partition(".")[0] == "kebab"
                ]
                self._current = not any(map(self._is_newer, [path for path in found if path]))
        return self._current

    def _is_newer(self, path: str) -> bool:
        try:
            return os.stat(path).st_mtime > self._started
        except OSError:
            return True


MOST_WORKERS = max(2, min(4, os.cpu_count() or 1))
_SPARE_S = 30.0
"""The seconds without a call after which a worker beyond the first ends."""
_TICK_S = 5.0
_ENDING_S = 1.0
"""The longest wait for workers at the end; those with a call end after it."""
_MOST_FAILURES, _MOST_FAILED_PRELOADS = 5, 2
_REQUEST_BYTES = 64
_CONTROL_S = 1.0


class _Child:
    """A worker as the parent sees it."""

    def __init__(self, pid: int, control: socket.socket) -> None:
        self.pid = pid
        self.control = control
        self.busy = True
        """Whether it runs a call, or is not ready yet."""
        self.calls = 0
        self.last_used = time.monotonic()


class WarmServer:
    """Listens until nobody calls for a while.

    `identity` is what a call must have to be served; `idle_s` are the seconds without a call
    after which the process ends. The settings at the start want the watcher of `demand`.
    """

    def __init__(
        self,
        path: str,
        identity: bytes,
        runner: CallRunner,
        idle_s: float,
        demand: Demand | None = None,
    ) -> None:
        self._path = path
        self._identity = identity
        self._runner = runner
        self._idle_s = idle_s
        self._children: dict[int, _Child] = {}
        self._selector = selectors.DefaultSelector()
        self._watchers = Watchers(self._selector)
        self._demand = demand
        self._started = time.monotonic()
        self._last_used = time.monotonic()
        self._calls = 0
        self._failures = 0
        self._stopping = False
        self._waiting_for_end: list[socket.socket] = []
        self._waiting_for_release: list[tuple[socket.socket, set[int]]] = []
        """Who asked for the release of files, and the workers that have not released them yet."""
        self._code = CodeCheck()

    def serve(self, *, on_start: Callable[[], None] = lambda: None) -> bool:
        """Serve until the end; return False when another process does already.

        `on_start` is called as soon as the process listens.

        Raises:
            IoError: The socket cannot be created.
        """
        lock = SocketLock.acquire(self._path)
        if lock is None:
            return False
        self._lock = lock
        try:
            remove_dead_sockets(os.path.dirname(self._path))
            self._sockets = Sockets.listen(self._path)
            on_start()
            self._run()
        finally:
            lock.release()
        return True

    def _run(self) -> None:
        gc.collect()
        gc.freeze()
        self._wakeup, wake = socket.socketpair()
        for end in (self._wakeup, wake):
            end.setblocking(False)
        signal.set_wakeup_fd(wake.fileno())
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(self._wakeup, selectors.EVENT_READ, self._reap)
        self._selector.register(self._sockets.control, selectors.EVENT_READ, self._answer_control)
        try:
            if self._demand is not None:
                self._watchers.want(self._demand)
            while not self._stopping:
                self._step()
        finally:
            self._end()

    def _step(self) -> None:
        """Handle what happened, end what is no longer needed, and replace what is missing."""
        if not self._children:
            # It takes no call before it is ready; calls that come meanwhile have another worker.
            self._fork(preload=self._failures < _MOST_FAILED_PRELOADS)
        self._watch_calls()
        for key, _ in self._selector.select(_TICK_S):
            key.data()
        now = time.monotonic()
        busy = any(child.busy for child in self._children.values())
        if busy:
            self._last_used = now
        self._watchers.keep()
        idle = now - self._last_used >= self._idle_s and not self._watchers.are_running
        if idle or not self._sockets.are_ours or not self._code.is_current():
            self._stopping = True
        spare = [child for child in self._children.values() if not child.busy][1:]
        for child in spare:
            if now - child.last_used >= _SPARE_S:
                self._forget(child)

    def _watch_calls(self) -> None:
        """Wait for calls only while no worker does and another one may be started."""
        waiting = any(not child.busy for child in self._children.values())
        wanted = not waiting and len(self._children) < MOST_WORKERS
        watched = self._sockets.calls in self._selector.get_map()
        if wanted and not watched:
            self._selector.register(self._sockets.calls, selectors.EVENT_READ, self._fork)
        elif watched and not wanted:
            self._selector.unregister(self._sockets.calls)

    def _fork(self, *, preload: bool = False) -> None:
        ours, theirs = socket.socketpair()
        ours.settimeout(_CONTROL_S)
        pid = os.fork()
        if pid == 0:
            ours.close()
            self._become_worker(theirs, preload=preload)
        theirs.close()
        child = self._children[pid] = _Child(pid, ours)
        self._selector.register(ours, selectors.EVENT_READ, partial(self._hear, child))
        self._watch_calls()

    def _become_worker(self, control: socket.socket, *, preload: bool) -> NoReturn:
        """Serve calls in the child; it never returns to the loop of the parent."""
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._selector.close()
            self._lock.forget()
            self._sockets.control.close()
            self._watchers.forget()
            self._wakeup.close()
            for child in self._children.values():
                child.control.close()
            is_current = self._code.is_current
            worker = Worker(self._sockets.calls, control, self._identity, self._runner, is_current)
            worker.serve(preload=preload)
            status = 0
        finally:
            os._exit(status)

    def _hear(self, child: _Child) -> None:
        """Read whether a worker began or ended calls."""
        try:
            heard = child.control.recv(1)
            if heard == WATCH:
                self._watchers.want(receive_demand(child.control))
                return
        except OSError:
            heard = b""
        if not heard:
            self._failures += not child.calls
            self._forget(child)
            return
        if heard == RELEASED:
            self._note_release(child.pid)
            return
        if heard == DISTRUST:
            for other in self._children.values():
                if other is not child:
                    with suppress(OSError):
                        other.control.send(RELEASE)
            return
        child.busy = heard.endswith(BUSY)
        begun = heard.count(BUSY)
        child.calls += begun
        self._calls += begun
        self._failures = 0 if begun else self._failures
        child.last_used = self._last_used = time.monotonic()

    def _forget(self, child: _Child) -> None:
        """Close the control of a worker, which ends when it has no call."""
        with suppress(KeyError, ValueError):
            self._selector.unregister(child.control)
        child.control.close()
        self._children.pop(child.pid, None)
        self._note_release(child.pid)

    def _reap(self) -> None:
        """Collect workers that ended; many that end without a call are a defect, so stop."""
        with suppress(BlockingIOError):
            self._wakeup.recv(_REQUEST_BYTES)
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                child = self._children.get(ended[0])
                if child is None:
                    self._watchers.note_end(*ended)
                    continue
                self._failures += not child.calls
                self._forget(child)
        if self._failures >= _MOST_FAILURES:
            self._stopping = True

    def _stop(self, _number: int, _frame: object) -> None:
        self._stopping = True

    def _answer_control(self) -> None:
        """Report the status, or stop; whoever asks for the stop sees the end of the connection."""
        with suppress(OSError, ValueError):
            connection = self._sockets.control.accept()[0]
            connection.settimeout(_CONTROL_S)
            if not is_own_peer(connection):
                connection.close()
                return
            request = connection.recv(_REQUEST_BYTES)
            if request == RELEASE_REQUEST:
                self._release_files(connection)
                return
            if request == b"stop\n":
                self._stopping = True
                self._waiting_for_end.append(connection)
                return
            connection.sendall(json.dumps(self._describe()).encode())
            connection.close()

    def _release_files(self, connection: socket.socket) -> None:
        """Ask all workers to close their files; `connection` is closed when they have done so."""
        waiting = {*self._children}
        self._waiting_for_release.append((connection, waiting))
        for child in [*self._children.values()]:
            try:
                child.control.send(RELEASE)
            except OSError:  # it ended
                self._note_release(child.pid)
        self._note_release(0)

    def _note_release(self, pid: int) -> None:
        """Note that a worker has no files of a knowledge base open."""
        for connection, waiting in [*self._waiting_for_release]:
            waiting.discard(pid)
            if not waiting:
                connection.close()
                self._waiting_for_release.remove((connection, waiting))

    def _describe(self) -> dict[str, Any]:
        """Return the status as the fields of the reply."""
        now = time.monotonic()
        return {
            "pid": os.getpid(),
            "version": __version__,
            "uptime_s": round(now - self._started, 3),
            "idle_s": round(now - self._last_used, 3),
            "calls": self._calls,
            "memory_bytes": read_memory_share(os.getpid()),
            "workers": [
                {
                    "pid": child.pid,
                    "busy": child.busy,
                    "calls": child.calls,
                    "memory_bytes": read_memory_share(child.pid),
                }
                for child in self._children.values()
            ],
            "watchers": self._watchers.describe(),
        }

    def _end(self) -> None:
        """Close the sockets, and wait shortly for workers without a call."""
        self._sockets.close()
        for child in [*self._children.values()]:
            self._forget(child)
        self._watchers.end()
        deadline = time.monotonic() + _ENDING_S
        with suppress(ChildProcessError):
            while time.monotonic() < deadline:
                if not os.waitpid(-1, os.WNOHANG)[0]:
                    time.sleep(0.01)
