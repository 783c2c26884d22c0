"""`kebab stats` counts documents, and the work of reviews and translations."""

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.render.health import render_stats
from kebab.errors.signal import Exit
from kebab.wire.review import StatsRequest


@click.command(
    "stats",
    cls=Command,
    examples=(
        "kebab stats",
        "kebab stats --since 7d",
        "kebab stats --json | jq '.tiers[] | {tier, items_per_response}'",
    ),
)
@click.option("--since", metavar="WHEN", help="Only work since a date, or within `7d`.")
@click.pass_obj
def command(context: CommandContext, /, *, since: str | None) -> Exit:
    """Count documents, reviews and translations.

    A terminal shows charts of the documents by format, language, month and tag; JSON has the counts
    in `library`. For each tier of reviews it counts runs, parts of text, findings, requests to the
    language model with their tokens and time, and how often a response was too long or broken. The
    counts stay when a run is deleted. In a pipe tabs separate the fields: a line for each count of
    documents, then one for each tier, in the order of `stats.v1`.
    """
    return context.print_reply(context.run(StatsRequest(since=since)), render_stats)
