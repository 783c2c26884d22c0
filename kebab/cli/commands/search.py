"""`kebab search`."""

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import build_request, filter_options, merge_flags, ndjson_option
from kebab.config.settings import Settings
from kebab.errors.signal import Exit
from kebab.wire.record import DECODE_ERRORS
from kebab.wire.search import MAX_LIMIT, SearchRequest, SearchResponse

if TYPE_CHECKING:
    from kebab.cli.render.canvas import Canvas
    from kebab.cli.streams import SearchFrames


@click.command(
    "search",
    cls=Command,
    exits=(Exit.NO, Exit.UNUSABLE),
    examples=(
        'kebab search "how do I restore a backup"',
        "kebab search snapshot --tag ops --since 30d --limit 5",
        "kebab search --mode lexical '\"exact phrase\"' -- -draft",
        'printf \'"backup"\\n{"query": "restore", "limit": 3}\\n\' | kebab search --bulk',
    ),
)
@click.argument("query", nargs=-1, metavar="QUERY…")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "lexical", "vector"]),
    help="Which search channels to use.",
)
@click.option(
    "-n", "--limit", type=click.IntRange(1, MAX_LIMIT), help="Show at most N hits on a page."
)
@click.option("--cursor", metavar="CURSOR", help="Show the page after this cursor.")
@filter_options
@click.option("--per-doc", type=click.IntRange(1), help="Show at most N hits of one document.")
@click.option(
    "--snippet-chars",
    type=click.IntRange(20, 10_000),
    help="Show at most N characters of a snippet.",
)
@click.option("--max-tokens", type=click.IntRange(1), help="Limit all hits together to N tokens.")
@click.option("--trace", is_flag=True, help="Report what each stage did.")
@ndjson_option("--bulk", help="Answer one query per line of stdin, as NDJSON.")
@ndjson_option("--stream", help="Send the hits as NDJSON frames.")
@click.pass_obj
def command(context: CommandContext, /, query: tuple[str, ...], **flags: Any) -> Exit:
    """Find passages by words and by meaning.

    Words are joined, and any of them may match; `"a phrase"` must occur as it stands, and after
    `--` a word like `-draft` leaves passages out. All filters must hold.
    """
    bulk, stream = flags.pop("bulk"), flags.pop("stream")
    if bulk and (query or stream):
        raise click.UsageError("`--bulk` takes its queries from stdin", click.get_current_context())
    frames = _frames(context) if stream else None
    settings = context.load_settings()
    fields = merge_flags(msgspec.to_builtins(settings.search), flags)
    if bulk:
        return _bulk(context, settings, fields)
    request = build_request({"query": " ".join(query), **fields}, SearchRequest)
    with context.open_kebab(settings) as kebab:
        reply = kebab.search(request)
    status = Exit.DONE if reply.hits else Exit.NO
    if frames:
        return frames.finish(reply, status)

    def draw(reply: SearchResponse, canvas: "Canvas") -> Iterator[str]:
        from kebab.cli.render import hits

        again = (
            context.repeat_command_with("--cursor", reply.next_cursor) if reply.next_cursor else ""
        )
        return hits.render_hits(reply, canvas, again)

    return context.print_reply(reply, draw, status)


def _frames(context: CommandContext) -> "SearchFrames":
    from kebab.cli.streams import SearchFrames

    return SearchFrames(context)


def completed(lines: Iterable[bytes], defaults: dict[str, Any]) -> Iterator[bytes]:
    """Yield each line with the flags' values where it says nothing itself.

    A line that is neither a JSON string nor an object is left alone, to be refused by itself.
    """
    for line in lines:
        try:
            said = msgspec.json.decode(line)
        except DECODE_ERRORS:
            said = None
        if isinstance(said, str):
            said = {"query": said}
        yield msgspec.json.encode({**defaults, **said}) if isinstance(said, dict) else line


def _bulk(context: CommandContext, /, settings: Settings, defaults: dict[str, Any]) -> Exit:
    from kebab.app.bulk import search_lines
    from kebab.app.classify import build_view

    source = iter(sys.stdin.buffer.readline, b"") if sys.stdin else iter(())
    found = False
    with context.open_kebab(settings) as kebab:
        lines = completed(source, defaults)
        for item in search_lines(kebab.search, lines, build_view(settings)):
            context.write_json(item, None)
            found = found or bool(item.response and item.response.hits)
    return Exit.DONE if found else Exit.NO
