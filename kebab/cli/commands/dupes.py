"""`kebab dupes` finds duplicate documents and passages."""

from functools import partial
from typing import Any

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import Fraction, build_request, filter_options, limit_option, merge_flags
from kebab.cli.progress import run_work
from kebab.cli.render.documents import render_duplicates
from kebab.errors.signal import Exit
from kebab.wire.library import DupesRequest
from kebab.wire.search import MAX_LIMIT

_DEFAULTS = DupesRequest()


@declare_command(
    "dupes",
    examples=(
        "kebab dupes",
        "kebab dupes --exact --source ~/notes",
        "kebab dupes --threshold 0.9 --path 'drafts/**'",
        "kebab dupes --json | jq -r '.groups[].members[].citation.uri'",
    ),
)
@click.option(
    "--threshold",
    type=Fraction(0.5, 1.0),
    help=f"The lowest similarity of near copies, {_DEFAULTS.threshold} by default.",
)
@click.option("--exact", is_flag=True, help="Only identical texts.")
@limit_option(MAX_LIMIT, "groups", default=_DEFAULTS.limit)
@filter_options
def command(context: CommandContext, /, threshold: float | None, **flags: Any) -> Exit:
    """Find copies and near copies.

    The result lists documents first, then passages. Similarity is the share of word triples that
    two texts have in common, so it needs no model and works in every language. Passages of a few
    words are ignored. Only documents that match the filters are compared.
    """
    settings = context.load_settings()
    if flags["exact"] and threshold is not None:
        raise click.UsageError("`--exact` leaves nothing to `--threshold`")
    request = build_request(merge_flags({}, {"threshold": threshold, **flags}), DupesRequest)
    reply, _ = run_work(context, request, settings)
    number = str(min(reply.total, MAX_LIMIT))
    all_groups = context.repeat_command("-n", number, without=("-n", "--limit"))
    return context.print_reply(reply, partial(render_duplicates, all_groups=all_groups))
