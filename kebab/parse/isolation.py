"""Parses one file in a worker process, so that no file can crash or stop the caller.

A parser is isolated when it runs native code or expands its input. An ingest has other workers.
"""

from typing import NamedTuple

from kebab.core.documents import ParsedDocument
from kebab.core.ports import Parser, is_isolated
from kebab.errors.signal import Signal
from kebab.limits.deadline import build_failure, raise_memory_error
from kebab.limits.worker import START_S, Limits, WorkerProcess
from kebab.parse.registry import guard_parser

DEFAULT_LIMITS = Limits()


class ParseTask(NamedTuple):
    """The bytes of a file for a worker."""

    parser: Parser
    data: bytes
    path: str
    deadline_s: float


def parse_guarded(
    parser: Parser, data: bytes, path: str, limits: Limits = DEFAULT_LIMITS
) -> ParsedDocument:
    """Parse a file under a deadline; an isolated parser runs in a worker process.

    Without a worker, for example when the system has no room for a process, it runs here.

    Raises:
        ParseFailed: The parser refuses the bytes, crashes or needs too much memory.
        TimedOut: The parser takes too long.
        DependencyMissing: The libraries of the parser are not installed.
    """
    if is_isolated(parser):
        try:
            worker = WorkerProcess(run_parser, limits.max_memory_mb)
        except OSError:
            worker = None
        if worker is not None:
            with worker:
                if worker.poll(START_S) and worker.receive() is not None:  # it is ready
                    worker.send(ParseTask(parser, data, path, limits.deadline_s))
                    if late := worker.wait_for_reply(limits.deadline_s):
                        raise late.build_timeout(limits.deadline_s, path)
                    reply = worker.receive()
                    if reply is None or reply.fault:
                        cause = worker.explain_end() if reply is None else reply.fault
                        raise build_failure(path, parser.version, cause)
                    result: ParsedDocument | Signal = reply.result
                    if isinstance(result, Signal):
                        raise result
                    return result
    with guard_parser(path, parser.version, limits.deadline_s):
        return parser.parse(data, path)


def run_parser(task: ParseTask) -> ParsedDocument | Signal:
    """Return the document of a task, or the error of the parser; this runs in the worker.

    Raises:
        MemoryError: The parser needs more memory than it may have.
    """
    try:
        with guard_parser(task.path, task.parser.version, task.deadline_s):
            return task.parser.parse(task.data, task.path)
    except Signal as error:
        raise_memory_error(error)
        return error
