"""A line from the person at the terminal, with editing and history where readline is there.

Descriptors 1 and 2 are the null device for everyone but us, and readline wants a terminal at both:
it gets the real one for as long as a line is typed.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kebab.cli.render.canvas import create_canvas

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType, ModuleType

    from kebab.cli.channels import Channel, Channels
    from kebab.cli.options import ColorChoice

_OUTPUTS = (1, 2)
_KEPT_LINES = 1000
_SIGN = "> "
_SEQUENCE = re.compile(r"\x1b\[[\d;]*m")


def terminal(channels: Channels) -> Channel | None:
    """Return where a person sees what they type, None when there is no person."""
    if sys.stdin is None or not sys.stdin.isatty():
        return None
    return next((one for one in (channels.err, channels.out) if one.terminal), None)


class Prompt:
    """Asks the person at a terminal for lines.

    Args:
        channel: The terminal.
        color: Whether the sign may be painted.
        history: The file that remembers lines; None remembers none beyond this process.
    """

    def __init__(self, channel: Channel, color: ColorChoice, history: Path | None) -> None:
        self._channel = channel
        self._history = history
        self._readline = _readline()
        self._typed = False
        canvas = create_canvas(channel, color)
        self._sign = canvas.strong(_SIGN)
        if self._readline:
            # Marks around what takes no room, so that the line is measured truly.
            self._sign = _SEQUENCE.sub("\x01\\g<0>\x02", self._sign)
        self._remember()

    def __call__(self) -> str:
        """Return the next line, empty when Ctrl-C took back what was typed.

        Raises:
            EOFError: The person has nothing more to say.
            KeyboardInterrupt: Ctrl-C, and there was nothing to take back.
        """
        self._typed = False
        try:
            with _lent(self._channel), self._watched():
                line = input(self._sign)
        except EOFError:
            self._channel.write("\n")
            raise
        except KeyboardInterrupt:
            self._channel.write("\n")
            if not self._typed:
                raise
            return ""
        self._keep()
        return line.strip()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Note at an interruption whether anything was typed: afterwards readline has forgotten."""
        before = signal.getsignal(signal.SIGINT)

        def note(number: int, frame: FrameType | None) -> None:
            self._typed = bool(self._readline and self._readline.get_line_buffer())
            if callable(before):
                before(number, frame)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _remember(self) -> None:
        if self._readline and self._history:
            self._readline.set_history_length(_KEPT_LINES)
            with suppress(OSError):
                self._readline.read_history_file(self._history)

    def _keep(self) -> None:
        """Write the lines so far, for the owner's eyes only; without a disk they are not kept."""
        if self._readline and self._history:
            with suppress(OSError):
                self._history.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(self._history, os.O_CREAT | os.O_WRONLY, 0o600))
                self._readline.write_history_file(self._history)


@contextmanager
def _lent(channel: Channel) -> Iterator[None]:
    """Let the standard outputs be the terminal."""
    saved = [os.dup(descriptor) for descriptor in _OUTPUTS]
    try:
        for descriptor in _OUTPUTS:
            os.dup2(channel.descriptor, descriptor)
        yield
    finally:
        for descriptor, before in zip(_OUTPUTS, saved, strict=True):
            os.dup2(before, descriptor)
            os.close(before)


def _readline() -> ModuleType | None:
    """Return the line editor; a Python may be built without one."""
    try:
        import readline
    except ImportError:
        return None
    return readline
