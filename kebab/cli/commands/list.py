"""`kebab list` lists the documents."""

from functools import partial
from typing import Any

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, filter_options, limit_option, merge_flags
from kebab.cli.render.documents import render_document_list
from kebab.errors.signal import Exit
from kebab.wire.library import ListRequest


@click.command(
    "list",
    cls=Command,
    exits=(Exit.UNUSABLE,),
    examples=(
        "kebab list",
        "kebab list --tag ops --path 'runbooks/**' --since 2025-01-01",
        "kebab list --json | jq -r '.documents[].doc_path'",
    ),
)
@filter_options
@limit_option(None, "documents", default=100)
@click.option("--offset", type=click.IntRange(0), default=0, help="Skip the first N.")
@click.pass_obj
def command(context: CommandContext, /, limit: int, offset: int, **flags: Any) -> Exit:
    """List the documents.

    They are sorted by source and path. In a pipe, tabs separate the fields: id, source, path,
    title, passages, time of change, freshness.
    """
    fields = {"limit": limit, "offset": offset}
    request = build_request(merge_flags(fields, flags), ListRequest)
    with context.open_kebab() as kebab:
        reply = kebab.list(request)
    next_page = context.repeat_command_with("--offset", str(offset + limit))
    return context.print_reply(reply, partial(render_document_list, next_page=next_page))
