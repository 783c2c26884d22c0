"""`kebab chat`."""

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


class AskInstead(click.UsageError):
    """A program wants to talk; `hint` is what it may do."""

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

    Follow-up questions are understood. Ctrl-C stops an answer, Ctrl-D leaves; `/help` lists more.
    Without `--session` it is a session of its own. When stdin is no terminal each of its lines is
    a question, and the exit status is that of the worst answer.
    """
    if context.flags.machine:
        raise AskInstead("a chat is for people", click.get_current_context())
    settings = context.load_settings()
    person = find_terminal(context.channels)
    with context.open_kebab(settings) as kebab:
        talk = Chat(context, kebab, settings, flags)
        if person is None:
            return talk.run_lines(_lines())
        history = _history(context, settings)
        return talk.run_interactive(Prompt(person, context.flags.color, history))


def _history(context: CommandContext, settings: Settings, /) -> Path | None:
    """Return the file that remembers the lines that were typed, None when nothing may."""
    if not settings.ask.history or context.flags.read_only:
        return None
    return resolve_paths(settings).state / "chat_history"


def _lines() -> Iterator[str]:
    source = sys.stdin.buffer if sys.stdin else BytesIO()
    while raw := source.readline(MAX_QUESTION_BYTES + 1):
        line = check_question_size(raw).decode("utf-8", "surrogateescape").strip("\ufeff \t\r\n")
        if line:
            yield line
