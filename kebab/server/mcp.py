"""The MCP server: tools and resources over stdio and HTTP, by the official `mcp` package.

The package speaks the protocol in all its versions. This module declares nothing that it does: it
runs tools on the knowledge base in threads, and lists documents as resources.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TextIO

import msgspec

from kebab import __version__
from kebab.app.dispatch import report_failure
from kebab.app.facade import Kebab, convert_operation_request
from kebab.config.settings import Settings
from kebab.core.media import PLAIN, detect_media_type
from kebab.core.progress import Progress
from kebab.errors.catalog import InvalidInput, NotIndexed
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.server.guard import Receive, Scope, Send
from kebab.server.requests import Call, Operations
from kebab.server.tool_results import SCHEME, format_resource_uri
from kebab.server.tools import (
    TOOLS,
    Tool,
    build_input_schema,
    build_instructions,
    describe_tool,
    read_arguments,
    select_tools,
)
from kebab.wire.ask import AnswerEvent
from kebab.wire.citation import CodeCitation, LineCitation
from kebab.wire.fetch import FetchRequest
from kebab.wire.library import DocSummary, FetchResult, ListRequest, SourceListRequest
from kebab.wire.record import MASKED, Reply, encode_json

with translate_import_errors("the MCP server", "mcp", extra="mcp"):
    import anyio
    from mcp.server.caching import CacheHint
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.shared.exceptions import MCPError
    from mcp_types import INVALID_PARAMS, JSONRPCRequest

Use = Callable[[Kebab], Any]

_TEXT_CLIENTS = ("claude-code", "codex", "visual studio code")
"""Clients that show their model the structured result instead of the text, as its JSON.

Their issue trackers describe it: anthropics/claude-code #79944, #55677, microsoft/vscode #290063;
anomalyco/opencode #32074 says it of Codex."""
_LIST_TTL_MS = 300_000
"""How long a client may keep the list of tools and the instructions."""
_DESCRIBED_S = 10.0
"""How long the instructions over HTTP stay as they are."""
_PROGRESS_INTERVAL_S = 0.25
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
        self,
        operations: Operations,
        *,
        with_ask: bool = False,
        text_only: bool = False,
    ) -> None:
        self._operations = operations
        self._render = operations.options.render
        self._text_only = text_only
        allow_write = operations.options.allow_write
        tools = select_tools(allow_write=allow_write, with_ask=with_ask)
        self._tools = {tool.name: tool for tool in tools}
        self._begun = self._done = 0
        listed, fresh = CacheHint(ttl_ms=_LIST_TTL_MS, scope="private"), CacheHint(scope="private")
        self.server = DescribedServer(
            self._describe_index,
            cache_hints={
                "tools/list": listed,
                "server/discover": listed,
                "resources/list": fresh,
                "resources/templates/list": fresh,
                "resources/read": fresh,
            },
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )
        self.server.middleware = [self._count]
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
        async with stdio_server(*streams) as (source, target):
            sender, receiver = anyio.create_memory_object_stream[Any]()

            async def relay() -> None:
                """Pass messages on; the input ends when all requests are answered."""
                count = 0
                async with source, sender:
                    async for message in source:
                        is_request = isinstance(getattr(message, "message", None), JSONRPCRequest)
                        count += is_request
                        await sender.send(message)
                    with anyio.move_on_after(_LAST_CALLS_S):
                        while self._begun < count or self._done < self._begun:  # noqa: ASYNC110
                            await anyio.sleep(_DRAIN_PAUSE_S)

            async with receiver, anyio.create_task_group() as tasks:
                tasks.start_soon(relay)
                await self.server.run(receiver, target, self.server.create_initialization_options())
                tasks.cancel_scope.cancel()

    async def _count(self, ctx: Any, call_next: Callable[[Any], Any]) -> Any:
        """Count the requests, of which all are answered before the server ends."""
        is_request = ctx.request_id is not None
        self._begun += is_request
        try:
            return await call_next(ctx)
        finally:
            self._done += is_request

    def _use(self, use: Use) -> Any:
        """Return what a function makes of the knowledge base; signals pass through."""
        with self._operations.open("search", self._operations.options.load_settings()) as kebab:
            return use(kebab)

    def _describe_index(self) -> str:
        """Return the instructions of the server; an index that cannot be read is described too."""
        try:
            text: str = self._use(build_instructions)
        except Exception as fault:  # noqa: BLE001 - a client shall see the tools and the reason
            reply = report_failure("schema", fault, None).reply
            return f"The index of kebab cannot be read: {reply.message}. Tell the user."
        return text

    def _is_structured(self, context: Any) -> bool:
        """Return whether a client gets structured results."""
        client = context.session.client_params
        name = client.client_info.name.lower() if client and client.client_info else ""
        if not name and context.request is not None:
            name = context.request.headers.get("user-agent", "").lower()
        return not (self._text_only or name.startswith(_TEXT_CLIENTS))

    async def _list_tools(self, context: Any, _: Any) -> dict[str, Any]:
        structured = self._is_structured(context)
        tools = [describe_tool(one, structured=structured) for one in self._tools.values()]
        return {"tools": tools, **_COMPLETE}

    async def _call_tool(self, context: Any, params: Any) -> dict[str, Any]:
        tool = self._tools.get(params.name)
        if tool is None:
            flag = next((one.permission for one in TOOLS if one.name == params.name), None)
            needs = f"it needs `{flag}`" if flag else f"the tools are: {', '.join(self._tools)}"
            raise _build_error(f"unknown tool: {params.name}; {needs}")
        structured = self._is_structured(context)
        progress = ProgressReporter(context.session)
        call = Call(progress.report)
        given = params.arguments or {}
        try:
            result = await self._operations.run(
                tool.operation,
                lambda: self._run_tool(tool, given, call, structured=structured),
                call,
            )
        except Signal as fault:
            result = self._build_failure(tool, fault, None, structured=structured)
        return {**result, **_COMPLETE}

    def _run_tool(
        self,
        tool: type[Tool],
        given: Mapping[str, Any],
        call: Call,
        *,
        structured: bool,
    ) -> dict[str, Any]:
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
            return self._build_failure(tool, fault, settings, structured=structured)
        shown = output.shown
        text = shown if isinstance(shown, str) else self._render(shown)
        if isinstance(shown, Reply) and shown.masked is True:
            text += f"\n{MASKED}"
        if not structured:
            return {"content": [_build_text(text)], "isError": not output.found}
        return {
            "content": [_build_text(text), *output.links],
            "structuredContent": msgspec.to_builtins(output.result),
            "isError": not output.found,
        }

    def _build_failure(
        self, tool: type[Tool], fault: BaseException, settings: Settings | None, *, structured: bool
    ) -> dict[str, Any]:
        """Return the result for an exception: how to mend the call, and its `error.v1`."""
        reply = report_failure(tool.operation, fault, settings).reply
        text = self._render(reply)
        if isinstance(fault, InvalidInput):
            schema = build_input_schema(tool)
            required = schema.get("required", ())
            names = [
                f"{name} (required)" if name in required else name for name in schema["properties"]
            ]
            text += f"\narguments of {tool.name}: {', '.join(names) or 'none'}"
        result: dict[str, Any] = {"content": [_build_text(text)], "isError": True}
        if structured:
            result["structuredContent"] = msgspec.json.decode(encode_json(reply))
        return result

    async def _list_resources(self, _: Any, params: Any) -> dict[str, Any]:
        cursor = params.cursor if params else None
        return await self._run_resources(lambda kebab: list_resources(kebab, cursor))

    async def _list_templates(self, *_: Any) -> dict[str, Any]:
        return {"resourceTemplates": [_TEMPLATE], **_COMPLETE}

    async def _read_resource(self, _: Any, params: Any) -> dict[str, Any]:
        return await self._run_resources(lambda kebab: read_resource(kebab, str(params.uri)))

    async def _run_resources(self, use: Use) -> dict[str, Any]:
        """Return what a function makes of the knowledge base; a failure has its `error.v1`."""
        try:
            found = await self._operations.run("list", lambda: self._use(use), Call())
        except Signal as fault:
            reply = report_failure("fetch", fault, None).reply
            raise _build_error(reply.message, msgspec.json.decode(encode_json(reply))) from fault
        return {**found, **_COMPLETE}


_DRAIN_PAUSE_S = 0.01
_COMPLETE = {"resultType": "complete"}
"""What the newest version requires of every result; the package leaves it out in others."""


class ProgressReporter:
    """Sends events of an operation as notifications, from the thread that works.

    Their numbers always increase. A client that gave no token gets nothing.
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._count = 0
        self._next = 0.0

    def report(self, event: Progress | AnswerEvent) -> None:
        """Send an event, unless one was sent just before."""
        self._count += 1
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _PROGRESS_INTERVAL_S
        with suppress(RuntimeError):  # the event loop has ended
            asyncio.run_coroutine_threadsafe(
                self._session.report_progress(float(self._count), None, _describe_event(event)),
                self._loop,
            )


def _describe_event(event: Progress | AnswerEvent) -> str:
    """Return what is being done, with its numbers."""
    if isinstance(event, AnswerEvent):
        return event.type.replace("_", " ")
    text = event.message or event.phase or event.kind
    if event.done is not None and event.total is not None:
        return f"{text} {event.done:,}/{event.total:,} {event.unit or ''}".strip()
    return text.replace("_", " ")


def _build_error(message: str, data: Any = None) -> MCPError:
    """Return the error of a request that cannot be answered."""
    return MCPError(code=INVALID_PARAMS, message=message, data=data)


def _build_text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


_PAGE = 50
_TEMPLATE = {
    "uriTemplate": f"{SCHEME}{{+path}}",
    "name": "document",
    "description": "An indexed file by its absolute path; `#L5-L9` selects lines.",
}


def list_resources(kebab: Kebab, cursor: str | None) -> dict[str, Any]:
    """Return a page of documents, those indexed last first.

    Raises:
        MCPError: The cursor is not one of ours.
    """
    try:
        offset = 0 if cursor is None else max(0, int(cursor))
    except ValueError as fault:
        raise _build_error(f"not a cursor of this list: {cursor}") from fault
    try:
        reply = kebab.run(ListRequest(limit=_PAGE, offset=offset, sort="indexed"))
    except NotIndexed:
        return {"resources": []}
    sources = kebab.run(SourceListRequest()).sources
    # Text without a file has no folder.
    folders = {one.name: one.folder for one in sources if one.kind != "stdin"}
    following = {"nextCursor": str(offset + _PAGE)} if reply.has_more else {}
    return {"resources": [_describe(one, folders) for one in reply.documents], **following}


def read_resource(kebab: Kebab, uri: str) -> dict[str, Any]:
    """Return the text that a URI names.

    Raises:
        MCPError: No document of the index has this URI.
    """
    if not uri.startswith(SCHEME):
        raise _build_error(f"not a URI of kebab: {uri}", {"uri": uri})
    (found,) = kebab.run(FetchRequest(refs=[uri])).results
    if not isinstance(found, FetchResult):
        data = {"uri": uri, "candidates": found.error.candidates}
        raise _build_error(f"no such resource: {uri}", data)
    has_own_text = isinstance(found.citation, LineCitation | CodeCitation)
    # Text that was extracted is plain.
    media = (detect_media_type(found.doc_path) if has_own_text else None) or PLAIN
    return {"contents": [{"uri": uri, "mimeType": media, "text": found.text}]}


def _describe(document: DocSummary, folders: dict[str, str]) -> dict[str, Any]:
    """Return the entry of a document in `resources/list`."""
    folder = folders.get(document.source)
    file = None if folder is None else f"{folder.rstrip('/')}/{document.doc_path}"
    entry = {
        "uri": format_resource_uri(file, document.doc_id),
        "name": document.doc_path,
        "mimeType": document.media,
        "size": document.size,
        "annotations": {"lastModified": document.modified_at},
    }
    return entry | ({"title": document.title} if document.title else {})
