"""`kebab errors`."""

from typing import get_args

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.render.errors import render_error_entry, render_error_stats
from kebab.config.model import Settings
from kebab.errors.signal import Exit
from kebab.wire.error import Dimension, ErrorsRequest, InspectErrorRequest
from kebab.wire.library import NotFound


@click.command(
    "errors",
    cls=Command,
    exits=(Exit.NO,),
    examples=(
        "kebab errors",
        "kebab errors --since 24h --by kind",
        "kebab errors --id 3f2a91",
        "kebab errors --json | jq '.groups[0].counts[0].value'",
    ),
)
@click.option("--since", metavar="WHEN", help="Only errors since: a date, or `24h`.")
@click.option("--by", type=click.Choice(get_args(Dimension)), help="Count by this alone.")
@click.option(
    "-n", "--limit", type=click.IntRange(1), default=10, help="The most values of a count."
)
@click.option("--id", "name", metavar="ID", help="Show one error in full, by its correlation id.")
@click.pass_obj
def command(
    context: CommandContext,
    /,
    since: str | None,
    by: Dimension | None,
    limit: int,
    name: str | None,
) -> Exit:
    """Count what went wrong lately.

    Errors that ended a command are kept in a log on this machine, without secrets; interruptions
    and mistyped commands are not. It needs neither settings nor a knowledge base. In a pipe, fields
    are separated by tabs: by, value, count, share, first time, last time, last correlation id.
    """
    if name is not None:
        if since or by:
            raise click.UsageError("`--id` shows one error, whatever its time and kind")
        return _show(context, name)
    with context.open_kebab(Settings()) as kebab:
        reply = kebab.errors(ErrorsRequest(since=since, by=by, limit=limit))
    return context.print_reply(reply, render_error_stats)


def _show(context: CommandContext, /, name: str) -> Exit:
    with context.open_kebab(Settings()) as kebab:
        reply = kebab.inspect_error(InspectErrorRequest(name=name))
    if isinstance(reply, NotFound):
        return context.print_not_found(reply)
    return context.print_reply(reply, render_error_entry)
