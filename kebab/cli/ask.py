"""Asks one question and prints the answer, for `ask` and `chat`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from kebab.app.request_defaults import list_request_defaults
from kebab.cli.completion import complete
from kebab.cli.options import (
    add_options,
    build_request,
    filter_options,
    merge_flags,
    mode_option,
    rerank_option,
)
from kebab.cli.progress import report_events
from kebab.cli.streams import AnswerEvents
from kebab.wire.ask import MAX_PASSAGES, AskRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.app.facade import Kebab
    from kebab.cli.context import CommandContext
    from kebab.cli.displays import EventDisplay
    from kebab.config.settings import Settings
    from kebab.errors.signal import Exit
    from kebab.wire.ask import Answer, AnswerEvent

F = TypeVar("F", bound="Callable[..., Any]")

MAX_QUESTION_BYTES = 1_000_000
"""The most bytes of a question on stdin."""


def ask_options(command: F) -> F:
    """Add the flags of questions to a command."""
    return add_options(_OPTIONS, filter_options(command))


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--session",
        metavar="NAME",
        shell_complete=complete("sessions"),
        help="Continue this session, or start it.",
    ),
    click.option(
        "--extractive", is_flag=True, help="Answer with quoted sentences, without a model."
    ),
    click.option("--model", metavar="NAME", help="The model that writes the answer."),
    mode_option,
    rerank_option,
    click.option(
        "-n", "--limit", type=click.IntRange(1, MAX_PASSAGES), help="Use at most N passages."
    ),
)


def build_ask_request(settings: Settings, question: str, flags: dict[str, Any]) -> AskRequest:
    """Return the request for a question; flags override settings.

    Raises:
        InvalidInput: The fields break its schema.
    """
    defaults = list_request_defaults("ask", settings)
    return build_request({"question": question, **merge_flags(defaults, flags)}, AskRequest)


def check_question_size(raw: bytes) -> bytes:
    """Return a question from stdin after a check of its size.

    Raises:
        TooLarge: The question has too many bytes.
    """
    if len(raw) > MAX_QUESTION_BYTES:
        from kebab.errors.catalog import TooLarge

        raise TooLarge(what="question", size=len(raw), limit=MAX_QUESTION_BYTES)
    return raw


def answer_question(
    context: CommandContext, kebab: Kebab, request: AskRequest, display: EventDisplay[AnswerEvent]
) -> Answer:
    """Return the answer to a question; the display shows the progress."""
    with report_events(context, display) as reporter:
        return kebab.ask(request, report=reporter)


def choose_answer_display(
    context: CommandContext, settings: Settings, request: AskRequest
) -> EventDisplay[AnswerEvent]:
    """Return the display of an answer's progress: events, a live region, or a log line."""
    if context.flags.machine:
        return AnswerEvents(context, stream=False)
    from kebab.cli.render.live import AnswerLog, AnswerStatus, LiveAnswer

    llm = settings.models.llm
    uses_model = not request.extractive and llm.provider != "extractive"
    status = AnswerStatus(request.model or llm.model if uses_model else None)
    channels = context.channels
    canvas = context.create_canvas(channels.err)
    if not canvas.live:
        return AnswerLog(channels.err, status)
    return LiveAnswer(channels.err, canvas, status, shows_text=channels.out.is_terminal)


def print_answer(context: CommandContext, reply: Answer) -> Exit:
    """Print an answer; when stdout is no terminal, its notes go to stderr."""
    from kebab.cli.render.answer import render_answer, render_notes

    status = context.print_reply(reply, render_answer)
    if not context.flags.machine and not context.channels.out.is_terminal:
        err = context.channels.err
        err.write_lines(render_notes(reply, context.create_canvas(err)))
    return status
