"""`kebab ask` answers one question."""

import sys
from typing import Any

import click

from kebab.cli.ask import (
    MAX_QUESTION_BYTES,
    answer_question,
    ask_options,
    build_ask_request,
    check_question_size,
    choose_answer_display,
    print_answer,
)
from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import ndjson_option
from kebab.cli.refresh import add_refresh, in_options, pop_folder_flags, refresh_folder
from kebab.cli.streams import AnswerEvents
from kebab.errors.signal import Exit
from kebab.wire.exit_status import find_exit_status

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
@in_options
@ndjson_option("--stream", help="Send events as NDJSON on stdout, the last with the answer.")
@click.pass_obj
def command(context: CommandContext, /, question: tuple[str, ...], **flags: Any) -> Exit:
    """Answer a question from the notes, with citations.

    Every `[1]` in the answer cites the lines of a file that support it. When the notes do not
    answer the question, kebab says so. `-` reads the question from stdin.
    """
    stream = AnswerEvents(context, stream=True) if flags.pop("stream") else None
    within = pop_folder_flags(flags)
    settings = context.load_settings()
    text = read_question() if question == _STDIN else " ".join(question)
    request = build_ask_request(settings, text, flags)
    with context.open_kebab(settings) as kebab:
        refresh = refresh_folder(context, kebab, within, [text])
        display = stream or choose_answer_display(context, settings, request)
        reply = add_refresh(answer_question(context, kebab, request, display), refresh)
    if stream is None:
        return print_answer(context, reply)
    status = find_exit_status(reply)
    stream.finish(reply, status)
    return status


def read_question() -> str:
    """Return the question on stdin."""
    raw = sys.stdin.buffer.read(MAX_QUESTION_BYTES + 1) if sys.stdin else b""
    return check_question_size(raw).decode("utf-8-sig", "surrogateescape").strip()
