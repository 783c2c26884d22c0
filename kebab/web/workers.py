"""Renders in worker processes, so that no document can stop or crash the server."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

from kebab.core.media import MARKDOWN
from kebab.errors.catalog import ParseFailed, TimedOut
from kebab.limits.worker import START_S, WorkerProcess
from kebab.web.markup import Html
from kebab.web.render import RenderTask, render

_MOST_WORKERS = 2
_DEADLINE_S = 3.0
"""The processor time of one part of a document, or of one page."""
_MAX_MEMORY_MB = 1024
_UNUSED_S = 60.0
"""After how many seconds without a task the workers end."""


class Task(Protocol):
    """A picklable piece of work."""

    def __call__(self) -> Any:
        """Return its result."""


class Failure(NamedTuple):
    """Why a worker has no result."""

    cause: str
    is_late: bool


def run_task(task: Task) -> Any:
    """Do a task in a worker."""
    return task()


class RenderWorkers:
    """Worker processes, started when they are needed; each does one task at a time.

    Lasting threads start them, because the system ends a worker with the thread that started it.
    """

    def __init__(self, most: int = _MOST_WORKERS, deadline_s: float = _DEADLINE_S) -> None:
        self._threads = ThreadPoolExecutor(most, "render")
        self._resting: list[WorkerProcess] = []
        self._is_open = True
        self._lock = threading.Lock()
        self._last_at = time.monotonic()
        self._deadline_s = deadline_s

    async def run(self, task: Task, path: str) -> Any:
        """Return the result of a picklable task about a file.

        Raises:
            TimedOut: It takes too long.
            ParseFailed: The worker crashed, or needs too much memory.
        """
        loop = asyncio.get_running_loop()
        result = await loop.run_in_executor(self._threads, self._run, task)
        if not isinstance(result, Failure):
            return result
        if result.is_late:
            limit_ms = round(self._deadline_s * 1000)
            raise TimedOut(operation=path, elapsed_ms=limit_ms, deadline_ms=limit_ms)
        raise ParseFailed(path=path, parser="page", cause=result.cause)

    async def render(self, task: RenderTask) -> Html:
        """Return the HTML of a part of a document; one that takes too long is shown as plain text.

        Raises:
            ParseFailed: Even that failed.
            TimedOut: Even that takes too long.
        """
        try:
            return Html(await self.run(_Render(task), task.path))
        except (TimedOut, ParseFailed):
            return Html(await self.run(_Render(task._replace(is_plain=True)), task.path))

    def prepare(self) -> None:
        """Start a worker before the first task, and let it import what it needs."""
        if not self._resting:
            first = RenderTask("", "a.md", MARKDOWN, "```python\npass\n```")
            self._threads.submit(self._run, _Render(first))

    async def end_unused(self) -> None:
        """End the workers whenever there was nothing to do for a while, until this is cancelled."""
        while True:
            await asyncio.sleep(_UNUSED_S)
            if time.monotonic() - self._last_at > _UNUSED_S:
                self._end_resting()

    def close(self) -> None:
        """End the workers, those at work after their task."""
        self._is_open = False
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._end_resting()

    def _end_resting(self) -> None:
        with self._lock:
            resting, self._resting = self._resting, []
        for worker in resting:
            worker.close()

    def _take(self) -> WorkerProcess:
        """Return a worker without work, which is started if there is none."""
        with self._lock:
            self._last_at = time.monotonic()
            if self._resting:
                return self._resting.pop()
        worker = WorkerProcess(run_task, _MAX_MEMORY_MB)
        if worker.poll(START_S):
            worker.receive()  # it says that it is ready
        return worker

    def _rest(self, worker: WorkerProcess) -> None:
        with self._lock:
            self._resting.append(worker)
        if not self._is_open:
            self._end_resting()

    def _run(self, task: Task) -> Any:
        worker = self._take()
        worker.send(task)
        if worker.wait_for_reply(self._deadline_s):
            return Failure(worker.explain_end(), is_late=True)
        reply = worker.receive()
        if reply is None:
            return Failure(worker.explain_end(), is_late=False)
        self._rest(worker)
        return Failure(reply.fault, is_late=False) if reply.fault else reply.result


class _Render(NamedTuple):
    """Renders a part of a document in a worker."""

    task: RenderTask

    def __call__(self) -> str:
        return str(render(self.task))
