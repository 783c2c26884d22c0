"""Turns the events of an operation into lines, as `--stream` writes them on the command line."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import UNSET
from msgspec.structs import replace

from kebab.app.conversions import to_ingest_progress
from kebab.app.dispatch import format_event
from kebab.app.review_frames import ReviewFrames
from kebab.core.progress import Progress, ProgressKind
from kebab.wire.ask import AnswerEvent
from kebab.wire.error import ErrorReply
from kebab.wire.ingest import IngestProgress, IngestReport
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import Reply, encode_json
from kebab.wire.review_stream import ReviewEvent

if TYPE_CHECKING:
    from kebab.errors.signal import Exit
    from kebab.http.jobs import Job
    from kebab.http.service import Outcome
    from kebab.wire.ask import Answer
    from kebab.wire.library import NotFound
    from kebab.wire.review import AgentItems

_TERMINAL = (ProgressKind.COMPLETED, ProgressKind.ABORTED)
_MOST_UNSENT = 1_000
"""How many lines may wait for a slow reader before the work waits too."""
_PAUSE_S = 0.01
_NO_ENVELOPE: Final[dict[str, Any]] = dict.fromkeys(
    ("command", "timestamp", "exit_code", "output_format"), UNSET
)
"""The fields of the envelope, as objects within others have them."""


class EventStream:
    """The lines of one operation. A thread reports events, and the event loop sends lines.

    A heartbeat follows each silence of `silence_s`. The last line says how the work ended.
    """

    silence_s = 1.0
    leaves_at_once = False
    """Whether work that can be stopped between two steps is interrupted when the reader is gone."""

    def __init__(self, operation: str) -> None:
        self.operation = operation
        self._lines: deque[bytes] = deque()
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._started = time.monotonic()
        self._closed = False

    def report(self, event: Any) -> None:
        """Take an event of the operation; wait while the reader is slow."""
        raise NotImplementedError

    def build_heartbeat(self) -> Reply:
        """Return the event that says that the work continues."""
        raise NotImplementedError

    def build_end(self, reply: Reply) -> Iterator[Reply]:
        """Yield the last events of work that ended with a reply, which may be `error.v1`."""
        raise NotImplementedError

    def put(self, event: Reply) -> None:
        """Add a line; wait while the reader is slow."""
        self._lines.append(self._encode(event))
        with suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(self._wake.set)
        while len(self._lines) > _MOST_UNSENT and not self._closed:
            time.sleep(_PAUSE_S)

    def _encode(self, event: Reply) -> bytes:
        return encode_json(format_event(self.operation, event))

    def elapsed_ms(self) -> int:
        """Return the time since the request."""
        return round((time.monotonic() - self._started) * 1000)

    async def has_started(self, job: "Job[Outcome]") -> bool:
        """Wait for the first line, or a silence; return whether there is something to stream.

        Work that fails before is answered like a request without a stream.
        """
        job.future.add_done_callback(lambda _: self._wake.set())
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), self.silence_s)
        return bool(self._lines) or not (job.future.done() and job.future.result().failed)

    async def iterate_lines(self, job: "Job[Outcome]") -> AsyncIterator[bytes]:
        """Yield the lines until the work has ended; leaving early stops the work."""
        try:
            while not job.future.done() or self._lines:
                while self._lines:
                    yield self._lines.popleft()
                if not job.future.done() and not await self._wait():
                    yield self._encode(self.build_heartbeat())
            for event in self.build_end(job.future.result().reply):
                yield encode_json(event)
        finally:
            self._closed = True
            job.stop()
            if self.leaves_at_once:
                job.stop()

    async def _wait(self) -> bool:
        """Wait for a line or the end; return False after a silence."""
        try:
            await asyncio.wait_for(self._wake.wait(), self.silence_s)
        except TimeoutError:
            return False
        self._wake.clear()
        return True


class AnswerStream(EventStream):
    """`answer_event.v1` lines; the last one is `final` or `error`."""

    silence_s = 3.0

    def report(self, event: AnswerEvent) -> None:
        """Take an event."""
        self.put(event)

    def build_heartbeat(self) -> Reply:
        """Return a heartbeat."""
        return AnswerEvent(type="heartbeat", elapsed_ms=self.elapsed_ms())

    def build_end(self, reply: Reply) -> Iterator[Reply]:
        """Yield the answer or the error as an event."""
        inner = replace(reply, **_NO_ENVELOPE)
        event = (
            AnswerEvent(type="error", error=inner)
            if isinstance(inner, ErrorReply)
            else AnswerEvent(type="final", answer=cast("Answer", inner))
        )
        yield _copy_envelope(reply, event)


class ReviewStream(EventStream):
    """`review_event.v1` lines; the last one is `end`."""

    silence_s = 3.0
    leaves_at_once = True
    """A request to a language model is of no use without a reader."""

    def __init__(self, operation: str) -> None:
        super().__init__(operation)
        self._frames = ReviewFrames()

    def report(self, event: ReviewEvent) -> None:
        """Take an event."""
        self._frames.note(event)
        self.put(event)

    def build_heartbeat(self) -> Reply:
        """Return a heartbeat."""
        return self._frames.build_heartbeat(self.elapsed_ms())

    def build_end(self, reply: Reply) -> Iterator[Reply]:
        """Yield the last page unless it was sent, or the error, and the end."""
        if isinstance(reply, ErrorReply):
            events = list(self._frames.build_failure(reply))
            status = cast("Exit", reply.exit_code)
        else:
            events = list(self._frames.build_end(cast("AgentItems | NotFound", reply)))
            status = self._frames.status
        for event in events:
            yield format_event(self.operation, event, None if event.type == "items" else status)


class WorkStream(EventStream):
    """`ingest_progress.v1` lines. The last one is terminal and has the report of an ingest.

    An error, and a reply that is no report, is a line of its own: the error before the terminal
    event, the reply after it.
    """

    def __init__(self, operation: str) -> None:
        super().__init__(operation)
        self._last = Progress(kind=ProgressKind.HEARTBEAT)
        self._terminal: IngestProgress | None = None

    def report(self, event: Progress) -> None:
        """Take an event; a terminal one waits for the reply."""
        if event.kind in _TERMINAL:
            self._terminal = to_ingest_progress(event)
        else:
            self._last = event
            self.put(to_ingest_progress(event))

    def build_heartbeat(self) -> Reply:
        """Return a heartbeat with the phase and the path of the last event."""
        kind, last, elapsed = ProgressKind.HEARTBEAT, self._last, self.elapsed_ms()
        return to_ingest_progress(
            Progress(kind=kind, phase=last.phase, path=last.path, elapsed_ms=elapsed)
        )

    def build_end(self, reply: Reply) -> Iterator[Reply]:
        """Yield the terminal event, and the reply where it is not part of it."""
        failed = isinstance(reply, ErrorReply)
        stopped = failed or (isinstance(reply, IngestReport) and reply.cancelled)
        end = self._terminal or IngestProgress(
            kind="aborted" if stopped else "completed", elapsed_ms=self.elapsed_ms()
        )
        if failed:
            yield reply
            end = replace(end, kind="aborted")
        if isinstance(reply, IngestReport):
            yield _copy_envelope(reply, replace(end, report=replace(reply, **_NO_ENVELOPE)))
            return
        yield _copy_envelope(reply, end)
        if not failed:
            yield reply


def build_stream(operation: str) -> EventStream | None:
    """Return the stream of an operation; None when it has no events."""
    events = OPERATIONS[operation].events
    if events is None:
        return None
    streams: dict[type[Reply], type[EventStream]] = {
        AnswerEvent: AnswerStream,
        ReviewEvent: ReviewStream,
    }
    return streams.get(events, WorkStream)(operation)


def _copy_envelope(source: Reply, event: Reply) -> Reply:
    """Return an event with the envelope of a reply."""
    return replace(event, **{name: getattr(source, name) for name in _NO_ENVELOPE})
