"""Runs the HTTP server until a signal ends it; `kebab serve` calls `run_http_server`.

Requests that fit the `Admission` reach the application, and the `Service` runs them in threads.
"""

import asyncio
import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from kebab.config.settings import Settings, resolve_paths
from kebab.errors.catalog import UsageInvalid
from kebab.errors.signal import Exit
from kebab.errors.system import translate_import_errors
from kebab.http.application import HEALTH_PATH, MountedApp, build_application, build_path
from kebab.http.guard import LOOPBACK_NAMES, TOKEN_NAME, Admission, build_hosts, load_token
from kebab.http.protocol import Protocol
from kebab.http.service import Service, ServiceOptions

with translate_import_errors("the HTTP server", "uvicorn", extra="serve"):
    import uvicorn

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 7717

_FLAG = "--http"
_MAX_PORT = 65_535
_BACKLOG = 512
_GRACE_S = 5.0
"""How long running requests may take after the signal to end."""
_CANCEL_S = 3.0
"""How long they may take after that, when they were told to stop."""
_TIDY_S = 10
"""How often it is looked for workers that nobody uses."""
_LOGGERS = ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio", "concurrent.futures")


class Address(NamedTuple):
    """Where the server listens."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOOPBACK_NAMES

    def format_url(self) -> str:
        """Return the address as a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


class Running(Struct, frozen=True):
    """A server that accepts requests: its address, and the file of its token."""

    address: Address
    token_path: str


def parse_address(text: str) -> Address:
    """Return the address in `HOST:PORT`, `HOST` or `PORT`; what is left out has a default.

    Raises:
        UsageInvalid: It is none.
    """
    host, _, port = text.rpartition(":")
    if text.endswith("]") or not (port.isdecimal() and port.isascii()):
        host, port = text, str(DEFAULT_PORT)
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    if int(port) > _MAX_PORT or any(letter in host for letter in "/@[] "):
        raise UsageInvalid(option=_FLAG, cause=f"not an address, such as 127.0.0.1:7717: {text}")
    return Address(host or DEFAULT_HOST, int(port))


def run_http_server(
    options: ServiceOptions,
    address: Address,
    settings: Settings,
    *,
    build_mounts: Callable[[Service, str], Sequence[MountedApp]] = lambda *_: (),
    on_start: Callable[[Running], None],
    idle_s: float = 0,
) -> Exit:
    """Serve until SIGTERM or Ctrl-C, and return the exit status.

    `build_mounts` returns other applications at paths of the server, such as that of MCP, given the
    service and the token. `on_start` is called when the server listens. With `idle_s` it also ends
    when it had no request for so many seconds.

    Raises:
        UsageInvalid: The address cannot be used.
        IoError: There is no token, and none can be written.
    """
    state = resolve_paths(settings).state
    token = load_token(state)
    silence_loggers()
    listener = open_listener(address)
    with contextlib.closing(listener), contextlib.closing(Service(options)) as service:
        mounts = build_mounts(service, token)
        hosts, any_address = build_hosts(address.host)  # what the header `Host` may name
        admission = Admission(
            token=token,
            hosts=hosts,
            any_address=any_address,
            max_body_bytes=settings.ingest.max_file_bytes * 2,  # JSON escapes the text of a file
            open_paths={HEALTH_PATH, *(path for one in mounts for path in one.open_paths)},
            large_paths={build_path("ingest_text")},
            admits=next((one.admits for one in mounts if one.admits), None),
        )
        app = build_application(service, admission, mounts)

        async def tidy() -> None:
            await service.end_unused_workers()
            server.should_exit = server.should_exit or 0 < idle_s < service.idle_s

        server = HttpServer(app, service.stop, tidy)
        bound = Address(address.host, listener.getsockname()[1])
        on_start(Running(bound, str(state / TOKEN_NAME)))
        server.run(sockets=[listener])
    return Exit.INTERRUPTED if server.interrupted else Exit.DONE


def open_listener(address: Address) -> socket.socket:
    """Return a socket that listens at an address.

    Raises:
        UsageInvalid: The port is in use, or the host is not one of this machine.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        with contextlib.ExitStack() as undo:
            undo.callback(listener.close)
            # On Windows SO_REUSEADDR would let two servers share a port.
            option = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
            listener.setsockopt(socket.SOL_SOCKET, option, 1)
            listener.bind(place)
            listener.listen(_BACKLOG)
            undo.pop_all()
    except OSError as fault:
        cause = f"cannot listen at {address.format_url()}: {str(fault.strerror).lower()}"
        raise UsageInvalid(option=_FLAG, cause=cause) from fault
    return listener


def silence_loggers() -> None:
    """Keep the libraries from writing to stderr; what matters is in the log of errors."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False


class HttpServer(uvicorn.Server):
    """A server that ends at a signal: requests may finish, then they are told to stop."""

    def __init__(
        self, app: Any, stop_work: Callable[[], None], tidy: Callable[[], Any] | None = None
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Protocol,
                ws="none",
                lifespan="on",
                loop="asyncio",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                callback_notify=tidy,
                timeout_notify=_TIDY_S,
                timeout_graceful_shutdown=round(_GRACE_S + _CANCEL_S),
            )
        )
        self._stop_work = stop_work
        self.interrupted = False

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals while serving; unlike the base class, none is raised again afterwards."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread may handle signals
            return
        handled = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """End the server; a second signal stops the running requests at once."""
        self.interrupted = self.interrupted or sig == signal.SIGINT
        if self.should_exit:
            self._stop_work()
            self.force_exit = True
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept nothing more, and wait for the running requests."""
        timer = asyncio.get_running_loop().call_later(_GRACE_S, self._stop_work)
        try:
            await super().shutdown(sockets)
        finally:
            timer.cancel()
