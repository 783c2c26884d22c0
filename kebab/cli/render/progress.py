"""Renders progress on stderr: a live bar on a terminal, plain lines elsewhere."""

import io
import time
from collections.abc import Callable
from typing import Any

from kebab.cli.channels import OutputChannel, WorkDisplay
from kebab.cli.render.canvas import (
    Canvas,
    clean,
    format_bytes,
    format_duration,
    truncate_path,
)
from kebab.core.progress import Progress, ProgressKind
from kebab.wire.coverage import format_left

SHOW_CURSOR = "\x1b[?25h\r\x1b[J"
"""Restores a terminal when a live display ends early."""

CLEAR_LINE = "\r\x1b[K"
_EVERY_S = 30.0
_SHORT_S = 1.0
"""What takes no longer has no progress."""
STOPPING = "stopping soon; Ctrl-C again leaves at once"
_SEARCHABLE = "search works already; its results get better until this is done"
"""What is said while passages are embedded: their words were stored before."""
_CONVERT = "convert"
_MANY = 20
"""Of fewer units a second a decimal is shown."""
_UNITS = {"chunks": "passages", "files": "files", "bytes": "bytes", None: None}
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
    "download": "downloading",
    "scan": "scanning",
    "compare": "comparing",
    "sign": "computing signatures",
    _CONVERT: "preparing model",
    "model": "looking for an embedding model",
    "remove": "removing",
    "vectors": "storing vectors",
    "publish": "sending",
    "index": "building the indexes of the store",
    "hybrid": "measuring both channels",
    "lexical": "measuring words",
    "vector": "measuring meaning",
}


class ProgressLines(WorkDisplay):
    """Shows progress as plain lines: one per phase, then at most one every 30 seconds.

    The first line comes after a second.

    A later line of a phase has the rate and the time that is left.
    """

    def __init__(self, channel: OutputChannel, clock: Callable[[], float] = time.monotonic) -> None:
        self._channel = channel
        self._clock = clock
        self._label = ""
        self._message = ""
        self._last = 0.0
        self._counted: Progress | None = None
        """The last event of the phase that has a count."""
        self._started = self._began = clock()

    def __call__(self, event: Progress) -> None:
        """Show an event."""
        label = label_event(event)
        if label is None:
            return
        now, message = self._clock(), event.message or ""
        if now - self._started < _SHORT_S and not message:
            return  # most runs end before a line of progress is read
        repeats = event.kind is ProgressKind.HEARTBEAT and label == _LABELS[event.kind]
        if not repeats and (label != self._label or (message and message != self._message)):
            self._label, self._message = label, message
            self._counted, self._began = None, now
            self._write(format_event(event))
            if event.kind is ProgressKind.EMBED_BATCH:
                self._write(_SEARCHABLE)
            return
        if event.done is not None:
            self._counted = event
        if now - self._last >= _EVERY_S:
            self._write(self._format_state(event))

    def _write(self, text: str) -> None:
        self._last = self._clock()
        self._channel.write(text + "\n")

    def _format_state(self, event: Progress) -> str:
        """Return what was done in the phase, how fast, and for how long it goes on."""
        elapsed = format_duration(self._clock() - self._began)
        if self._counted is None:
            return f"{format_event(event._replace(elapsed_ms=0))}, {elapsed}"
        parts = (f"{self._label} {format_count(self._counted)}", elapsed)
        return ", ".join((*parts, *format_estimate(self._counted)))

    def announce_stop(self) -> None:
        """Show that the work stops soon."""
        self._channel.write(STOPPING + "\n")


class ProgressBar(WorkDisplay):
    """Shows the phase as a live bar with the current file below it, after a second."""

    def __init__(
        self, channel: OutputChannel, canvas: Canvas, clock: Callable[[], float] = time.monotonic
    ) -> None:
        from rich.spinner import Spinner

        self._channel = channel
        self._clock, self._started = clock, clock()
        self._width = canvas.width or 80
        self._event = Progress(kind=ProgressKind.SCAN_STARTED)
        self._below = "starting"
        self._stopping = False
        self._spinner = Spinner("dots")
        self._live = create_live(create_console(channel, canvas), self._render)

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, event: Progress) -> None:
        """Show an event."""
        if label_event(event) is None:
            return
        if not self._live.is_started and self._clock() - self._started >= _SHORT_S:
            self._live.start(refresh=True)
        if event.kind is not ProgressKind.HEARTBEAT:
            self._event = event
            is_embedding = event.kind is ProgressKind.EMBED_BATCH
            self._below = _SEARCHABLE if is_embedding else clean(event.path or event.message or "")
        elif event.message:
            self._live.console.print(format_event(event), markup=False, highlight=False)
        else:
            self._below = format_event(event)

    def announce_stop(self) -> None:
        """Show that the work stops soon."""
        self._stopping = True

    def abort(self) -> None:
        """Restore the terminal."""
        self._channel.write(SHOW_CURSOR)

    def _render(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar as Bar
        from rich.table import Table
        from rich.text import Text

        event = self._event
        row = Table.grid(padding=(0, 1))
        bar = Bar(total=event.total, completed=event.done or 0, width=24)
        row.add_row(self._spinner, label_event(event), bar, format_count(event))
        lines = [", ".join(format_estimate(event)), STOPPING if self._stopping else self._below]
        texts = (truncate_path(line, self._width - 2) for line in lines if line)
        return Group(row, *(Text(f"  {text}", style="dim") for text in texts))


def create_console(channel: OutputChannel, canvas: Canvas) -> Any:
    """Return rich's console for a channel."""
    from rich.console import Console

    file = io.FileIO(channel.descriptor, "w", closefd=False)
    stream = io.TextIOWrapper(file, "utf-8", errors="replace")
    width = canvas.width or 80
    return Console(file=stream, force_terminal=True, width=width, no_color=not canvas.color)


def create_live(console: Any, render: Callable[[], Any]) -> Any:
    """Return a live region that shows the result of `render` and disappears when it stops."""
    from rich.live import Live

    return Live(
        console=console,
        get_renderable=render,
        transient=True,
        refresh_per_second=8,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def label_event(event: Progress) -> str | None:
    """Return the name of the phase, None for the last event."""
    if event.kind is ProgressKind.HEARTBEAT or event.phase == _CONVERT:
        return _PHASES.get(event.phase or "", _LABELS[event.kind])
    return _LABELS.get(event.kind)


def format_event(event: Progress) -> str:
    """Return an event as one plain line."""
    path, message = clean(event.path or ""), clean(event.message or "")
    if event.kind is not ProgressKind.HEARTBEAT:
        parts = (label_event(event), format_count(event), path, message)
        return " ".join(part for part in parts if part)
    if message:
        return message
    count = f" {done}" if (done := format_count(event)) else ""
    on_path = f" on {path}" if path else ""
    took = f", {format_duration(event.elapsed_ms / 1000)}" if event.elapsed_ms / 1000 >= 1 else ""
    return f"{label_event(event)}{count}{on_path}{took}"


def format_count(event: Progress) -> str:
    """Return the amount of completed work, empty when it is unknown.

    It is unknown during a conversion, whose written bytes have no known total.
    """
    if event.done is None or event.phase == _CONVERT:
        return ""
    if event.unit == "bytes":
        return format_bytes(event.done) + (
            f" of {format_bytes(event.total)}" if event.total else ""
        )
    unit = _UNITS.get(event.unit, event.unit) or ""
    whole = f"/{event.total:,}" if event.total is not None else ""
    return f"{event.done:,}{whole} {unit}".rstrip()


def format_estimate(event: Progress) -> list[str]:
    """Return the rate and the time that is left, as far as they are known."""
    if event.per_second is None:
        return []
    amount, unit = event.per_second, _UNITS.get(event.unit, event.unit)
    if unit == "bytes":
        rate = format_bytes(int(amount))
    else:
        rate = f"{amount:.1f}" if amount < _MANY else f"{amount:,.0f}"
        rate += f" {unit}" if unit else ""
    parts = [f"{rate}/s"]
    if event.seconds_left is not None:
        parts.append(f"about {format_left(event.seconds_left)} left")
    return parts
