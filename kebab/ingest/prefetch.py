"""Builds documents in a helper process ahead of the process that stores them.

Parsing and storing each take about half of a lexical run, and SQLite has one writer. The helper
parses on a second core. Documents come back in the order of the files, so the library is the same
with and without a helper. The caller builds what the helper cannot, and reports its errors.
"""

import os
import pickle
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import repeat
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import kebab
from kebab.chunk.budget import estimate_tokens
from kebab.core.documents import DocumentRow, Source
from kebab.core.files import FileEntry
from kebab.core.ids import DocId
from kebab.errors.catalog import ParseFailed, TimedOut, UnsupportedMedia
from kebab.ingest.build import DocumentBuilder, read_file
from kebab.ingest.plan import FileTask

_MIN_BYTES = 2_000_000
"""The least input that makes a helper worthwhile; starting it takes as long as 200 kB of work."""

_BATCH_FILES = 16
_BATCH_BYTES = 1_000_000
_BATCHES_IN_FLIGHT = 12
"""How many batches the helper has at once, so that it works while the caller commits."""

_PIPE_BYTES = 1 << 20
"""How many bytes of documents may wait in the pipe, where the system allows it."""

_MAX_UNREAD_BYTES, _MIN_UNREAD_BYTES = 32_768, 2_048
"""How many bytes of tasks may wait for the helper, and how many fit into the smallest pipe."""

_PROGRAM = (
    "import sys; from kebab.ingest.prefetch import serve; serve(int(sys.argv[1]), int(sys.argv[2]))"
)
"""The program of the helper; it imports parsers by unpickling the builder."""


class BuildTask(NamedTuple):
    """A file for the helper process."""

    source: Source
    entry: FileEntry
    doc_id: DocId


class BuiltDocument(NamedTuple):
    """A document row, and how long it took to build."""

    row: DocumentRow
    duration_ms: float


@contextmanager
def prefetch_documents(
    tasks: Sequence[FileTask], builder: DocumentBuilder, choose_id: Callable[[FileTask], DocId]
) -> Iterator[Iterator[BuiltDocument | None]]:
    """Yield an iterator over the documents of the files, with None where the caller builds one."""
    worker = _start_worker(builder) if _is_worthwhile(tasks, builder) else None
    if worker is None:
        yield repeat(None)
        return
    try:
        yield _receive_documents(list(split_batches(tasks)), worker, choose_id)
    finally:
        worker.close()


def _start_worker(builder: DocumentBuilder) -> "PrefetchWorker | None":
    with suppress(OSError):
        return PrefetchWorker(builder)
    return None


def _is_worthwhile(tasks: Sequence[FileTask], builder: DocumentBuilder) -> bool:
    """Return whether a helper saves time, and can count tokens as the builder does."""
    if builder.budget.count is not estimate_tokens or len(tasks) <= _BATCH_FILES:
        return False
    size = sum(task.entry.size for task in tasks)
    return bool(sys.executable) and _count_cores() > 1 and size >= _MIN_BYTES


def _count_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def split_batches(tasks: Sequence[FileTask]) -> Iterator[list[FileTask]]:
    """Yield the tasks in batches that are small in files and in bytes."""
    batch: list[FileTask] = []
    size = 0
    for task in tasks:
        if batch and (len(batch) == _BATCH_FILES or size + task.entry.size > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(task)
        size += task.entry.size
    if batch:
        yield batch


def _receive_documents(
    batches: list[list[FileTask]],
    worker: "PrefetchWorker",
    choose_id: Callable[[FileTask], DocId],
) -> Iterator[BuiltDocument | None]:
    sent = 0
    for number, batch in enumerate(batches):
        for following in batches[sent : number + _BATCHES_IN_FLIGHT]:
            if not worker.send(
                [BuildTask(task.source, task.entry, choose_id(task)) for task in following]
            ):
                break
            sent += 1
        yield from worker.receive() or [None] * len(batch)


class PrefetchWorker:
    """The helper process; after it ended, `receive` returns nothing."""

    def __init__(self, builder: DocumentBuilder) -> None:
        """Start the process and send it the builder.

        Raises:
            OSError: The system has no room for a pipe or a process.
        """
        with ExitStack() as undo:
            (worker_reads, writes), (reads, worker_writes) = _open_pipe(undo), _open_pipe(undo)
            self._process = _start_process(worker_reads, worker_writes)
            undo.pop_all()
        os.close(worker_reads)
        os.close(worker_writes)
        self._tasks = Connection(writes, readable=False)
        self._documents = Connection(reads, writable=False)
        self._has_ended = False
        self._capacity = _get_task_capacity(writes)
        self._unread: deque[int] = deque()
        _enlarge_pipe(reads)
        self._send_bytes(pickle.dumps(builder))

    def send(self, tasks: list[BuildTask]) -> bool:
        """Send a batch, unless the pipe may be full; return whether it was sent.

        Blocking here would be a deadlock while the worker waits for its documents to be read. A
        worker without tasks reads any batch at once.
        """
        data = pickle.dumps(tasks)
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

    def receive(self) -> list[BuiltDocument | None] | None:
        """Return the documents of the oldest batch, None when the worker has ended."""
        if self._unread:
            self._unread.popleft()
        if self._has_ended:
            return None
        try:
            documents: list[BuiltDocument | None] = self._documents.recv()
        except (OSError, EOFError):
            self._has_ended = True
            return None
        return documents

    def close(self) -> None:
        """End the process."""
        self._tasks.close()
        self._documents.close()
        self._process.kill()
        self._process.wait()


def _open_pipe(undo: ExitStack) -> tuple[int, int]:
    """Return both ends of a pipe, the one for reading first."""
    ends = os.pipe()
    for end in ends:
        undo.callback(os.close, end)
    return ends


def _start_process(reads: int, writes: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-P", "-c", _PROGRAM, str(reads), str(writes)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(reads, writes),
        env=_build_environment(),
        start_new_session=True,  # Ctrl-C reaches only the caller, which ends the helper
    )


def _get_task_capacity(pipe: int) -> int:
    """Return how many bytes of tasks may wait in a pipe, without the heads of messages."""
    import fcntl

    size = getattr(fcntl, "F_GETPIPE_SZ", None)
    if size is None:
        return _MIN_UNREAD_BYTES
    return min(_MAX_UNREAD_BYTES, max(_MIN_UNREAD_BYTES, fcntl.fcntl(pipe, size) // 2))


def _enlarge_pipe(pipe: int) -> None:
    """Let a pipe hold the documents of several batches, where the system can."""
    import fcntl

    widening = getattr(fcntl, "F_SETPIPE_SZ", None)
    if widening is not None:
        with suppress(OSError):
            fcntl.fcntl(pipe, widening, _PIPE_BYTES)


def _build_environment() -> dict[str, str]:
    """Return an environment in which the helper imports this copy of kebab."""
    root = str(Path(kebab.__file__).parents[1])
    paths = filter(None, (root, os.environ.get("PYTHONPATH", "")))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def serve(tasks_pipe: int, documents_pipe: int) -> None:
    """Run the helper process: build the documents of each batch until the caller closes."""
    tasks = Connection(tasks_pipe, writable=False)
    documents = Connection(documents_pipe, readable=False)
    try:
        builder: DocumentBuilder = tasks.recv()
        while True:
            documents.send([build_document(builder, task) for task in tasks.recv()])
    except (EOFError, OSError):
        return


def build_document(builder: DocumentBuilder, task: BuildTask) -> BuiltDocument | None:
    """Return the document of a file, or None when the caller has to report an error."""
    started = time.monotonic()
    try:
        content = read_file(task.entry.absolute)
        row = builder.build_row(task.source, task.entry, task.doc_id, content)
    except (OSError, ParseFailed, TimedOut, UnsupportedMedia):
        return None
    return BuiltDocument(row, (time.monotonic() - started) * 1000)
