"""`kebab verify` compares the index with the files."""

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import complete_paths
from kebab.cli.progress import run_cancellable_work
from kebab.cli.render.health import render_verify
from kebab.errors.signal import Exit
from kebab.wire.repair import VerifyRequest


@click.command(
    "verify",
    cls=Command,
    exits=(Exit.NO,),
    examples=("kebab verify", "kebab verify ~/notes", "kebab verify --json | jq .counts"),
)
@click.argument("paths", nargs=-1, metavar="[PATH]…", shell_complete=complete_paths)
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, help="The most differences to list."
)
@click.pass_obj
def command(context: CommandContext, /, paths: tuple[str, ...], limit: int) -> Exit:
    """Compare the index with the files.

    Every file is read, and its hash compared with the one that was indexed; times prove nothing.
    The stored passages must have their hashes, and those of text formats must stand in the file at
    their place. Each vector that the database names must be in the vector index. Without PATH all
    documents are compared. The command changes nothing. It exits with 1 when anything differs; the
    counts are complete, whatever the limit of the list. `kebab ingest` reads changed files again,
    and `kebab doctor --fix` repairs damaged passages.
    """
    reply = run_cancellable_work(context, VerifyRequest(paths=list(paths), limit=limit))[0]
    return context.print_reply(reply, render_verify)
