"""Builds the server of the official SDK from the tools and the resources."""

import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, MutableMapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from kebab.app.classify import HEADER
from kebab.core.progress import Cancel, Progress
from kebab.mcp.calls import ResourceError, Resources, ToolCaller
from kebab.mcp.stdio import LIST_TTL_MS, NAME, describe_server, hides_text
from kebab.wire.ask import AnswerEvent

_MOST_CALLS = 4
"""The calls that run at once; others wait."""

_PROGRESS_INTERVAL_S = 0.25
"""The least time between two notifications of progress."""

Context = ServerRequestContext[Any, Any]
Notify = Callable[[float, float | None, str | None], Coroutine[Any, Any, None]]


class ProgressReporter:
    """Sends events of an operation as notifications, from the thread that works.

    Their numbers always increase.
    """

    def __init__(self, notify: Notify, cancel: Cancel) -> None:
        self._notify = notify
        self._cancel = cancel
        self._count = 0
        self._next = 0.0

    def report(self, event: Progress | AnswerEvent) -> None:
        """Send an event, unless one was sent just before.

        Raises:
            KeyboardInterrupt: The request was cancelled, and the work takes no flag: an answer.
        """
        if self._cancel.requested:
            if isinstance(event, AnswerEvent):
                raise KeyboardInterrupt
            return
        self._count += 1
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _PROGRESS_INTERVAL_S
        # The request may end while this thread goes on.
        with suppress(RuntimeError):
            anyio.from_thread.run(self._notify, float(self._count), None, _describe(event))


def _describe(event: Progress | AnswerEvent) -> str:
    """Return what is being done, with its numbers."""
    if isinstance(event, AnswerEvent):
        return event.type.replace("_", " ")
    text = event.message or event.phase or event.kind
    if event.done is not None and event.total is not None:
        return f"{text} {event.done:,}/{event.total:,} {event.unit or ''}".strip()
    return text.replace("_", " ")


class RunningWork:
    """Counts the threads that work for requests, and asks them to stop at the end."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running: set[Cancel] = set()

    def run(self, work: Callable[[], Any], cancel: Cancel) -> Any:
        """Run work in this thread."""
        with self._changed:
            self._running.add(cancel)
        try:
            return work()
        finally:
            with self._changed:
                self._running.discard(cancel)
                self._changed.notify_all()

    def stop(self, timeout_s: float) -> None:
        """Ask all work to stop, and wait for it."""
        with self._changed:
            for cancel in self._running:
                cancel.request()
            self._changed.wait_for(lambda: not self._running, timeout_s)


class Handlers:
    """Answers the requests of clients; all work runs in threads.

    Args:
        caller: Runs the tools.
        resources: Lists, reads and completes resources.
        text_only: Whether no client gets structured results.
    """

    def __init__(self, caller: ToolCaller, resources: Resources, *, text_only: bool) -> None:
        self._caller = caller
        self._resources = resources
        self._text_only = text_only
        self._limiter: anyio.CapacityLimiter | None = None
        self.work = RunningWork()

    async def list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Return the tools, always in the same order."""
        del params
        tools = self._caller.list_tools(structured=self._wants_structure(context))
        return types.ListToolsResult.model_validate({"tools": tools})

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Run a tool."""
        if params.name not in self._caller.tools:
            names = ", ".join(self._caller.tools)
            cause = f"unknown tool: {params.name}; the tools are: {names}"
            raise MCPError(code=types.INVALID_PARAMS, message=cause)
        cancel = Cancel()
        progress = ProgressReporter(context.session.report_progress, cancel)
        call = partial(
            self._caller.call,
            params.name,
            params.arguments or {},
            structured=self._wants_structure(context),
            report=progress.report,
            cancel=cancel,
            trace=(params.meta or {}).get(HEADER),
        )
        return types.CallToolResult.model_validate(await self._run(call, cancel))

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return a page of documents."""
        del context
        page = await self._run(partial(self._resources.list, params.cursor if params else None))
        return types.ListResourcesResult.model_validate(page)

    async def list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Return the one template."""
        del context, params
        return types.ListResourceTemplatesResult.model_validate(self._resources.list_templates())

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return the text of a document, or of a place in it."""
        del context
        contents = await self._run(partial(self._resources.read, str(params.uri)))
        return types.ReadResourceResult.model_validate(contents)

    async def complete(
        self, context: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        """Return the paths that begin with or contain what was typed."""
        del context
        typed = params.argument.value if params.argument.name == "path" else None
        found = await self._run(partial(self._resources.complete, typed))
        return types.CompleteResult.model_validate(found)

    async def _run(self, work: Callable[[], Any], cancel: Cancel | None = None) -> Any:
        """Run work in a thread; when the request is cancelled the thread is asked to stop."""
        cancel = cancel or Cancel()
        self._limiter = self._limiter or anyio.CapacityLimiter(_MOST_CALLS)
        try:
            return await anyio.to_thread.run_sync(
                self.work.run, work, cancel, abandon_on_cancel=True, limiter=self._limiter
            )
        except ResourceError as fault:
            code = types.INVALID_PARAMS
            raise MCPError(code=code, message=str(fault), data=fault.data) from fault
        finally:
            cancel.request()

    def _wants_structure(self, context: Context) -> bool:
        """Return whether the client of a request gets structured results."""
        if self._text_only:
            return False
        client = context.session.client_params
        if client is not None:
            return not hides_text(client.client_info.name)
        headers = getattr(context.request, "headers", {})
        return not hides_text(headers.get("user-agent"))


def build_server(handlers: Handlers, instructions: str) -> Server[Any]:
    """Return the server; its handlers keep no state of a connection."""
    hint = CacheHint(LIST_TTL_MS, "private")
    return Server(
        NAME,
        version=describe_server()["version"],
        instructions=instructions,
        cache_hints={"tools/list": hint, "server/discover": hint},
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_completion=handlers.complete,
    )


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
