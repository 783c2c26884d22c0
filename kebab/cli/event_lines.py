"""Writes the events of a call as NDJSON; only calls of programs import it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from kebab.app.events import EventEncoder, Line, WorkEncoder
from kebab.cli.channels import WorkDisplay
from kebab.errors.signal import Exit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kebab.app.classify import ClassifiedError
    from kebab.cli.context import CommandContext
    from kebab.wire.record import Reply


class EventLines(WorkDisplay):
    """Writes the events of a call as NDJSON.

    As a stream all of them go to stdout, and the last ones have the reply or the error. Otherwise
    stderr gets what tells that the work continues: the heartbeats of an answer, the events of a
    review without its pages, and all events of long work.
    """

    def __init__(
        self, context: CommandContext, encoder: EventEncoder[Any], *, stream: bool
    ) -> None:
        self.encoder = encoder
        self._context = context
        self._stream = stream
        self._began = self._ended = False
        self._lock = threading.RLock()
        self.silence_s = encoder.silence_s
        if stream and encoder.carries_errors:
            context.on_error = self._write_error

    def __exit__(self, *details: object) -> None:
        """Write the terminal event of long work that failed, unless the reader closed the pipe."""
        _, error, _ = details
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
        if isinstance(self.encoder, WorkEncoder):
            self._write(self.encoder.build_heartbeat("stopping soon"))

    def abort(self) -> None:
        """Write the terminal event of long work that did not complete."""
        if isinstance(self.encoder, WorkEncoder) and (self._began or self._stream):
            self._end([(self.encoder.build_abortion(), None)])

    def finish(self, status: int, reply: Reply | None = None, *, cancelled: bool = False) -> None:
        """Write the last events."""
        self._end(self.encoder.build_end(reply, Exit(status), cancelled=cancelled))

    def write(self, event: Reply, status: int | None = None) -> None:
        """Write a line."""
        (self._context.write_json if self._stream else self._context.write_event)(event, status)

    def _write_error(self, classified: ClassifiedError) -> None:
        self._end(self.encoder.build_failure(classified.reply, classified.exit))

    def _write(self, event: Reply) -> bool:
        """Write an event unless the stream has ended or stderr does not get it."""
        kind = getattr(event, "type", "")
        shown = self._stream or kind in _TOLD_APART or not kind
        with self._lock:
            if self._ended or not shown:
                return False
            self._began = True
            self.write(event)
        return True

    def _end(self, lines: Iterable[Line]) -> None:
        """Write the last events; the first end is the only one."""
        with self._lock:
            for event, status in () if self._ended else lines:
                self.write(event, status)
            self._ended = True


_TOLD_APART = ("heartbeat", "stage", "progress")
"""The types of events that stderr gets; events of long work have none."""
