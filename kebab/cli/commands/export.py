"""`kebab export` writes the knowledge base into one file."""

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.progress import run_work
from kebab.cli.render.archive import render_export
from kebab.errors.signal import Exit
from kebab.wire.archive import ExportRequest


@click.command(
    "export",
    cls=Command,
    exits=(Exit.UNUSABLE,),
    examples=("kebab export ~/kebab.zip", "kebab export kebab.zip --force"),
)
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--force", is_flag=True, help="Replace an existing regular file.")
@click.pass_obj
def command(context: CommandContext, *, path: str, force: bool) -> Exit:
    """Write the knowledge base into one file.

    The file holds the index with its vectors, ask sessions, reviews and texts from standard input,
    so `kebab import` embeds nothing again. It holds the text of your documents, but not the files
    themselves, and neither model weights nor logs nor tokens. Keys in your documents are not masked
    in it. Another process may write at the same time; the file has one state. Only you can read it.
    A device, a pipe, a link or a folder is never replaced.
    """
    return context.print_reply(
        run_work(context, ExportRequest(path=path, force=force)), render_export
    )
