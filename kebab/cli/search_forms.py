"""Selects and renders the forms of text output of a search."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from kebab.cli.context import CommandContext
from kebab.wire.search import SearchRequest, SearchResponse

if TYPE_CHECKING:
    from kebab.cli.render.canvas import Canvas
    from kebab.cli.render.pages import Paging

FORM_DEFAULTS: dict[str, dict[str, Any]] = {
    "text": {},
    "compact": {"detail": "passages", "limit": 5},
    "vimgrep": {"detail": "passages"},
    "paths": {"detail": "ids", "per_doc": 1},
}
"""The forms of text output with the fields of the request that each changes by default."""


def pop_form(flags: dict[str, Any]) -> str:
    """Return the form of text output, and drop its flags.

    Raises:
        UsageError: `-l` contradicts another form.
    """
    form: str = flags.pop("form")
    if not flags.pop("files_with_matches"):
        return form
    if form not in ("text", "paths"):
        cause = f"`-l` prints paths and `--format {form}` does not"
        raise click.UsageError(cause, click.get_current_context())
    return "paths"


def refuse_contradictions(query: tuple[str, ...], flags: dict[str, Any]) -> None:
    """Refuse flags that exclude each other.

    Raises:
        UsageError: Queries come from stdin and from the command line, a person chooses from
            something else than the first page of one query, or the lines of whole passages are
            wanted of cut ones.
    """
    ctx = click.get_current_context()
    if flags["bulk"] and (query or flags["queries"] or flags["stream"]):
        raise click.UsageError("`--bulk` takes its queries from stdin", ctx)
    if flags["form"] == "vimgrep" and flags["max_tokens"] and not ctx.obj.flags.machine:
        raise click.UsageError("`--format vimgrep` and `--max-tokens` exclude each other", ctx)
    if flags["interactive"]:
        others = {"bulk": "--bulk", "stream": "--stream", "queries": "--query"}
        others |= {"page": "--page", "cursor": "--cursor"}
        for name, flag in others.items():
            if flags[name]:
                raise click.UsageError(f"`--interactive` and `{flag}` exclude each other", ctx)


def build_paging(
    context: CommandContext, request: SearchRequest, flags: dict[str, Any], *, show_all: bool
) -> "Paging":
    """Return what a page of text shows; a page that the caller chooses is shown whole."""
    from kebab.cli.render.pages import Paging

    chosen = any(flags[name] for name in ("limit", "page", "cursor", "trace", "detail"))
    return Paging(
        limit=request.limit,
        page=request.page or 1,
        fits_screen=not (chosen or show_all),
        shows_weak=show_all,
        whole=bool(flags["detail"]),
        repeat=context.repeat_command,
    )


def render_form(
    form: str, reply: SearchResponse, canvas: "Canvas", paging: "Paging"
) -> Iterator[str]:
    """Yield the lines of a page in a form of text output."""
    if form == "text":
        from kebab.cli.render.pages import render_hits

        return render_hits(reply, canvas, paging)
    if form == "compact":
        from kebab.cli.render.compact import render_compact

        return render_compact(reply, canvas, _find_next_page(reply, paging))
    from kebab.cli.render.paths import render_paths, render_vimgrep

    return render_paths(reply, canvas) if form == "paths" else render_vimgrep(reply, canvas)


def write_notes(
    context: CommandContext, form: str, reply: SearchResponse, paging: "Paging"
) -> None:
    """Write notes on lines for programs to stderr, because stdout has only the lines."""
    if form not in ("paths", "vimgrep"):
        return
    from kebab.cli.render.paths import render_notes

    canvas = context.create_canvas(context.channels.err)
    context.channels.err.write_lines(render_notes(reply, canvas, _find_next_page(reply, paging)))


def _find_next_page(reply: SearchResponse, paging: "Paging") -> str:
    """Return the command for the next page, empty at the end."""
    more = reply.has_more and reply.next_cursor and reply.hits
    return paging.next_page(reply, reply.hits[-1].rank) if more else ""
