"""Shows running work on stderr: a line that changes on a terminal, or lines of a log."""

from typing import TypeVar

from kebab.cli.channels import Display, OutputChannel
from kebab.cli.render.canvas import Canvas, clean, format_bytes, format_duration, truncate
from kebab.core.progress import Progress, ProgressKind
from kebab.wire.coverage import format_left

E = TypeVar("E")

CLEAR_LINE = "\r\x1b[K"
_EVERY_MS = 30_000
_CONVERT = "convert"
_LABELS = {
    ProgressKind.SCAN_STARTED: "scanning",
    ProgressKind.SCAN_COMPLETED: "scanned",
    ProgressKind.ASSET_STARTED: "reading",
    ProgressKind.ASSET_FINISHED: "reading",
    ProgressKind.MODEL_FETCH: "downloading model",
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


class StatusDisplay(Display[E]):
    """Shows the state of work: a line that changes on a terminal, else lines of a log.

    A log gets a line when another phase begins, and then one every 30 seconds.
    """

    silence_s = 0.5
    patience_ms = 1_000
    """What takes no longer is not shown."""

    def __init__(self, channel: OutputChannel, canvas: Canvas) -> None:
        self._channel, self._canvas = channel, canvas
        self.phase = "working"
        self._written: str | None = None
        self._written_ms = 0.0
        self._is_drawn = False

    def __exit__(self, *_: object) -> None:
        """Remove the line."""
        self.abort()

    def describe(self, elapsed_ms: float) -> str:
        """Return the state as one line."""
        raise NotImplementedError

    def show_heartbeat(self, elapsed_ms: float) -> None:
        """Show the state."""
        if elapsed_ms < self.patience_ms:
            return
        text = self.describe(elapsed_ms)
        if self._canvas.live:
            line = self._canvas.dim(truncate(text, self._channel.columns - 1))
            self._channel.write(CLEAR_LINE + line)
            self._is_drawn = True
        elif self.phase != self._written or elapsed_ms - self._written_ms >= _EVERY_MS:
            self._written, self._written_ms = self.phase, elapsed_ms
            self._channel.write(f"{text}\n")

    def announce_stop(self) -> None:
        """Show that the work stops soon."""
        self.abort()
        self._channel.write("stopping soon; Ctrl-C again leaves at once\n")

    def abort(self) -> None:
        """Remove the line."""
        if self._is_drawn:
            self._channel.write(CLEAR_LINE)
            self._is_drawn = False


class WorkStatus(StatusDisplay[Progress]):
    """Shows the phase of long work, what of it is done, and how long it goes on."""

    _event = Progress(kind=ProgressKind.SCAN_STARTED)

    def __call__(self, event: Progress) -> bool:
        """Keep an event for the next line."""
        label = _LABELS.get(event.kind)
        if event.kind is ProgressKind.HEARTBEAT or event.phase == _CONVERT:
            label = _PHASES.get(event.phase or "", label)
        if label is not None:
            is_message = event.kind is ProgressKind.HEARTBEAT and event.message
            words = (None if is_message else label, event.message)
            self.phase, self._event = clean(" ".join(filter(None, words))), event
            if is_message:
                # The next event replaces it, so what it says is written at once, and stays.
                self.abort()
                self._written = self.phase
                self._channel.write(f"{self.phase}\n")
        return False

    def describe(self, elapsed_ms: float) -> str:
        """Return the phase with its count, its rate or the time, and the file."""
        event = self._event
        done = f"{self.phase} {format_count(event)}".rstrip()
        parts = [done, *(format_estimate(event) or [format_duration(elapsed_ms / 1000)])]
        if event.kind is ProgressKind.EMBED_BATCH:  # words were stored before
            parts.append("search works already")
        return f"{', '.join(parts)}  {clean(event.path or '')}".rstrip()


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
    whole = f"/{event.total:,}" if event.total is not None else ""
    return f"{event.done:,}{whole} {_name_unit(event)}".rstrip()


def _name_unit(event: Progress) -> str:
    return "passages" if event.unit == "chunks" else event.unit or ""


def format_estimate(event: Progress) -> list[str]:
    """Return the rate and the time that is left, as far as they are known."""
    if event.per_second is None:
        return []
    rate, unit = event.per_second, _name_unit(event)
    amount = format_bytes(int(rate)) if unit == "bytes" else f"{rate:,.1f} {unit}".rstrip()
    parts = [f"{amount}/s"]
    if event.seconds_left is not None:
        parts.append(f"about {format_left(event.seconds_left)} left")
    return parts
