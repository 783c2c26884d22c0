"""How far a measurement is."""

from kebab.cli.channels import Channel
from kebab.cli.render.measure import fitted
from kebab.wire.bench import BenchProgress
from kebab.wire.evals import EvalProgress

_CLEAR = "\r\x1b[K"


class Lines:
    """Progress: one line that changes on a terminal, one for each step elsewhere."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._name = ""

    def __call__(self, event: BenchProgress | EvalProgress) -> None:
        """Take an event."""
        text = f"{event.name}, {event.done} of {event.total}, {event.elapsed_ms / 1000:.0f} s"
        if self._channel.terminal:
            self._channel.write(_CLEAR + fitted(text, self._channel.columns - 1))
        elif event.name != self._name:
            self._channel.write(f"{event.name}, {event.elapsed_ms / 1000:.0f} s\n")
        self._name = event.name

    def end(self) -> None:
        """Take the line away."""
        if self._channel.terminal:
            self._channel.write(_CLEAR)
