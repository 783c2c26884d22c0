"""Runs inside a worker process: sets its limits, and answers tasks until the caller closes."""

import gc
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from kebab.limits.faults import describe_exhaustion, describe_failure
from kebab.limits.worker import Reply, read_memory

_MB = 1 << 20
_PR_SET_PDEATHSIG = 1
_GARBAGE_THRESHOLD = 100_000
"""How many objects are made between two searches for cycles, which took 12 % of the time."""


def serve(tasks_pipe: int, replies_pipe: int, caller: int, max_memory_mb: int) -> None:
    """Call the handler, which is the first message, with each task until the caller closes."""
    end_with_process(caller)
    tasks = Connection(tasks_pipe, writable=False)
    replies = Connection(replies_pipe, readable=False)
    try:
        handler: Callable[[Any], Any] = tasks.recv()
        limit_memory(max_memory_mb)
        gc.freeze()
        gc.set_threshold(_GARBAGE_THRESHOLD)
        replies.send(Reply(None, read_memory()))
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
        return Reply(handler(task), read_memory())
    except MemoryError:
        raise
    except BaseException as fault:  # noqa: BLE001 - the caller reports it as the error of the file
        return Reply(None, read_memory(), describe_failure(fault))


def end_with_process(caller: int) -> None:
    """Let the system end this process together with the one that started it."""
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != caller:
        raise SystemExit(1)


def limit_memory(max_memory_mb: int) -> None:
    """Limit the memory of this process, where the system can; 0 means no limit.

    On Linux the limit counts what is written to, not address space that a library reserves.
    """
    import resource

    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    if max_memory_mb:
        with suppress(OSError, ValueError):
            _, hard = resource.getrlimit(kind)
            wanted = max_memory_mb * _MB
            soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(kind, (soft, hard))
