"""Puts the web page into the HTTP server, and finds or starts the server that shows it."""

import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

from kebab.cli.context import CommandContext, list_place_flags
from kebab.cli.mcp import MCP_PATH, build_application
from kebab.config.settings import Settings, resolve_paths
from kebab.errors.catalog import DependencyMissing, IoError
from kebab.errors.system import build_missing_program, translate_os_errors
from kebab.platform import is_windows
from kebab.wire.library import FetchResult

if TYPE_CHECKING:
    from kebab.http.application import MountedApp
    from kebab.http.server import Running
    from kebab.http.service import Service
    from kebab.web.discovery import ServerRecord

BACKGROUND_IDLE_S = 7_200.0
"""How long a server that `kebab open --web` started goes on when nobody asks it anything."""
_START_S = 30.0
_USUAL_PORT = 7717


class ServedPage:
    """The web page of one HTTP server: its routes, and the file by which it is found."""

    def __init__(self, context: CommandContext, settings: Settings, *, allow_write: bool) -> None:
        self._context = context
        self._settings = settings
        self._paths = resolve_paths(settings)
        self._allow_write = allow_write
        self._token = ""
        self._instance = ""

    def build_mounts(self, service: "Service", token: str) -> "list[MountedApp]":
        """Return the applications of the server: MCP, and the routes of the page."""
        from kebab.http.application import MountedApp
        from kebab.web.application import PageOptions, WebPage, describe_routes
        from kebab.web.sessions import Sessions

        sessions = Sessions(token)
        self._token, self._instance = token, sessions.instance
        page = WebPage(
            PageOptions(
                answer=service.answer,
                sessions=sessions,
                allow_write=self._allow_write,
                open_file=open_in_editor,
            )
        )
        mcp = build_application(self._context, self._settings, allow_write=self._allow_write)
        (path, endpoint), *others = page.routes.items()
        return [
            MountedApp(MCP_PATH, mcp, mcp.run),
            MountedApp(
                path,
                endpoint,
                page.run,
                open_paths=page.open_paths,
                admits=page.admits,
                show_error=page.show_error,
                describe=describe_routes,
            ),
            *(MountedApp(path, endpoint) for path, endpoint in others),
        ]

    def publish(self, running: "Running") -> "ServerRecord":
        """Write the file by which `kebab open --web` finds the server.

        Raises:
            IoError: The file cannot be written.
        """
        from kebab.web.discovery import ServerRecord, build_local_url, write_record

        url = build_local_url(running.address.format_url())
        record = ServerRecord(url, self._instance, os.getpid())
        with translate_os_errors(self._paths.state, "write"):
            write_record(self._paths, record)
        return record

    def open(self, record: "ServerRecord") -> None:
        """Open the page in the browser; where there is none, say the address instead."""
        from kebab.cli.editor import open_browser

        url = record.build_login(self._token, {})
        try:
            open_browser(url, os.environ)
        except (DependencyMissing, IoError):
            self._context.warn(f"no browser was opened, this link counts once: {url}")

    def close(self) -> None:
        """Remove the file."""
        from kebab.web.discovery import remove_record

        remove_record(self._paths, self._instance)


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
) -> "tuple[ServerRecord, bool]":
    """Return the server of this knowledge base, and whether it was started now.

    Raises:
        DependencyMissing: None runs, and none can be started in the background here.
    """
    from kebab.web.discovery import find_server, wait_for_server

    paths = resolve_paths(settings)
    if found := find_server(paths):
        return found, False
    if _start_server(context) and (started := wait_for_server(paths, _START_S)):
        return started, True
    raise build_missing_program("kebab serve --http", "the web page", "kebab serve --http --open")


def build_login_url(record: "ServerRecord", settings: Settings, query: str | None) -> str:
    """Return the address that lets a browser in once, and shows the hits of a query."""
    from kebab.http.guard import load_token

    token = load_token(resolve_paths(settings).state)
    return record.build_login(token, {"q": query} if query else {})


def _start_server(context: CommandContext) -> bool:
    """Start a server in the background, at the usual port if it is free; say if it began."""
    if is_windows():
        return False
    from kebab.warm.start import spawn_kebab

    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", _USUAL_PORT))
            port = _USUAL_PORT
        except OSError:
            port = 0
    flags = [*list_place_flags(context.flags), *["--read-only"] * context.flags.read_only]
    line = ["serve", "--http", f"127.0.0.1:{port}", "--background", *flags]
    with suppress(OSError):
        return spawn_kebab(line, os.environ) is not None
    return False
