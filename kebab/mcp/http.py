"""Serves clients over HTTP: an ASGI application that the HTTP server mounts behind its checks."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from kebab.mcp.server import Handlers, build_server

_Message = MutableMapping[str, Any]
_ALLOW = [(b"allow", b"POST"), (b"content-length", b"0")]
_REFRESH_S = 60.0
"""How long the description of the index is used again."""
_STOP_S = 2.0
"""The longest wait for work to stop when the server ends."""


class McpApplication:
    """The ASGI application; each request stands alone and is answered with one JSON object.

    Requests are not checked here: the server in front of it compares the token, `Host` and
    `Origin`.

    Args:
        handlers: Answers requests.
        build_instructions: Returns what clients tell their models about this server.
    """

    def __init__(self, handlers: Handlers, build_instructions: Callable[[], str]) -> None:
        self._handlers = handlers
        self._build_instructions = build_instructions
        self._server = build_server(handlers, "")
        self._manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True
        )
        self._fresh_until = 0.0

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve while the context is open; it can be opened once."""
        try:
            async with self._manager.run():
                yield
        finally:
            await anyio.to_thread.run_sync(self._handlers.work.stop, _STOP_S)

    async def __call__(
        self,
        scope: _Message,
        receive: Callable[[], Awaitable[_Message]],
        send: Callable[[_Message], Awaitable[None]],
    ) -> None:
        """Answer a request; there is no stream of messages to open with GET."""
        if scope["method"] != "POST":
            await send({"type": "http.response.start", "status": 405, "headers": _ALLOW})
            await send({"type": "http.response.body", "body": b""})
            return
        if time.monotonic() >= self._fresh_until:
            self._fresh_until = time.monotonic() + _REFRESH_S
            self._server.instructions = await anyio.to_thread.run_sync(self._build_instructions)
        await self._manager.asgi_app(scope, receive, send)
