"""Renders replies for the model behind an MCP client, with the renderers of the command line."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.width import clean
from kebab.wire.fetch import FetchList
from kebab.wire.grep import GrepResponse
from kebab.wire.library import FetchResult, NotFound
from kebab.wire.record import Reply
from kebab.wire.search import SearchResponse

_PIPE = Canvas()
_WIDE = Canvas(width=1_000_000)
"""Groups lines below their file as on a terminal, and cuts none."""


def render_for_model(reply: Reply) -> str:
    """Return the text of a reply: what the command line prints to a program, with its notes."""
    lines = _RENDERERS[str(reply.__struct_config__.tag)](reply)
    return "\n".join(lines).strip("\n")


def _render_search(reply: SearchResponse) -> Iterator[str]:
    from kebab.cli.render.compact import render_compact

    more = reply.has_more and reply.hits
    next_page = f'cursor "{reply.next_cursor}"' if more else ""
    return render_compact(reply, _PIPE, next_page, budget="max_tokens")


def _render_fetched(reply: FetchList) -> Iterator[str]:
    """Yield each text below its reference, and what is left out."""
    from kebab.cli.render.documents import render_not_found
    from kebab.cli.render.fetched import render_lines

    for number, one in enumerate(reply.results):
        if number:
            yield ""
        if isinstance(one, NotFound):
            yield from render_not_found(one, _PIPE)
            continue
        yield f"==> {clean(one.citation.uri)} <=={_describe_state(one)}"
        yield from render_lines(one, _PIPE)
        if one.rest:
            yield f"cut off by max_tokens; the rest: {clean(one.rest)}"


def _describe_state(one: FetchResult) -> str:
    """Return where the lines are in their document, and whether it has changed."""
    lines = f" lines {one.start_line} to {one.end_line} of {one.line_count}"
    changed = {"fresh": "", "changed": ", changed since", "gone": ", file is gone"}[one.freshness]
    return lines + changed + (", this is the text that was indexed" * one.is_indexed_text)


def _render_grep(reply: GrepResponse) -> Iterator[str]:
    from kebab.cli.render.grep import list_grep_notes, render_matches

    yield from chain(render_matches(reply, _WIDE), list_grep_notes(reply, _PIPE))


def _render_outline(reply: Any) -> Iterator[str]:
    from kebab.cli.render.outline import render_outline

    return render_outline(reply, _PIPE)


def _render_why(reply: Any) -> Iterator[str]:
    from kebab.cli.render.why import render_why

    return render_why(reply, _PIPE)


def _render_paths(reply: Any) -> Iterator[str]:
    from kebab.cli.render.path_explanation import render_path_explanations

    return render_path_explanations(reply, _PIPE)


def _render_not_found(reply: Any) -> Iterator[str]:
    from kebab.cli.render.documents import render_not_found

    return render_not_found(reply, _PIPE)


def _render_report(reply: Any) -> Iterator[str]:
    from kebab.cli.render.report import render_ingest_report

    return render_ingest_report(reply, _PIPE)


def _render_answer(reply: Any) -> Iterator[str]:
    from kebab.cli.render.answer import render_answer, render_notes

    yield from chain(render_answer(reply, _PIPE), render_notes(reply, _PIPE))


def _render_error(reply: Any) -> Iterator[str]:
    from kebab.cli.render.errors import render_error

    return render_error(reply, _PIPE)


# The names of the records, because each is rendered by modules that only its own tool needs.
_RENDERERS: Mapping[str, Callable[[Any], Iterator[str]]] = {
    "answer.v1": _render_answer,
    "error.v1": _render_error,
    "explanation.v1": _render_why,
    "fetch_list.v1": _render_fetched,
    "grep_response.v1": _render_grep,
    "ingest_report.v1": _render_report,
    "not_found.v1": _render_not_found,
    "outline.v1": _render_outline,
    "path_explanations.v1": _render_paths,
    "search_response.v1": _render_search,
}
