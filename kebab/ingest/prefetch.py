"""Builds documents in a helper process ahead of the one that stores them."""

import os
import pickle
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import repeat
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import kebab
from kebab.chunk.budget import Budget, estimate_tokens
from kebab.core.documents import DocumentRow, Source
from kebab.core.files import FileEntry
from kebab.core.ids import DocId
from kebab.core.ports import Parser, ParserGuard
from kebab.errors.catalog import ParseFailed, TimedOut, UnsupportedMedia
from kebab.ingest.build import DocumentBuilder, read_file
from kebab.ingest.plan import FileTask

_MIN_BYTES = 2_000_000
"""From how many bytes a helper pays; it starts in about the time that a tenth of them takes."""

_BATCH_FILES = 16
_BATCH_BYTES = 1_000_000
_BATCHES_IN_FLIGHT = 12
"""How many batches are with the helper at once: what it does while we commit."""

_PIPE_BYTES = 1 << 20
"""How many bytes of rows may wait for us, where a pipe can be made as large."""

_MAX_UNREAD_BYTES, _MIN_UNREAD_BYTES = 32_768, 2_048
"""How many bytes of tasks may wait for the helper, and how many fit into the smallest of pipes."""


class BuildTask(NamedTuple):
    """A file to be made a row."""

    source: Source
    entry: FileEntry
    doc: DocId


class BuiltDocument(NamedTuple):
    """A row, and how long it took to make."""

    row: DocumentRow
    duration_ms: float


class BuilderSettings(NamedTuple):
    """All that a helper must know to make the same rows."""

    limit: int
    chunker: str
    recipes: dict[str, str]
    deadline_s: float


@contextmanager
def prefetch_documents(
    work: Sequence[FileTask], press: DocumentBuilder, name: Callable[[FileTask], DocId]
) -> Iterator[Iterator[BuiltDocument | None]]:
    """Give the row of each file in turn, None where the caller has to make it.

    `name` returns the id of the document that a file becomes.
    """
    helper = _start_worker(press) if _is_worthwhile(work, press) else None
    if helper is None:
        yield repeat(None)
        return
    with ExitStack() as leave:
        leave.callback(helper.close)
        yield _receive_documents(list(split_batches(work)), helper, name)


def _start_worker(press: DocumentBuilder) -> "PrefetchWorker | None":
    """Return a helper, None where the system has no room for one."""
    with suppress(OSError):
        return PrefetchWorker(press)
    return None


def _is_worthwhile(work: Sequence[FileTask], press: DocumentBuilder) -> bool:
    """Return whether a helper is worth its start, and can do the same as we."""
    same = press.worker_module is not None and press.budget.count is estimate_tokens
    return same and bool(sys.executable) and _count_cores() > 1 and _sum_sizes(work) >= _MIN_BYTES


def _sum_sizes(work: Sequence[FileTask]) -> int:
    return sum(one.entry.size for one in work) if len(work) > _BATCH_FILES else 0


def _count_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def split_batches(work: Sequence[FileTask]) -> Iterator[list[FileTask]]:
    """Yield the work in parts that are small in files and in bytes."""
    part: list[FileTask] = []
    size = 0
    for one in work:
        if part and (len(part) == _BATCH_FILES or size + one.entry.size > _BATCH_BYTES):
            yield part
            part, size = [], 0
        part.append(one)
        size += one.entry.size
    if part:
        yield part


def _receive_documents(
    parts: list[list[FileTask]], helper: "PrefetchWorker", name: Callable[[FileTask], DocId]
) -> Iterator[BuiltDocument | None]:
    sent = 0
    for number, part in enumerate(parts):
        for following in parts[sent : number + _BATCHES_IN_FLIGHT]:
            tasks = [BuildTask(one.source, one.entry, name(one)) for one in following]
            if not helper.ask(tasks):
                break
            sent += 1
        yield from helper.receive() or [None] * len(part)


class PrefetchWorker:
    """The process; once it is gone, it has no answer to anything."""

    def __init__(self, press: DocumentBuilder) -> None:
        """Start it, and tell it how rows are made.

        Raises:
            OSError: The system has no room for a pipe or a process.
        """
        with ExitStack() as undo:
            (its_from, to), (from_, its_to) = _open_pipe(undo), _open_pipe(undo)
            self._process = _start_process(press.worker_module or "", its_from, its_to)
            undo.pop_all()
        os.close(its_from)
        os.close(its_to)
        self._to = Connection(to, readable=False)
        self._from = Connection(from_, writable=False)
        self._gone = False
        self._unread = _get_task_capacity(to)
        self._asked: deque[int] = deque()
        _enlarge_pipe(from_)
        terms = BuilderSettings(
            press.budget.limit, press.chunker, dict(press.recipes), press.deadline_s
        )
        self._send(pickle.dumps(terms))

    def ask(self, tasks: list[BuildTask]) -> bool:
        """Hand a batch over, unless that may have to wait; a helper without any takes it at once.

        Whoever waited for a helper that waits for its rows to be taken would wait forever.
        """
        data = pickle.dumps(tasks)
        if self._asked and sum(self._asked) + len(data) > self._unread:
            return False
        self._send(data)
        self._asked.append(len(data))
        return True

    def _send(self, data: bytes) -> None:
        try:
            self._to.send_bytes(data)
        except OSError:
            self._gone = True

    def receive(self) -> list[BuiltDocument | None] | None:
        """Return the rows of the oldest batch, None when there is nobody to make them."""
        if self._asked:
            self._asked.popleft()
        if self._gone:
            return None
        try:
            found: list[BuiltDocument | None] = self._from.recv()
        except (OSError, EOFError):
            self._gone = True
            return None
        return found

    def close(self) -> None:
        """End the process."""
        self._to.close()
        self._from.close()
        self._process.kill()
        self._process.wait()


def _open_pipe(undo: ExitStack) -> tuple[int, int]:
    """Return the ends of a pipe, the one to read from first."""
    ends = os.pipe()
    for end in ends:
        undo.callback(os.close, end)
    return ends


def _start_process(worker_module: str, reads: int, writes: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-P", "-m", worker_module, str(reads), str(writes)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(reads, writes),
        env=_build_environment(),
        start_new_session=True,  # Ctrl-C reaches only us, and we stop the helper ourselves
    )


def _get_task_capacity(pipe: int) -> int:
    """Return how many bytes of tasks may wait in a pipe, the heads of messages left out."""
    import fcntl

    size = getattr(fcntl, "F_GETPIPE_SZ", None)
    if size is None:
        return _MIN_UNREAD_BYTES
    return min(_MAX_UNREAD_BYTES, max(_MIN_UNREAD_BYTES, fcntl.fcntl(pipe, size) // 2))


def _enlarge_pipe(pipe: int) -> None:
    """Let a pipe hold the rows of several batches, where the system can."""
    import fcntl

    widening = getattr(fcntl, "F_SETPIPE_SZ", None)
    if widening is not None:
        with suppress(OSError):
            fcntl.fcntl(pipe, widening, _PIPE_BYTES)


def _build_environment() -> dict[str, str]:
    """Return what lets the helper import this very kebab."""
    root = str(Path(kebab.__file__).parents[1])
    paths = filter(None, (root, os.environ.get("PYTHONPATH", "")))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def serve(tasks: int, rows: int, parsers: Mapping[str, Parser], guard: ParserGuard) -> None:
    """Answer each batch of tasks from one pipe with its rows in the other, until both close."""
    asked = Connection(tasks, writable=False)
    answers = Connection(rows, readable=False)
    try:
        press = make_builder(asked.recv(), parsers, guard)
        while True:
            answers.send([build_document(press, task) for task in asked.recv()])
    except (EOFError, OSError):
        return


def make_builder(
    terms: BuilderSettings, parsers: Mapping[str, Parser], guard: ParserGuard
) -> DocumentBuilder:
    """Return a builder that makes the same rows as that of the run."""
    return DocumentBuilder(
        parsers=parsers,
        guard=guard,
        budget=Budget(terms.limit),
        chunker=terms.chunker,
        recipes=terms.recipes,
        deadline_s=terms.deadline_s,
    )


def build_document(press: DocumentBuilder, task: BuildTask) -> BuiltDocument | None:
    """Return a row, or None for a file whose fault has to be told."""
    began = time.monotonic()
    try:
        row = press.row(task.source, task.entry, task.doc, read_file(task.entry.absolute))
    except (OSError, ParseFailed, TimedOut, UnsupportedMedia):
        return None
    return BuiltDocument(row, (time.monotonic() - began) * 1000)
