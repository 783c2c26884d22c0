"""Draws a recorded stream of a review, for `review --replay`."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import msgspec

from kebab.cli.render.canvas import Canvas, pluralize
from kebab.cli.render.width import clean
from kebab.errors.catalog import InvalidInput
from kebab.errors.system import translate_os_errors
from kebab.wire.record import DECODE_ERRORS, to_invalid_input
from kebab.wire.review_stream import ReviewEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kebab.cli.context import CommandContext
    from kebab.cli.review import ReviewDisplay
    from kebab.errors.signal import Exit
    from kebab.wire.review import AgentItems
    from kebab.wire.review_stream import ReviewEventData

_STDIN = "-"
_TYPES = frozenset(get_args(ReviewEvent.__annotations__["type"]))
_TAG = str(ReviewEvent.__struct_config__.tag)
_NO_EVENT = "no event of a review"
_SECOND_MS = 1000


class _Line(msgspec.Struct):
    """What tells whether a line is an event that can be drawn."""

    schema_version: str = ""
    type: str = ""


def read_recording(lines: Iterable[bytes]) -> Iterator[ReviewEvent]:
    """Yield the events of a recorded stream.

    Empty lines, events of unknown types and other objects are skipped, and the last line may be
    cut off.

    Raises:
        InvalidInput: A line is broken, or there is no event at all; `field` is the JSON path.
    """
    found = False
    fault: InvalidInput | None = None
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        if fault is not None:
            raise fault
        try:
            kind = msgspec.json.decode(line, type=_Line)
            if kind.schema_version == _TAG and kind.type in _TYPES:
                yield msgspec.json.decode(line, type=ReviewEvent)
                found = True
        except DECODE_ERRORS as error:
            fault = _describe_fault(index, error)
    if not found:
        raise fault or InvalidInput(field="$", cause=_NO_EVENT)


def _describe_fault(index: int, error: Exception) -> InvalidInput:
    """Return the signal for a broken line; lines are counted from 1 in its cause."""
    fault = to_invalid_input(error)
    path = f"$[{index}]{fault.field.removeprefix('$')}"
    signal = InvalidInput(field=path, cause=f"line {index + 1}: {fault.cause}")
    signal.__cause__ = error
    return signal


@contextmanager
def open_recording(path: str) -> Iterator[Iterable[bytes]]:
    """Open the lines of a file, or of stdin for `-`.

    Raises:
        IoError: It cannot be read.
    """
    if path == _STDIN:
        yield sys.stdin.buffer if sys.stdin else ()
        return
    with translate_os_errors(path, "read"), Path(path).open("rb") as file:
        yield file


class Replay:
    """Shows recorded events, and remembers how the run went."""

    def __init__(self, display: ReviewDisplay) -> None:
        self.error: ReviewEventData | None = None
        self.end: ReviewEventData | None = None
        self.last_page: AgentItems | None = None
        self.stages: dict[str, Counter[str]] = {}
        self._display = display
        self._began: datetime | None = None

    def show(self, event: ReviewEvent) -> None:
        """Show an event."""
        self._display(event)
        data = event.data
        if event.type == "error":
            self.error = data
        elif event.type == "end":
            self.end = data
        elif data.page:
            self.last_page = data.page
        elif event.type == "stage" and data.stage:
            counts = self.stages.setdefault(clean(data.stage), Counter())
            counts[str(data.status)] += 1
            counts["items"] += data.item_count or 0
        self._display.show_heartbeat(self._measure_ms(event))

    def _measure_ms(self, event: ReviewEvent) -> float:
        """Return the time between the first event and this one, as recorded."""
        if not event.timestamp:
            return 0.0
        try:
            moment = datetime.fromisoformat(event.timestamp)
            self._began = self._began or moment
            return (moment - self._began).total_seconds() * _SECOND_MS
        except (ValueError, TypeError):
            return 0.0


def replay_review(context: CommandContext, path: str, display: ReviewDisplay) -> Exit:
    """Draw a recorded stream; return the exit status of the pages in it.

    Raises:
        InvalidInput: The file is no recorded stream.
        IoError: It cannot be read.
    """
    replay = Replay(display)
    with display, open_recording(path) as lines:
        for event in read_recording(lines):
            replay.show(event)
    ended = replay.end is not None and bool(replay.end.completed)
    if replay.last_page is not None:
        display.finish(replay.last_page, completed=ended)
    err = context.channels.err
    err.write_lines(render_outcome(replay, context.create_canvas(err)))
    return display.status


def render_outcome(replay: Replay, canvas: Canvas) -> Iterator[str]:
    """Yield what each stage of a recorded run did, and how the run ended."""
    width = max(map(len, replay.stages), default=0)
    for stage, counts in replay.stages.items():
        parts = [pluralize(counts["items"], "finding")]
        if counts["error"]:
            parts.append(canvas.error(pluralize(counts["error"], "error")))
        yield f"{canvas.dim(f'{stage:<{width}}')}  {', '.join(parts)}"
    if replay.error is not None:
        yield from canvas.wrap_with_label("error:", clean(str(replay.error.message)), canvas.error)
    if replay.end is None:
        yield from canvas.note("the recording has no end: it was cut off, or the run goes on")
    elif not replay.end.completed:
        reason = f": {clean(replay.end.reason)}" if replay.end.reason else ""
        yield from canvas.note(f"the run did not do all of its work{reason}")
