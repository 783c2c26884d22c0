"""`kebab rank` orders lines from stdin by a query, without an index."""

import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, limit_option, merge_flags
from kebab.errors.signal import Exit
from kebab.wire.record import find_exit_status
from kebab.wire.related import RankRequest, RankResult

if TYPE_CHECKING:
    from kebab.cli.render.canvas import Canvas

MAX_BYTES = 64_000_000
"""The most bytes on stdin."""

_SCREEN = 10
"""The most lines that a terminal shows without being asked."""


@click.command(
    "rank",
    cls=Command,
    exits=(Exit.NO,),
    examples=(
        'rg -n cache docs | kebab rank "how is the cache cleared" -n 5',
        "rg --json TODO | kebab rank --json \"what is urgent\" | jq '.items[0].item'",
        'git log --oneline | kebab rank "fixes of the login page" | head',
    ),
)
@click.argument("query", nargs=-1, required=True, metavar="QUERY…")
@limit_option(None, "lines")
@click.option(
    "--mode", type=click.Choice(["hybrid", "lexical"]), help="Compare words only, or meanings too."
)
@click.pass_obj
def command(context: CommandContext, /, query: tuple[str, ...], **flags: Any) -> Exit:
    """Order lines from stdin by words and by meaning.

    The best line comes first; lines are printed unchanged. No index is needed or written. The
    `path:line:` that ripgrep puts before a match does not count, and objects of NDJSON are compared
    by their text. A terminal shows the best 10 lines, a pipe all of them. Without a model on this
    machine only words are compared.
    """
    raw = _read_lines()
    if flags["limit"] is None and context.channels.out.is_terminal and not context.flags.machine:
        flags["limit"] = _SCREEN
    lines = [line.decode("utf-8", "replace") for line in raw]
    # The flags have the names of fields of the request; those that are not given are left out.
    fields = merge_flags({"query": " ".join(query), "lines": lines}, flags)
    reply = context.run(build_request(fields, RankRequest))
    if context.flags.machine or context.channels.out.is_terminal:  # `machine` is `--json`
        context.print_reply(reply, partial(_render_lines, raw))
    else:
        context.channels.out.write_bytes(b"".join(raw[one.index] + b"\n" for one in reply.items))
    context.print_notes(reply, _render_notes)
    return find_exit_status(reply)


def _read_lines() -> list[bytes]:
    """Return the lines on stdin."""
    if sys.stdin is None or sys.stdin.isatty():
        raise click.UsageError("pipe lines into `kebab rank`")
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        from kebab.errors.catalog import TooLarge

        raise TooLarge(what="stdin", size=len(data), limit=MAX_BYTES)
    return data.removesuffix(b"\n").split(b"\n") if data else []


def _render_lines(raw: list[bytes], reply: RankResult, canvas: "Canvas") -> Iterator[str]:
    """Yield the lines for a terminal, without control characters."""
    from kebab.cli.render.canvas import clean

    yield from (clean(raw[one.index].decode("utf-8", "replace")) for one in reply.items)


def _render_notes(reply: RankResult, canvas: "Canvas") -> Iterator[str]:
    """Yield what limits the order: words or meanings that were not compared, and hidden lines."""
    from kebab.cli.render.hits import render_degraded

    if not reply.total:
        yield "no lines"
    for channel in reply.degraded:
        yield from render_degraded(channel, canvas)
    if reply.has_more:
        yield canvas.dim(f"{len(reply.items)} of {reply.total} lines, all of them: --limit N")
