"""`kebab dupes` finds duplicate documents and passages."""

from functools import partial
from typing import Any

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, field_options, filter_options
from kebab.cli.progress import run_work
from kebab.cli.render.documents import render_duplicates
from kebab.errors.signal import Exit
from kebab.wire.library import DupesRequest
from kebab.wire.search import MAX_LIMIT


@declare_command(
    "dupes",
    examples=(
        "kebab dupes",
        "kebab dupes --threshold 0.9 --path 'drafts/**'",
    ),
)
@field_options(
    DupesRequest,
    threshold=f"The lowest similarity of near copies; {DupesRequest().threshold} if not given.",
    exact="Only identical texts.",
    limit="Show at most N groups.",
)
@filter_options
def command(context: CommandContext, /, **flags: Any) -> Exit:
    """Find copies and near copies.

    The result lists documents first, then passages. Similarity is the share of word triples that
    two texts have in common, so it needs no model and works in every language. Passages of a few
    words are ignored. Only documents that match the filters are compared.
    """
    if flags["exact"] and flags["threshold"] is not None:
        raise click.UsageError("`--exact` leaves nothing to `--threshold`")
    reply, _ = run_work(context, build_request(DupesRequest, flags))
    number = str(min(reply.total, MAX_LIMIT))
    all_groups = context.repeat_command("-n", number, without=("-n", "--limit"))
    return context.print_reply(reply, partial(render_duplicates, all_groups=all_groups))
