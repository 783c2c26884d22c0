"""`kebab import` makes an exported file the knowledge base."""

from functools import partial

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.progress import run_work
from kebab.cli.prompt import confirm
from kebab.cli.render.archive import render_import, render_import_plan
from kebab.errors.signal import Exit
from kebab.wire.archive import ImportRequest


@click.command(
    "import",
    cls=Command,
    exits=(Exit.UNUSABLE,),
    examples=("kebab import ~/kebab.zip", "kebab import kebab.zip --yes --json"),
)
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--dry-run", is_flag=True, help="Only check the file and show what it holds.")
@click.option("--yes", is_flag=True, help="Do not ask before an index is replaced.")
@click.pass_obj
def command(context: CommandContext, *, path: str, dry_run: bool, yes: bool) -> Exit:
    """Make an exported file the knowledge base.

    The file is checked before anything changes. An index that is there is replaced after
    confirmation; it stays until the new one is complete. Nothing is embedded again, and ids and
    citations stay the same. Folders keep their paths: where a folder has another path here, ingest
    it, which embeds no equal text again, and remove the old source. Settings stay as they are.
    """
    if dry_run:
        request = ImportRequest(path=path, dry_run=True)
        return context.print_reply(run_work(context, request), render_import)
    if not yes:
        plan = run_work(context, ImportRequest(path=path, dry_run=True))
        if plan.replaced_documents is not None:
            confirm(context, "import", partial(render_import_plan, plan))
    return context.print_reply(run_work(context, ImportRequest(path=path)), render_import)
