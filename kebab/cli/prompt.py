"""Reads lines and confirmations from the person at the terminal."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from kebab.cli.render.canvas import Canvas, create_canvas
from kebab.errors.catalog import Cancelled, ConfirmationRequired

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from prompt_toolkit.history import History
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

    from kebab.cli.channels import OutputChannel, OutputChannels
    from kebab.cli.context import CommandContext
    from kebab.cli.options import ColorChoice

P = TypeVar("P")


def find_terminal(channels: OutputChannels) -> OutputChannel | None:
    """Return the channel that shows typed text, None when stdin is no terminal."""
    if sys.stdin is None or not sys.stdin.isatty():
        return None
    return next((channel for channel in (channels.err, channels.out) if channel.is_terminal), None)


def confirm(
    context: CommandContext, operation: str, plan: P, render: Callable[[P, Canvas], Iterable[str]]
) -> None:
    """Show a plan and ask for confirmation; one that renders as nothing needs none.

    `operation` is the command without `kebab`, to be repeated with `--yes`.

    Raises:
        ReadOnly: The call has `--read-only`, so no answer would help.
        ConfirmationRequired: No person is at the terminal.
        Cancelled: The answer was no.
        KeyboardInterrupt: Ctrl-C.
    """
    context.require_writable(context.command)
    channel = context.channels.err
    if context.flags.machine or find_terminal(context.channels) is not channel:
        raise ConfirmationRequired(operation=operation)
    lines = list(render(plan, context.create_canvas(channel)))
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


def open_prompt(
    channel: OutputChannel, color: ColorChoice, history: Path | None
) -> Callable[[], str]:
    """Return what reads lines from the person at a terminal, with editing and history.

    `history` is the file with the lines of earlier processes; None stores no lines. A line that
    Ctrl-C cleared is empty, and the history keeps it. Ctrl-D raises `EOFError`, and Ctrl-C on an
    empty line `KeyboardInterrupt`.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.formatted_text import ANSI

    keyboard, screen = open_devices(channel)
    sign = ANSI(create_canvas(channel, color).strong("> "))
    session: PromptSession[str] = PromptSession(
        input=keyboard, output=screen, history=_open_history(history)
    )

    def read_line() -> str:
        try:
            return session.prompt(sign).strip()
        except KeyboardInterrupt:
            typed = session.default_buffer.text
            if not typed:
                raise
            if typed.strip():  # the key Up recalls it
                session.history.append_string(typed)
            return ""

    return read_line


def open_devices(channel: OutputChannel) -> tuple[Input, Output]:
    """Return the keyboard, and a channel as a screen."""
    from prompt_toolkit.input import create_input
    from prompt_toolkit.output import create_output

    file = io.FileIO(channel.descriptor, "w", closefd=False)
    screen = create_output(stdout=io.TextIOWrapper(file, "utf-8", write_through=True))
    # A terminal that does not tell where its cursor is would get a warning.
    screen.enable_cpr = False  # type: ignore[attr-defined]
    return create_input(), screen


def _open_history(path: Path | None) -> History:
    """Return the lines of a private file; those of this process alone if it cannot be written."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    if path is not None:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            return FileHistory(path)
    return InMemoryHistory()
