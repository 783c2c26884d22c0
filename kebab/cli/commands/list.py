"""`kebab list`."""

import time
from functools import partial
from typing import Any

import click

from kebab.app.moment import parsed
from kebab.app.requests import ListOptions
from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import filter_options
from kebab.cli.render.documents import draw
from kebab.core.query import Filters
from kebab.errors.signal import Exit


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
    options = ListOptions(filters=filters(flags), limit=limit, offset=offset)
    with context.open_kebab() as kebab:
        reply = kebab.list_documents(options)
    again = context.repeat_command_with("--offset", str(offset + limit))
    return context.print_reply(reply, partial(draw, again=again))


def filters(flags: dict[str, Any]) -> Filters:
    """Return the filters that flags ask for.

    Raises:
        InvalidInput: `--since` or `--until` is no date.
    """
    now = time.time()
    said = {name: flags[name] for name in ("since", "until") if flags[name] is not None}
    return Filters(
        **{**flags, **{name: parsed(text, f"$.{name}", now) for name, text in said.items()}}
    )
