"""Opens the web page: finds or starts the server that shows it, and lets the browser in."""

import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from kebab.cli.context import CommandContext, list_place_flags
from kebab.config.settings import Settings, resolve_paths
from kebab.errors.catalog import DependencyMissing, IoError
from kebab.errors.system import build_missing_program
from kebab.wire.library import FetchResult

if TYPE_CHECKING:
    from kebab.server.running import ServerFolder
    from kebab.wire.health import RunningServer

_START_S, _PAUSE_S = 30.0, 0.05
_USUAL_PORT = 7717


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
