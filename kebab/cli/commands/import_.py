"""`kebab import` makes an exported file the knowledge base."""

from functools import partial

import click
from msgspec.structs import replace as change

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
    examples=(
        "kebab import ~/kebab.zip",
        "kebab import kebab.zip --map /home/ada/notes=/srv/notes",
        "kebab import kebab.zip --replace --yes --json",
    ),
)
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--replace", is_flag=True, help="Replace the knowledge base that is there.")
@click.option(
    "--map",
    "map_",
    metavar="OLD=NEW",
    multiple=True,
    help="A folder with another path here; folders below it follow. Repeatable.",
)
@click.option("--dry-run", is_flag=True, help="Only check the file and show what it holds.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def command(
    context: CommandContext,
    *,
    path: str,
    replace: bool,
    map_: tuple[str, ...],
    dry_run: bool,
    yes: bool,
) -> Exit:
    """Make an exported file the knowledge base.

    Everything in the file is checked before anything changes. A knowledge base that is there is
    replaced with `--replace` only, after confirmation; it stays until the new one is complete.
    Nothing is embedded again, and ids and citations stay the same.

    A folder that does not exist here is looked for below your home directory. One that is not found
    stays searchable. Settings stay as they are; those that differ are shown.
    """
    request = ImportRequest(path=path, replace=replace, map=list(map_), dry_run=dry_run)
    if replace and not dry_run and not yes:
        plan = run_work(context, change(request, dry_run=True))
        confirm(context, "import", partial(render_import_plan, plan))
    if not dry_run:
        context.release_stores()
    return context.print_reply(run_work(context, request), render_import)
