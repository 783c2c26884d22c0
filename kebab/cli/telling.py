"""What is told while a question is being answered, and how a reader that went away is noticed."""

from __future__ import annotations

import select
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, Self

from kebab.wire.ask import AnswerEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from kebab.app.classify import Fault
    from kebab.cli.channels import Channel
    from kebab.cli.session import Session
    from kebab.errors.signal import Exit
    from kebab.wire.ask import Answer

SILENCE_S = 3.0
"""The longest time without a line."""

_TICK_S = 0.5


class Display(Protocol):
    """What shows how an answer comes along; `silence_s` is the longest time it stays silent."""

    silence_s: float

    def __call__(self, event: AnswerEvent) -> bool:
        """Take an event; return whether the reader saw it."""

    def beat(self, elapsed_ms: float) -> None:
        """Say that the work goes on."""

    def leave(self) -> None:
        """Tidy up when the process is left at once."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...


class Events:
    """`answer_event.v1` lines: all of them on stdout as a stream, or heartbeats alone on stderr.

    A stream ends with exactly one `final` or `error`; faults reach it before they are reported.
    """

    silence_s = SILENCE_S

    def __init__(self, session: Session, *, stream: bool) -> None:
        self._session = session
        self._stream = stream
        self._ended = False
        if stream:
            session.on_fault = self._fail

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave; the end is said by `finish`, or by the fault."""

    def __call__(self, event: AnswerEvent) -> bool:
        """Take an event."""
        if self._stream:
            self._session.line(event, None)
        return self._stream

    def beat(self, elapsed_ms: float) -> None:
        """Send a heartbeat."""
        event = AnswerEvent(type="heartbeat", elapsed_ms=elapsed_ms)
        if not self._stream:
            self._session.aside(event)
        elif not self._ended:
            self._session.line(event, None)

    def leave(self) -> None:
        """Leave; the fault that is reported ends the stream."""

    def finish(self, reply: Answer, status: Exit) -> None:
        """End the stream with the answer."""
        self._end(AnswerEvent(type="final", answer=reply), status)

    def _fail(self, fault: Fault) -> None:
        self._end(AnswerEvent(type="error", error=fault.reply), fault.exit)

    def _end(self, event: AnswerEvent, status: Exit) -> None:
        if not self._ended:
            self._ended = True
            self._session.line(event, status)


class Pulse:
    """Passes events on, and wakes the display in long silences.

    When nobody reads the result any more the work is interrupted, and leaving the context raises
    `BrokenPipeError`.
    """

    def __init__(
        self, display: Display, out: Channel, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._display = display
        self._out = out
        self._clock = clock
        self._started = self._last = clock()
        self._lost = False
        self._over = threading.Event()
        self._lock = threading.RLock()
        self._thread = threading.Thread(target=self._tick, name="pulse", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Fall silent.

        Raises:
            BrokenPipeError: The reader went away.
        """
        try:
            self._over.set()
            self._thread.join()
        except KeyboardInterrupt:
            if not self._lost:
                raise
        if self._lost:
            raise BrokenPipeError

    def __call__(self, event: AnswerEvent) -> None:
        """Take an event."""
        with self._lock:
            if self._display(event):
                self._last = self._clock()

    def beat(self) -> None:
        """Wake the display when the silence has become too long."""
        with self._lock:
            now = self._clock()
            if now - self._last >= self._display.silence_s:
                self._last = now
                self._display.beat(round((now - self._started) * 1000))

    def _tick(self) -> None:
        while not self._over.wait(_TICK_S) and not self._lost:
            try:
                self._lost = unread(self._out)
                self.beat()
            except BrokenPipeError:
                self._lost = True
        if self._lost:
            main = threading.main_thread().ident
            assert main is not None
            signal.pthread_kill(main, signal.SIGINT)


def unread(channel: Channel) -> bool:
    """Return whether the reader of a pipe went away."""
    poll = select.poll()
    poll.register(channel.descriptor, 0)
    return any(seen & (select.POLLERR | select.POLLHUP) for _, seen in poll.poll(0))


@contextmanager
def telling(session: Session, display: Display) -> Iterator[Pulse]:
    """Yield where the events of an answer go.

    Raises:
        BrokenPipeError: The reader went away.
    """
    with display, Pulse(display, session.channels.out) as pulse:
        session.on_leave = display.leave
        yield pulse
