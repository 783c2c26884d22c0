"""`kebab dupes`."""

from functools import partial
from typing import Any

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, filter_options, merge_flags
from kebab.cli.progress import report_work
from kebab.cli.render.related import render_duplicates
from kebab.errors.signal import Exit
from kebab.wire.related import DupesRequest
from kebab.wire.search import MAX_LIMIT

_DEFAULTS = DupesRequest()


@click.command(
    "dupes",
    cls=Command,
    exits=(Exit.NO, Exit.UNUSABLE),
    examples=(
        "kebab dupes",
        "kebab dupes --exact --source ~/notes",
        "kebab dupes --threshold 0.9 --path 'drafts/**'",
        "kebab dupes --json | jq -r '.groups[].members[].citation.uri'",
    ),
)
@click.option(
    "--threshold",
    type=click.FloatRange(0.5, 1.0),
    help=f"The lowest similarity of near copies, {_DEFAULTS.threshold} by default.",
)
@click.option("--exact", is_flag=True, help="Only what does not differ at all.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, MAX_LIMIT),
    default=_DEFAULTS.limit,
    help="Show at most N groups on a page.",
)
@click.option("--cursor", metavar="CURSOR", help="Show the page after this cursor.")
@filter_options
@click.pass_obj
def command(context: CommandContext, /, threshold: float | None, **flags: Any) -> Exit:
    """Find copies and near copies.

    Documents come first, then passages that stand in several places. Similarity is the share of
    word triples that two texts have in common, so no model is needed and every language works;
    passages of a few words are passed over. Only what passes the filters is compared.
    """
    settings = context.load_settings()
    if flags["exact"] and threshold is not None:
        raise click.UsageError("`--exact` leaves nothing to `--threshold`")
    request = build_request(merge_flags({}, {"threshold": threshold, **flags}), DupesRequest)
    with report_work(context) as reporter:
        with context.open_kebab(settings) as kebab:
            reply = kebab.dupes(request, report=reporter)
        status = Exit.DONE if reply.groups else Exit.NO
        reporter.finish(status, cancelled=False)
    again = context.repeat_command_with("--cursor", reply.next_cursor) if reply.next_cursor else ""
    return context.print_reply(reply, partial(render_duplicates, again=again), status)
