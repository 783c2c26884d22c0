"""An answer while it comes: a status line, and the text as far as the screen holds it."""

import os
import time
from collections.abc import Callable
from typing import Any, Self

from msgspec import UNSET

from kebab.cli.channels import Channel
from kebab.cli.render.canvas import Canvas, limit_text_width
from kebab.cli.render.clean import clean
from kebab.cli.render.markdown import markdown
from kebab.cli.render.measure import fitted
from kebab.cli.render.progress import SHOW_CURSOR, console_on, live_on
from kebab.cli.render.sheet import plural
from kebab.wire.ask import AnswerEvent

_SOON_S = 2.0
"""From here on a wait is the model's, and worth a line in a log."""
_ROWS = 24
_FEWEST_ROWS = 4


class Wait:
    """How far an answer is, in words.

    Args:
        model: Who words the answer; None when no model does.
        clock: Returns seconds that never run backwards.
    """

    def __init__(self, model: str | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.model = clean(model) if model else None
        self.text = ""
        self._clock = clock
        self._started = self._since = clock()
        self._what = "looking for passages"

    def take(self, event: AnswerEvent) -> None:
        """Take an event."""
        if event.type == "token" and event.delta is not UNSET:
            self.text += event.delta
        elif event.type == "retrieval_done" and event.hits is not UNSET:
            self._begin(f"reading {plural(len(event.hits), 'passage')}")
        elif event.type == "restart" and event.reason is not UNSET:
            self.text = ""
            self._begin(f"asking again with less: {clean(event.reason)}")

    def _begin(self, what: str) -> None:
        self._what, self._since = what, self._clock()

    def __str__(self) -> str:
        now = self._clock()
        what = self._what
        if self.text:
            what = f"{self.model} is writing" if self.model else "writing"
        elif self.model and what.startswith("reading") and now - self._since >= _SOON_S:
            what = f"waiting for {self.model}"
        seconds = int(now - self._started)
        return f"{what}  {seconds} s" if seconds else what


class Line:
    """One line in a log, when an answer takes long."""

    silence_s = _SOON_S

    def __init__(self, channel: Channel, wait: Wait) -> None:
        self._channel = channel
        self._wait = wait
        self._said = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave; there is nothing to tidy."""

    def __call__(self, event: AnswerEvent) -> bool:
        """Take an event."""
        self._wait.take(event)
        return False

    def beat(self, elapsed_ms: float) -> None:
        """Say once what it waits for."""
        del elapsed_ms
        if not self._said:
            self._said = True
            self._channel.write(f"{self._wait}\n")

    def leave(self) -> None:
        """Leave the channel as it is."""


class Region:
    """A status line that lives below the end of the text, both gone once the answer is whole."""

    silence_s = float("inf")

    def __init__(self, channel: Channel, canvas: Canvas, wait: Wait, *, shows_text: bool) -> None:
        self._channel = channel
        self._canvas = canvas
        self._wait = wait
        self._shows_text = shows_text
        self._known: tuple[int, int] | None = None
        self._body: list[str] = []
        self._console = console_on(channel, canvas)
        self._live = live_on(self._console, self._drawn)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take it away."""
        self._live.stop()

    def __call__(self, event: AnswerEvent) -> bool:
        """Take an event; the next refresh shows it."""
        self._wait.take(event)
        return True

    def beat(self, elapsed_ms: float) -> None:
        """Take no notice: the status line counts by itself."""

    def leave(self) -> None:
        """Leave the terminal as it was."""
        self._channel.write(SHOW_CURSOR)

    def lines(self, width: int, rows: int) -> list[str]:
        """Return what is shown now; of a text that is too long, its end."""
        status = self._canvas.faint(fitted(str(self._wait), width))
        body = self._rendered(width) if self._shows_text else []
        if not body:
            return [status]
        room = max(_FEWEST_ROWS, rows) - 3
        if len(body) > room:
            body = [self._canvas.faint("…"), *body[1 - room :]]
        return [*body, "", status]

    def _rendered(self, width: int) -> list[str]:
        text = self._wait.text
        if self._known != (len(text), width):
            self._known = len(text), width
            self._body = markdown(text, self._canvas, width) if text.strip() else []
        return self._body

    def _drawn(self) -> Any:
        from rich.console import Group
        from rich.text import Text

        columns, rows = self._channel.columns, screen_rows(self._channel)
        self._console.size = (columns, rows)
        return Group(
            *(
                Text.from_ansi(line, no_wrap=True, overflow="crop")
                for line in self.lines(limit_text_width(columns), rows)
            )
        )


def screen_rows(channel: Channel) -> int:
    """Return how many lines a terminal shows."""
    try:
        return os.get_terminal_size(channel.descriptor).lines or _ROWS
    except OSError:
        return _ROWS
