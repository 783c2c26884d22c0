"""`kebab export` writes the knowledge base into one file."""

from typing import Any, get_args

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.progress import run_work
from kebab.cli.render.archive import render_export
from kebab.errors.signal import Exit
from kebab.wire.archive import ExportFormat, ExportRequest


@click.command(
    "export",
    cls=Command,
    exits=(Exit.UNUSABLE,),
    examples=(
        "kebab export ~/kebab.zip",
        "kebab export kebab.zip --without-sessions --force",
        "kebab export passages.parquet --format parquet",
    ),
)
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--without-sessions", is_flag=True, help="Leave out ask sessions.")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(get_args(ExportFormat)),
    default="archive",
    help="Write an archive for `import`, or the passages and vectors for other systems.",
)
@click.pass_obj
def command(
    context: CommandContext, *, path: str, force: bool, without_sessions: bool, file_format: Any
) -> Exit:
    """Write the knowledge base into one file.

    The file holds the index with its vectors, ask sessions, reviews and texts from standard input,
    so `kebab import` embeds nothing again. It holds the text of your documents, but not the files
    themselves, and neither model weights nor logs nor tokens. Keys in your documents are not masked
    in it. Another process may write at the same
    time; the file has one state. Only you can read it.
    """
    request = ExportRequest(
        path=path, force=force, without_sessions=without_sessions, format=file_format
    )
    return context.print_reply(run_work(context, request), render_export)
