"""`kebab fetch chunk|doc|span`."""

from typing import Any

import click

from kebab.cli.command import Command, Group
from kebab.cli.context import CommandContext
from kebab.cli.render.documents import render_lines
from kebab.errors.signal import Exit
from kebab.wire.library import (
    FetchChunkRequest,
    FetchDocRequest,
    FetchResult,
    FetchSpanRequest,
    NotFound,
)

_EXITS = (Exit.NO, Exit.UNUSABLE)
_max_chars = click.option(
    "--max-chars", type=click.IntRange(1), metavar="N", help="Print at most N characters."
)
_context = click.option(
    "--context",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Print N more lines on both sides.",
)


@click.group("fetch", cls=Group, exits=_EXITS, examples=("kebab fetch span notes/backup.md 12 34",))
def command() -> None:
    """Print original lines of a file.

    In a pipe nothing but the lines is printed, exactly as they stand in the file.
    """


@command.command(
    "chunk", cls=Command, exits=_EXITS, examples=("kebab fetch chunk 3f2a91 --context 5",)
)
@click.argument("name", metavar="ID")
@_context
@_max_chars
@click.pass_obj
def chunk(context: CommandContext, /, name: str, **flags: Any) -> Exit:
    """Print the lines of a passage.

    ID is the id of a passage, or a unique beginning of one.
    """
    request = FetchChunkRequest(name=name, **flags)
    with context.open_kebab() as kebab:
        reply = kebab.fetch_chunk(request)
    return _answer(context, reply)


@command.command("doc", cls=Command, exits=_EXITS, examples=("kebab fetch doc notes/backup.md",))
@click.argument("name")
@_max_chars
@click.pass_obj
def doc(context: CommandContext, /, name: str, max_chars: int | None) -> Exit:
    """Print a whole document.

    NAME is an id, a unique beginning of one, or a path.
    """
    with context.open_kebab() as kebab:
        reply = kebab.fetch_doc(FetchDocRequest(name=name, max_chars=max_chars))
    return _answer(context, reply)


@command.command(
    "span", cls=Command, exits=_EXITS, examples=("kebab fetch span notes/backup.md 12 34",)
)
@click.argument("name")
@click.argument("start", type=click.IntRange(1))
@click.argument("end", type=click.IntRange(1), required=False)
@_context
@_max_chars
@click.pass_obj
def span(context: CommandContext, /, name: str, start: int, **flags: Any) -> Exit:
    """Print lines START to END of a document.

    NAME is an id, a unique beginning of one, or a path. Without END it is one line.
    """
    request = FetchSpanRequest(name=name, start=start, **flags)
    with context.open_kebab() as kebab:
        reply = kebab.fetch_span(request)
    return _answer(context, reply)


def _answer(context: CommandContext, /, reply: FetchResult | NotFound) -> Exit:
    if isinstance(reply, NotFound):
        return context.print_not_found(reply)
    return context.print_reply(reply, render_lines)
