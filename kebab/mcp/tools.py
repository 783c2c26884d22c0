"""Declares the tools: what a model reads of them, and the operations that they run.

The order is that of `tools/list`, which never changes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from kebab.mcp.arguments import (
    Arguments,
    AskArguments,
    ExplainArguments,
    GrepArguments,
    IngestArguments,
    OutlineArguments,
    ReadArguments,
    SearchArguments,
    StatusArguments,
)
from kebab.mcp.instructions import describe_index
from kebab.mcp.links import build_hit_links
from kebab.mcp.results import (
    AskResult,
    ExplainResult,
    GrepResult,
    IngestResult,
    OutlineResult,
    ReadResult,
    Result,
    SearchResult,
    StatusResult,
    build_ask_result,
    build_explain_result,
    build_grep_result,
    build_ingest_result,
    build_outline_result,
    build_read_result,
    build_search_result,
    build_status_result,
)
from kebab.mcp.schemas import Schema, build_input_schema, build_output_schema
from kebab.wire.library import NotFound
from kebab.wire.record import Reply

RunOperation = Callable[[str, dict[str, Any]], Any]
"""Runs the operation with a name and the fields of its request; returns its reply."""


class ToolOutput(NamedTuple):
    """What a tool returns: the reply to show, or the text itself, and the structured result."""

    shown: Reply | str
    result: Result
    links: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True)
class Tool:
    """A tool: its declaration, and the function that calls operations."""

    name: str
    operation: str
    """The operation that errors name."""
    description: str
    arguments: type[Arguments]
    result: type[Result]
    run: Callable[[RunOperation, Any], ToolOutput]
    is_read_only: bool = True
    permission: str | None = field(default=None)
    """The flag of `kebab mcp` that offers the tool; None means always."""

    @cached_property
    def input_schema(self) -> Schema:
        """The closed schema of the arguments."""
        return build_input_schema(self.arguments)

    @cached_property
    def output_schema(self) -> Schema:
        """The schema of the structured result."""
        return build_output_schema(self.result)

    def describe(self, *, structured: bool) -> dict[str, Any]:
        """Return the entry of `tools/list`; without structured results it has no output schema."""
        entry = {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input_schema,
        }
        if structured:
            entry["outputSchema"] = self.output_schema
        hints = {"readOnlyHint": self.is_read_only, "openWorldHint": False}
        if not self.is_read_only:
            hints["destructiveHint"] = False
        return {**entry, "annotations": hints}


def _search(run: RunOperation, arguments: SearchArguments) -> ToolOutput:
    fields = {
        "path_glob": arguments.path,
        "since": arguments.since,
        "limit": arguments.limit,
        "max_tokens": arguments.max_tokens,
        "detail": arguments.detail,
        "cursor": arguments.cursor,
    }
    queries = arguments.queries
    several = not isinstance(queries, str) and len(queries) > 1
    one = queries if isinstance(queries, str) else queries[0]
    reply = run("search", fields | ({"queries": queries} if several else {"query": one}))
    return ToolOutput(reply, build_search_result(reply), build_hit_links(reply))


def _read(run: RunOperation, arguments: ReadArguments) -> ToolOutput:
    refs = [arguments.refs] if isinstance(arguments.refs, str) else arguments.refs
    fields = {"refs": refs, "section": arguments.section, "max_tokens": arguments.max_tokens}
    reply = run("fetch", fields)
    return ToolOutput(reply, build_read_result(reply))


def _grep(run: RunOperation, arguments: GrepArguments) -> ToolOutput:
    fields = {
        "pattern": arguments.pattern,
        "paths": [arguments.path] if arguments.path else [],
        "fixed": arguments.fixed,
        "ignore_case": arguments.ignore_case,
        "before": arguments.context,
        "after": arguments.context,
        "limit": arguments.limit,
    }
    reply = run("grep", fields)
    return ToolOutput(reply, build_grep_result(reply))


def _outline(run: RunOperation, arguments: OutlineArguments) -> ToolOutput:
    fields = {"name": arguments.ref, "depth": arguments.depth}
    is_overview = arguments.ref is None and arguments.depth is None
    reply = run("outline", fields | ({"limit": 0} if is_overview else {}))
    return ToolOutput(reply, build_outline_result(reply))


def _explain(run: RunOperation, arguments: ExplainArguments) -> ToolOutput:
    """Explain a search on a document; of a file that is no document, why it is none."""
    if arguments.query is not None:
        search = {"query": arguments.query}
        reply = run("why", {"name": arguments.path, "search": search})
    else:
        reply = run("inspect_doc", {"name": arguments.path})
        if not isinstance(reply, NotFound):
            paths = [reply.file or arguments.path]
            reply = run("explain_paths", {"paths": paths})
    if isinstance(reply, NotFound) and Path(arguments.path).expanduser().exists():
        reply = run("explain_paths", {"paths": [arguments.path]})
    return ToolOutput(reply, build_explain_result(reply))


def _status(run: RunOperation, arguments: StatusArguments) -> ToolOutput:
    del arguments
    reply = run("schema", {})
    sources = run("source_list", {}).sources if reply.stats.doc_count else []
    text = "\n".join(describe_index(reply, sources, most=100))
    return ToolOutput(text, build_status_result(reply))


def _ingest(run: RunOperation, arguments: IngestArguments) -> ToolOutput:
    reply = run("ingest", {"paths": arguments.paths})
    return ToolOutput(reply, build_ingest_result(reply))


def _ask(run: RunOperation, arguments: AskArguments) -> ToolOutput:
    reply = run("ask", {"question": arguments.question, "path_glob": arguments.path})
    return ToolOutput(reply, build_ask_result(reply))


TOOLS: tuple[Tool, ...] = (
    Tool(
        name="search",
        operation="search",
        description="Search the user's files by words and meaning. Start here. Returns the best"
        " passages, each with a reference to cite or `read`; says when nothing is convincing.",
        arguments=SearchArguments,
        result=SearchResult,
        run=_search,
    ),
    Tool(
        name="read",
        operation="fetch",
        description="Return the original lines of references, or whole files.",
        arguments=ReadArguments,
        result=ReadResult,
        run=_read,
    ),
    Tool(
        name="grep",
        operation="grep",
        description="List all lines of the indexed files, as they are now, that match a regular"
        " expression. For exact strings and complete lists.",
        arguments=GrepArguments,
        result=GrepResult,
        run=_grep,
    ),
    Tool(
        name="outline",
        operation="outline",
        description="Show the headings of a document with references and sizes, or the tree of a"
        " folder. Use it before reading a long file.",
        arguments=OutlineArguments,
        result=OutlineResult,
        run=_outline,
    ),
    Tool(
        name="explain",
        operation="why",
        description="Explain why a file is or is not indexed, or why a search finds or misses it.",
        arguments=ExplainArguments,
        result=ExplainResult,
        run=_explain,
    ),
    Tool(
        name="status",
        operation="schema",
        description="Say what is indexed: folders, formats, languages, and whether it is current.",
        arguments=StatusArguments,
        result=StatusResult,
        run=_status,
    ),
    Tool(
        name="ingest",
        operation="ingest",
        description="Bring the index up to date with the files. Files are never changed.",
        arguments=IngestArguments,
        result=IngestResult,
        run=_ingest,
        is_read_only=False,
        permission="--allow-write",
    ),
    Tool(
        name="ask",
        operation="ask",
        description="Let a local language model answer, with citations. Slow: prefer `search`.",
        arguments=AskArguments,
        result=AskResult,
        run=_ask,
        permission="--with-ask",
    ),
)
"""Every tool."""


def select_tools(*, allow_write: bool, with_ask: bool) -> tuple[Tool, ...]:
    """Return the tools that a server offers."""
    given = {
        None,
        *(["--allow-write"] if allow_write else []),
        *(["--with-ask"] if with_ask else []),
    }
    return tuple(tool for tool in TOOLS if tool.permission in given)
