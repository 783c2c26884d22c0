"""`kebab chat` answers one question after another."""

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import click

from kebab.cli.ask import MAX_QUESTION_BYTES, ask_options, check_question_size
from kebab.cli.chat import Chat
from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.prompt import Prompt, find_terminal
from kebab.config.paths import resolve_paths
from kebab.config.settings import Settings
from kebab.errors.signal import Exit


class ChatNeedsPersonError(click.UsageError):
    """A program asks for a chat; `hint` is the command for programs."""

    hint = "kebab ask --session NAME --json"


@click.command(
    "chat",
    cls=Command,
    exits=(Exit.NO, Exit.UNUSABLE),
    examples=(
        "kebab chat",
        "kebab chat --session move --tag home",
        "cat questions.txt | kebab chat --extractive",
    ),
)
@ask_options
@click.pass_obj
def command(context: CommandContext, /, **flags: Any) -> Exit:
    """Ask one question after another.

    Follow-up questions may refer to earlier ones. Ctrl-C stops an answer and keeps its beginning in
    the session, or clears the line; Up brings a line back. Ctrl-D leaves, and `/help` lists more.
    Without `--session`, the chat starts a new session. When stdin is no terminal, each line is a
    question, the exit status is that of the worst answer, and nothing is stored unless `--session`
    names a session.
    """
    if context.flags.machine:
        raise ChatNeedsPersonError("a chat is for people", click.get_current_context())
    settings = context.load_settings()
    terminal = find_terminal(context.channels)
    with context.open_kebab(settings) as kebab:
        chat = Chat(context, kebab, settings, flags, starts_session=terminal is not None)
        if terminal is None:
            return chat.run_lines(_read_lines())
        history = _find_history(context, settings)
        return chat.run_interactive(Prompt(terminal, context.flags.color, history))


def _find_history(context: CommandContext, settings: Settings, /) -> Path | None:
    """Return the file of typed lines, None when history is not stored."""
    if not settings.ask.history or context.flags.read_only:
        return None
    return resolve_paths(settings).state / "chat_history"


def _read_lines() -> Iterator[str]:
    source = sys.stdin.buffer if sys.stdin else BytesIO()
    while raw := source.readline(MAX_QUESTION_BYTES + 1):
        line = check_question_size(raw).decode("utf-8", "surrogateescape").strip("\ufeff \t\r\n")
        if line:
            yield line
