"""`kebab list`."""

from functools import partial
from typing import Any

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, filter_options, merge_flags
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
@click.option(
    "-n", "--limit", type=click.IntRange(1), default=100, help="Show at most N documents."
)
@click.option("--offset", type=click.IntRange(0), default=0, help="Skip the first N.")
@click.pass_obj
def command(context: CommandContext, /, limit: int, offset: int, **flags: Any) -> Exit:
    """List the documents.

    They come by source and path. In a pipe, fields are separated by tabs: id, source, path, title,
    passages, time of change, freshness.
    """
    fields = {"limit": limit, "offset": offset}
    request = build_request(merge_flags(fields, flags), ListRequest)
    with context.open_kebab() as kebab:
        reply = kebab.list(request)
    again = context.repeat_command_with("--offset", str(offset + limit))
    return context.print_reply(reply, partial(render_document_list, again=again))
