"""`kebab related` finds documents that are similar to one document."""

from typing import Any

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, complete, field_options, filter_options
from kebab.cli.render.documents import render_related
from kebab.errors.signal import Exit
from kebab.wire.library import RelatedRequest


@declare_command(
    "related",
    examples=(
        "kebab related notes/backup.md",
        "kebab related 3f2a91 --tag ops --since 1y --limit 5",
    ),
)
@click.argument("name", metavar="DOC", shell_complete=complete("documents"))
@field_options(RelatedRequest, limit="Show at most N documents.")
@filter_options
def command(context: CommandContext, /, **flags: Any) -> Exit:
    """Find similar documents.

    DOC is a name as `kebab inspect` takes it. Each result shows its most similar passage and the
    keywords that both documents contain; the documents that DOC links to or that link to it come
    last. The command compares stored vectors and loads no model; a document without vectors is
    compared by its words. Results must match all filters.
    """
    request = build_request(RelatedRequest, flags)
    return context.print_reply(context.run(request), render_related)
