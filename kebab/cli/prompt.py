"""Reads lines and confirmations from the person at the terminal.

With readline, lines have editing and history. Readline writes to descriptors 1 and 2, which are
the null device in kebab, so they are redirected to the terminal while a line is typed.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kebab.cli.render.canvas import Canvas, create_canvas
from kebab.errors.catalog import Cancelled, ConfirmationRequired

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from types import FrameType, ModuleType

    from kebab.cli.channels import OutputChannel, OutputChannels
    from kebab.cli.context import CommandContext
    from kebab.cli.options import ColorChoice

_OUTPUTS = (1, 2)
_MAX_HISTORY_LINES = 1000
_PROMPT = "> "
_ESCAPE_SEQUENCE = re.compile(r"\x1b\[[\d;]*m")


def find_terminal(channels: OutputChannels) -> OutputChannel | None:
    """Return the channel that shows typed text, None when stdin is no terminal."""
    if sys.stdin is None or not sys.stdin.isatty():
        return None
    return next((channel for channel in (channels.err, channels.out) if channel.is_terminal), None)


def confirm(
    context: CommandContext, operation: str, plan: Callable[[Canvas], Iterable[str]]
) -> None:
    """Show a plan and ask for confirmation; an empty plan needs none.

    `operation` is the command without `kebab`, to be repeated with `--yes`.

    Raises:
        ConfirmationRequired: No person is at the terminal.
        Cancelled: The answer was no.
        KeyboardInterrupt: Ctrl-C.
    """
    channel = context.channels.err
    if context.flags.machine or find_terminal(context.channels) is not channel:
        raise ConfirmationRequired(operation=operation)
    lines = list(plan(context.create_canvas(channel)))
    if not lines:
        return
    channel.write_lines(lines)
    channel.write("go on? [y/N] ")
    try:
        answer = sys.stdin.readline()
    except KeyboardInterrupt:
        channel.write("\n")
        raise
    if answer.strip().lower() not in ("y", "yes"):
        if not answer.endswith("\n"):
            channel.write("\n")
        raise Cancelled(operation=operation)


class Prompt:
    """Reads lines from the person at a terminal.

    `history` is the file with the lines of earlier processes; None stores no lines.
    """

    def __init__(self, channel: OutputChannel, color: ColorChoice, history: Path | None) -> None:
        self._channel = channel
        self._history = history
        self._readline: ModuleType | None = None
        with suppress(ImportError):  # Python may be built without it
            import readline

            self._readline = readline
        self._typed = ""
        canvas = create_canvas(channel, color)
        self._prompt = canvas.strong(_PROMPT)
        if self._readline:
            # Readline ignores the width of text between these marks.
            self._prompt = _ESCAPE_SEQUENCE.sub("\x01\\g<0>\x02", self._prompt)
        if self._readline and self._history:
            self._readline.set_history_length(_MAX_HISTORY_LINES)
            with suppress(OSError):
                self._readline.read_history_file(self._history)

    def __call__(self) -> str:
        """Return the next line, empty when Ctrl-C cleared it; the history keeps a cleared line.

        Raises:
            EOFError: Ctrl-D.
            KeyboardInterrupt: Ctrl-C on an empty line.
        """
        self._typed = ""
        try:
            with _redirect_outputs(self._channel), self._note_interruptions():
                line = input(self._prompt)
        except EOFError:
            self._channel.write("\n")
            raise
        except KeyboardInterrupt:
            self._channel.write("\n")
            if not self._typed:
                raise
            if self._readline and self._typed.strip():  # the key Up recalls it
                self._readline.add_history(self._typed)
                self._write_history()
            return ""
        self._write_history()
        return line.strip()

    @contextmanager
    def _note_interruptions(self) -> Iterator[None]:
        """Record on Ctrl-C what was typed, because readline discards it."""
        before = signal.getsignal(signal.SIGINT)

        def note(number: int, frame: FrameType | None) -> None:
            self._typed = self._readline.get_line_buffer() if self._readline else ""
            if callable(before):
                before(number, frame)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _write_history(self) -> None:
        """Write the lines so far to a private file, if possible."""
        if self._readline and self._history:
            with suppress(OSError):
                self._history.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(self._history, os.O_CREAT | os.O_WRONLY, 0o600))
                self._readline.write_history_file(self._history)


@contextmanager
def _redirect_outputs(channel: OutputChannel) -> Iterator[None]:
    saved = [os.dup(descriptor) for descriptor in _OUTPUTS]
    try:
        for descriptor in _OUTPUTS:
            os.dup2(channel.descriptor, descriptor)
        yield
    finally:
        for descriptor, before in zip(_OUTPUTS, saved, strict=True):
            os.dup2(before, descriptor)
            os.close(before)
