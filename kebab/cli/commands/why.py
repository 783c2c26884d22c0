"""`kebab why`."""

from typing import Any

import click
import msgspec

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, filter_options, merge_flags
from kebab.cli.render.why import render_why
from kebab.errors.signal import Exit
from kebab.wire.library import NotFound
from kebab.wire.search import MAX_LIMIT, SearchRequest
from kebab.wire.why import WhyRequest


@click.command(
    "why",
    cls=Command,
    exits=(Exit.NO, Exit.UNUSABLE),
    examples=(
        'kebab why "how do I restore a backup" notes/backup.md',
        "kebab why snapshot 3f2a91 --tag ops",
        "kebab why restore notes/backup.md --json | jq -r .message",
    ),
)
@click.argument("query", nargs=-1, required=True, metavar="QUERY…")
@click.argument("name", metavar="DOC")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "lexical", "vector"]),
    help="Which search channels to use.",
)
@click.option(
    "-n", "--limit", type=click.IntRange(1, MAX_LIMIT), help="Show at most N hits on a page."
)
@filter_options
@click.option("--per-doc", type=click.IntRange(1), help="Show at most N hits of one document.")
@click.pass_obj
def command(context: CommandContext, /, query: tuple[str, ...], name: str, **flags: Any) -> Exit:
    """Say why a search finds a document, or where it loses it.

    QUERY and flags are those of `kebab search`. DOC is an id, a unique beginning of one, or a
    path; the id of a passage asks about that alone. Exit status 0 means that it is among the hits
    of the first page, 1 that it is not.
    """
    settings = context.load_settings()
    fields = merge_flags(msgspec.to_builtins(settings.search), flags)
    request = build_request({"query": " ".join(query), **fields}, SearchRequest)
    with context.open_kebab(settings) as kebab:
        reply = kebab.why(WhyRequest(name=name, search=request))
    if isinstance(reply, NotFound):
        return context.print_not_found(reply)
    return context.print_reply(reply, render_why, Exit.DONE if reply.found else Exit.NO)
