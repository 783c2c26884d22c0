"""`kebab related`."""

from typing import Any

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, merge_flags, neighbour_options
from kebab.cli.render.related import render_related
from kebab.errors.signal import Exit
from kebab.wire.library import NotFound
from kebab.wire.related import RelatedRequest
from kebab.wire.search import MAX_LIMIT


@click.command(
    "related",
    cls=Command,
    exits=(Exit.NO, Exit.UNUSABLE),
    examples=(
        "kebab related notes/backup.md",
        "kebab related 3f2a91 --tag ops --since 1y --limit 5",
        "kebab related notes/backup.md --json | jq -r '.related[].doc_path'",
    ),
)
@click.argument("name", metavar="DOC")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, MAX_LIMIT),
    default=10,
    help="Show at most N neighbours.",
)
@neighbour_options
@click.pass_obj
def command(context: CommandContext, /, name: str, limit: int, **flags: Any) -> Exit:
    """Find the documents that are nearest to one.

    DOC is an id, a unique beginning of one, or a path. Each neighbour comes with the passage that
    shows best why it is one, and with the telling words that both hold. The stored vectors are
    compared, no model is loaded; a document that has none is compared by its words. All filters
    must hold for a neighbour.
    """
    settings = context.load_settings()
    request = build_request(merge_flags({"name": name, "limit": limit}, flags), RelatedRequest)
    with context.open_kebab(settings) as kebab:
        reply = kebab.related(request)
    if isinstance(reply, NotFound):
        return context.print_not_found(reply)
    return context.print_reply(reply, render_related, Exit.DONE if reply.related else Exit.NO)
