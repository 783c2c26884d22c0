"""`kebab ask` answers one question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from kebab.app.facade import list_request_defaults
from kebab.cli.command import declare_command
from kebab.cli.options import (
    PLAN_HELP,
    build_request,
    complete,
    field_options,
    filter_options,
    in_option,
    ndjson_option,
    read_argument,
)
from kebab.cli.progress import EventLines, refresh_folder, report_events
from kebab.server.events import AnswerEncoder
from kebab.wire.ask import Answer, AnswerEvent, AskRequest
from kebab.wire.record import find_exit_status

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.cli.channels import Display
    from kebab.cli.context import CommandContext
    from kebab.config.settings import Settings
    from kebab.errors.signal import Exit

F = TypeVar("F", bound="Callable[..., Any]")

MAX_QUESTION_BYTES = 1_000_000
"""The most bytes of a question on stdin."""


def ask_options(command: F) -> F:
    """Add the flags of questions to a command."""
    sessions = click.option(
        "--session",
        metavar="NAME",
        shell_complete=complete("sessions"),
        help="Continue this session, or start it.",
    )
    fields = field_options(
        AskRequest,
        extractive="Answer with quoted sentences, without a model.",
        model="The model that writes the answer.",
        **PLAN_HELP,
        limit="Use at most N passages.",
    )
    return sessions(fields(filter_options(command)))


def build_ask_request(settings: Settings, question: str, flags: dict[str, Any]) -> AskRequest:
    """Return the request for a question; flags override settings.

    Raises:
        InvalidInput: The fields break its schema.
    """
    defaults = list_request_defaults("ask", settings)
    return build_request(AskRequest, flags, question=question, **defaults)


def choose_answer_display(
    context: CommandContext, settings: Settings, request: AskRequest
) -> Display[AnswerEvent]:
    """Return the display of an answer's progress: events, a live region, or a log line."""
    if context.flags.machine:
        return EventLines(context, AnswerEncoder(), stream=False)
    from kebab.cli.render.answer import AnswerLog, LiveAnswer

    llm = settings.models.llm
    uses_model = not request.extractive and llm.provider != "extractive"
    model = request.model or llm.model if uses_model else None
    channels = context.channels
    canvas = context.create_canvas(channels.err)
    if not canvas.live:
        return AnswerLog(channels.err, canvas, model)
    return LiveAnswer(channels.err, canvas, model, shows_text=channels.out.is_terminal)


def print_answer(context: CommandContext, reply: Answer) -> Exit:
    """Print an answer; when stdout is no terminal, its notes go to stderr."""
    from kebab.cli.render.answer import render_answer, render_notes

    status = context.print_reply(reply, render_answer)
    if not context.channels.out.is_terminal:
        context.print_notes(reply, render_notes)
    return status


@declare_command(
    "ask",
    examples=(
        'kebab ask "how do I restore a backup"',
        'kebab ask --extractive "how do I restore a backup"',
        'kebab ask --session move "what is left to pack" --tag home',
        "kebab ask --json - < question.txt | jq -r .answer",
    ),
)
@click.argument("question", nargs=-1, metavar="QUESTION…")
@ask_options
@in_option
@ndjson_option("--stream", help="Send events as NDJSON on stdout, the last with the answer.")
def command(context: CommandContext, /, question: tuple[str, ...], **flags: Any) -> Exit:
    """Answer a question from the notes, with citations.

    Every `[1]` in the answer cites the lines of a file that support it. When the notes do not
    answer the question, kebab says so. `-` reads the question from stdin.
    """
    is_stream = flags.pop("stream")
    stream = EventLines(context, AnswerEncoder(), stream=True) if is_stream else None
    settings = context.load_settings()
    text = read_argument(question, "question", MAX_QUESTION_BYTES)
    request = build_ask_request(settings, text, flags)
    with context.open_kebab(settings) as kebab:
        outdated = refresh_folder(context, kebab, flags["folder"], [text])
        display = stream or choose_answer_display(context, settings, request)
        with report_events(context, display, context.channels.out) as reporter:
            reply = kebab.run(request, report=reporter)
    found = reply.retrieval
    found = msgspec.structs.replace(found, degraded=[*outdated, *found.degraded])
    reply = msgspec.structs.replace(reply, retrieval=found)
    if stream is None:
        return print_answer(context, reply)
    status = find_exit_status(reply)
    stream.finish(status, reply)
    return status
