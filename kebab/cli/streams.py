"""Writes the NDJSON events of answers, of long work, and of one search."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from kebab.cli.displays import EventDisplay, WorkDisplay
from kebab.core.progress import Progress, ProgressKind
from kebab.wire.ask import AnswerEvent
from kebab.wire.exit_status import find_exit_status
from kebab.wire.ingest import EventKind, IngestProgress, IngestReport
from kebab.wire.search_stream import EventData, SearchEvent

if TYPE_CHECKING:
    from kebab.app.classify import ClassifiedError
    from kebab.cli.context import CommandContext
    from kebab.errors.signal import Exit
    from kebab.wire.ask import Answer
    from kebab.wire.record import Reply
    from kebab.wire.search import SearchResponse

FrameKind: TypeAlias = Literal["stage", "items", "progress", "complete", "error", "end"]
_TERMINAL = (ProgressKind.COMPLETED, ProgressKind.ABORTED)
_SILENCE_S = 3.0
Write: TypeAlias = Callable[["Reply", "int | None"], None]


class AnswerEvents(EventDisplay[AnswerEvent]):
    """`answer_event.v1` lines: all events on stdout as a stream, or only heartbeats on stderr.

    A stream ends with exactly one `final` or `error` event.
    """

    silence_s = _SILENCE_S

    def __init__(self, context: CommandContext, *, stream: bool) -> None:
        self._context = context
        self._stream = stream
        self._ended = False
        if stream:
            context.on_error = self._write_error

    def __call__(self, event: AnswerEvent) -> bool:
        """Write an event if this is a stream; return whether it was written."""
        if self._stream:
            self._context.write_json(event, None)
        return self._stream

    def show_heartbeat(self, elapsed_ms: float) -> None:
        """Write a heartbeat."""
        event = AnswerEvent(type="heartbeat", elapsed_ms=elapsed_ms)
        if not self._stream:
            self._context.write_event(event)
        elif not self._ended:
            self._context.write_json(event, None)

    def finish(self, reply: Answer, status: Exit) -> None:
        """End the stream with the answer."""
        self._end(AnswerEvent(type="final", answer=reply), status)

    def _write_error(self, classified: ClassifiedError) -> None:
        self._end(AnswerEvent(type="error", error=classified.reply), classified.exit)

    def _end(self, event: AnswerEvent, status: Exit) -> None:
        if not self._ended:
            self._ended = True
            self._context.write_json(event, status)


class IngestEvents(WorkDisplay):
    """`ingest_progress.v1` lines that end with exactly one terminal event.

    The terminal event is written when the exit status is known.

    Args:
        write: Writes an event with an exit status, which is None before the end.
        always_ends: Whether a terminal event is written even without any other event.
    """

    def __init__(self, write: Write, *, always_ends: bool) -> None:
        self._write = write
        self._always_ends = always_ends
        self._started = time.monotonic()
        self._began = False
        self._ended = False
        self._terminal: IngestProgress | None = None

    def __exit__(self, *details: object) -> None:
        """Write the terminal event when the work failed, unless the reader closed the pipe."""
        _, error, _ = details
        reader_gone = isinstance(error, BrokenPipeError)
        if error is not None and not reader_gone and (self._began or self._always_ends):
            self.abort()

    def __call__(self, event: Progress) -> None:
        """Write an event; store a terminal event until `finish`."""
        from kebab.app.conversions import to_ingest_progress

        if event.kind in _TERMINAL:
            self._terminal = to_ingest_progress(event)
        else:
            self._began = True
            self._write(to_ingest_progress(event), None)

    def announce_stop(self) -> None:
        """Write that the work stops soon."""
        message, elapsed = "stopping soon", self._elapsed_ms()
        self._write(IngestProgress(kind="heartbeat", message=message, elapsed_ms=elapsed), None)

    def abort(self) -> None:
        """Write the terminal event of work that did not complete."""
        self._end(IngestProgress(kind="aborted", elapsed_ms=self._elapsed_ms()), None)

    def finish(self, status: int, report: IngestReport | None = None, *, cancelled: bool) -> None:
        """Write the terminal event, with the report if there is one."""
        kind: EventKind = "aborted" if cancelled else "completed"
        last = self._terminal or IngestProgress(kind=kind, elapsed_ms=self._elapsed_ms())
        self._end(replace(last, report=report or UNSET), status)

    def _end(self, event: IngestProgress, status: int | None) -> None:
        if not self._ended:
            self._ended = True
            self._write(event, status)

    def _elapsed_ms(self) -> int:
        return round((time.monotonic() - self._started) * 1000)


class SearchFrames:
    """`search_event.v1` lines of one search; an error is written as a frame too."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._started = time.monotonic()
        context.on_error = self._write_error
        self._write("stage", EventData(stage="search"), None)

    def finish(self, reply: SearchResponse) -> Exit:
        """Write the page of hits and the end; return the exit status."""
        status = find_exit_status(reply)
        self._write("progress", EventData(elapsed_ms=self._elapsed_ms()), status)
        self._write("items", EventData(items=reply.hits), status)
        complete = EventData(
            elapsed_ms=self._elapsed_ms(),
            hit_count=len(reply.hits),
            queries=reply.queries,
            has_more=reply.has_more,
            next_cursor=reply.next_cursor,
            truncated=reply.truncated,
            left_out=reply.left_out,
            degraded=reply.degraded,
            corpus_revision=reply.corpus_revision,
            query_parsed=reply.query_parsed,
            absent_terms=reply.absent_terms,
            convincing=reply.convincing,
            convincing_queries=reply.convincing_queries,
            coverage=reply.coverage or UNSET,
        )
        self._write("complete", complete, status)
        self._write("end", EventData(), status)
        return status

    def _write_error(self, classified: ClassifiedError) -> None:
        self._write("error", EventData(error=classified.reply), classified.exit)
        self._write("end", EventData(), classified.exit)

    def _write(self, kind: FrameKind, data: EventData, status: int | None) -> None:
        self._context.write_json(SearchEvent(type=kind, data=data), status)

    def _elapsed_ms(self) -> float:
        return (time.monotonic() - self._started) * 1000
