"""`kebab list`."""

from functools import partial
from typing import Any

import click

from kebab.cli.command import Command
from kebab.cli.filters import filter_options
from kebab.cli.render.documents import draw
from kebab.cli.request import made, stated
from kebab.cli.session import Session
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
@click.option("-n", "--limit", type=click.IntRange(1), default=100, help="The most documents.")
@click.option("--offset", type=click.IntRange(0), default=0, help="How many to pass over.")
@click.pass_obj
def command(session: Session, /, limit: int, offset: int, **flags: Any) -> Exit:
    """List the documents.

    They come by source and path. In a pipe, fields are separated by tabs: id, source, path, title,
    passages, time of change, freshness.
    """
    fields = {"limit": limit, "offset": offset}
    request = made(stated(fields, flags), ListRequest)
    with session.kebab() as kebab:
        reply = kebab.list(request)
    again = session.again("--offset", str(offset + limit))
    return session.answer(reply, partial(draw, again=again))
