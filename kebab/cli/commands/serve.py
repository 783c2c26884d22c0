"""`kebab serve` runs the server, shows which servers run, and ends them.

It also renders replies as text for the model behind MCP.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from kebab.cli.command import declare_command
from kebab.cli.commands.open import open_browser, open_in_editor
from kebab.cli.options import Count, Fraction
from kebab.cli.render.canvas import Canvas
from kebab.config.settings import resolve_paths
from kebab.errors.catalog import DependencyMissing, IoError
from kebab.errors.signal import Exit
from kebab.wire.ask import Answer
from kebab.wire.fetch import FetchList, GrepResponse
from kebab.wire.health import HttpServerStarted, RunningWatcher, ServeStatus
from kebab.wire.record import Reply, format_timestamp
from kebab.wire.search import SearchResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kebab.cli.context import CommandContext
    from kebab.config.settings import Settings
    from kebab.server.application import Started
    from kebab.server.requests import ServerOptions
    from kebab.wire.stream import WatchEvent

BACKGROUND_IDLE_S = 7_200.0
"""How long a server that `kebab open --web` started goes on when nobody asks it anything."""


@declare_command(
    "serve",
    examples=(
        "kebab serve --open",
        "kebab serve --watch --allow-write",
        "kebab serve --status",
        "kebab serve --stop",
    ),
)
@click.option("--open", "opens", is_flag=True, help="Open the web page in the browser.")
@click.option("--host", metavar="HOST", help="Listen at this address, 127.0.0.1 unless told.")
@click.option(
    "--port",
    type=Count(0, 65_535),
    metavar="PORT",
    help="Listen at this port, 7717 unless told; 0 takes a free one.",
)
@click.option("--allow-write", is_flag=True, help="Let clients write and delete.")
@click.option("--watch", "watches", is_flag=True, help="Keep the index current meanwhile.")
@click.option(
    "--workers",
    type=Count(1, 64),
    metavar="N",
    help="Answer in N processes, 1 unless told.",
)
@click.option(
    "--deadline",
    type=Fraction(min=0),
    metavar="SECONDS",
    help="End requests after this time, 60 unless told; 0 means never. Long work has the limits"
    " of the settings.",
)
@click.option("--status", "shows_status", is_flag=True, help="Show the servers of this user.")
@click.option(
    "--stop",
    "stops",
    is_flag=True,
    help="End them, or only that at `--port`, and wait until they ended.",
)
@click.option("--background", is_flag=True, hidden=True, help="End when nobody asks anything.")
def command(context: CommandContext, /, **flags: Any) -> Exit:
    """Serve the operations, MCP and the web page over HTTP.

    The server listens on the loopback address, and goes on until Ctrl-C or SIGTERM. At `/` it has
    the web page; `--open` and `kebab open --web` let a browser in. Other clients send the token in
    the file that it names, as `Authorization: Bearer TOKEN`: a request of the operation OP as JSON
    to `POST /v1/OP`, or MCP to `POST /mcp`. With `--watch` it also does what `kebab watch` does.
    The exit status is 1 when `--status` or `--stop` finds no server.
    """
    given = {name for name, value in flags.items() if value not in (None, False)}
    asks = given & {"shows_status", "stops"}
    if asks and (len(asks) > 1 or given - asks - ({"port"} if flags["stops"] else set())):
        raise click.UsageError("`--status` and `--stop` go with no other flag but `--stop --port`")
    settings = context.load_settings()
    if asks:
        return _show_or_stop(context, settings, flags["port"], stops=flags["stops"])
    return _serve(context, settings, flags)


def _serve(context: CommandContext, settings: Settings, flags: dict[str, Any]) -> Exit:
    """Run the server."""
    if flags["allow_write"] or flags["watches"]:
        context.require_writable("serve")
    from kebab.server.application import Address, run_server
    from kebab.server.requests import DEFAULT_DEADLINE_S

    options = replace(
        build_options(context, allow_write=flags["allow_write"]),
        deadline_s=DEFAULT_DEADLINE_S if flags["deadline"] is None else flags["deadline"],
        workers=flags["workers"] or 1,
        idle_s=BACKGROUND_IDLE_S if flags["background"] else 0,
    )

    @contextmanager
    def announce(started: Started) -> Iterator[None]:
        address = started.address
        if not address.is_loopback:
            host = address.host
            context.warn(f"other machines can reach this server, without encryption: {host}")
        url = address.format_url()
        told = HttpServerStarted(
            url=url,
            token_path=started.token_path,
            pid=started.record.pid,
            allow_write=flags["allow_write"],
        )
        if context.flags.machine:
            context.write_event(told)
        else:
            lines = [f"listening: {url}", f"token: {started.token_path}"]
            context.channels.err.write_lines(lines)
        if flags["opens"]:
            login = started.folder.build_login(started.record.url)
            try:
                open_browser(login, os.environ)
            except (DependencyMissing, IoError):
                context.warn(f"no browser was opened, this link counts once: {login}")
        with _watch(context, settings, started) if flags["watches"] else nullcontext():
            yield

    default = Address()
    port = default.port if flags["port"] is None else flags["port"]
    return run_server(options, Address(flags["host"] or default.host, port), settings, announce)


@contextmanager
def _watch(context: CommandContext, settings: Settings, started: Started) -> Iterator[None]:
    """Keep the index current while the context is open; the record of the server says how."""
    from kebab.cli.render.ingest import render_watch_event
    from kebab.server.watcher import watch_in_thread

    state = RunningWatcher(state="waiting", at=started.record.started_at, folders=[])

    def show(event: WatchEvent) -> None:
        nonlocal state
        if context.flags.machine:
            context.write_event(event)
        context.print_notes(event, render_watch_event)
        state = RunningWatcher(
            state=event.kind,
            at=format_timestamp(time.time()),
            folders=event.folders or state.folders,
            message=event.error.message if event.error else event.message,
        )
        started.folder.write(replace(started.record, watcher=state))

    with watch_in_thread(settings, context.config_path, show):
        yield


def _show_or_stop(
    context: CommandContext, settings: Settings, port: int | None, *, stops: bool
) -> Exit:
    """End servers if it `stops`; the reply says which ended, and which still run."""
    from kebab.server.running import list_servers, stop_server

    state, stopped = resolve_paths(settings).state, []
    for folder, record in list_servers(state) if stops else ():
        if port is None or record.url.endswith(f":{port}"):
            stop_server(folder, record)
            stopped.append(record)
    servers = [record for _, record in list_servers(state)]
    reply = ServeStatus(running=bool(servers), servers=servers, stopped=stopped)
    found = stopped if stops else servers
    return context.print_reply(reply, _render_status, Exit.DONE if found else Exit.NO)


def _render_status(reply: ServeStatus, canvas: Canvas) -> Iterator[str]:
    if not reply.servers and not reply.stopped:
        yield "no server runs"
    for record in reply.stopped:
        yield f"ended    {record.url}, pid {record.pid}"
    for record in reply.servers:
        writes = ", may write" if record.allow_write else ""
        yield f"{record.url}, pid {record.pid}, version {record.version}{writes}"
        yield f"  since    {record.started_at}"
        yield f"  data     {record.data_dir}"
        if watcher := record.watcher:
            why = f", {watcher.message}" if watcher.message else ""
            yield f"  watcher  {watcher.state} at {watcher.at}{why}"
            yield from (f"           {folder}" for folder in watcher.folders)


def build_options(context: CommandContext, *, allow_write: bool) -> ServerOptions:
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


_FIELDLESS = dict.fromkeys(("--verbose", "--max-count"), "")
"""The flags that no field of a tool's arguments stands for."""
_PIPE = Canvas(
    complete=lambda hint: "" if " --" in hint else hint,  # no tool has flags, but fields
    name_flag=lambda flag: _FIELDLESS.get(flag, flag.removeprefix("--").replace("-", "_")),
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
        from kebab.cli.render.lines import render_fetched

        return render_fetched(reply, _PIPE, named=True)
    if isinstance(reply, GrepResponse):
        from kebab.cli.render.lines import list_grep_notes, render_below_files

        return chain(render_below_files(reply, _PIPE), list_grep_notes(reply, _PIPE))
    if isinstance(reply, Answer):
        from kebab.cli.render.answer import render_answer, render_notes

        return chain(render_answer(reply, _PIPE), render_notes(reply, _PIPE))
    module, name = _PIPE_RENDERERS[str(reply.__struct_config__.tag)]
    lines: Iterable[str] = getattr(import_module(f"kebab.cli.render.{module}"), name)(reply, _PIPE)
    return lines


# Names of modules, because each reply is rendered by modules that only its own tool needs.
_PIPE_RENDERERS = {
    "error.v1": ("errors", "render_error"),
    "ingest_report.v1": ("ingest", "render_ingest_report"),
    "not_found.v1": ("documents", "render_not_found"),
    "outline.v1": ("documents", "render_outline"),
}
"""The module and the function of replies that a model reads as a pipe does."""
