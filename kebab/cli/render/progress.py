"""Progress on stderr: a live bar for a person, a line now and then for a log.

Rich is imported when something live is about to be shown.
"""

import io
import time
from collections.abc import Callable
from typing import Any, Self

from kebab.cli.channels import Channel
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.cli.render.measure import fitted_left
from kebab.cli.render.sheet import sized
from kebab.core.progress import Progress, ProgressKind

SHOW_CURSOR = "\x1b[?25h\r\x1b[J"
"""Leaves a terminal as it was, when live lines end in the middle."""

_EVERY_S = 2.0
_STOPPING = "stopping after the current document; Ctrl-C again leaves at once"
_CONVERT = "convert"
_LABELS = {
    ProgressKind.SCAN_STARTED: "scanning",
    ProgressKind.SCAN_COMPLETED: "scanned",
    ProgressKind.ASSET_STARTED: "reading",
    ProgressKind.ASSET_FINISHED: "reading",
    ProgressKind.MODEL_FETCH: "fetching model",
    ProgressKind.EMBED_BATCH: "embedding",
    ProgressKind.HEARTBEAT: "working",
}
_PHASES = {
    "scan": "scanning",
    "compare": "comparing",
    _CONVERT: "preparing model",
    "model": "looking for an embedding model",
    "remove": "removing",
    "vectors": "storing vectors",
}


class Lines:
    """Progress as plain lines, at most one every two seconds unless something new begins."""

    def __init__(self, channel: Channel, clock: Callable[[], float] = time.monotonic) -> None:
        self._channel = channel
        self._clock = clock
        self._label = ""
        self._message = ""
        self._last = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave; there is nothing to tidy."""

    def __call__(self, event: Progress) -> None:
        """Take an event."""
        label = labelled(event)
        if label is None:
            return
        news = label != self._label or (event.message and event.message != self._message)
        if news or self._clock() - self._last >= _EVERY_S:
            self._label, self._message, self._last = label, event.message or "", self._clock()
            self._channel.write(line(event) + "\n")

    def stopping(self) -> None:
        """Say that the work ends soon."""
        self._channel.write(_STOPPING + "\n")

    def leave(self) -> None:
        """Leave the terminal as it was."""

    def finish(self, *_: object, **__: object) -> None:
        """Take the end; the summary says the rest."""


class Bar:
    """Progress as a live bar with the current file below it."""

    def __init__(self, channel: Channel, canvas: Canvas) -> None:
        self._channel = channel
        self._width = canvas.width or 80
        self._path = "starting"
        self._stopping = False
        self._tasks: dict[str, Any] = {}
        console = console_on(channel, canvas)
        self._progress = _columns(console)
        self._live = live_on(console, self._drawn)

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        self._live.stop()

    def __call__(self, event: Progress) -> None:
        """Take an event."""
        label = labelled(event)
        if label is None:
            return
        if event.kind is ProgressKind.HEARTBEAT:
            self._beat(event)
            return
        self._path = clean(event.path or event.message or "")
        if event.kind is not ProgressKind.SCAN_COMPLETED:
            self._advance(label, event)

    def stopping(self) -> None:
        """Say that the work ends soon."""
        self._stopping = True

    def leave(self) -> None:
        """Leave the terminal as it was."""
        self._channel.write(SHOW_CURSOR)

    def finish(self, *_: object, **__: object) -> None:
        """Take the end; the summary says the rest."""

    def _beat(self, event: Progress) -> None:
        """Keep a message above the bar; otherwise say below it what takes so long."""
        if event.message:
            self._live.console.print(line(event), markup=False, highlight=False)
        else:
            self._path = line(event)

    def _advance(self, label: str, event: Progress) -> None:
        for task in set(self._tasks) - {label}:
            self._progress.stop_task(self._tasks[task])
            self._progress.update(self._tasks[task], visible=task != "scanning")
        if label not in self._tasks:
            self._tasks[label] = self._progress.add_task(label, total=None, count="")
        self._progress.update(
            self._tasks[label], completed=event.done or 0, total=event.total, count=counted(event)
        )

    def _drawn(self) -> Any:
        from rich.console import Group
        from rich.text import Text

        path = fitted_left(_STOPPING if self._stopping else self._path, self._width - 2)
        return Group(self._progress, Text(f"  {path}", style="dim", no_wrap=True))


def console_on(channel: Channel, canvas: Canvas) -> Any:
    """Return rich's console for a channel."""
    from rich.console import Console

    file = io.FileIO(channel.descriptor, "w", closefd=False)
    stream = io.TextIOWrapper(file, "utf-8", errors="replace")
    width = canvas.width or 80
    return Console(file=stream, force_terminal=True, width=width, no_color=not canvas.color)


def live_on(console: Any, drawn: Callable[[], Any]) -> Any:
    """Return lines on a console that change as `drawn` says, and go when they are stopped."""
    from rich.live import Live

    return Live(
        console=console,
        get_renderable=drawn,
        transient=True,
        refresh_per_second=8,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def labelled(event: Progress) -> str | None:
    """Return what is going on, None for the end of it."""
    if event.kind is ProgressKind.HEARTBEAT or event.phase == _CONVERT:
        return _PHASES.get(event.phase or "", _LABELS[event.kind])
    return _LABELS.get(event.kind)


def line(event: Progress) -> str:
    """Return an event as one plain line."""
    path, message = clean(event.path or ""), clean(event.message or "")
    if event.kind is not ProgressKind.HEARTBEAT:
        parts = (labelled(event), counted(event), path, message)
        return " ".join(part for part in parts if part)
    if message:
        return message
    seconds = event.elapsed_ms // 1000
    return f"{labelled(event)}{f' on {path}' if path else ''}{f', {seconds} s' if seconds else ''}"


def counted(event: Progress) -> str:
    """Return how far an event says the work is, empty when it does not.

    The bytes that a conversion has written say nothing of how many are to come.
    """
    if event.done is None or event.phase == _CONVERT:
        return ""
    if event.unit == "bytes":
        return sized(event.done) + (f" of {sized(event.total)}" if event.total else "")
    unit = {"chunks": "passages", None: ""}.get(event.unit, event.unit)
    whole = f"/{event.total}" if event.total is not None else ""
    return f"{event.done}{whole} {unit}".rstrip()


def _columns(console: Any) -> Any:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description:<14}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[count]}"),
        _rate_column(),
        TimeRemainingColumn(compact=True),
        console=console,
    )


def _rate_column() -> Any:
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Rate(ProgressColumn):
        """How fast a task goes."""

        def render(self, task: Task) -> Text:
            """Return the speed, empty while it is not known."""
            speed = task.speed or task.finished_speed
            if not speed:
                return Text("")
            fetching = task.description == "fetching model"
            return Text(f"{sized(int(speed))}/s" if fetching else f"{speed:.0f}/s", style="dim")

    return Rate()
