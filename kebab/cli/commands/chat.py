"""`kebab chat`."""

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import click

from kebab.cli.command import Command
from kebab.cli.conversation import Conversation
from kebab.cli.inquiry import LONGEST_QUESTION, ask_options, bounded
from kebab.cli.prompt import Prompt, terminal
from kebab.cli.session import Session
from kebab.config.model import Settings
from kebab.config.paths import places
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
def command(session: Session, /, **flags: Any) -> Exit:
    """Ask one question after another.

    Follow-up questions are understood. Ctrl-C stops an answer, Ctrl-D leaves; `/help` lists more.
    Without `--session` it is a session of its own. When stdin is no terminal each of its lines is
    a question, and the exit status is that of the worst answer.
    """
    if session.flags.machine:
        raise AskInstead("a chat is for people", click.get_current_context())
    settings = session.settings()
    person = terminal(session.channels)
    with session.kebab(settings) as kebab:
        talk = Conversation(session, kebab, settings, flags)
        if person is None:
            return talk.through(_lines())
        return talk.with_person(Prompt(person, session.flags.color, _history(session, settings)))


def _history(session: Session, settings: Settings, /) -> Path | None:
    """Return the file that remembers the lines that were typed, None when nothing may."""
    if not settings.ask.history or session.flags.read_only:
        return None
    return places(settings).state / "chat_history"


def _lines() -> Iterator[str]:
    source = sys.stdin.buffer if sys.stdin else BytesIO()
    while raw := source.readline(LONGEST_QUESTION + 1):
        line = bounded(raw).decode("utf-8", "surrogateescape").strip("\ufeff \t\r\n")
        if line:
            yield line
