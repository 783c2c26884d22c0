"""Prepares servers, and renders replies as text for the model behind a client of MCP."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

from kebab.cli.context import CommandContext
from kebab.cli.render.canvas import Canvas, clean
from kebab.wire.ask import Answer
from kebab.wire.fetch import FetchList, GrepResponse
from kebab.wire.record import NotFound, Reply
from kebab.wire.search import SearchResponse

if TYPE_CHECKING:
    from kebab.server.requests import ServerOptions


def _name_field(flag: str) -> str:
    """Return the field of a tool's arguments that a flag sets, empty when none does."""
    return "" if flag in ("--verbose", "--max-count") else flag.removeprefix("--").replace("-", "_")


_PIPE = Canvas(
    complete=lambda hint: "" if " --" in hint else hint,  # no tool has flags
    name_flag=_name_field,
)


def render_for_model(reply: Reply) -> str:
    """Return the text of a reply: what the command line prints to a program, with its notes."""
    tag = str(reply.__struct_config__.tag)
    if tag in _RENDERERS:
        lines = _RENDERERS[tag](reply)
    else:
        module, name = _PIPE_RENDERERS[tag]
        lines = getattr(import_module(f"kebab.cli.render.{module}"), name)(reply, _PIPE)
    return "\n".join(lines).strip("\n")


def _render_search(reply: SearchResponse) -> Iterator[str]:
    from kebab.cli.render.compact import render_compact

    more = reply.has_more and reply.hits
    next_page = f'cursor "{reply.next_cursor}"' if more else ""
    return render_compact(reply, _PIPE, next_page)


def _render_fetched(reply: FetchList) -> Iterator[str]:
    """Yield each text below its reference, and what is left out."""
    from kebab.cli.render.documents import render_not_found
    from kebab.cli.render.hits import note_freshness, note_origin
    from kebab.cli.render.lines import describe_extent, render_lines

    for number, one in enumerate(reply.results):
        if number:
            yield ""
        if isinstance(one, NotFound):
            yield from render_not_found(one, _PIPE)
            continue
        changed = note_freshness(one.freshness, ", {}") + note_origin(one.citation, ", {}")
        indexed = ", this is the text that was indexed" * one.is_indexed_text
        yield f"==> {clean(one.citation.uri)} <== {describe_extent(one)}{changed}{indexed}"
        yield from render_lines(one, _PIPE)
        if one.rest:
            yield f"cut off by max_tokens; the rest: {clean(one.rest)}"


def _render_grep(reply: GrepResponse) -> Iterator[str]:
    from kebab.cli.render.lines import list_grep_notes, render_below_files

    return chain(render_below_files(reply, _PIPE), list_grep_notes(reply, _PIPE))


def _render_answer(reply: Answer) -> Iterator[str]:
    from kebab.cli.render.answer import render_answer, render_notes

    return chain(render_answer(reply, _PIPE), render_notes(reply, _PIPE))


_RENDERERS: Mapping[str, Callable[[Any], Iterator[str]]] = {
    "answer.v1": _render_answer,
    "fetch_list.v1": _render_fetched,
    "grep_response.v1": _render_grep,
    "search_response.v1": _render_search,
}

# Names of modules, because each reply is rendered by modules that only its own tool needs.
_PIPE_RENDERERS = {
    "error.v1": ("errors", "render_error"),
    "ingest_report.v1": ("ingest", "render_ingest_report"),
    "not_found.v1": ("documents", "render_not_found"),
    "outline.v1": ("documents", "render_outline"),
}
"""The module and the function of replies that a model reads as a pipe does."""


def build_options(context: CommandContext, *, allow_write: bool) -> "ServerOptions":
    """Return how a server runs operations on the knowledge base of this call."""
    from kebab.cli.web_page import open_in_editor
    from kebab.config.load import load_settings
    from kebab.server.requests import ServerOptions

    flags = {"data_dir": context.flags.data_dir, "lang": context.flags.lang}
    return ServerOptions(
        config_path=context.config_path,
        load_settings=partial(load_settings, context.named_config_path, flags=flags),
        allow_write=allow_write,
        read_only=context.flags.read_only,
        render=render_for_model,
        open_file=open_in_editor,
    )
