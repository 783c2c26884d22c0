"""The ASGI application, and the server that runs it under uvicorn until a signal ends it.

The application has operations at `/v1`, MCP at `/mcp`, and the web page at `/`. With several
workers uvicorn starts processes, each with an application of its own; this process then only
watches over them.
"""

import asyncio
import errno
import logging
import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from kebab import __version__
from kebab.config.settings import Settings, resolve_paths
from kebab.errors.catalog import UsageInvalid
from kebab.errors.signal import Exit
from kebab.errors.system import translate_import_errors
from kebab.server.events import NO_ENVELOPE, EventEncoder, create_encoder
from kebab.server.guard import (
    LOOPBACK_NAMES,
    TOKEN_NAME,
    AsgiApp,
    Guard,
    Refusal,
    Scope,
    load_token,
)
from kebab.server.mcp import McpServer
from kebab.server.page import WebPage
from kebab.server.requests import Call, Failed, Operations, Outcome, ServerOptions, format_event
from kebab.server.running import (
    USUAL_PORT,
    ServerFolder,
    Sessions,
    build_local_url,
    open_server_folder,
)
from kebab.wire.error import ErrorReply
from kebab.wire.health import RunningServer
from kebab.wire.operations import REMOTE_OPERATIONS
from kebab.wire.record import Reply, encode_json, format_timestamp

with translate_import_errors("the server", "starlette", extra="serve"):
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response, StreamingResponse
    from starlette.routing import BaseRoute, Route, Router
with translate_import_errors("the server", "uvicorn", extra="serve"):
    import uvicorn
    from uvicorn.supervisors import Multiprocess

SERVER = "serve"
"""The command in errors that belong to no operation."""
JSON, NDJSON = "application/json", "application/x-ndjson"
PREFIX = "/v1"
HEALTH_PATH, MCP_PATH = f"{PREFIX}/health", "/mcp"

_WRONG_TYPE, _CLIENT_GONE = 415, 499
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_PATHS = {f"{PREFIX}/{name}": name for name in REMOTE_OPERATIONS}
"""The operation of each path."""
_MOST_UNSENT = 1_000
"""How many lines may wait for a slow reader before the work waits too."""
_WAIT_S = 0.01
_IDLE_CHECK_S = 10.0
_LEAVE_S = 1.0
"""How long a worker process waits for threads that do not end."""


class Site(Struct, frozen=True, kw_only=True):
    """What the application of one server is built from; it is pickled for worker processes."""

    options: ServerOptions
    token: str
    folder: Path
    host: str
    max_body_bytes: int


def build_application(site: Site) -> AsgiApp:
    """Return the application, behind the checks of the guard."""
    operations = Operations(site.options)
    sessions = Sessions(site.folder)
    page = WebPage(operations, sessions)
    mcp = McpServer(operations)
    routes: list[BaseRoute] = [
        *(
            Route(path, partial(_answer_operation, operations, name), methods=["POST"])
            for path, name in _PATHS.items()
        ),
        Route(HEALTH_PATH, _answer_health, methods=["GET"]),
        Route(MCP_PATH, mcp, methods=["POST"]),
        *page.routes,
    ]

    @asynccontextmanager
    async def run(_: Any) -> AsyncIterator[None]:
        async with mcp.run():
            watching = asyncio.ensure_future(_end_when_idle(operations))
            yield
            watching.cancel()
        await asyncio.to_thread(operations.close)
        if site.options.workers > 1:  # a thread that waits for a model would hold up the end
            timer = threading.Timer(_LEAVE_S, os._exit, [0])
            timer.daemon = True
            timer.start()

    return Guard(
        app=Router(routes, redirect_slashes=False, lifespan=run),
        refuse=partial(_build_error_response, operations, page),
        token=site.token,
        host=site.host,
        max_body_bytes=site.max_body_bytes,
        open_paths={HEALTH_PATH, *page.open_paths},
        large_paths={f"{PREFIX}/ingest_text"},
        admits=page.admits,
    )


async def _end_when_idle(operations: Operations) -> None:
    """End this process when nobody asked for anything for a while."""
    while idle_s := operations.options.idle_s:
        await asyncio.sleep(min(idle_s, _IDLE_CHECK_S))
        if operations.measure_idle() > idle_s:
            os.kill(os.getpid(), signal.SIGTERM)


async def _answer_operation(operations: Operations, name: str, request: Request) -> Response:
    """Run an operation; with `Accept` of a stream, answer with its events."""
    raw = await _read_body(request)
    accept = request.headers.get("accept", "").lower()
    accepted = [part.partition(";")[0].strip() for part in accept.split(",")]
    encoder = create_encoder(name) if NDJSON in accepted else None
    if encoder is None:
        return _build_response(await _await_outcome(request, operations.answer(name, raw)))
    stream = EventStream(name, encoder)
    work = asyncio.ensure_future(operations.answer(name, raw, stream.call))
    if not await stream.has_started(work):
        return _build_response(work.result())
    return StreamingResponse(stream.iterate_lines(work), media_type=NDJSON, headers={**HEADERS})


async def _await_outcome(request: Request, answer: Any) -> Outcome:
    """Wait for an outcome, no longer than the client.

    Raises:
        ClientDisconnect: The client is gone.
    """
    work = asyncio.ensure_future(answer)
    gone = asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise ClientDisconnect
        outcome: Outcome = work.result()
        return outcome
    finally:
        gone.cancel()
        work.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class EventStream:
    """The lines of one operation. A thread reports events, and the event loop sends lines.

    A heartbeat follows each silence. The last line says how the work ended.
    """

    def __init__(self, operation: str, encoder: EventEncoder[Any]) -> None:
        self.call = Call(self._report)
        self._operation = operation
        self._encoder = encoder
        self._lines: deque[bytes] = deque()
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()

    def _report(self, event: Any) -> None:
        """Take an event of the operation; wait while the reader is slow."""
        line = self._encoder.take(event)
        if line is None:
            return
        self._lines.append(self._encode(line))
        with suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(self._wake.set)
        while len(self._lines) > _MOST_UNSENT and not self.call.is_given_up:
            threading.Event().wait(_WAIT_S)

    def _encode(self, event: Reply, status: Exit | None = None) -> bytes:
        return encode_json(format_event(self._operation, event, status)) + b"\n"

    async def has_started(self, work: asyncio.Future[Outcome]) -> bool:
        """Wait for the first line, or a silence; return whether there is something to stream.

        Work that fails before is answered like a request without a stream.
        """
        work.add_done_callback(lambda _: self._wake.set())
        try:
            await self._wait()
        except asyncio.CancelledError:
            work.cancel()
            raise
        has_failed = work.done() and (work.exception() is not None or work.result().failed)
        return bool(self._lines) or not has_failed

    async def iterate_lines(self, work: asyncio.Future[Outcome]) -> AsyncIterator[bytes]:
        """Yield the lines until the work has ended; leaving early stops the work."""
        try:
            while not work.done() or self._lines:
                while self._lines:
                    yield self._lines.popleft()
                if not work.done() and not await self._wait():
                    yield self._encode(self._encoder.build_heartbeat())
            for line in self._build_end(work.result().reply):
                yield line
        finally:
            work.cancel()

    def _build_end(self, reply: Reply) -> list[bytes]:
        """Return the last lines; what they do not carry is a line of its own."""
        encoder, inner = self._encoder, replace(reply, **NO_ENVELOPE)
        status = Exit(reply.exit_code)  # type: ignore[arg-type]
        if isinstance(inner, ErrorReply):
            before = [] if encoder.carries_errors else [encode_json(reply) + b"\n"]
            ends = encoder.build_failure(inner, status)
            return [*before, *(self._encode(*line) for line in ends)]
        after = [] if encoder.carries(inner) else [encode_json(reply) + b"\n"]
        ends = encoder.build_end(inner, status, cancelled=status is Exit.INTERRUPTED)
        return [*(self._encode(*line) for line in ends), *after]

    async def _wait(self) -> bool:
        """Wait for a line or the end; return False after a silence."""
        try:
            await asyncio.wait_for(self._wake.wait(), self._encoder.silence_s)
        except TimeoutError:
            return False
        self._wake.clear()
        return True


async def _answer_health(_: Request) -> Response:
    return Response(b'{"status":"ok"}\n', media_type=JSON, headers=HEADERS)


async def _read_body(request: Request) -> bytes:
    """Return the body of a request.

    Raises:
        Refusal: It is not JSON by its type.
    """
    raw = await request.body()
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if raw and media != JSON:
        cause = f"the content type is not `{JSON}`: {media or 'none'}"
        raise Refusal(UsageInvalid(option="Content-Type", cause=cause), _WRONG_TYPE)
    return raw


def _build_response(outcome: Outcome, headers: dict[str, str] | None = None) -> Response:
    return Response(outcome.body, outcome.status, {**HEADERS, **(headers or {})}, JSON)


async def _build_error_response(
    operations: Operations, page: WebPage, scope: Scope, fault: Exception
) -> AsgiApp:
    """Return the response to a request that never became an operation, or was given up."""
    if isinstance(fault, ClientDisconnect):
        return Response(status_code=_CLIENT_GONE)
    status, headers, signal = None, {}, fault
    if isinstance(fault, Refusal):
        status, headers, signal = fault.status, fault.headers, fault.signal
    elif isinstance(fault, HTTPException):
        headers = dict(fault.headers or {})
        if scope["method"] == "OPTIONS" and "Allow" in headers:
            return Response(status_code=204, headers=headers)
        status = fault.status_code
        signal = UsageInvalid(option="path", cause=f"no such path: {scope['path']}")
        if "Allow" in headers:
            cause = f"this path does not take the method: {scope['method']}"
            signal = UsageInvalid(option="method", cause=cause)
    if isinstance(fault, Failed):
        outcome = fault.outcome
    else:
        name = _PATHS.get(scope["path"], SERVER)
        outcome = await asyncio.to_thread(operations.refuse, name, signal, status)
    return page.show_error(scope, outcome) or _build_response(outcome, headers)


_BACKLOG = 512
_GRACE_S = 8
"""How long running requests may take after the signal to end."""
_MOST_CONNECTIONS = 256
_MOST_HEAD_BYTES = 16_384
_KEEP_ALIVE_S = 10
_LOGGERS = ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio", "mcp")


class Address(NamedTuple):
    """Where the server listens."""

    host: str = "127.0.0.1"
    port: int = USUAL_PORT

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
    on_start: Callable[[Started], AbstractContextManager[object]],
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
    with closing(open_listener(address)) as listener, ExitStack() as stack:
        folder = stack.enter_context(open_server_folder(paths.state))
        site = Site(
            options=options,
            token=token,
            folder=folder.path,
            host=address.host,
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
        timeout_worker_healthcheck=60,  # on a busy machine a worker takes long to begin
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
        option = "--port" if fault.errno in (errno.EADDRINUSE, errno.EACCES) else "--host"
        raise UsageInvalid(option=option, cause=cause) from fault


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
