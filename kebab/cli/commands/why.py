"""`kebab why` explains why a search finds or misses a document."""

from typing import Any

import click

from kebab.app.request_defaults import list_request_defaults
from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import (
    build_request,
    complete,
    filter_options,
    limit_option,
    merge_flags,
    min_confidence_option,
    mode_option,
    per_doc_option,
    rerank_option,
)
from kebab.cli.render.why import render_why
from kebab.errors.signal import Exit
from kebab.wire.related import WhyRequest
from kebab.wire.search import MAX_LIMIT, SearchRequest


@click.command(
    "why",
    cls=Command,
    exits=(Exit.NO, Exit.UNUSABLE),
    examples=(
        'kebab why "how do I restore a backup" notes/backup.md',
        "kebab why snapshot 3f2a91 --tag ops",
        "kebab why restore notes/backup.md --json | jq -r .message",
    ),
)
@click.argument("query", nargs=-1, required=True, metavar="QUERY…")
@click.argument("name", metavar="DOC", shell_complete=complete("documents"))
@mode_option
@rerank_option
@limit_option(MAX_LIMIT, "hits on a page")
@filter_options
@per_doc_option
@min_confidence_option
@click.pass_obj
def command(context: CommandContext, /, query: tuple[str, ...], name: str, **flags: Any) -> Exit:
    """Explain why a search finds or misses a document.

    QUERY and flags are those of `kebab search`. DOC is an id, a unique prefix of an id, or a path.
    The id of a passage asks about this passage alone. The exit status is 0 when the document is
    among the hits of the first page, and 1 when it is not.
    """
    settings = context.load_settings()
    fields = merge_flags(list_request_defaults("search", settings), flags)
    request = build_request({"query": " ".join(query), **fields}, SearchRequest)
    reply = context.run(WhyRequest(name=name, search=request), settings)
    return context.print_reply(reply, render_why)
