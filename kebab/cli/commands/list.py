"""`kebab list` lists the documents."""

from functools import partial
from typing import Any

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, field_options, filter_options
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
    ),
)
@filter_options
@field_options(
    ListRequest,
    limit="Show at most N documents.",
    sort="Sort by this; dates the newest first, sizes the largest.",
    reverse="Reverse the order.",
    offset="Skip the first N.",
)
@click.option("--all", "all_", is_flag=True, help="Show all documents on a terminal too.")
def command(context: CommandContext, /, *, all_: bool, **flags: Any) -> Exit:
    """List the documents.

    They are sorted by source and path, or as `--sort` says. A terminal shows the first 100, unless
    `--limit` or `--all` is given; a pipe and `--json` get all of them. The date is what `--since`
    and `--until` compare: that of the document, else the time of its file. In a pipe, tabs separate
    the fields: id, source, path, title, passages, date, freshness.
    """
    if all_ and flags["limit"] is not None:
        raise click.UsageError("`--all` and `--limit` exclude each other")
    to_person = context.channels.out.is_terminal and not context.flags.machine
    limit = _SCREEN if to_person and not all_ else None
    reply = context.run(build_request(ListRequest, flags, limit=limit))
    offset = str(reply.offset + len(reply.documents))
    next_page = context.repeat_command("--offset", offset, without=("--offset",))
    render = partial(render_document_list, next_page=next_page)
    status = context.print_reply(reply, render)
    if not to_person and (reply.has_more or not reply.documents):
        context.print_notes(reply, partial(render_list_notes, next_page=next_page))
    return status
