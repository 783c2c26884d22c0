"""Tool calls, from arguments to results, and the documents of the index as resources."""

import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from kebab.app.classify import accept_trace
from kebab.app.dispatch import KebabPool, convert_operation_request, report_failure
from kebab.app.facade import Kebab
from kebab.config.settings import Settings
from kebab.core.media import PLAIN, detect_media_type
from kebab.core.progress import Cancel
from kebab.errors.catalog import InvalidInput, NotIndexed
from kebab.errors.signal import Signal
from kebab.mcp.results import SCHEME, TEMPLATE, encode_path, format_resource_uri
from kebab.mcp.tools import Arguments, RunOperation, Tool, ToolOutput, build_instructions
from kebab.wire.citation import CodeCitation, LineCitation
from kebab.wire.fetch import FetchRequest
from kebab.wire.library import DocSummary, FetchResult, ListRequest, SourceListRequest
from kebab.wire.record import MASKED, Reply, encode_json, to_invalid_input
from kebab.wire.search import SearchRequest

_MOST_CALLS = 4
"""The calls that run at once; others wait."""


class Call:
    """A piece of work that can be cancelled, for one request."""

    def __init__(self, work: Callable[["Call"], None]) -> None:
        self.cancel = Cancel()
        self.is_given_up = False
        self._work = work

    def run(self) -> None:
        """Do the work in this thread, unless nobody waits for it any more."""
        if not self.is_given_up:
            # Work that takes no flag is stopped by its next report.
            with suppress(KeyboardInterrupt):
                self._work(self)


class RunningCalls:
    """Runs calls in the order in which they arrive; its threads keep no process alive."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Call] = deque()
        self._running: set[Call] = set()

    def start(self, call: Call) -> None:
        """Run a call as soon as there is a place for it."""
        with self._changed:
            self._waiting.append(call)
            self._fill_places()

    def give_up(self, call: Call) -> None:
        """Ask a call to stop; its place is free at once."""
        call.is_given_up = True
        call.cancel.request()
        with self._changed:
            self._running.discard(call)
            self._fill_places()

    def stop(self, timeout_s: float) -> None:
        """Ask all calls to stop, and wait until they have ended."""
        with self._changed:
            for call in (*self._running, *self._waiting):
                call.cancel.request()
            self._changed.wait_for(lambda: not self._running, timeout_s)
            self._running.clear()
            self._waiting.clear()

    def _fill_places(self) -> None:
        while self._waiting and len(self._running) < _MOST_CALLS:
            call = self._waiting.popleft()
            self._running.add(call)
            threading.Thread(target=self._run, args=(call,), daemon=True).start()

    def _run(self, call: Call) -> None:
        try:
            call.run()
        finally:
            with self._changed:
                self._running.discard(call)
                self._fill_places()
                self._changed.notify_all()


Render = Callable[[Reply], str]
"""Returns the text of a reply as the command line shows it to a program."""
Report = Callable[[Any], None]
INVALID_PARAMS = -32602


class RequestError(Exception):
    """A request cannot be answered; `code` is that of JSON-RPC, and `data` says more."""

    def __init__(self, message: str, data: Any = None, *, code: int = INVALID_PARAMS) -> None:
        super().__init__(message)
        self.data = data
        self.code = code


class ToolCaller:
    """Runs tools on one knowledge base; threads may share it.

    Args:
        settings: The settings of every call.
        config_path: The settings file.
        read_only: Whether every write is refused.
        render: Renders replies.
        tools: The tools that may be called.
        pool: Keeps knowledge bases open between calls.
    """

    def __init__(
        self,
        settings: Settings,
        config_path: Path,
        *,
        read_only: bool,
        render: Render,
        tools: Sequence[Tool],
        pool: KebabPool,
    ) -> None:
        self.settings = settings
        self._config_path = config_path
        self._read_only = read_only
        self._render = render
        self._pool = pool
        self.tools = {tool.name: tool for tool in tools}

    def list_tools(self, *, structured: bool) -> list[dict[str, Any]]:
        """Return the entries of `tools/list`, always in the same order."""
        return [tool.describe(structured=structured) for tool in self.tools.values()]

    def describe_index(self) -> str:
        """Return the instructions of the server; an index that cannot be read is described too."""
        try:
            text: str = self.run(build_instructions)
        except Exception as fault:  # noqa: BLE001 - a client shall see the tools and the reason
            reply = report_failure("schema", fault, self.settings).reply
            return f"The index of kebab cannot be read: {reply.message}. Tell the user."
        return text

    def preload(self) -> None:
        """Open what a search needs; a knowledge base that cannot be searched is left alone."""
        request = SearchRequest(query="kebab", mode=self.settings.search.mode, limit=1)
        # Read-only, because a search that nobody asked for must leave nothing behind.
        lease = partial(self._pool.lease, config_path=self._config_path, read_only=True)
        with suppress(Exception), lease(self.settings) as kebab:
            kebab.run(request)

    def run(self, use: Callable[[Kebab], Any]) -> Any:
        """Return what a function makes of the knowledge base; signals pass through."""
        with self._pool.lease(
            self.settings, config_path=self._config_path, read_only=self._read_only
        ) as kebab:
            return use(kebab)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        structured: bool = True,
        report: Report | None = None,
        cancel: Cancel | None = None,
        trace: object = None,
    ) -> dict[str, Any]:
        """Return the result of a tool call; a failure is a result too, with the caller's trace.

        Without `structured` the result is only text, for clients that would hide the text
        otherwise.

        Raises:
            RequestError: There is no such tool.
        """
        tool = self.tools.get(name)
        if tool is None:
            names = ", ".join(self.tools)
            raise RequestError(f"unknown tool: {name}; the tools are: {names}")
        with accept_trace(trace):
            try:
                given = _read_arguments(tool, arguments)
                output: ToolOutput = self.run(
                    lambda kebab: tool.run(self._bind(kebab, report, cancel), given)
                )
            except Exception as fault:  # noqa: BLE001 - every failure becomes a result
                return self._build_failure(tool, fault, structured=structured)
        shown = output.shown
        text = shown if isinstance(shown, str) else self._render(shown)
        if isinstance(shown, Reply) and shown.masked is True:
            text += f"\n{MASKED}"
        if not structured:
            return {"content": [_build_text(text)]}
        return {
            "content": [_build_text(text), *output.links],
            "structuredContent": msgspec.to_builtins(output.result),
        }

    def _bind(self, kebab: Kebab, report: Report | None, cancel: Cancel | None) -> RunOperation:
        """Return the function by which a tool runs operations of this knowledge base."""

        def run(operation: str, fields: dict[str, Any]) -> Reply:
            given = {name: value for name, value in fields.items() if value is not None}
            request = convert_operation_request(operation, given, self.settings)
            return kebab.run(request, report=report, cancel=cancel)

        return run

    def _build_failure(self, tool: Tool, fault: Exception, *, structured: bool) -> dict[str, Any]:
        """Return the result for an exception: how to mend the call, and its `error.v1`."""
        reply = report_failure(tool.operation, fault, self.settings).reply
        text = self._render(reply)
        if isinstance(fault, InvalidInput):
            schema = tool.input_schema
            required = schema.get("required", ())
            names = [
                f"{name} (required)" if name in required else name
                for name in schema.get("properties", ())
            ]
            text += f"\narguments of {tool.name}: {', '.join(names) or 'none'}"
        result: dict[str, Any] = {"content": [_build_text(text)], "isError": True}
        if structured:
            result["structuredContent"] = msgspec.json.decode(encode_json(reply))
        return result


def _read_arguments(tool: Tool, arguments: Mapping[str, Any]) -> Arguments:
    """Return the arguments of a call; null means left out, and a number may be a string.

    Raises:
        InvalidInput: The arguments break the schema of the tool.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return msgspec.convert(given, tool.arguments, strict=False)
    except (msgspec.ValidationError, RecursionError) as fault:
        raise to_invalid_input(fault) from fault


def _build_text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


_PAGE = 50
_MOST_COMPLETIONS = 100


class Resources:
    """The documents of one knowledge base as resources."""

    def __init__(self, caller: ToolCaller) -> None:
        self._caller = caller

    def list(self, cursor: str | None) -> dict[str, Any]:
        """Return a page of documents, those indexed last first.

        Raises:
            RequestError: The cursor is not one of ours, or the index cannot be read.
        """
        try:
            offset = 0 if cursor is None else max(0, int(urlsafe_b64decode(cursor)))
        except ValueError as fault:
            message = f"not a cursor of this list: {cursor}"
            raise RequestError(message) from fault

        def use(kebab: "Kebab") -> dict[str, Any]:
            request = ListRequest(limit=_PAGE, offset=offset, sort="indexed")
            try:
                reply = kebab.run(request)
            except NotIndexed:
                return {"resources": []}
            folders = _list_folders(kebab)
            page: dict[str, Any] = {
                "resources": [_describe(one, folders) for one in reply.documents]
            }
            if reply.has_more:
                page["nextCursor"] = urlsafe_b64encode(f"{offset + _PAGE}".encode()).decode()
            return page

        page: dict[str, Any] = self._run(use)
        return page

    def list_templates(self) -> dict[str, Any]:
        """Return the one template: a document by its path."""
        template = {
            "uriTemplate": TEMPLATE,
            "name": "document",
            "description": "An indexed file by its absolute path; `#L5-L9` selects lines.",
        }
        return {"resourceTemplates": [template]}

    def read(self, uri: str) -> dict[str, Any]:
        """Return the text that a URI names.

        Raises:
            RequestError: No document of the index has this URI.
        """
        if not uri.startswith(SCHEME):
            raise RequestError(f"not a URI of kebab: {uri}", {"uri": uri})
        reply = self._run(lambda kebab: kebab.run(FetchRequest(refs=[uri])))
        (found,) = reply.results
        if not isinstance(found, FetchResult):
            data = {"uri": uri, "candidates": found.error.candidates}
            raise RequestError(f"no such resource: {uri}", data)
        has_own_text = isinstance(found.citation, LineCitation | CodeCitation)
        # Text that was extracted is plain.
        media = (detect_media_type(found.doc_path) if has_own_text else None) or PLAIN
        return {"contents": [{"uri": uri, "mimeType": media, "text": found.text}]}

    def complete(self, typed: str | None) -> dict[str, Any]:
        """Return absolute paths of documents: those that begin with a text, then that contain it.

        The text and the paths are percent-encoded, as in a URI.
        """
        if typed is None:
            return {"completion": {"values": []}}

        def use(kebab: "Kebab") -> Iterable[str]:
            documents = kebab.run(ListRequest(limit=None)).documents
            folders = _list_folders(kebab)
            return [encode_path(file) for one in documents if (file := _join(one, folders))]

        try:
            paths = self._run(use)
        except RequestError:
            paths = []
        folded = typed.casefold()
        found = [path for path in paths if folded in path.casefold()]
        found.sort(key=lambda path: (not path.casefold().startswith(folded), path))
        values = found[:_MOST_COMPLETIONS]
        more = len(found) > len(values)
        return {"completion": {"values": values, "total": len(found), "hasMore": more}}

    def _run(self, use: Any) -> Any:
        """Return what a function makes of the knowledge base.

        Raises:
            RequestError: It raises a signal, which becomes `error.v1`.
        """
        try:
            return self._caller.run(use)
        except Signal as fault:
            reply = report_failure("fetch", fault, self._caller.settings).reply
            raise RequestError(reply.message, msgspec.json.decode(encode_json(reply))) from fault


def _describe(document: DocSummary, folders: dict[str, str]) -> dict[str, Any]:
    """Return the entry of a document in `resources/list`."""
    entry = {
        "uri": format_resource_uri(_join(document, folders), document.doc_id),
        "name": document.doc_path,
        "mimeType": document.media,
        "size": document.size,
        "annotations": {"lastModified": document.modified_at},
    }
    return entry | ({"title": document.title} if document.title else {})


def _list_folders(kebab: "Kebab") -> dict[str, str]:
    """Return the folder of each source by its name; text without a file has none."""
    sources = kebab.run(SourceListRequest()).sources
    return {one.name: one.folder for one in sources if one.kind != "stdin"}


def _join(document: DocSummary, folders: dict[str, str]) -> str | None:
    """Return the absolute path of a document; None for text without a file."""
    folder = folders.get(document.source)
    return None if folder is None else f"{folder.rstrip('/')}/{document.doc_path}"
