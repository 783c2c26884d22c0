"""`kebab ask`."""

import sys
from typing import Any

import click

from kebab.cli.command import Command
from kebab.cli.inquiry import (
    LONGEST_QUESTION,
    answered,
    ask_options,
    bounded,
    display_of,
    inquiry,
    show,
    status_of,
)
from kebab.cli.options import frame_option
from kebab.cli.session import Session
from kebab.cli.telling import Events
from kebab.errors.signal import Exit

_STDIN = ("-",)


@click.command(
    "ask",
    cls=Command,
    exits=(Exit.NO, Exit.UNUSABLE),
    examples=(
        'kebab ask "how do I restore a backup"',
        'kebab ask --extractive "how do I restore a backup"',
        'kebab ask --session move "what is left to pack" --tag home',
        "kebab ask --json - < question.txt | jq -r .answer",
    ),
)
@click.argument("question", nargs=-1, metavar="QUESTION…")
@ask_options
@frame_option("--stream", help="Send events as NDJSON on stdout, the last with the answer.")
@click.pass_obj
def command(session: Session, /, question: tuple[str, ...], **flags: Any) -> Exit:
    """Answer a question from the notes, with citations.

    Every `[1]` in the answer points at lines of a file that carry what it says. Where the notes
    do not answer, kebab says so. `-` reads the question from stdin.
    """
    stream = Events(session, stream=True) if flags.pop("stream") else None
    settings = session.settings()
    request = inquiry(settings, read() if question == _STDIN else " ".join(question), flags)
    with session.kebab(settings) as kebab:
        display = stream or display_of(session, settings, request)
        reply = answered(session, kebab, request, display)
    if stream is None:
        return show(session, reply)
    status = status_of(reply)
    stream.finish(reply, status)
    return status


def read() -> str:
    """Return the question that stands on stdin."""
    raw = sys.stdin.buffer.read(LONGEST_QUESTION + 1) if sys.stdin else b""
    return bounded(raw).decode("utf-8-sig", "surrogateescape").strip()
