"""Passes progress events to a display, and sends a heartbeat after each long silence."""

from __future__ import annotations

import select
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from kebab.core.progress import Heartbeat, Progress, ProgressKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kebab.cli.channels import OutputChannel
    from kebab.cli.context import CommandContext
    from kebab.cli.displays import EventDisplay, WorkDisplay
    from kebab.core.progress import Cancel
    from kebab.wire.bench import BenchProgress
    from kebab.wire.evals import EvalProgress
    from kebab.wire.ingest import IngestReport

E = TypeVar("E")

SILENCE_S = 1.0
"""The longest time without an event of long work."""

_LONGEST_INTERVAL_S = 0.5


class Reporter(Generic[E]):
    """Shows events, and calls `_show_heartbeat` after each long silence.

    Args:
        silence_s: The longest time without an event that the reader sees.
        clock: Returns monotonic seconds.
    """

    def __init__(self, silence_s: float, clock: Callable[[], float]) -> None:
        self._silence_s = silence_s
        self._clock = clock
        self._started = self._last = clock()
        self._lock = threading.RLock()
        self._heartbeat = Heartbeat(self.beat, min(silence_s / 2, _LONGEST_INTERVAL_S))

    def __enter__(self) -> Self:
        self._heartbeat.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the heartbeat."""
        self._heartbeat.__exit__()

    def __call__(self, event: E) -> None:
        """Show an event."""
        with self._lock:
            if self._show(event):
                self._last = self._clock()

    def beat(self) -> None:
        """Send a heartbeat if the silence is too long."""
        with self._lock:
            now = self._clock()
            if not self._heartbeat.stopped and now - self._last >= self._silence_s:
                self._last = now
                self._show_heartbeat(round((now - self._started) * 1000))

    def _show(self, event: E) -> bool:
        """Show an event; return whether the reader saw it."""
        raise NotImplementedError

    def _show_heartbeat(self, elapsed_ms: int) -> None:
        raise NotImplementedError


class WorkReporter(Reporter[Progress]):
    """Reports long work; a heartbeat repeats the phase and the path of the last event."""

    def __init__(
        self,
        display: WorkDisplay,
        *,
        silence_s: float = SILENCE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(silence_s, clock)
        self.display = display
        self._event = Progress(kind=ProgressKind.HEARTBEAT)

    def finish(self, status: int, report: IngestReport | None = None, *, cancelled: bool) -> None:
        """Show the end; no heartbeat follows."""
        self._heartbeat.stop()
        with self._lock:
            self.display.finish(status, report, cancelled=cancelled)

    def _show(self, event: Progress) -> bool:
        self._event = event
        self.display(event)
        return True

    def _show_heartbeat(self, elapsed_ms: int) -> None:
        kind, last = ProgressKind.HEARTBEAT, self._event
        self(Progress(kind=kind, phase=last.phase, path=last.path, elapsed_ms=elapsed_ms))


class EventReporter(Reporter[E]):
    """Reports work that is of no use without a reader: closing the pipe interrupts it.

    Leaving the context then raises `BrokenPipeError`.
    """

    def __init__(
        self,
        display: EventDisplay[E],
        out: OutputChannel,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(display.silence_s, clock)
        self._display = display
        self._out = out
        self._reader_gone = False

    def __exit__(self, *_: object) -> None:
        """Stop the heartbeat.

        Raises:
            BrokenPipeError: The reader closed the pipe.
        """
        try:
            super().__exit__()
        except KeyboardInterrupt:
            if not self._reader_gone:
                raise
        if self._reader_gone:
            raise BrokenPipeError

    def _show(self, event: E) -> bool:
        return self._display(event)

    def _show_heartbeat(self, elapsed_ms: int) -> None:
        self._display.show_heartbeat(elapsed_ms)

    def beat(self) -> None:
        """Send a heartbeat if the silence is too long, and interrupt the work without a reader."""
        try:
            self._reader_gone = is_reader_gone(self._out)
            super().beat()
        except BrokenPipeError:
            self._reader_gone = True
        if self._reader_gone:
            self._heartbeat.stop()
            main = threading.main_thread().ident
            assert main is not None
            signal.pthread_kill(main, signal.SIGINT)


def is_reader_gone(channel: OutputChannel) -> bool:
    """Return whether the reader of a pipe closed it."""
    poll = select.poll()
    poll.register(channel.descriptor, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


@contextmanager
def report_events(context: CommandContext, display: EventDisplay[E]) -> Iterator[EventReporter[E]]:
    """Yield the reporter of an answer or of a review.

    Raises:
        BrokenPipeError: The reader closed the pipe.
    """
    with display, EventReporter(display, context.channels.out) as reporter:
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


def choose_work_display(context: CommandContext, *, stream: bool) -> WorkDisplay:
    """Return the display of long work: events, a bar, or lines."""
    if context.flags.machine:
        from kebab.cli.streams import IngestEvents

        write = context.write_json if stream else context.write_event
        return IngestEvents(write, always_ends=stream)
    from kebab.cli.render.progress import ProgressBar, ProgressLines

    channel = context.channels.err
    canvas = context.create_canvas(channel)
    return ProgressBar(channel, canvas) if canvas.live else ProgressLines(channel)


@contextmanager
def report_measurements(
    context: CommandContext,
) -> Iterator[Callable[[BenchProgress | EvalProgress], None]]:
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
