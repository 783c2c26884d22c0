"""Runs the server under uvicorn until a signal ends it; `kebab serve` calls `run_server`.

With several workers uvicorn starts processes, each with an application of its own; this process
then only watches over them.
"""

import contextlib
import logging
import os
import signal
import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from kebab import __version__
from kebab.config.settings import Settings, resolve_paths
from kebab.errors.catalog import UsageInvalid
from kebab.errors.signal import Exit
from kebab.errors.system import translate_import_errors
from kebab.server.application import Site, build_application
from kebab.server.guard import LOOPBACK_NAMES, TOKEN_NAME, build_hosts, load_token
from kebab.server.requests import ServerOptions
from kebab.server.running import ServerFolder, build_local_url, open_server_folder
from kebab.wire.health import RunningServer
from kebab.wire.record import format_timestamp

with translate_import_errors("the server", "uvicorn", extra="serve"):
    import uvicorn
    from uvicorn.supervisors import Multiprocess

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 7717

_BACKLOG = 512
_GRACE_S = 8
"""How long running requests may take after the signal to end."""
_MOST_CONNECTIONS = 256
_MOST_HEAD_BYTES = 16_384
_KEEP_ALIVE_S = 10
_LOGGERS = ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio", "mcp")


class Address(NamedTuple):
    """Where the server listens."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOOPBACK_NAMES

    def format_url(self) -> str:
        """Return the address as a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


class Started(NamedTuple):
    """A server that listens: its address, the file of its token, and its folder."""

    address: Address
    token_path: str
    folder: ServerFolder
    record: RunningServer


def run_server(
    options: ServerOptions,
    address: Address,
    settings: Settings,
    on_start: Callable[[Started], contextlib.AbstractContextManager[object]],
) -> Exit:
    """Serve until SIGTERM or Ctrl-C, and return the exit status.

    `on_start` is called when the server listens; what it returns is open while it serves.

    Raises:
        UsageInvalid: The address cannot be used.
        IoError: There is no token, and none can be written.
    """
    paths = resolve_paths(settings)
    token = load_token(paths.state)
    silence_loggers()
    hosts, any_address = build_hosts(address.host)  # what the header `Host` may name
    with contextlib.closing(open_listener(address)) as listener, contextlib.ExitStack() as stack:
        folder = stack.enter_context(open_server_folder(paths.state))
        site = Site(
            options=options,
            token=token,
            folder=folder.path,
            hosts=hosts,
            any_address=any_address,
            max_body_bytes=settings.ingest.max_file_bytes * 2,  # JSON escapes the text of a file
        )
        bound = Address(address.host, listener.getsockname()[1])
        record = RunningServer(
            url=build_local_url(bound.format_url()),
            pid=os.getpid(),
            version=__version__,
            started_at=format_timestamp(time.time()),
            data_dir=str(paths.data),
            allow_write=options.allow_write,
        )
        folder.write(record)
        started = Started(bound, str(paths.state / TOKEN_NAME), folder, record)
        config = build_config(site)
        with on_start(started):
            if options.workers > 1:
                Multiprocess(config, sockets=[listener]).run()
                return Exit.DONE
            server = Server(config)
            server.run(sockets=[listener])
            return Exit.INTERRUPTED if server.interrupted else Exit.DONE


def build_config(site: Site) -> uvicorn.Config:
    """Return the configuration of uvicorn, which limits heads, connections and idle time."""
    return uvicorn.Config(
        partial(build_application, site),
        factory=True,
        http="h11",
        ws="none",
        lifespan="on",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        workers=site.options.workers,
        limit_concurrency=_MOST_CONNECTIONS,
        h11_max_incomplete_event_size=_MOST_HEAD_BYTES,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
    )


def open_listener(address: Address) -> socket.socket:
    """Return a socket that listens at an address.

    Raises:
        UsageInvalid: The port is in use, or the host is not one of this machine.
    """
    try:
        family, _, _, _, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        is_dual = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(place, family=family, backlog=_BACKLOG, dualstack_ipv6=is_dual)
    except OSError as fault:
        reason = str(fault.strerror).partition(" (")[0].lower()  # without the address
        cause = f"cannot listen at {address.format_url()}: {reason}"
        raise UsageInvalid(option="--port", cause=cause) from fault


def silence_loggers() -> None:
    """Keep the libraries from writing to stderr; what matters is in the log of errors."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False


class Server(uvicorn.Server):
    """A server that ends at a signal: running requests may finish before they are cancelled."""

    interrupted = False

    def handle_exit(self, sig: int, frame: Any) -> None:
        """End the server; a second signal does not wait for running requests.

        Unlike in the base class, the signal is not raised again afterwards.
        """
        del frame
        self.interrupted = self.interrupted or sig == signal.SIGINT
        self.force_exit = self.should_exit
        self.should_exit = True
