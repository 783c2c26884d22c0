"""`kebab source list|rm` lists sources, or removes one from the index."""

import shlex
from functools import partial

import click

from kebab.cli.command import Group
from kebab.cli.context import CommandContext
from kebab.cli.prompt import confirm
from kebab.cli.render.documents import (
    render_removed_source,
    render_source_list,
    render_source_removal_plan,
)
from kebab.errors.signal import Exit
from kebab.wire.library import SourceListRequest, SourceRmRequest
from kebab.wire.record import NotFound

_EXITS = (Exit.NO, Exit.UNUSABLE)


@click.group("source", cls=Group, exits=_EXITS, examples=("kebab source list",))
def command() -> None:
    """List sources, or remove one from the index; files stay.

    A source is a folder that was read, with the documents in it.
    """


@command.command(
    "list", exits=(Exit.UNUSABLE,), examples=("kebab source list", "kebab source list --json")
)
@click.pass_obj
def list_(context: CommandContext, /) -> Exit:
    """List the sources.

    In a pipe, tabs separate the fields: name, folder, state, documents, passages, time of the last
    ingest. The state is `present`, `empty` or `gone`.
    """
    return context.print_reply(context.run(SourceListRequest()), render_source_list)


@command.command(
    "rm", exits=_EXITS, examples=("kebab source rm ~/old-notes", "kebab source rm old-notes --yes")
)
@click.argument("name", metavar="NAME|PATH")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def rm(context: CommandContext, /, name: str, *, yes: bool) -> Exit:
    """Remove a source from the index; files stay.

    Its documents are removed with it. NAME is the name of a source, the path of its folder, or the
    end of that path. The folder may be gone. `kebab ingest FOLDER` reads it again. Texts from
    standard input, the source `stdin`, have no other copy and are deleted. Without `--yes`, the
    command asks for confirmation.
    """
    if not yes:
        plan = context.run(SourceRmRequest(name=name, dry_run=True))
        if isinstance(plan, NotFound):
            return context.print_reply(plan, render_removed_source)
        operation = f"source rm {shlex.quote(name)}"
        confirm(context, operation, partial(render_source_removal_plan, plan))
    return context.print_reply(context.run(SourceRmRequest(name=name)), render_removed_source)
