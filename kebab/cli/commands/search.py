"""`kebab search` finds passages by words and by meaning."""

import os
import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kebab.app.facade import list_request_defaults
from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import (
    PLAN_HELP,
    build_request,
    field_options,
    filter_options,
    in_option,
    ndjson_option,
    read_argument,
    read_form,
    refuse_contradictions,
    select_given,
)
from kebab.config.settings import Search, Settings
from kebab.core.queries import FILTERS
from kebab.errors.signal import Exit
from kebab.wire.record import find_exit_status
from kebab.wire.search import (
    MAX_QUERY_BYTES,
    DegradedChannel,
    SearchHit,
    SearchRequest,
    SearchResponse,
)

if TYPE_CHECKING:
    from kebab.cli.render.canvas import Canvas

_EXAMPLES = (
    'kebab search "how do I restore a backup"',
    "kebab search snapshot --tag ops --since 30d --limit 5",
    "kebab search --mode lexical '\"exact phrase\"' -- -draft",
)
"""What is shown without a query."""


FORM_DEFAULTS: dict[str, dict[str, Any]] = {
    "text": {},
    "compact": {"detail": "best", "limit": 5},
    "paths": {"detail": "ids", "per_doc": 1},
}
"""The forms of text output with the fields of the request that each changes by default."""


def _check_flags(query: tuple[str, ...], flags: dict[str, Any]) -> None:
    """Refuse flags that exclude each other."""
    names = {"bulk": "--bulk", "stream": "--stream", "queries": "--query", "cursor": "--cursor"}
    others = [flag for name, flag in names.items() if flags["interactive"] and flags[name]]
    asks = query or flags["queries"] or flags["stream"]
    no_paths = flags["files_with_matches"] and flags["form"] not in ("text", "paths")
    refuse_contradictions(
        (flags["bulk"] and asks, "`--bulk` takes its queries from stdin"),
        (others, f"`--interactive` and `{''.join(others[:1])}` exclude each other"),
        (no_paths, f"`-l` prints paths and `--format {flags['form']}` does not"),
    )


def _render_page(
    context: CommandContext,
    form: str,
    flags: dict[str, Any],
    reply: SearchResponse,
    canvas: "Canvas",
    *,
    whole: bool,
) -> Iterator[str]:
    """Return the lines of a page in a form of text output; notes on paths go to stderr."""
    from kebab.cli.render.hits import Paging, format_added_words, render_hits, render_notes

    chosen = any(flags[name] for name in ("limit", "cursor", "trace", "detail"))
    paging = Paging(
        grows=form != "compact",
        fits_screen=not (chosen or whole),
        shows_weak=whole,
        whole=bool(flags["detail"]),
        # A program that has made the call gets only the flags to add.
        repeat=format_added_words if form == "compact" else context.repeat_command,
    )
    if form == "text":
        return render_hits(reply, canvas, paging)
    from kebab.cli.render import compact

    if form == "compact":
        more = reply.has_more and reply.next_cursor and reply.hits
        next_page = paging.suggest_more(reply) if more else ""
        return compact.render_compact(reply, canvas, next_page, shows_weak=whole)
    context.print_notes(reply, partial(render_notes, paging=paging))
    return compact.render_paths(reply, canvas)


_LONGEST_REPEATED = 200
"""The longest query from stdin that commands for further pages repeat."""


@declare_command(
    "search",
    examples=(
        *_EXAMPLES,
        "kebab search -q 'restore a backup' -q 'retention policy' --format compact",
        "kebab search backup -l",
        'kebab fetch "$(kebab search -i backup)"',
        'kebab search "how is the cache cleared" --in ~/work/docs',
        'printf \'"backup"\\n{"query": "restore", "limit": 3}\\n\' | kebab search --bulk',
    ),
)
@click.argument("query", nargs=-1, metavar="[QUERY…]")
@click.option(
    "-q", "--query", "queries", multiple=True, metavar="QUERY", help="A query (repeatable)."
)
@field_options(
    SearchRequest,
    **PLAN_HELP,
    limit="Show at most N hits on a page.",
    cursor="Show the page after this cursor.",
    per_doc="Show at most N hits of one document.",
    min_confidence="Show only hits of at least this confidence.",
    sort="What comes first.",
    detail="How much text each hit carries.",
    snippet_chars="Show at most N characters of a snippet.",
    max_tokens="Limit the page to N tokens.",
    trace="Report each stage of the search.",
)
@click.option("--all", "show_all", is_flag=True, help="Show weak hits too, and the whole page.")
@filter_options
@in_option
@click.option(
    "--format",
    "form",
    type=click.Choice([*FORM_DEFAULTS, "json"]),
    default="text",
    callback=read_form,
    help="The form of output; `compact` prints whole passages, `json` is `--json`.",
)
@click.option("-l", "--files-with-matches", is_flag=True, help="Print paths only.")
@click.option(
    "-i", "--interactive", is_flag=True, help="Choose hits to open; `$(…)` gets the reference."
)
@ndjson_option("--bulk", help="Answer one query per line of stdin, as NDJSON.")
@ndjson_option("--stream", help="Send the hits as NDJSON frames.")
def command(context: CommandContext, /, query: tuple[str, ...], **flags: Any) -> Exit:
    """Find passages by words and by meaning.

    A passage may match any of the words. `"a phrase"` must occur exactly. After `--`, a word like
    `-draft` excludes passages, unless the query is a question or a command line. Hits must match
    all filters. Several queries (`-q A -q B`) are answered together, and each hit says which of
    them found it. `-` reads the query from stdin. Without a query a terminal shows hits while you
    type, as `-i` does. The exit status is 1 when no hit is above weak confidence.
    """
    _check_flags(query, flags)
    bulk, stream, form = flags.pop("bulk"), flags.pop("stream"), flags.pop("form")
    form = "paths" if flags.pop("files_with_matches") else form
    show_all, interactive = flags.pop("show_all"), flags.pop("interactive")
    folder: str | None = flags["folder"]
    frames = None
    if stream:
        from kebab.cli.progress import EventLines
        from kebab.server.events import SearchEncoder

        encoder = SearchEncoder()
        frames = EventLines(context, encoder, stream=True)
        frames.write(encoder.build_start())
    settings = context.load_settings()
    defaults = {} if context.flags.machine else FORM_DEFAULTS[form]
    fields = {**list_request_defaults("search", settings), **defaults, **select_given(flags)}
    chosen = any(flags[name] for name in ("detail", "snippet_chars", "max_tokens"))
    is_default = settings.search.snippet_chars == Search().snippet_chars
    to_person = form == "text" and not context.flags.machine and context.channels.out.is_terminal
    # A passage has the beginning of its code blocks and tables, which a snippet may lack.
    if to_person and is_default and not chosen:
        fields["detail"] = "passages"
    if show_all and fields.get("detail") == "best" and not flags["detail"]:
        fields["detail"] = "passages"
    if bulk:
        return _search_lines(context, settings, fields, folder)
    asked = query or flags["queries"] or any(flags.get(name) for name in FILTERS)
    if not (asked or stream or context.flags.machine):
        from kebab.cli.prompt import find_terminal

        seen = context.channels.out.is_terminal and find_terminal(context.channels) is not None
        interactive = interactive or seen
        if not interactive:
            context.channels.err.write_lines(["examples:", *(f"  {one}" for one in _EXAMPLES)])
    if interactive:
        return _pick_hit(context, settings, " ".join(query), fields, folder)
    text = read_argument(query, "query", MAX_QUERY_BYTES)
    if text != " ".join(query) and len(text) <= _LONGEST_REPEATED:
        # Commands that repeat this one have the query.
        context.arguments = tuple(text if one == query[0] else one for one in context.arguments)
    request = build_request(SearchRequest, fields, query=text)
    outdated: list[DegradedChannel] = []
    with context.open_kebab(settings) as kebab:
        if folder is not None:  # other searches do not load what ingests
            from kebab.cli.progress import refresh_folder

            outdated = refresh_folder(context, kebab, folder, [request.query, *request.queries])
        reply = context.keep_flags(kebab.run(request))
    reply = msgspec.structs.replace(reply, degraded=[*outdated, *reply.degraded])
    if frames:
        status = find_exit_status(reply)
        frames.finish(status, reply)
        return status
    if to_person and not context.flags.read_only:
        from kebab.app.last_hits import store_hits

        store_hits(settings, reply)
    # A page of the size that a person asks for is not shortened.
    whole = show_all or (form == "text" and flags["limit"] is not None)
    render = partial(_render_page, context, form, flags, whole=whole)
    return context.print_reply(reply, render)


def _pick_hit(
    context: CommandContext,
    settings: Settings,
    query: str,
    fields: dict[str, Any],
    folder: str | None,
) -> Exit:
    """Let a person open hits, or print the reference of the chosen one for a shell."""
    from kebab.cli.channels import OutputChannels
    from kebab.cli.commands.open import build_open_command, run_command
    from kebab.cli.picker import Selection, pick_hit
    from kebab.cli.progress import refresh_folder
    from kebab.cli.prompt import find_terminal
    from kebab.cli.render.hits import format_location, get_line

    channel = find_terminal(context.channels)
    if context.flags.machine or channel is None:
        raise click.UsageError("`--interactive` needs a terminal and prints no JSON")
    with context.open_kebab(settings) as kebab:
        refresh_folder(context, kebab, folder, ["any query"])

        def search(text: str) -> SearchResponse:
            changes = {"query": text, "detail": "passages"}
            return kebab.run(build_request(SearchRequest, fields | changes))

        def open_hit(hit: SearchHit, file: str) -> None:
            line, uri = get_line(hit.citation), hit.citation.uri
            words = build_open_command(file, line, uri, os.environ)
            run_command(words, file, OutputChannels(channel, channel), quiet=False)

        color = context.create_canvas(channel).color
        selection = Selection(search, open_hit, context.channels.out.is_terminal)
        hit = pick_hit(selection, query, channel, color=color)
    if hit is None:
        return Exit.INTERRUPTED
    context.channels.out.write(f"{format_location(hit.citation)}\n")
    return Exit.DONE


def _search_lines(
    context: CommandContext, /, settings: Settings, defaults: dict[str, Any], folder: str | None
) -> Exit:
    from kebab.cli.progress import refresh_folder
    from kebab.server.events import search_lines

    lines = iter(sys.stdin.buffer.readline, b"") if sys.stdin else ()
    statuses = set[Exit]()
    with context.open_kebab(settings) as kebab:
        refresh_folder(context, kebab, folder, ["all lines"])
        for item, status in search_lines(kebab.run, lines, settings, defaults):
            context.write_json(item, None)
            statuses.add(status)
    return min(statuses, default=Exit.NO)  # a convincing hit counts most, then an answer
