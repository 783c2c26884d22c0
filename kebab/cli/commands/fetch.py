"""`kebab fetch chunk|doc|span` prints original lines of a file."""

from typing import Any

import click

from kebab.cli.command import Group
from kebab.cli.completion import complete
from kebab.cli.context import CommandContext
from kebab.cli.render.documents import render_lines
from kebab.errors.signal import Exit
from kebab.wire.library import FetchChunkRequest, FetchDocRequest, FetchSpanRequest

_EXITS = (Exit.NO, Exit.UNUSABLE)
_max_chars_option = click.option(
    "--max-chars", type=click.IntRange(1), metavar="N", help="Print at most N characters."
)
_context_option = click.option(
    "--context",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Print N more lines before and after.",
)


@click.group("fetch", cls=Group, exits=_EXITS, examples=("kebab fetch span notes/backup.md 12 34",))
def command() -> None:
    """Print original lines of a file.

    In a pipe, the output is exactly these lines of the file.
    """


@command.command("chunk", exits=_EXITS, examples=("kebab fetch chunk 3f2a91 --context 5",))
@click.argument("name", metavar="ID")
@_context_option
@_max_chars_option
@click.pass_obj
def chunk(context: CommandContext, /, name: str, **flags: Any) -> Exit:
    """Print the lines of a passage.

    ID is the id of a passage, or a unique prefix of it.
    """
    with context.open_kebab() as kebab:
        reply = kebab.fetch_chunk(FetchChunkRequest(name=name, **flags))
    return context.print_reply(reply, render_lines)


@command.command("doc", exits=_EXITS, examples=("kebab fetch doc notes/backup.md",))
@click.argument("name", shell_complete=complete("documents"))
@_max_chars_option
@click.pass_obj
def doc(context: CommandContext, /, name: str, max_chars: int | None) -> Exit:
    """Print a whole document.

    NAME is an id, a unique prefix of an id, or a path.
    """
    with context.open_kebab() as kebab:
        reply = kebab.fetch_doc(FetchDocRequest(name=name, max_chars=max_chars))
    return context.print_reply(reply, render_lines)


@command.command("span", exits=_EXITS, examples=("kebab fetch span notes/backup.md 12 34",))
@click.argument("name", shell_complete=complete("documents"))
@click.argument("start", type=click.IntRange(1))
@click.argument("end", type=click.IntRange(1), required=False)
@_context_option
@_max_chars_option
@click.pass_obj
def span(context: CommandContext, /, name: str, start: int, **flags: Any) -> Exit:
    """Print lines START to END of a document.

    NAME is an id, a unique prefix of an id, or a path. Without END, one line is printed.
    """
    with context.open_kebab() as kebab:
        reply = kebab.fetch_span(FetchSpanRequest(name=name, start=start, **flags))
    return context.print_reply(reply, render_lines)
