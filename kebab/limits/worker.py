"""Starts worker processes, and explains how one ended.

Parsers run in them under limits, and the HTTP server lets them answer reads.

A worker receives pickled tasks over a pipe, one after another, and sends one reply for each. It
ends when the pipe is closed or when the process that started it dies. Nothing that it prints is
seen. When native code crashes, hangs or exhausts the memory, only the worker is lost.
"""

import gc
import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from multiprocessing.connection import Connection, Pipe
from multiprocessing.connection import wait as wait_for_connections
from pathlib import Path
from typing import Any, NamedTuple

import kebab
from kebab import platform
from kebab.limits.deadline import Elapsed, describe_exhaustion, describe_failure

DEFAULT_MEMORY_MB = 1024
DEFAULT_DEADLINE_S = 30.0

GRACE_S = 2.0
"""How much later than the alarm within the worker the worker itself is killed."""

_POLL_S = 0.1
"""How often the processor time of a worker is read."""

START_S = 60.0
"""The longest time until a worker is ready."""

_PIPE_BYTES = 1 << 20
"""How many bytes of replies may wait in the pipe, where the system allows it."""

_MAX_UNREAD_BYTES, _MIN_UNREAD_BYTES = 32_768, 2_048
"""How many bytes of tasks may wait for the worker, and how many fit into the smallest pipe."""

_MB = 1 << 20
_END_POLLS, _END_POLL_S = 100, 0.01
_EXHAUSTED_SHARE = 0.7
"""A worker that had so much of its memory when it crashed probably crashed for lack of more."""

_PROGRAM = "import sys; from kebab.limits.worker import serve; serve(*map(int, sys.argv[1:]))"
"""The program of a worker; it imports what it needs by unpickling the handler."""


class Limits(NamedTuple):
    """The processor time of one file in seconds, and the memory of a worker; 0 means no limit."""

    deadline_s: float = DEFAULT_DEADLINE_S
    max_memory_mb: int = DEFAULT_MEMORY_MB


class Reply(NamedTuple):
    """The result of a task, the memory of the worker in bytes, and why there is no result.

    The first reply of a worker has no task and says that it is ready.
    """

    result: Any
    memory: int = 0
    fault: str = ""


class WorkerProcess(AbstractContextManager["WorkerProcess"]):
    """A process that calls a handler with each task; after it ended, `receive` returns None."""

    def __init__(self, handler: Callable[[Any], Any], max_memory_mb: int) -> None:
        """Start the process and send it the handler, which has to be picklable.

        Raises:
            OSError: The system has no room for a pipe or a process.
        """
        with ExitStack() as undo:
            worker_reads, self._tasks = _open_pipe(undo)
            self.replies, worker_writes = _open_pipe(undo)
            ends = (worker_reads, worker_writes)
            numbers = (*(end.fileno() for end in ends), os.getpid(), max_memory_mb)
            self._process = platform.start_with_connections(
                ["-P", "-c", _PROGRAM, *map(str, numbers)], ends, _build_environment()
            )
            undo.pop_all()
        for end in ends:
            end.close()
        self.is_ready = False
        self._max_memory_mb = max_memory_mb
        self._own_peak = platform.read_peak_memory()
        self._cause = ""
        self._has_ended = False
        platform.get_pipe_size(self.replies.fileno(), _PIPE_BYTES)
        size = platform.get_pipe_size(self._tasks.fileno())
        self._capacity = min(_MAX_UNREAD_BYTES, max(_MIN_UNREAD_BYTES, size // 2))
        self._unread: deque[int] = deque()
        self._began = Elapsed(0.0, time.monotonic())
        self._send_bytes(pickle.dumps(handler))

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, task: object) -> bool:
        """Send a task, unless the pipe may be full; return whether it was sent.

        Blocking here would be a deadlock while the worker waits for its replies to be read. A
        worker without tasks reads any task at once.
        """
        data = pickle.dumps(task)
        if self._unread and sum(self._unread) + len(data) > self._capacity:
            return False
        self._send_bytes(data)
        self._unread.append(len(data))
        return True

    def _send_bytes(self, data: bytes) -> None:
        try:
            self._tasks.send_bytes(data)
        except OSError:
            self._has_ended = True

    def receive(self) -> Reply | None:
        """Return the next reply, or None when the worker has ended."""
        if self._has_ended and not self.replies.poll():
            return None
        try:
            reply: Reply = self.replies.recv()
        except (OSError, EOFError, pickle.UnpicklingError):
            self._has_ended = True
            return None
        if not self.is_ready:
            self.is_ready = True
        elif self._unread:
            self._unread.popleft()
        return reply

    def poll(self, seconds: float | None) -> bool:
        """Return whether there is a reply, or the worker has ended, within this time."""
        return bool(wait_for_connections([self.replies], seconds))

    def restart_clock(self) -> None:
        """Let `read_elapsed` count from now."""
        self._began = Elapsed(platform.read_processor_time(self._process.pid), time.monotonic())

    def read_elapsed(self) -> Elapsed:
        """Return the time of the process, which must not be closed, since the clock began."""
        processor = platform.read_processor_time(self._process.pid) - self._began.processor
        return Elapsed(processor, time.monotonic() - self._began.clock)

    def wait_for_reply(self, deadline_s: float) -> Elapsed | None:
        """Wait for a reply or the end of the worker; return the time when it exceeds the deadline.

        0 seconds mean no deadline.
        """
        self.restart_clock()
        if not deadline_s:
            self.poll(None)
            return None
        while not self.poll(_POLL_S):
            elapsed = self.read_elapsed()
            if elapsed.exceeds(deadline_s, GRACE_S):
                return elapsed
        return None

    def explain_end(self) -> str:
        """End the process, and return why it ended by itself."""
        self.close()
        return self._cause

    def close(self) -> None:
        """End the process, with the processes that it started."""
        self._tasks.close()
        self.replies.close()
        if self._process.returncode is None:
            self._cause = self._end_process()

    def _end_process(self) -> str:
        # A worker that has just crashed gets a moment, so that its own signal is seen.
        ended = platform.wait_for_end(self._process, poll=True)
        for _ in range(_END_POLLS):
            if ended or not self._has_ended:
                break
            time.sleep(_END_POLL_S)
            ended = platform.wait_for_end(self._process, poll=True)
        platform.kill_tree(self._process)
        status, memory, _ = ended or platform.wait_for_end(self._process) or platform.ProcessEnd(0)
        limit = self._max_memory_mb * _MB * _EXHAUSTED_SHARE
        # The system counts the peak of the process that started the worker as the worker's own.
        if limit and memory > max(limit, self._own_peak):
            return describe_exhaustion(self._max_memory_mb)
        if status < 0:
            return f"the parser crashed (signal {-status})"
        return f"the parser ended its process (status {status})"


def wait_for_replies(workers: Sequence[WorkerProcess], seconds: float) -> list[WorkerProcess]:
    """Return the workers that have sent a reply or ended, after at most this time."""
    found = wait_for_connections([worker.replies for worker in workers], seconds)
    return [worker for worker in workers if worker.replies in found]


def _open_pipe(undo: ExitStack) -> tuple[Connection, Connection]:
    """Return both ends of a pipe, the one for reading first."""
    ends = Pipe(duplex=False)
    for end in ends:
        undo.callback(end.close)
    return ends


def _build_environment() -> dict[str, str]:
    """Return an environment in which the worker imports this copy of kebab."""
    root = str(Path(kebab.__file__).parents[1])
    paths = filter(None, (root, os.environ.get("PYTHONPATH", "")))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


_GARBAGE_THRESHOLD = 100_000
"""How many objects are made between two searches for cycles, which took 12 % of the time."""


_serving = False


def runs_in_worker() -> bool:
    """Return whether this process is a worker."""
    return _serving


def serve(tasks_pipe: int, replies_pipe: int, caller: int, max_memory_mb: int) -> None:
    """Call the handler, which is the first message, with each task until the caller closes."""
    global _serving  # noqa: PLW0603 - a process becomes a worker once
    _serving = True
    platform.end_with_parent(caller)
    tasks = Connection(tasks_pipe, writable=False)
    replies = Connection(replies_pipe, readable=False)
    try:
        handler: Callable[[Any], Any] = tasks.recv()
        platform.limit_memory(max_memory_mb * _MB)
        gc.freeze()
        gc.set_threshold(_GARBAGE_THRESHOLD)
        replies.send(Reply(None, platform.read_memory()))
        while True:
            answer_task(tasks, replies, handler, max_memory_mb)
    except (EOFError, OSError):
        return


def answer_task(
    tasks: Connection, replies: Connection, handler: Callable[[Any], Any], max_memory_mb: int
) -> None:
    """Read one task and send its reply.

    Raises:
        EOFError: The caller has closed.
        OSError: The caller has ended.
    """
    task = tasks.recv()
    exhausted = Reply(None, 0, describe_exhaustion(max_memory_mb))
    try:
        reply = run_handler(handler, task)
        del task
        replies.send(reply)
    except MemoryError:
        replies.send(exhausted)


def run_handler(handler: Callable[[Any], Any], task: object) -> Reply:
    """Return the reply to a task; an unexpected exception becomes its fault.

    Libraries of other languages raise exceptions that are no `Exception`, for example for a panic.

    Raises:
        MemoryError: There is too little memory.
    """
    try:
        return Reply(handler(task), platform.read_memory())
    except MemoryError:
        raise
    except BaseException as fault:  # noqa: BLE001 - the caller reports it as the error of the file
        return Reply(None, platform.read_memory(), describe_failure(fault))
