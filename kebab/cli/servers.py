"""Prepares servers, opens the web page, and renders replies as text for the model behind MCP."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING

from kebab.cli.context import CommandContext, list_place_flags
from kebab.cli.render.canvas import Canvas, clean
from kebab.config.settings import Settings, resolve_paths
from kebab.errors.catalog import DependencyMissing, IoError
from kebab.errors.system import build_missing_program
from kebab.wire.ask import Answer
from kebab.wire.fetch import FetchList, GrepResponse
from kebab.wire.library import FetchResult
from kebab.wire.record import NotFound, Reply
from kebab.wire.search import SearchResponse

if TYPE_CHECKING:
    from kebab.server.requests import ServerOptions
    from kebab.server.running import ServerFolder
    from kebab.wire.health import RunningServer

_START_S, _PAUSE_S = 30.0, 0.05
_USUAL_PORT = 7717


def build_options(context: CommandContext, *, allow_write: bool) -> "ServerOptions":
    """Return how a server runs operations on the knowledge base of this call."""
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


def open_page(context: CommandContext, url: str) -> None:
    """Open an address in the browser; where there is none, say it instead."""
    from kebab.cli.editor import open_browser

    try:
        open_browser(url, os.environ)
    except (DependencyMissing, IoError):
        context.warn(f"no browser was opened, this link counts once: {url}")


def open_in_editor(found: FetchResult, line: int) -> None:
    """Open a document at a line in an editor with a window of its own, else in its program.

    Raises:
        DependencyMissing: There is no program for it.
        IoError: The program cannot be started, or fails.
    """
    from kebab.cli.editor import build_window_command, start_program
    from kebab.core.files import find_container

    file = str(found.file)
    words = build_window_command(find_container(file), found.citation, line, os.environ)
    start_program(words, "export VISUAL=code")


def find_or_start_server(
    context: CommandContext, settings: Settings
) -> "tuple[ServerFolder, RunningServer, bool]":
    """Return the server of this knowledge base, and whether it was started now.

    Raises:
        DependencyMissing: None runs, and none can be started in the background here.
    """
    from kebab.server.running import find_server

    paths = resolve_paths(settings)
    if found := find_server(paths.state, paths.data):
        return *found, False
    started = _start_server(context)
    ends_at = time.monotonic() + _START_S
    while started is not None and started.poll() is None and time.monotonic() < ends_at:
        if found := find_server(paths.state, paths.data):
            return *found, True
        time.sleep(_PAUSE_S)
    raise build_missing_program("kebab serve", "the web page", "kebab serve --open")


def _start_server(context: CommandContext) -> "subprocess.Popen[bytes] | None":
    """Start a server in the background, at the usual port if it is free."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", _USUAL_PORT))
            port = _USUAL_PORT
        except OSError:
            port = 0
    flags = [*list_place_flags(context.flags), *["--read-only"] * context.flags.read_only]
    # With `-P` the working directory is not searched for modules.
    words = [sys.executable, "-P", "-m", "kebab", "serve", "--background", "--port", str(port)]
    with suppress(OSError):
        return subprocess.Popen(  # noqa: S603 - this program
            [*words, *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    return None


def _name_field(flag: str) -> str:
    """Return the field of a tool's arguments that a flag sets, empty when none does."""
    return "" if flag in ("--verbose", "--max-count") else flag.removeprefix("--").replace("-", "_")


_PIPE = Canvas(
    complete=lambda hint: "" if " --" in hint else hint,  # no tool has flags
    name_flag=_name_field,
)


def render_for_model(reply: Reply) -> str:
    """Return the text of a reply: what the command line prints to a program, with its notes."""
    return "\n".join(_render(reply)).strip("\n")


def _render(reply: Reply) -> Iterable[str]:
    if isinstance(reply, SearchResponse):
        from kebab.cli.render.compact import render_compact

        more = reply.has_more and reply.hits
        return render_compact(reply, _PIPE, f'cursor "{reply.next_cursor}"' if more else "")
    if isinstance(reply, FetchList):
        return _render_fetched(reply)
    if isinstance(reply, GrepResponse):
        from kebab.cli.render.lines import list_grep_notes, render_below_files

        return chain(render_below_files(reply, _PIPE), list_grep_notes(reply, _PIPE))
    if isinstance(reply, Answer):
        from kebab.cli.render.answer import render_answer, render_notes

        return chain(render_answer(reply, _PIPE), render_notes(reply, _PIPE))
    module, name = _PIPE_RENDERERS[str(reply.__struct_config__.tag)]
    lines: Iterable[str] = getattr(import_module(f"kebab.cli.render.{module}"), name)(reply, _PIPE)
    return lines


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


# Names of modules, because each reply is rendered by modules that only its own tool needs.
_PIPE_RENDERERS = {
    "error.v1": ("errors", "render_error"),
    "ingest_report.v1": ("ingest", "render_ingest_report"),
    "not_found.v1": ("documents", "render_not_found"),
    "outline.v1": ("documents", "render_outline"),
}
"""The module and the function of replies that a model reads as a pipe does."""
