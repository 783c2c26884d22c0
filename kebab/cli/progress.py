"""Passes the events of work to a display or a stream of NDJSON.

After each long silence it sends a heartbeat. The streams are those of answers, of long work, of
one search, and of reviews and translations. The flag `--in` brings the index of a folder up to date
before a search or a question.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from kebab.app.facade import find_operation_status
from kebab.cli.channels import Display
from kebab.errors.catalog import Cancelled, Locked, NotIndexed
from kebab.errors.signal import Exit
from kebab.platform import interrupt_main_thread, is_reader_gone
from kebab.wire.operations import find_operation
from kebab.wire.search import DegradedChannel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kebab.app.facade import Kebab
    from kebab.cli.channels import OutputChannel
    from kebab.cli.context import CommandContext
    from kebab.config.settings import Settings
    from kebab.server.events import EventEncoder, Line
    from kebab.wire.record import Reply, Request
    from kebab.wire.stream import ReviewEvent


E = TypeVar("E")
R = TypeVar("R", bound="Reply")

_LONGEST_INTERVAL_S = 0.5


class Reporter(Generic[E]):
    """Shows events, and a heartbeat after each long silence.

    Without a reader of the pipe `out` the work is of no use: closing it interrupts the work, and
    leaving the context then raises `BrokenPipeError`.
    """

    def __init__(
        self,
        display: Display[E],
        out: OutputChannel | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.display = display
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
            if self.display(event) is not False:
                self._last = self._clock()

    def finish(self, status: int, reply: Reply | None = None, *, cancelled: bool) -> None:
        """Show the end; no heartbeat follows."""
        self._ended.set()
        with self._lock:
            self.display.finish(status, reply, cancelled=cancelled)

    def _run(self) -> None:
        """Beat until the work ends."""
        interval_s = min(self.display.silence_s / 2, _LONGEST_INTERVAL_S)
        while not self._ended.wait(interval_s):
            self.beat()

    def beat(self) -> None:
        """Send a heartbeat if the silence is too long, and interrupt the work without a reader."""
        with suppress(BrokenPipeError), self._lock:
            now = self._clock()
            is_silent = now - self._last >= self.display.silence_s
            if is_silent and not self._ended.is_set():
                self._last = now
                self.display.show_heartbeat(round((now - self._started) * 1000))
        if self._out is not None and is_reader_gone(self._out.descriptor):
            self._reader_gone = True
            self._ended.set()
            interrupt_main_thread()


@contextmanager
def report_events(
    context: CommandContext, display: Display[E], out: OutputChannel | None = None
) -> Iterator[Reporter[E]]:
    """Yield the reporter of work; without a reader of `out` the work is interrupted.

    Raises:
        BrokenPipeError: The reader closed the pipe.
    """
    with display, Reporter(display, out) as reporter:
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
    display = choose_work_display(context, stream=stream)
    with report_events(context, display) as reporter, ExitStack() as stack:
        cancel = None
        if find_operation(request).cancellable:
            notice = display.announce_stop
            cancel = stack.enter_context(context.interrupts.cancelling(notice))
        reply = run(request, report=reporter, cancel=cancel)
        status = find_operation_status(reply, cancel)
        ended = reply if stream else None
        reporter.finish(status, ended, cancelled=status is Exit.INTERRUPTED)
    return reply, status


def choose_work_display(context: CommandContext, *, stream: bool = False) -> Display[Any]:
    """Return the display of long work: events, or its state."""
    if context.flags.machine:
        from kebab.server.events import WorkEncoder

        return EventLines(context, WorkEncoder(), stream=stream)
    from kebab.cli.render.progress import WorkStatus

    channel = context.channels.err
    return WorkStatus(channel, context.create_canvas(channel))


def run_review(
    context: CommandContext, request: Request[R], display: Display[ReviewEvent]
) -> tuple[R, bool]:
    """Run a review or a translation; return the last page, and whether it was cancelled.

    An interruption stops a running request to the language model at once, and finished work is
    kept.
    """
    with (
        report_events(context, display, context.channels.out) as reporter,
        context.interrupts.cancelling(_interrupt) as cancel,
    ):
        reply = context.run(request, report=reporter, cancel=cancel)
    return reply, cancel.requested


def stream_review(context: CommandContext, request: Request[R]) -> Exit:
    """Write the events of a review or a translation to stdout; return the exit status.

    Raises:
        BrokenPipeError: The reader closed the pipe, and the work was interrupted.
    """
    from kebab.server.events import ReviewEncoder

    encoder = ReviewEncoder()
    events = EventLines(context, encoder, stream=True)
    reply, cancelled = run_review(context, request, events)
    events.finish(Exit.DONE, reply, cancelled=cancelled)
    return encoder.status


def _interrupt() -> None:
    """Interrupt what runs now, besides asking the work to stop."""
    raise KeyboardInterrupt


class EventLines(Display[Any]):
    """Writes the events of a call as NDJSON.

    As a stream all of them go to stdout, and the last ones have the reply or the error. Otherwise
    stderr gets what tells that the work continues: the heartbeats of an answer, the events of a
    review without its pages, and all events of long work.
    """

    def __init__(
        self, context: CommandContext, encoder: EventEncoder[Any], *, stream: bool
    ) -> None:
        from kebab.server.events import WorkEncoder

        self.encoder = encoder
        self._work = encoder if isinstance(encoder, WorkEncoder) else None
        self._context = context
        self._stream = stream
        self._began = self._ended = False
        self.silence_s = encoder.silence_s
        if stream and encoder.carries_errors:
            context.on_error = lambda fault: self._end(
                encoder.build_failure(fault.reply, fault.exit)
            )

    def __exit__(self, *details: object) -> None:
        """Write the terminal event of long work that failed, unless the reader closed the pipe."""
        error = details[1]
        if error is not None and not isinstance(error, BrokenPipeError):
            self.abort()

    def __call__(self, event: Any) -> bool:
        """Write an event; return whether the reader sees it."""
        line = self.encoder.take(event)
        return line is not None and self._write(line)

    def show_heartbeat(self, elapsed_ms: float) -> None:
        """Write a heartbeat."""
        self._write(self.encoder.build_heartbeat())

    def announce_stop(self) -> None:
        """Write that long work stops soon."""
        if self._work:
            self._write(self._work.build_heartbeat("stopping soon"))

    def abort(self) -> None:
        """Write the terminal event of long work that did not complete."""
        if self._work and (self._began or self._stream):
            self._end([(self._work.build_abortion(), None)])

    def finish(self, status: int, reply: Reply | None = None, *, cancelled: bool = False) -> None:
        """Write the last events."""
        self._end(self.encoder.build_end(reply, Exit(status), cancelled=cancelled))

    def write(self, event: Reply, status: int | None = None) -> None:
        """Write a line."""
        (self._context.write_json if self._stream else self._context.write_event)(event, status)

    def _write(self, event: Reply) -> bool:
        """Write an event unless the stream has ended or stderr does not get it."""
        # Events of long work have no type.
        kind = getattr(event, "type", "")
        shown = self._stream or kind in ("", "heartbeat", "stage", "progress")
        if self._ended or not shown:
            return False
        self._began = True
        self.write(event)
        return True

    def _end(self, lines: Iterable[Line]) -> None:
        """Write the last events; the first end is the only one."""
        ended, self._ended = self._ended, True
        for event, status in () if ended else lines:
            self.write(event, status)


_WAIT_S = 5
"""The seconds that the first search of a folder waits for vectors, and others for the first."""


def refresh_folder(
    context: CommandContext, kebab: Kebab, folder: str | None, queries: Iterable[str]
) -> list[DegradedChannel]:
    """Bring the index of a folder up to date; return why that is not possible now.

    Words are indexed completely, vectors as far as the time allows. What an earlier call has left
    is left again, so that only the first call waits. Without `--in`, and for empty queries, which
    are refused later, nothing happens.

    Raises:
        Cancelled: The user interrupted it.
        IoError: There is no such folder.
    """
    if not folder or not any(map(str.strip, queries)):
        return []
    from kebab.app.filters import resolve_folder
    from kebab.wire.health import SchemaRequest
    from kebab.wire.ingest import IngestRequest
    from kebab.wire.library import SourceListRequest

    place, reason = resolve_folder(folder), "`--read-only`"
    if context.flags.read_only:
        from kebab.errors.system import translate_os_errors

        with translate_os_errors(folder, "read"):
            os.stat(os.path.expanduser(folder))  # noqa: PTH111, PTH116 - a `~` of nobody is a name
    for _ in range(0 if context.flags.read_only else 10 * _WAIT_S):
        try:
            paths, start = [place], f"{place.rstrip('/')}/"
            # The source of a folder leaves out the folders of sources below it.
            with suppress(NotIndexed):
                for one in kebab.run(SourceListRequest()).sources:
                    if one.kind == "folder" and one.state == "present":
                        paths += [one.folder] * one.folder.startswith(start)
            pending = kebab.run(SchemaRequest()).stats.pending_embeddings
            request = IngestRequest(paths=paths, vector_seconds=0 if pending else _WAIT_S)
            report, _ = run_work(context, request, kebab=kebab)
        except Locked as signal:
            reason = signal.format_message()
            time.sleep(0.1)  # of searches in parallel, the first one reads for all
        else:
            if report.cancelled:
                raise Cancelled(operation="search")
            return []
    return [DegradedChannel(channel="index", reason=reason, hint=None)]
