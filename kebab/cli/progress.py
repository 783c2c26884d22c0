"""Passes the events of work to a display or a stream of NDJSON.

After each long silence it sends a heartbeat. The streams are those of answers, of long work, of
one search, and of reviews and translations.
"""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from kebab.app.facade import find_operation_status
from kebab.core.progress import Cancel, Progress
from kebab.errors.signal import Exit
from kebab.platform import interrupt_main_thread, is_reader_gone
from kebab.wire.operations import find_operation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kebab.app.facade import Kebab
    from kebab.cli.channels import Display, OutputChannel, WorkDisplay
    from kebab.cli.context import CommandContext
    from kebab.config.settings import Settings
    from kebab.wire.record import NotFound, Reply, Request
    from kebab.wire.review import AgentItems
    from kebab.wire.stream import ReviewEvent

    ReviewWork = Callable[[Callable[[ReviewEvent], None], Cancel], AgentItems | NotFound]


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
        self._ended = threading.Event()
        self._heartbeat = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._reader_gone = False

    def __enter__(self) -> Self:
        self._heartbeat.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the heartbeat.

        Raises:
            BrokenPipeError: The reader closed the pipe.
        """
        try:
            self._ended.set()
            self._heartbeat.join()
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

    def _run(self) -> None:
        """Beat until the work ends."""
        interval_s = min(self._display.silence_s / 2, _LONGEST_INTERVAL_S)
        while not self._ended.wait(interval_s):
            self.beat()

    def beat(self) -> None:
        """Send a heartbeat if the silence is too long, and interrupt the work without a reader."""
        try:
            self._reader_gone = self._out is not None and is_reader_gone(self._out.descriptor)
            with self._lock:
                now = self._clock()
                is_silent = now - self._last >= self._display.silence_s
                if is_silent and not self._ended.is_set():
                    self._last = now
                    self._display.show_heartbeat(round((now - self._started) * 1000))
        except BrokenPipeError:
            if self._out is None:
                raise
            self._reader_gone = True
        if self._reader_gone:
            self._ended.set()
            interrupt_main_thread()


class WorkReporter(Reporter[Progress]):
    """Reports long work, which goes on without a reader."""

    def __init__(self, display: WorkDisplay, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(display, clock=clock)
        self.display = display

    def finish(self, status: int, report: Reply | None = None, *, cancelled: bool) -> None:
        """Show the end; no heartbeat follows."""
        self._ended.set()
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


def run_work(
    context: CommandContext,
    request: Request[R],
    settings: Settings | None = None,
    *,
    kebab: Kebab | None = None,
    stream: bool = False,
) -> tuple[R, Exit]:
    """Run an operation with its progress; return its reply and status.

    Ctrl-C cancels an operation that can be cancelled, and interrupts any other. With `stream` the
    events go to stdout, the last one with the reply. An open `kebab` is used instead of one of its
    own.
    """
    run = kebab.run if kebab else partial(context.run, settings=settings or context.load_settings())
    with report_work(context, stream=stream) as reporter, ExitStack() as stack:
        cancel = None
        if find_operation(request).cancellable:
            notice = reporter.display.announce_stop
            cancel = stack.enter_context(context.interrupts.cancelling(notice))
        reply = run(request, report=reporter, cancel=cancel)
        status = find_operation_status(reply, cancel)
        ended = reply if stream else None
        reporter.finish(status, ended, cancelled=status is Exit.INTERRUPTED)
    return reply, status


def choose_work_display(context: CommandContext, *, stream: bool) -> WorkDisplay:
    """Return the display of long work: events, a bar, or lines."""
    if context.flags.machine:
        from kebab.app.events import WorkEncoder
        from kebab.cli.event_lines import EventLines

        return EventLines(context, WorkEncoder(), stream=stream)
    from kebab.cli.render.progress import ProgressBar, ProgressLines

    channel = context.channels.err
    canvas = context.create_canvas(channel)
    return ProgressBar(channel, canvas) if canvas.live else ProgressLines(channel)


def run_review(
    context: CommandContext,
    request: Request[R],
    display: Display[ReviewEvent],
) -> tuple[R, bool]:
    """Run a review or a translation; return the last page, and whether it was cancelled.

    An interruption stops a running request to the language model at once, and finished work is
    kept.
    """
    with (
        report_events(context, display) as reporter,
        context.interrupts.cancelling(_interrupt) as cancel,
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
    from kebab.app.events import ReviewEncoder
    from kebab.cli.event_lines import EventLines

    encoder = ReviewEncoder()
    events = EventLines(context, encoder, stream=True)
    with (
        report_events(context, events) as reporter,
        context.interrupts.cancelling(_interrupt) as cancel,
    ):
        reply = work(reporter, cancel)
    events.finish(Exit.DONE, reply, cancelled=cancel.requested)
    return encoder.status


def _interrupt() -> None:
    """Interrupt what runs now, besides asking the work to stop."""
    raise KeyboardInterrupt
