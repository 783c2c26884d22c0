"""`kebab serve` runs the warm process, shows its status, and ends it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.errors.signal import Exit, Signal
from kebab.wire.serve import ServeStatus

if TYPE_CHECKING:
    from kebab.cli.render.canvas import Canvas
    from kebab.warm.worker import KebabOpener

_MINUTE_S = 60
_MB = 1 << 20


@click.command(
    "serve",
    cls=Command,
    exits=(Exit.NO,),
    examples=("kebab serve --status", "kebab serve --stop"),
)
@click.option("--status", "shows_status", is_flag=True, help="Show the warm process.")
@click.option(
    "--stop", "stops", is_flag=True, help="End the warm process, and wait until it ended."
)
@click.option("--background", is_flag=True, hidden=True)
@click.pass_obj
def command(
    context: CommandContext, /, *, shows_status: bool, stops: bool, background: bool
) -> Exit:
    """Keep models and tables open, so that commands answer at once.

    Commands start this warm process by themselves, and it ends after ten minutes without one; the
    settings `daemon.auto` and `daemon.idle_minutes` change that. Without flags it runs in the
    foreground until Ctrl-C. The exit status is 1 when `--status` or `--stop` finds none, and when
    another one runs already.
    """
    if shows_status and stops:
        cause = "give one of `--status` and `--stop`"
        raise click.UsageError(cause, click.get_current_context())
    if shows_status:
        status = _read_status()
        return context.print_reply(status, _render_status, _choose_exit(done=status.running))
    if stops:
        return _stop(context)
    return _serve(context, background=background)


def _find_socket() -> str | None:
    if os.name != "posix":
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
        return context.print_reply(_read_status(), _render_status, Exit.NO)
    from kebab.warm.start import stop

    try:
        ended = stop(path)
    except OSError as fault:
        from kebab.errors.system import build_io_error

        raise build_io_error(fault, "write", path) from fault
    return context.print_reply(_read_status(), _render_status, _choose_exit(done=ended))


def _choose_exit(*, done: bool) -> Exit:
    return Exit.DONE if done else Exit.NO


def _serve(context: CommandContext, *, background: bool) -> Exit:
    """Run the warm process.

    Raises:
        IoError: The socket cannot be created.
    """
    path = _find_socket()
    if path is None:
        return context.print_reply(_read_status(), _render_status, Exit.NO)
    settings = context.load_settings()
    from kebab.cli.warm_calls import run_call
    from kebab.warm import place
    from kebab.warm.server import WarmServer
    from kebab.warm.worker import CallRunner

    _import_commands()
    if background:
        os.chdir("/")
    elif not context.flags.machine:
        context.channels.err.write_lines([f"listening: {path}"])

    def preload(opener: "KebabOpener") -> None:
        _preload(context, opener)

    server = WarmServer(
        path,
        place.compute_identity(os.environ),
        CallRunner(run_call, preload),
        settings.daemon.idle_minutes * _MINUTE_S,
    )
    if not server.serve(preload=True):
        return context.print_reply(_read_status(), _render_status, Exit.NO)
    return Exit.DONE


def _import_commands() -> None:
    """Import what the commands of the warm process need, so that workers share the memory."""
    import importlib

    from kebab.warm.client import COMMANDS

    for name in sorted(COMMANDS):
        importlib.import_module(f"kebab.cli.commands.{name}")


def _preload(context: CommandContext, opener: "KebabOpener") -> None:
    """Open what a search needs; a knowledge base that cannot be searched is left alone."""
    from kebab.wire.search import SearchRequest

    settings = context.load_settings()
    request = SearchRequest(query="kebab", mode=settings.search.mode, limit=1)
    with (
        suppress(Signal),
        # Read-only, because a search that nobody asked for must leave nothing behind.
        opener(settings, config_path=context.config_path, read_only=True) as kebab,
    ):
        kebab.search(request)


def _render_status(reply: ServeStatus, canvas: "Canvas") -> Iterator[str]:
    del canvas
    if not reply.running:
        yield "the warm process does not run"
        return
    yield f"pid      {reply.pid}, version {reply.version}"
    yield f"socket   {reply.socket}"
    yield f"up       {reply.uptime_s or 0:.0f} s, idle {reply.idle_s or 0:.0f} s"
    yield f"calls    {reply.calls}"
    yield f"memory   {(reply.memory_bytes or 0) / _MB:.0f} MB"
    for worker in reply.workers:
        state = "busy" if worker.busy else "idle"
        memory = worker.memory_bytes / _MB
        yield f"worker   {worker.pid}, {state}, {worker.calls} calls, {memory:.0f} MB"
