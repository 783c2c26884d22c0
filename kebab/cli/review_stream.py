"""Writes the NDJSON events of reviews and translations."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from kebab.app.review_frames import ReviewFrames
from kebab.cli.displays import EventDisplay
from kebab.cli.progress import report_events
from kebab.wire.review_stream import ReviewEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kebab.app.classify import ClassifiedError
    from kebab.cli.context import CommandContext
    from kebab.core.progress import Cancel
    from kebab.errors.signal import Exit
    from kebab.wire.library import NotFound
    from kebab.wire.review import AgentItems

    ReviewWork = Callable[[Callable[[ReviewEvent], None], Cancel], AgentItems | NotFound]


class ReviewEvents(EventDisplay[ReviewEvent]):
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


def stream_review(context: CommandContext, work: ReviewWork) -> Exit:
    """Write the events of a review or a translation to stdout; return the exit status.

    An interruption stops a running request to the language model at once, and finished work is
    kept.

    Args:
        context: The call.
        work: Does the work, reports its events to its first argument, and returns the last page.

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
