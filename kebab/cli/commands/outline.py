"""`kebab outline` shows the headings of a document, or the tree of a folder."""

from typing import Any

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, complete, field_options
from kebab.cli.render.documents import render_outline
from kebab.errors.signal import Exit
from kebab.wire.fetch import OutlineRequest


@declare_command(
    "outline",
    examples=(
        "kebab outline",
        "kebab outline runbooks --depth 1",
        "kebab outline notes/backup.md",
    ),
)
@click.argument("name", required=False, metavar="[DOC|PATH]", shell_complete=complete("documents"))
@field_options(
    OutlineRequest,
    depth="Show N levels of headings or folders.",
    limit="Show at most N documents of a folder (20).",
)
def command(context: CommandContext, /, **flags: Any) -> Exit:
    """Show the headings of a document or a folder.

    A document is shown with its headings, their lines and estimated tokens; a folder or a source
    with its folders, documents, passages and estimated tokens, two levels deep. Without a name all
    sources are shown. The lines of a document begin with what follows its path in a reference for
    `kebab fetch`, those of a folder with such a reference or with a folder.
    """
    request = build_request(OutlineRequest, flags)
    return context.print_reply(context.run(request), render_outline)
