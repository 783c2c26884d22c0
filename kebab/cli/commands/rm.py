"""`kebab rm` removes documents from the index."""

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import complete
from kebab.cli.render.documents import render_removed_documents
from kebab.errors.signal import Exit
from kebab.wire.library import RmRequest


@declare_command("rm", examples=("kebab rm notes/draft.md", "kebab rm 3f2a91 77b0c4"))
@click.argument(
    "names", nargs=-1, required=True, metavar="NAME…", shell_complete=complete("documents")
)
def command(context: CommandContext, /, names: tuple[str, ...]) -> Exit:
    """Remove documents from the index; files stay.

    NAME is an id, a unique prefix of an id, or a path. When one name is not found, nothing is
    removed. A document whose file still exists comes back with the next ingest.
    """
    return context.print_reply(context.run(RmRequest(names=list(names))), render_removed_documents)
