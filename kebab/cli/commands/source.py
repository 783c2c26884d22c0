"""`kebab source list|add|rm` lists sources, adds a published base, or removes a source."""

import shlex
from pathlib import Path
from typing import Any

import click

from kebab.cli.command import Group
from kebab.cli.context import CommandContext
from kebab.cli.hints import UsageHintError, join_words
from kebab.cli.options import build_request, field_options
from kebab.cli.progress import run_work
from kebab.cli.prompt import confirm
from kebab.cli.render.canvas import clean
from kebab.cli.render.documents import (
    render_added_base,
    render_removed_source,
    render_source_list,
    render_source_removal_plan,
)
from kebab.config.settings import BASE_FILE
from kebab.errors.signal import Exit
from kebab.wire.library import SourceListRequest, SourceRmRequest
from kebab.wire.published import SourceAddRequest
from kebab.wire.record import NotFound


@click.group("source", cls=Group, examples=("kebab source list",))
def command(context: CommandContext, /) -> None:
    """List, add or remove sources; files stay.

    A source is a folder that was read, with the documents in it, an address in object storage, or a
    published base.
    """


@command.command("list", examples=("kebab source list", "kebab source list --json"))
def list_(context: CommandContext, /) -> Exit:
    """List the sources.

    In a pipe, tabs separate the fields: name, folder, state, documents, passages, time of the last
    ingest. The state is `present`, `empty` or `gone`, or `published` for a published base, which
    has an address in place of the folder. So has a source in object storage.
    """
    return context.print_reply(context.run(SourceListRequest()), render_source_list)


@command.command(
    "add",
    examples=(
        "kebab source add https://docs.example.org/kb",
        "kebab source add s3://team-bucket/handbook --name handbook",
    ),
)
@click.argument("url", metavar="ADDRESS")
@field_options(
    SourceAddRequest,
    name="The name that `--base` takes.",
    mode="Copy it, or let its store be searched.",
)
def add(context: CommandContext, /, **flags: Any) -> Exit:
    """Search a published base too.

    ADDRESS begins with `https://`, `s3://`, `gs://` or `az://`, or is a folder. Its copy is pulled
    now, and updated by later commands once a minute at most. A large one is not copied: its store
    is asked for candidates while it is searched. Without network the copy is searched.
    """
    folder = Path(flags["url"])
    if folder.is_dir() and not (folder / BASE_FILE).exists():
        cause = f"nothing is published in this folder: {clean(str(folder))}"
        raise UsageHintError(cause, join_words(["kebab", "ingest", str(folder)]))
    request = build_request(SourceAddRequest, flags)
    return context.print_reply(run_work(context, request)[0], render_added_base)


@command.command("rm", examples=("kebab source rm ~/old-notes", "kebab source rm old-notes --yes"))
@click.argument("name", metavar="NAME|PATH")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def rm(context: CommandContext, /, name: str, *, yes: bool) -> Exit:
    """Remove a source from the index; files stay.

    Its documents are removed with it. NAME is the name of a source, the path of its folder, the end
    of that path, or an address. The folder may be gone. `kebab ingest FOLDER` reads it again. Texts
    from standard input, the source `stdin`, have no other copy and are deleted. Of a published base
    the copy here is deleted, and so are the downloaded files of object storage. Without `--yes`,
    the command asks for confirmation.
    """
    if not yes:
        plan = context.run(SourceRmRequest(name=name, dry_run=True))
        if isinstance(plan, NotFound):
            return context.print_reply(plan, render_removed_source)
        confirm(context, f"source rm {shlex.quote(name)}", plan, render_source_removal_plan)
    return context.print_reply(context.run(SourceRmRequest(name=name)), render_removed_source)
