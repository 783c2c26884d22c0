"""Renders an answer while it is generated: the end of the text and a status line."""

import time
from collections.abc import Callable
from typing import Any, Self

from msgspec import UNSET

from kebab.cli.channels import OutputChannel
from kebab.cli.displays import EventDisplay
from kebab.cli.render.canvas import Canvas, limit_text_width, pluralize
from kebab.cli.render.markdown import render_markdown
from kebab.cli.render.progress import SHOW_CURSOR, create_console, create_live
from kebab.cli.render.width import clean, truncate
from kebab.wire.ask import AnswerEvent

_SOON_S = 2.0
"""After this time the status names the model that kebab waits for, and a log gets a line."""
_FEWEST_ROWS = 4


class AnswerStatus:
    """Describes the state of an answer in words.

    Args:
        model: The model that writes the answer, if any.
        clock: Returns monotonic seconds.
    """

    def __init__(self, model: str | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.model = clean(model) if model else None
        self.text = ""
        self._clock = clock
        self._started = self._since = clock()
        self._activity = "looking for passages"

    def update(self, event: AnswerEvent) -> None:
        """Update the state from an event."""
        if event.type == "token" and event.delta is not UNSET:
            self.text += event.delta
        elif event.type == "retrieval_done" and event.hits is not UNSET:
            self._begin(f"reading {pluralize(len(event.hits), 'passage')}")
        elif event.type == "restart" and event.reason is not UNSET:
            self.text = ""
            self._begin(f"asking again with less: {clean(event.reason)}")
        elif event.type == "waiting" and event.reason is not UNSET:
            self._begin(clean(event.reason))

    def _begin(self, what: str) -> None:
        self._activity, self._since = what, self._clock()

    def __str__(self) -> str:
        now = self._clock()
        what = self._activity
        if self.text:
            what = f"{self.model} is writing" if self.model else "writing"
        elif self.model and what.startswith("reading") and now - self._since >= _SOON_S:
            what = f"waiting for {self.model}"
        seconds = int(now - self._started)
        return f"{what}  {seconds} s" if seconds else what


class AnswerLog(EventDisplay[AnswerEvent]):
    """Writes one line to a log when an answer takes long."""

    silence_s = _SOON_S

    def __init__(self, channel: OutputChannel, status: AnswerStatus) -> None:
        self._channel = channel
        self._status = status
        self._written = False

    def __call__(self, event: AnswerEvent) -> bool:
        """Update the status."""
        self._status.update(event)
        return False

    def show_heartbeat(self, elapsed_ms: float) -> None:
        """Write the status, once."""
        del elapsed_ms
        if not self._written:
            self._written = True
            self._channel.write(f"{self._status}\n")


class LiveAnswer(EventDisplay[AnswerEvent]):
    """Shows the end of the text and a status line until the answer is complete."""

    silence_s = float("inf")
    """It needs no heartbeat, because the status line shows the time."""

    def __init__(
        self, channel: OutputChannel, canvas: Canvas, status: AnswerStatus, *, shows_text: bool
    ) -> None:
        self._channel = channel
        self._canvas = canvas
        self._status = status
        self._shows_text = shows_text
        self._rendered_for: tuple[int, int] | None = None
        self._body: list[str] = []
        self._console = create_console(channel, canvas)
        self._live = create_live(self._console, self._render)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the text and the status line."""
        self._live.stop()

    def __call__(self, event: AnswerEvent) -> bool:
        """Show an event with the next refresh."""
        self._status.update(event)
        return True

    def abort(self) -> None:
        """Restore the terminal."""
        self._channel.write(SHOW_CURSOR)

    def lines(self, width: int, rows: int) -> list[str]:
        """Return the lines to show now: the end of the text and the status line."""
        status = self._canvas.dim(truncate(str(self._status), width))
        body = self._render_text(width) if self._shows_text else []
        if not body:
            return [status]
        room = max(_FEWEST_ROWS, rows) - 3
        if len(body) > room:
            body = [self._canvas.dim("…"), *body[1 - room :]]
        return [*body, "", status]

    def _render_text(self, width: int) -> list[str]:
        text = self._status.text
        if self._rendered_for != (len(text), width):
            self._rendered_for = len(text), width
            self._body = render_markdown(text, self._canvas, width) if text.strip() else []
        return self._body

    def _render(self) -> Any:
        from rich.console import Group
        from rich.text import Text

        columns, rows = self._channel.columns, self._channel.rows
        self._console.size = (columns, rows)
        return Group(
            *(
                Text.from_ansi(line, no_wrap=True, overflow="crop")
                for line in self.lines(limit_text_width(columns), rows)
            )
        )
