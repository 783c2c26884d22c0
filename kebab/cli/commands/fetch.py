"""`kebab fetch` prints original lines of a file."""

import sys
from typing import TYPE_CHECKING, Any

import click

from kebab.cli.command import Command, DefaultGroup
from kebab.cli.context import CommandContext
from kebab.cli.options import complete
from kebab.cli.render.lines import list_notes, render_fetched, render_lines
from kebab.errors.signal import Exit
from kebab.wire.fetch import FetchRequest
from kebab.wire.library import FetchChunkRequest, FetchDocRequest, FetchResult, FetchSpanRequest

if TYPE_CHECKING:
    from kebab.wire.record import NotFound

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


_max_tokens_option = click.option(
    "--max-tokens", type=click.IntRange(1), help="Limit all texts to about N tokens in total."
)


@click.command(
    "fetch",
    cls=Command,
    exits=_EXITS,
    examples=(
        "kebab fetch notes/backup.md#L12-L34",
        "kebab fetch backup.md:12 3f2a91 --section --max-tokens 2000",
        "kebab search restore --json | jq -r '.hits[].citation.uri' | kebab fetch -",
    ),
)
@click.argument("refs", nargs=-1, metavar="REF…", shell_complete=complete("documents"))
@_context_option
@click.option("--section", is_flag=True, help="Print the whole section that contains the place.")
@_max_tokens_option
@click.pass_obj
def default(context: CommandContext, /, refs: tuple[str, ...], **flags: Any) -> Exit:
    """Print the lines that references name.

    REF is what other output shows: `path#L12-L34`, `path:12`, `path:12-34`, a citation, an id or
    the start of one, a path or the end of one, `path#heading`, or a file name, title or alias in
    words. With `-`, or without REF in a pipe, references are read from stdin, one per line. In a
    pipe, one REF prints exactly its lines; several have a heading each.
    `kebab fetch chunk|doc|span` fetch by kind; a document of such a name is `./chunk`. The exit
    status is 1 when any REF names nothing.
    """
    reply = context.run(FetchRequest(refs=_read_references(refs), **flags))
    status = context.print_reply(reply, render_fetched)
    context.print_notes(reply, lambda reply, canvas: list_notes(reply.results, canvas))
    return status


def _print_lines(context: CommandContext, reply: "FetchResult | NotFound") -> Exit:
    status = context.print_reply(reply, render_lines)
    context.print_notes(reply, lambda reply, canvas: list_notes([reply], canvas))
    return status


def _read_references(refs: tuple[str, ...]) -> list[str]:
    """Return the references with those of stdin in place of `-`."""
    wanted = refs or (("-",) if sys.stdin and not sys.stdin.isatty() else ())
    found: list[str] = []
    for ref in wanted:
        if ref != "-":
            found.append(ref)
            continue
        data = sys.stdin.buffer.read() if sys.stdin else b""
        lines = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
        found += [line for line in lines if line.strip()]
    if not found:
        raise click.UsageError("no REF")
    return found


@click.group(
    "fetch",
    cls=DefaultGroup,
    default=default,
    exits=_EXITS,
    examples=("kebab fetch span notes/backup.md 12 34",),
)
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
    return _print_lines(context, context.run(FetchChunkRequest(name=name, **flags)))


@command.command("doc", exits=_EXITS, examples=("kebab fetch doc notes/backup.md",))
@click.argument("name", shell_complete=complete("documents"))
@_max_chars_option
@click.pass_obj
def doc(context: CommandContext, /, name: str, max_chars: int | None) -> Exit:
    """Print a whole document.

    NAME is an id, a unique prefix of an id, or a path.
    """
    return _print_lines(context, context.run(FetchDocRequest(name=name, max_chars=max_chars)))


@command.command("span", exits=_EXITS, examples=("kebab fetch span notes/backup.md 12 34",))
@click.argument("name", shell_complete=complete("documents"))
@click.argument("start", type=click.IntRange(1))
@click.argument("end", type=click.IntRange(1), required=False)
@_context_option
@_max_chars_option
@click.pass_obj
def span(context: CommandContext, /, name: str, start: int, **flags: Any) -> Exit:
    """Print lines of a document.

    NAME is an id, a unique prefix of an id, or a path; lines START to END are printed.
    Without END, one line is printed.
    """
    return _print_lines(context, context.run(FetchSpanRequest(name=name, start=start, **flags)))
