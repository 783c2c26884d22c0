"""Passes the events of work to a display or a stream of NDJSON.

After each long silence it sends a heartbeat. The streams are those of answers, of long work, of
one search, and of reviews and translations.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, Literal, Self, TypeAlias, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from kebab.app.dispatch import ReviewFrames, find_operation_status
from kebab.cli.channels import Display, OutputChannel, WorkDisplay
from kebab.core.progress import Cancel, Heartbeat, Progress, ProgressKind
from kebab.errors.signal import Exit
from kebab.platform import interrupt_main_thread, is_reader_gone
from kebab.wire.ask import Answer, AnswerEvent
from kebab.wire.ingest import EventKind, IngestProgress, IngestReport
from kebab.wire.record import NotFound, Reply, Request, find_exit_status
from kebab.wire.stream import EventData, ReviewEvent, SearchEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kebab.app.classify import ClassifiedError
    from kebab.cli.context import CommandContext
    from kebab.config.settings import Settings
    from kebab.wire.evals import EvalProgress
    from kebab.wire.review import AgentItems
    from kebab.wire.search import SearchResponse

    ReviewWork = Callable[[Callable[[ReviewEvent], None], Cancel], AgentItems | NotFound]

FrameKind: TypeAlias = Literal["stage", "items", "progress", "complete", "error", "end"]
_TERMINAL = (ProgressKind.COMPLETED, ProgressKind.ABORTED)
_SILENCE_S = 3.0
Write: TypeAlias = Callable[["Reply", "int | None"], None]


class AnswerEvents(Display[AnswerEvent]):
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

    The exit status is None before the end. With `always_ends` there is a terminal event even
    without any other event.
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
        shared = {*EventData.__struct_fields__} & {*reply.__struct_fields__}
        fields = {name: getattr(reply, name) for name in shared}
        fields |= {"hit_count": len(reply.hits), "coverage": reply.coverage or UNSET}
        complete = EventData(elapsed_ms=self._elapsed_ms(), **fields)
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


E = TypeVar("E")
R = TypeVar("R", bound="Reply")

_LONGEST_INTERVAL_S = 0.5


class Reporter(Generic[E]):
    """Shows events, and a heartbeat after each long silence.

    Args:
        display: Shows them.
        out: The pipe without whose reader the work is of no use: closing it interrupts the work,
            and leaving the context then raises `BrokenPipeError`. None for other work.
        clock: Returns monotonic seconds.
    """

    def __init__(
        self,
        display: Display[E],
        out: OutputChannel | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._display = display
        self._out = out
        self._clock = clock
        self._started = self._last = clock()
        self._lock = threading.RLock()
        self._heartbeat = Heartbeat(self.beat, min(display.silence_s / 2, _LONGEST_INTERVAL_S))
        self._reader_gone = False

    def __enter__(self) -> Self:
        self._heartbeat.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the heartbeat.

        Raises:
            BrokenPipeError: The reader closed the pipe.
        """
        try:
            self._heartbeat.__exit__()
        except KeyboardInterrupt:
            if not self._reader_gone:
                raise
        if self._reader_gone:
            raise BrokenPipeError

    def __call__(self, event: E) -> None:
        """Show an event."""
        with self._lock:
            self._display.last = event
            if self._display(event) is not False:
                self._last = self._clock()

    def beat(self) -> None:
        """Send a heartbeat if the silence is too long, and interrupt the work without a reader."""
        try:
            self._reader_gone = self._out is not None and is_reader_gone(self._out.descriptor)
            with self._lock:
                now = self._clock()
                is_silent = now - self._last >= self._display.silence_s
                if is_silent and not self._heartbeat.stopped:
                    self._last = now
                    self._display.show_heartbeat(round((now - self._started) * 1000))
        except BrokenPipeError:
            if self._out is None:
                raise
            self._reader_gone = True
        if self._reader_gone:
            self._heartbeat.stop()
            interrupt_main_thread()


class WorkReporter(Reporter[Progress]):
    """Reports long work, which goes on without a reader."""

    def __init__(self, display: WorkDisplay, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(display, clock=clock)
        self.display = display

    def finish(self, status: int, report: IngestReport | None = None, *, cancelled: bool) -> None:
        """Show the end; no heartbeat follows."""
        self._heartbeat.stop()
        with self._lock:
            self.display.finish(status, report, cancelled=cancelled)


@contextmanager
def report_events(context: CommandContext, display: Display[E]) -> Iterator[Reporter[E]]:
    """Yield the reporter of an answer or of a review.

    Raises:
        BrokenPipeError: The reader closed the pipe.
    """
    with display, Reporter(display, context.channels.out) as reporter:
        context.on_abort = display.abort
        yield reporter


@contextmanager
def report_work(context: CommandContext, *, stream: bool = False) -> Iterator[WorkReporter]:
    """Yield the reporter of long work; with `stream` its events go to stdout."""
    display = choose_work_display(context, stream=stream)
    with display, WorkReporter(display) as reporter:
        context.on_abort = display.abort
        yield reporter


@contextmanager
def report_cancellable_work(
    context: CommandContext, *, stream: bool = False
) -> Iterator[tuple[WorkReporter, Cancel]]:
    """Yield the reporter of long work, and the flag that an interruption sets."""
    with (
        report_work(context, stream=stream) as reporter,
        context.interrupts.cancelling(reporter.display.announce_stop) as cancel,
    ):
        yield reporter, cancel


def run_work(context: CommandContext, request: Request[R], settings: Settings | None = None) -> R:
    """Run an operation with its progress; Ctrl-C interrupts it."""
    with report_work(context) as reporter:
        reply = context.run(request, settings, report=reporter)
        reporter.finish(find_exit_status(reply), cancelled=False)
    return reply


def run_cancellable_work(context: CommandContext, request: Request[R]) -> tuple[R, Exit]:
    """Run an operation with its progress; Ctrl-C cancels it. Return the reply and its status."""
    settings = context.load_settings()
    with report_cancellable_work(context) as (reporter, cancel):
        reply = context.run(request, settings, report=reporter, cancel=cancel)
        status = find_operation_status(reply, cancel)
        reporter.finish(status, cancelled=status is Exit.INTERRUPTED)
    return reply, status


def choose_work_display(context: CommandContext, *, stream: bool) -> WorkDisplay:
    """Return the display of long work: events, a bar, or lines."""
    if context.flags.machine:
        write = context.write_json if stream else context.write_event
        return IngestEvents(write, always_ends=stream)
    from kebab.cli.render.progress import ProgressBar, ProgressLines

    channel = context.channels.err
    canvas = context.create_canvas(channel)
    return ProgressBar(channel, canvas) if canvas.live else ProgressLines(channel)


@contextmanager
def report_measurements(
    context: CommandContext,
) -> Iterator[Callable[[EvalProgress], None]]:
    """Yield a callback that shows the progress of measurements: as events, or on one line."""
    if context.flags.machine:
        yield context.write_event
        return
    from kebab.cli.render.progress import MeasurementLine

    line = MeasurementLine(context.channels.err)
    try:
        yield line
    finally:
        line.end()


class ReviewEvents(Display[ReviewEvent]):
    """`review_event.v1` lines: a whole stream on stdout, or events without pages on stderr.

    A stream ends with exactly one `end`, which has the exit status.
    """

    silence_s = 3.0

    def __init__(self, context: CommandContext, *, stream: bool) -> None:
        self._context = context
        self._stream = stream
        self._frames = ReviewFrames()
        self._ended = False
        self._lock = threading.RLock()
        if stream:
            context.on_error = self._write_error

    @property
    def status(self) -> Exit:
        """The exit status by the pages so far."""
        return self._frames.status

    def __call__(self, event: ReviewEvent) -> bool:
        """Write an event; return whether it was written."""
        self._frames.note(event)
        return self._write(event)

    def show_heartbeat(self, elapsed_ms: float) -> None:
        """Write a heartbeat."""
        self._write(self._frames.build_heartbeat(elapsed_ms))

    def finish(self, reply: AgentItems | NotFound, *, cancelled: bool = False) -> Exit:
        """Write the end of a stream; return the exit status of all pages."""
        events = list(self._frames.build_end(reply, cancelled=cancelled))
        self._end(events, self._frames.status)
        return self._frames.status

    def _write_error(self, classified: ClassifiedError) -> None:
        self._end(self._frames.build_failure(classified.reply), classified.exit)

    def _write(self, event: ReviewEvent) -> bool:
        with self._lock:
            if self._ended:
                return False
            if self._stream:
                self._context.write_json(event, None)
            elif event.type != "items":
                self._context.write_event(event)
            return self._stream or event.type != "items"

    def _end(self, events: Iterable[ReviewEvent], status: Exit) -> None:
        """Write the last events; the first end is the only one."""
        with self._lock:
            for event in () if self._ended else events:
                is_last = event.type in ("complete", "error", "end")
                self._context.write_json(event, status if is_last else None)
            self._ended = True


def run_review(
    context: CommandContext,
    request: Request[R],
    display: Display[ReviewEvent],
    on_stop: Callable[[], None],
) -> tuple[R, bool]:
    """Run a review or a translation; return the last page, and whether it was cancelled."""
    with (
        report_events(context, display) as reporter,
        context.interrupts.cancelling(on_stop) as cancel,
    ):
        reply = context.run(request, report=reporter, cancel=cancel)
    return reply, cancel.requested


def stream_review(context: CommandContext, work: ReviewWork) -> Exit:
    """Write the events of a review or a translation to stdout; return the exit status.

    An interruption stops a running request to the language model at once, and finished work is
    kept.

    `work` reports its events to its first argument, and returns the last page.

    Raises:
        BrokenPipeError: The reader closed the pipe, and the work was interrupted.
    """
    events = ReviewEvents(context, stream=True)
    with (
        report_events(context, events) as reporter,
        context.interrupts.cancelling(_interrupt) as cancel,
    ):
        reply = work(reporter, cancel)
    return events.finish(reply, cancelled=cancel.requested)


def _interrupt() -> None:
    """Interrupt what runs now, besides asking the work to stop."""
    raise KeyboardInterrupt
