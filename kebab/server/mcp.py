"""The MCP server: tools over stdio and HTTP, by the official `mcp` package.

The package speaks the protocol in all its versions. This module declares nothing that it does: it
runs tools on the knowledge base in threads.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from kebab import __version__
from kebab.app.facade import convert_operation_request
from kebab.config.settings import Settings
from kebab.errors.catalog import InvalidInput
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.platform import skip_mcp_client
from kebab.server.guard import Receive, Scope, Send
from kebab.server.requests import ALLOW_WRITE, Call, Operations, report_failure
from kebab.server.tools import (
    TOOLS,
    WITH_ASK,
    Tool,
    build_input_schema,
    build_instructions,
    describe_tool,
    read_arguments,
)
from kebab.wire.ask import AnswerEvent
from kebab.wire.record import MASKED, Reply, encode_json

with translate_import_errors("the MCP server", "mcp", extra="mcp"):
    skip_mcp_client()
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True  # most models of the protocol are never used
    import anyio
    from mcp.server.caching import CacheHint
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.shared.exceptions import MCPError
    from mcp_types import INVALID_PARAMS, JSONRPCRequest

    del BaseModel.model_config["defer_build"]

if TYPE_CHECKING:
    from kebab.core.progress import Progress

_TEXT_CLIENTS = ("claude-code", "codex", "visual studio code")
"""Clients that show their model the structured result instead of the text, as its JSON.

Their issue trackers describe it: anthropics/claude-code #79944, #55677, microsoft/vscode #290063;
anomalyco/opencode #32074 says it of Codex."""
_LIST_TTL_MS = 300_000
"""How long a client may keep the list of tools and the instructions."""
_DESCRIBED_S = 10.0
"""How long the instructions over HTTP stay as they are."""
_LAST_CALLS_S = 30.0
"""How long calls may go on when the input has ended."""


class DescribedServer(Server[Any]):
    """A server whose instructions are those of the index as it is."""

    def __init__(self, describe: Callable[[], str], **options: Any) -> None:
        self._describe = describe
        self._described: tuple[float, str] = (-_DESCRIBED_S, "")
        super().__init__("kebab", version=__version__, **options)

    @property
    def instructions(self) -> str:
        """What a client tells its model about this server."""
        since, text = self._described
        if time.monotonic() - since > _DESCRIBED_S:
            text = self._describe()
            self._described = time.monotonic(), text
        return text

    @instructions.setter
    def instructions(self, _: str | None) -> None:
        """Ignore what the base class sets."""


class McpServer:
    """Answers MCP clients; an ASGI application once `run` is entered.

    Neither the token nor `Host` and `Origin` are checked here: the guard in front of it does.

    Args:
        operations: Runs the tools.
        with_ask: Whether the tool `ask` is offered.
        text_only: Whether no client gets structured results.
    """

    def __init__(
        self, operations: Operations, *, with_ask: bool = False, text_only: bool = False
    ) -> None:
        self._operations = operations
        self._render = operations.options.render
        self._text_only = text_only
        given = {None: True, ALLOW_WRITE: operations.options.allow_write, WITH_ASK: with_ask}
        self._tools = {tool.name: tool for tool in TOOLS if given[tool.permission]}
        listed = CacheHint(ttl_ms=_LIST_TTL_MS, scope="private")
        self.server = DescribedServer(
            self._describe_index,
            cache_hints={"tools/list": listed, "server/discover": listed},
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        self.server.middleware.clear()  # it traces for OpenTelemetry
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Answer over HTTP while the context is open; each request stands alone."""
        self._manager = StreamableHTTPSessionManager(
            self.server, json_response=True, stateless=True
        )
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        assert self._manager is not None, "it runs"
        await self._manager.handle_request(scope, receive, send)

    async def serve_stdio(self, stdin: TextIO, stdout: TextIO) -> None:
        """Answer over two streams until the input ends."""
        streams = anyio.wrap_file(stdin), anyio.wrap_file(stdout)
        waiting = set[Any]()  # the ids of requests without an answer
        async with stdio_server(*streams) as (source, target):
            sender, receiver = anyio.create_memory_object_stream[Any]()
            answers, answered = anyio.create_memory_object_stream[Any]()

            async def pass_requests() -> None:
                """Pass messages on; the input ends when all requests are answered."""
                async with source, sender:
                    async for message in source:
                        sent: Any = getattr(message, "message", None)
                        if isinstance(sent, JSONRPCRequest):
                            waiting.add(sent.id)
                        elif getattr(sent, "method", "") == "notifications/cancelled":
                            waiting.discard((sent.params or {}).get("requestId"))
                        await sender.send(message)
                    with anyio.move_on_after(_LAST_CALLS_S):
                        while waiting:  # noqa: ASYNC110
                            await anyio.sleep(_DRAIN_PAUSE_S)

            async def pass_answers() -> None:
                async with target, answered:
                    async for message in answered:
                        await target.send(message)
                        waiting.discard(getattr(message.message, "id", None))

            async with receiver, anyio.create_task_group() as tasks:
                tasks.start_soon(pass_requests)
                tasks.start_soon(pass_answers)
                await self.server.run(
                    receiver, answers, self.server.create_initialization_options()
                )
                tasks.cancel_scope.cancel()

    def _describe_index(self) -> str:
        """Return the instructions of the server; an index that cannot be read is described too."""
        try:
            settings = self._operations.options.load_settings()
            with self._operations.open("search", settings) as kebab:
                return build_instructions(kebab)
        except Exception as fault:  # noqa: BLE001 - a client shall see the tools and the reason
            reply = report_failure("schema", fault, None)
            return f"The index of kebab cannot be read: {reply.message}. Tell the user."

    async def _list_tools(self, *_: Any) -> dict[str, Any]:
        return {"tools": [*map(describe_tool, self._tools.values())], **_COMPLETE}

    async def _call_tool(self, context: Any, params: Any) -> dict[str, Any]:
        tool = self._tools.get(params.name)
        if tool is None:
            flag = next((one.permission for one in TOOLS if one.name == params.name), None)
            needs = f"it needs `{flag}`" if flag else f"the tools are: {', '.join(self._tools)}"
            message = f"unknown tool: {params.name}; {needs}"
            raise MCPError(code=INVALID_PARAMS, message=message)
        call, given = Call(_ProgressReporter(context.session).report), params.arguments or {}
        try:
            result = await self._operations.run(
                tool.operation, lambda: self._run_tool(tool, given, call), call
            )
        except Signal as fault:
            result = self._build_failure(tool, fault, None)
        client = context.session.client_params
        name = client.client_info.name.lower() if client and client.client_info else ""
        if not name and context.request is not None:
            name = context.request.headers.get("user-agent", "").lower()
        if self._text_only or name.startswith(_TEXT_CLIENTS):
            del result["structuredContent"]
        return {**result, **_COMPLETE}

    def _run_tool(self, tool: type[Tool], given: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Return the result of a tool call; a failure is a result too, with the caller's trace."""
        settings = None
        try:
            settings = self._operations.options.load_settings()
            called = read_arguments(tool, given)
            with self._operations.open(tool.operation, settings) as kebab:

                def run(operation: str, fields: dict[str, Any]) -> Reply:
                    named = {name: value for name, value in fields.items() if value is not None}
                    request = convert_operation_request(operation, named, settings)
                    return kebab.run(request, report=call.report, cancel=call.cancel)

                output = called.call(run)
        except (Exception, KeyboardInterrupt) as fault:  # noqa: BLE001 - becomes a result
            return self._build_failure(tool, fault, settings)
        shown = output.shown
        text = shown if isinstance(shown, str) else self._render(shown)
        if isinstance(shown, Reply) and shown.masked is True:
            text += f"\n{MASKED}"
        structure = msgspec.to_builtins(output.result)
        return _build_result(text, structure, is_error=not output.found)

    def _build_failure(
        self, tool: type[Tool], fault: BaseException, settings: Settings | None
    ) -> dict[str, Any]:
        """Return the result for an exception: how to mend the call, and its `error.v1`."""
        reply = report_failure(tool.operation, fault, settings)
        text = self._render(reply)
        if isinstance(fault, InvalidInput):
            schema = build_input_schema(tool)
            required = schema.get("required", ())
            names = [
                f"{name} (required)" if name in required else name for name in schema["properties"]
            ]
            text += f"\narguments of {tool.name}: {', '.join(names) or 'none'}"
        return _build_result(text, msgspec.json.decode(encode_json(reply)), is_error=True)


class _ProgressReporter:
    """Sends events of an operation as notifications, from the thread that works.

    Their numbers always increase. A client that gave no token gets nothing.
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._count = 0
        self._next = 0.0

    def report(self, event: "Progress | AnswerEvent") -> None:
        """Send what is being done, unless something was sent just before."""
        self._count += 1
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _PROGRESS_INTERVAL_S
        text = event.type if isinstance(event, AnswerEvent) else event.message or event.kind
        sent = self._session.report_progress(float(self._count), None, text.replace("_", " "))
        with suppress(RuntimeError):  # the event loop has ended
            asyncio.run_coroutine_threadsafe(sent, self._loop)


_PROGRESS_INTERVAL_S = 0.25
_DRAIN_PAUSE_S = 0.01
_COMPLETE = {"resultType": "complete"}
"""What the newest version requires of every result; the package leaves it out in others."""


def _build_result(text: str, structure: object, *, is_error: bool) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"content": content, "structuredContent": structure, "isError": is_error}
