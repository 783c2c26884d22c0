"""One question, from flags to the reader: what `ask` and `chat` have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from kebab.cli.filters import filter_options
from kebab.cli.request import made, stated
from kebab.cli.telling import Display, Events, telling
from kebab.errors.signal import Exit
from kebab.wire.ask import MAX_PASSAGES, AskRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.app.facade import Kebab
    from kebab.cli.session import Session
    from kebab.config.model import Settings
    from kebab.wire.ask import Answer

F = TypeVar("F", bound="Callable[..., Any]")

LONGEST_QUESTION = 1_000_000
"""The most bytes of a question on stdin, which may never end."""


def ask_options(command: F) -> F:
    """Add the flags that say how a question is answered."""
    command = filter_options(command)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--session", metavar="NAME", help="Continue this session, or begin it."),
    click.option(
        "--extractive", is_flag=True, help="Answer in the words of the notes, without a model."
    ),
    click.option("--model", metavar="NAME", help="The model that answers."),
    click.option(
        "--mode",
        type=click.Choice(["hybrid", "lexical", "vector"]),
        help="Which channels look for passages.",
    ),
    click.option(
        "-n", "--limit", type=click.IntRange(1, MAX_PASSAGES), help="The most passages to use."
    ),
)


def inquiry(settings: Settings, question: str, flags: dict[str, Any]) -> AskRequest:
    """Return the request for a question.

    Raises:
        InvalidInput: The fields break its schema.
    """
    defaults = {"mode": settings.search.mode, "limit": settings.ask.limit}
    return made({"question": question, **stated(defaults, flags)}, AskRequest)


def bounded(raw: bytes) -> bytes:
    """Return a question that was read, at most one byte of it more than may be.

    Raises:
        TooLarge: It is longer.
    """
    if len(raw) > LONGEST_QUESTION:
        from kebab.errors.catalog import TooLarge

        raise TooLarge(what="question", size=len(raw), limit=LONGEST_QUESTION)
    return raw


def answered(session: Session, kebab: Kebab, request: AskRequest, display: Display) -> Answer:
    """Return the answer to a question; the display shows how it comes along."""
    with telling(session, display) as pulse:
        return kebab.ask(request, report=pulse)


def status_of(reply: Answer) -> Exit:
    """Return the exit status of an answer."""
    if reply.grounded:
        return Exit.DONE
    return Exit.INTERRUPTED if reply.refusal_reason == "llm_stream_aborted" else Exit.NO


def display_of(session: Session, settings: Settings, request: AskRequest) -> Display:
    """Return what shows how an answer comes along: events, a live region, or a line in a log."""
    if session.flags.machine:
        return Events(session, stream=False)
    from kebab.cli.render.live import Line, Region, Wait
    from kebab.cli.render.page import page

    llm = settings.models.llm
    mute = request.extractive or llm.provider == "extractive"
    wait = Wait(None if mute else request.model or llm.model)
    channels = session.channels
    sheet = page(channels.err, session.flags.color)
    if not sheet.live:
        return Line(channels.err, wait)
    return Region(channels.err, sheet, wait, shows_text=channels.out.terminal)


def show(session: Session, reply: Answer) -> Exit:
    """Print an answer; without a person, what must be known of it goes to stderr."""
    from kebab.cli.render.answer import draw, notes
    from kebab.cli.render.page import page

    status = session.answer(reply, draw, status_of(reply))
    if not session.flags.machine and not session.channels.out.terminal:
        sheet = page(session.channels.err, session.flags.color)
        session.channels.err.write("".join(f"{line}\n" for line in notes(reply, sheet)))
    return status
