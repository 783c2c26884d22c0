"""`kebab serve` runs the warm process, shows its status, and ends it; or the HTTP server."""

from __future__ import annotations

import os
import signal
from contextlib import chdir, suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.command import Command
from kebab.core.progress import RunCold
from kebab.errors.signal import Exit, Signal
from kebab.platform import is_windows
from kebab.wire.health import HttpServerStarted, ServeStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kebab.cli.context import CommandContext
    from kebab.cli.render.canvas import Canvas
    from kebab.warm.worker import Call, KebabOpener

_OUT, _ERR = 1, 2


class CollectedChannel(OutputChannel):
    """A channel of another process; its output is collected until the call goes on live."""

    def __init__(self, call: Call, stream: int, name: str, *, best_effort: bool = False) -> None:
        super().__init__(call.descriptors[stream], name, best_effort=best_effort)
        self._call = call
        self._stream = stream

    def write_bytes(self, data: bytes) -> None:
        """Keep all bytes, or write them as `OutputChannel` does when the call is live."""
        if not self._call.collect(self._stream, bytes(data)):
            self.write_now(data)

    def write_now(self, data: bytes) -> None:
        """Write all bytes."""
        super().write_bytes(data)


def run_call(call: Call, opener: KebabOpener, leave: Callable[[int], NoReturn]) -> int:
    """Run a command line for a client; return its exit status.

    Raises:
        RunCold: The client must run it.
    """
    from kebab.cli.main import main

    out = CollectedChannel(call, _OUT, "<stdout>")
    err = CollectedChannel(call, _ERR, "<stderr>", best_effort=True)
    by_stream = {_OUT: out, _ERR: err}
    call.write_live = lambda stream, data: by_stream[stream].write_now(data)
    return main(
        call.request.arguments,
        OutputChannels(out, err),
        signals=(signal.SIGINT,),
        kebab_factory=opener,
        leave=leave,
    )


_MINUTE_S = 60
_MB = 1 << 20


@click.command(
    "serve",
    cls=Command,
    exits=(Exit.NO,),
    examples=(
        "kebab serve --status",
        "kebab serve --stop",
        "kebab serve --http --open",
        "kebab serve --http 127.0.0.1:8080 --allow-write",
    ),
)
@click.option("--status", "shows_status", is_flag=True, help="Show the warm process.")
@click.option(
    "--stop", "stops", is_flag=True, help="End the warm process, and wait until it ended."
)
@click.option(
    "--http",
    "address",
    metavar="[HOST:PORT]",
    is_flag=False,
    flag_value="",
    help="Run the HTTP server, at 127.0.0.1:7717 unless told.",
)
@click.option(
    "--allow-write", is_flag=True, help="Let clients of the HTTP server write and delete."
)
@click.option(
    "--deadline",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="End HTTP requests after this time, 60 unless told; 0 means never. Long work has the"
    " limits of the settings.",
)
@click.option(
    "--workers",
    type=click.IntRange(0, 64),
    metavar="N",
    help="Answer reads that come at the same time in up to N further processes; unless told one for"
    " each core, at most 4.",
)
@click.option("--open", "opens", is_flag=True, help="Open the web page of the HTTP server.")
@click.option("--background", is_flag=True, hidden=True, help="Be the process that commands start.")
@click.pass_obj
def command(
    context: CommandContext, /, *, shows_status: bool, stops: bool, background: bool, **http: Any
) -> Exit:
    """Keep models and tables open.

    Commands start this warm process by themselves, and it ends after ten minutes without one; the
    settings `daemon.auto` and `daemon.idle_minutes` change that. Without flags it runs in the
    foreground until Ctrl-C. The exit status is 1 when `--status` or `--stop` finds none, and when
    another one runs already.

    With `--http` it is the HTTP server instead, until Ctrl-C or SIGTERM. Clients send the token in
    the file that it names, as `Authorization: Bearer TOKEN`, and a request of the operation OP as
    JSON to `POST /v1/OP`. `GET /v1/openapi.json` describes all of them. At `/` it has a web page;
    `--open` and `kebab open --web` let a browser in.
    """
    if shows_status and stops:
        raise click.UsageError("give one of `--status` and `--stop`")
    if http["address"] is not None:
        if shows_status or stops:
            raise click.UsageError("`--http` goes with neither `--status` nor `--stop`")
        return _serve_http(context, _HttpFlags(**http, background=background))
    if any(value is not None and value is not False for value in http.values()):
        flags = "`--allow-write`, `--deadline`, `--workers` and `--open`"
        raise click.UsageError(f"{flags} go with `--http`")
    context.load_settings()
    if stops:
        return _stop(context)
    if not shows_status:
        return _serve(context, background=background)
    status = _read_status()
    return context.print_reply(status, _render_status, Exit.DONE if status.running else Exit.NO)


class _HttpFlags(NamedTuple):
    """The flags of the HTTP server."""

    address: str
    allow_write: bool
    deadline: float | None
    workers: int | None
    opens: bool
    background: bool


def _serve_http(context: CommandContext, http: _HttpFlags) -> Exit:
    """Run the HTTP server."""
    settings = context.load_settings()
    from kebab.cli.web_page import BACKGROUND_IDLE_S, ServedPage
    from kebab.config.load import load_settings
    from kebab.http.server import Running, parse_address, run_http_server
    from kebab.http.service import DEFAULT_DEADLINE_S, ServiceOptions, count_workers

    flags = {"data_dir": context.flags.data_dir, "lang": context.flags.lang}
    options = ServiceOptions(
        config_path=context.config_path,
        load_settings=partial(load_settings, context.named_config_path, flags=flags),
        allow_write=http.allow_write,
        read_only=context.flags.read_only,
        workers=count_workers() if http.workers is None else http.workers,
        deadline_s=DEFAULT_DEADLINE_S if http.deadline is None else http.deadline,
    )

    page = ServedPage(context, settings, allow_write=http.allow_write)

    def announce(running: Running) -> None:
        if not running.address.is_loopback:
            host = running.address.host
            context.warn(f"other machines can reach this server, without encryption: {host}")
        started = HttpServerStarted(
            url=running.address.format_url(),
            token_path=running.token_path,
            pid=os.getpid(),
            allow_write=http.allow_write,
        )
        if context.flags.machine:
            context.write_event(started)
        else:
            lines = [f"listening: {started.url}", f"token: {started.token_path}"]
            context.channels.err.write_lines(lines)
        record = page.publish(running)
        if http.opens:
            page.open(record)

    place = parse_address(http.address)
    try:
        return run_http_server(
            options,
            place,
            settings,
            build_mounts=page.build_mounts,
            on_start=announce,
            idle_s=BACKGROUND_IDLE_S if http.background else 0,
        )
    finally:
        page.close()


def _find_socket() -> str | None:
    if is_windows():
        return None
    from kebab.warm.start import find_own_socket

    return find_own_socket(os.environ)


def _read_status() -> ServeStatus:
    path = _find_socket()
    if path is not None:
        from kebab.warm.start import ask_status

        fields = ask_status(path)
        if fields is not None:
            import msgspec

            return msgspec.convert({**fields, "running": True, "socket": path}, ServeStatus)
    return ServeStatus(running=False, socket=path)


def _stop(context: CommandContext) -> Exit:
    """End the warm process; the reply is the status afterwards."""
    path = _find_socket()
    if path is None:
        return _report_no_socket(context)
    from kebab.warm.start import stop

    try:
        ended = stop(path)
    except OSError as fault:
        from kebab.errors.system import build_io_error

        raise build_io_error(fault, "write", path) from fault
    render = partial(_render_status, absent="the warm process ended") if ended else _render_status
    return context.print_reply(_read_status(), render, Exit.DONE if ended else Exit.NO)


def _report_no_socket(context: CommandContext) -> Exit:
    """Say why no warm process can run here."""
    if is_windows():
        context.warn("no warm process: it needs Linux or macOS")
    else:
        context.warn("no warm process: the path in `XDG_RUNTIME_DIR` or `TMPDIR` is too long")
    return context.print_reply(_read_status(), _render_status, Exit.NO)


def _serve(context: CommandContext, *, background: bool) -> Exit:
    """Run the warm process."""
    path = _find_socket()
    if path is None:
        return _report_no_socket(context)
    settings = context.load_settings()
    from kebab.warm import client
    from kebab.warm.server import WarmServer
    from kebab.warm.worker import CallRunner, build_demand

    for name in sorted(client.COMMANDS):  # so that workers share the memory
        import_module(f"kebab.cli.commands.{name}")
    writable = not context.flags.read_only
    demand = build_demand(settings, context.config_path, os.environ) if writable else None
    folder = "/"
    with suppress(OSError):  # the folder of the caller may be deleted by now
        folder = os.getcwd()  # noqa: PTH109 - a string is wanted
    os.chdir("/")

    def announce() -> None:
        if not background and not context.flags.machine:
            context.channels.err.write_lines([f"listening: {path}", "Ctrl-C ends"])

    server = WarmServer(
        path,
        client.compute_identity(os.environ),
        CallRunner(run_call, partial(_preload, context, folder)),
        settings.daemon.idle_minutes * _MINUTE_S,
        demand,
    )
    if not server.serve(on_start=announce):
        render = partial(_render_status, heading="the warm process runs already")
        return context.print_reply(_read_status(), render, Exit.NO)
    return Exit.DONE


def _preload(context: CommandContext, folder: str, opener: KebabOpener) -> None:
    """Open what a search needs; a knowledge base that cannot be searched is left alone.

    Relative paths of the settings begin at `folder`, which is not kept in use.
    """
    from kebab.wire.search import SearchRequest

    settings = context.load_settings()
    request = SearchRequest(query="kebab", mode=settings.search.mode, limit=1)
    with (
        suppress(Signal, RunCold, OSError),
        chdir(folder),
        # Read-only, because a search that nobody asked for must leave nothing behind.
        opener(settings, config_path=context.config_path, read_only=True) as kebab,
    ):
        kebab.run(request)


def _render_status(
    reply: ServeStatus,
    canvas: Canvas,
    *,
    heading: str = "",
    absent: str = "the warm process does not run",
) -> Iterator[str]:
    if not reply.running:
        yield absent
        return
    if heading:
        yield heading
    yield f"pid      {reply.pid}, version {reply.version}"
    yield f"socket   {reply.socket}"
    yield f"up       {reply.uptime_s or 0:.0f} s, idle {reply.idle_s or 0:.0f} s"
    yield f"calls    {reply.calls}"
    own = reply.memory_bytes or 0
    total = own + sum(worker.memory_bytes for worker in reply.workers)
    total += sum(watcher.memory_bytes for watcher in reply.watchers)
    yield f"memory   {total / _MB:.0f} MB in all, {own / _MB:.0f} MB in the parent"
    for worker in reply.workers:
        state, memory = "busy" if worker.busy else "idle", worker.memory_bytes / _MB
        calls = "1 call" if worker.calls == 1 else f"{worker.calls} calls"
        yield f"worker   {worker.pid}, {state}, {calls}, {memory:.0f} MB"
    for watcher in reply.watchers:
        memory = watcher.memory_bytes / _MB
        state = f"{watcher.pid}, {memory:.0f} MB" if watcher.pid else watcher.error or "ended"
        yield f"watcher  {state}, {watcher.data_dir}"
