"""`kebab list` lists the documents."""

from functools import partial
from typing import Any

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import Count, build_request, filter_options, limit_option, merge_flags
from kebab.cli.render.documents import render_document_list, render_list_notes
from kebab.errors.signal import Exit
from kebab.wire.library import ListRequest

_SCREEN = 100
"""The most documents that a terminal shows without being asked."""


@declare_command(
    "list",
    examples=(
        "kebab list",
        "kebab list --tag ops --path 'runbooks/**' --since 2025-01-01",
        "kebab list --type pdf --sort date",
        "kebab list --json | jq -r '.documents[].doc_path'",
    ),
)
@filter_options
@limit_option(None, "documents")
@click.option(
    "--sort",
    type=click.Choice(["path", "title", "date", "modified", "indexed", "size", "passages"]),
    default="path",
    help="Sort by this; dates the newest first, sizes the largest.",
)
@click.option("--reverse", is_flag=True, help="Reverse the order.")
@click.option("--all", "all_", is_flag=True, help="Show all documents on a terminal too.")
@click.option("--offset", type=Count(0), default=0, help="Skip the first N.")
def command(
    context: CommandContext, /, limit: int | None, offset: int, *, all_: bool, **flags: Any
) -> Exit:
    """List the documents.

    They are sorted by source and path, or as `--sort` says. A terminal shows the first 100, unless
    `--limit` or `--all` is given; a pipe and `--json` get all of them. The date is what `--since`
    and `--until` compare: that of the document, else the time of its file. In a pipe, tabs separate
    the fields: id, source, path, title, passages, date, freshness.
    """
    if all_ and limit is not None:
        raise click.UsageError("`--all` and `--limit` exclude each other")
    to_person = context.channels.out.is_terminal and not context.flags.machine
    if limit is None and to_person and not all_:
        limit = _SCREEN
    fields = {**merge_flags({"offset": offset}, flags), "limit": limit}
    reply = context.run(build_request(fields, ListRequest))
    next_page = context.repeat_command_with("--offset", str(offset + len(reply.documents)))
    render = partial(render_document_list, next_page=next_page)
    status = context.print_reply(reply, render)
    if not to_person and (reply.has_more or not reply.documents):
        context.print_notes(reply, partial(render_list_notes, next_page=next_page))
    return status
