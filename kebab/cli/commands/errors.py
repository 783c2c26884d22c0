"""`kebab errors` counts recent errors, or shows one."""

from typing import Any, get_args

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.render.errors import render_error_entry, render_error_stats
from kebab.config.settings import Settings
from kebab.errors.signal import Exit
from kebab.wire.error import Dimension, ErrorsRequest, InspectErrorRequest


@declare_command(
    "errors",
    examples=(
        "kebab errors",
        "kebab errors --since 24h --by kind",
        "kebab errors --id 3f2a91",
        "kebab errors --json | jq '.groups[0].counts[0].value'",
    ),
)
@click.option("--since", metavar="WHEN", help="Only errors since a date, or within `24h`.")
@click.option("--by", type=click.Choice(get_args(Dimension)), help="Count only by this dimension.")
@click.option("--id", "name", metavar="ID", help="Show the error with this correlation id in full.")
def command(context: CommandContext, /, name: str | None, **flags: Any) -> Exit:
    """Count recent errors.

    A local log records the errors that ended a command, without secrets. It does not record
    interruptions and usage errors. The command needs neither settings nor a knowledge base.
    """
    if name is not None:
        if flags["since"] or flags["by"]:
            raise click.UsageError("`--id` shows one error, whatever its time and kind")
        entry = context.run(InspectErrorRequest(name=name), Settings())
        return context.print_reply(entry, render_error_entry)
    stats = context.run(ErrorsRequest(**flags), Settings())
    return context.print_reply(stats, render_error_stats)
