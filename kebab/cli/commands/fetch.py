"""`kebab fetch` prints original lines of a file."""

import sys
from typing import Any

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, complete, field_options
from kebab.cli.render.lines import list_notes, render_fetched
from kebab.errors.signal import Exit
from kebab.wire.fetch import FetchRequest


@declare_command(
    "fetch",
    examples=(
        "kebab fetch notes/backup.md#L12-L34",
        "kebab fetch backup.md:12 3f2a91 --section --max-tokens 2000",
        "kebab search restore --json | jq -r '.hits[].citation.uri' | kebab fetch -",
    ),
)
@click.argument("refs", nargs=-1, metavar="REF…", shell_complete=complete("documents"))
@field_options(
    FetchRequest,
    context="Print N more lines before and after.",
    section="Print the whole section around the place, at most 2,000 tokens of it.",
    max_tokens="Limit all texts to about N tokens in total.",
)
def command(context: CommandContext, /, refs: tuple[str, ...], **flags: Any) -> Exit:
    """Print original lines of a file, as references name them.

    REF is what other output shows: `path#L12-L34`, `path:12`, `path:12-34`, a citation, an id or
    the start of one, a path or the end of one, `path#heading`, or a file name, title or alias in
    words. With `-`, or without REF in a pipe, references are read from stdin, one per line. In a
    pipe, one REF prints exactly its lines, and stderr says which they are; several have a heading
    each. The exit status is 1 when any REF names nothing.
    """
    if flags["section"] and flags["max_tokens"] is None:
        flags["max_tokens"] = 2000  # as over MCP
    reply = context.run(build_request(FetchRequest, flags, refs=_read_references(refs)))
    status = context.print_reply(reply, render_fetched)
    context.print_notes(reply, lambda reply, canvas: list_notes(reply.results, canvas))
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
