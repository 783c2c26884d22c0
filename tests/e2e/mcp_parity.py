"""The tool calls of the parity test, each with the operation that gives the same answer.

A tool returns less than its operation: what a program needs to go on. What it returns is the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.e2e.parity import DOC, PLAIN

Node = dict[str, Any]

BUDGET = 1200
"""What `search` returns at most, by default."""

TOOLS_OF: Mapping[str, str] = {
    "search": "search",
    "fetch": "read",
    "grep": "grep",
    "outline": "outline",
    "explain_paths": "explain",
    "schema": "status",
    "ingest": "ingest",
    "ask": "ask",
}
"""The tool that gives the answer of an operation."""

NO_TOOL: Mapping[str, str] = {
    "related": "an agent searches",
    "dupes": "the work of a person",
    "list": "`outline` lists documents",
    "inspect_doc": "`outline` and `explain` say what an agent needs",
    "inspect_chunk": "the inside of the index",
    "fetch_chunk": "`read` takes every reference",
    "fetch_doc": "`read` takes every reference",
    "fetch_span": "`read` takes every reference",
    "session_list": "the client keeps the talk",
    "session_show": "the client keeps the talk",
    "session_rm": "deletes",
    "ingest_text": "an agent writes files",
    "translate": "the agent translates by itself",
    "review": "the agent reviews by itself",
    "review_runs": "the agent reviews by itself",
    "review_rm": "deletes",
    "review_apply": "an agent writes files",
    "review_rules": "the work of a person",
    "stats": "the work of a person",
    "rm": "deletes",
    "source_list": "`status` lists the folders",
    "source_rm": "deletes",
    "export": "the work of a person",
    "publish": "the work of a person",
    "source_add": "the work of a person",
    "repair": "the work of a person",
    "import": "deletes",
    "reset": "deletes",
    "init": "the work of a person",
    "model_list": "the work of a person",
    "model_pull": "the work of a person",
    "model_use": "the work of a person",
    "doctor": "the work of a person",
    "errors": "the work of a person",
    "inspect_error": "the work of a person",
    "explain": "an error carries its explanation",
}
"""The operations without a tool, because at most seven tools are offered, each with its reason."""


@dataclass(frozen=True, slots=True)
class ToolCase:
    """A tool call, and the request of the operation that means the same."""

    tool: str
    arguments: Mapping[str, Any]
    operation: str
    fields: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.tool} {self.arguments}"[:60]


def _search(arguments: Node, **fields: Any) -> ToolCase:
    defaults = {"limit": 5, "max_tokens": BUDGET, "detail": "passages"}
    return ToolCase("search", arguments, "search", {**defaults, **fields})


CASES: Sequence[ToolCase] = (
    _search({"queries": PLAIN}, query=PLAIN),
    _search({"queries": ["restore", "garden"]}, queries=["restore", "garden"]),
    _search({"queries": "백업", "limit": 2, "detail": "ids"}, query="백업", limit=2, detail="ids"),
    _search({"queries": "restore", "path": "work/**"}, query="restore", path_glob="work/**"),
    _search({"queries": "restore", "path": "nowhere"}, query="restore", path_glob="nowhere"),
    _search({"queries": "restore", "max_tokens": 1}, query="restore", max_tokens=1),
    _search({"queries": "qqqqqqqq"}, query="qqqqqqqq"),
    _search({"queries": ""}, query=""),
    _search({"queries": "x", "since": "whenever"}, query="x", since="whenever"),
    _search({"queries": "x", "cursor": "forged"}, query="x", cursor="forged"),
    ToolCase(
        "read",
        {"refs": [f"{DOC}#L2-L4", "nowhere"], "section": True},
        "fetch",
        {"refs": [f"{DOC}#L2-L4", "nowhere"], "section": True, "max_tokens": 2000},
    ),
    ToolCase("read", {"refs": DOC, "max_tokens": 5}, "fetch", {"refs": [DOC], "max_tokens": 5}),
    ToolCase("read", {"refs": "\0"}, "fetch", {"refs": ["\0"], "max_tokens": 2000}),
    ToolCase("grep", {"pattern": "restore"}, "grep", {"pattern": "restore", "limit": 30}),
    ToolCase(
        "grep",
        {"pattern": "E", "ignore_case": True, "path": "work", "context": 2, "limit": 2},
        "grep",
        {
            "pattern": "E",
            "ignore_case": True,
            "paths": ["work"],
            "before": 2,
            "after": 2,
            "limit": 2,
        },
    ),
    ToolCase("grep", {"pattern": "a("}, "grep", {"pattern": "a(", "limit": 30}),
    ToolCase("outline", {"ref": DOC}, "outline", {"name": DOC}),
    ToolCase("outline", {"ref": "work", "depth": 1}, "outline", {"name": "work", "depth": 1}),
    ToolCase("outline", {"ref": "nowhere"}, "outline", {"name": "nowhere"}),
    ToolCase(
        "explain", {"path": f"{{NOTES}}/{DOC}"}, "explain_paths", {"paths": [f"{{NOTES}}/{DOC}"]}
    ),
    ToolCase(
        "explain", {"path": "{HOME}/cases.bin"}, "explain_paths", {"paths": ["{HOME}/cases.bin"]}
    ),
    ToolCase("status", {}, "schema", {}),
    ToolCase("ingest", {"paths": ["{NOTES}"]}, "ingest", {"paths": ["{NOTES}"]}),
    ToolCase("ingest", {"paths": ["{NOTES}/nowhere"]}, "ingest", {"paths": ["{NOTES}/nowhere"]}),
)
"""The calls: valid, broken and hostile ones."""


def _share_coverage(reply: Node) -> Node:
    coverage = reply["coverage"] or {}
    return {"coverage": {name: one for name, one in coverage.items() if name != "checked_at"}}


def _share_search(reply: Node) -> Node:
    hits = [
        {
            "ref": hit["citation"]["uri"],
            "score": round(hit["score"], 2),
            "confidence": hit["confidence"],
        }
        for hit in reply["hits"]
    ]
    convincing = bool(hits) and reply["convincing"]
    page = {"hits": hits, "convincing": convincing, "next_cursor": reply["next_cursor"]}
    return page | _share_coverage(reply)


def _share_read(reply: Node) -> Node:
    found = [one for one in reply["results"] if one["schema_version"] == "fetch_result.v1"]
    missing = [one["name"] for one in reply["results"] if one not in found]
    places = [
        {
            "ref": one["citation"]["uri"],
            "first_line": one["start_line"],
            "last_line": one["end_line"],
            "rest": one["rest"],
        }
        for one in found
    ]
    return {"places": places, "missing": missing}


def _share_grep(reply: Node) -> Node:
    files = {one["file"]: one["lines"] for one in reply["files"]}
    return {"files": files, "has_more": reply["has_more"], **_share_coverage(reply)}


def _share_outline(reply: Node) -> Node:
    if reply["schema_version"] == "not_found.v1":
        return {"found": False}
    sizes = {"documents": reply["documents"], "tokens": reply["tokens"]}
    return {"found": True, "sections": len(reply["sections"]), **sizes, **_share_coverage(reply)}


def _share_paths(reply: Node) -> Node:
    (only,) = reply["paths"]
    return {"found": only["indexed"] is not None, "reason": only["reason"]}


def _share_status(reply: Node) -> Node:
    names = {
        "documents": "doc_count",
        "passages": "chunk_count",
        "changed": "stale_doc_count",
        "pending": "pending_embeddings",
    }
    counts = {name: reply["stats"][field] for name, field in names.items()}
    return counts | _share_coverage(reply)


def _share_ingest(reply: Node) -> Node:
    names = ("documents", "new", "updated", "removed", "errors", "cancelled")
    return {name: reply[name] for name in names}


SHARED: Mapping[str, Callable[[Node], Node]] = {
    "search": _share_search,
    "fetch": _share_read,
    "grep": _share_grep,
    "outline": _share_outline,
    "explain_paths": _share_paths,
    "schema": _share_status,
    "ingest": _share_ingest,
}
"""What a tool returns of the reply of an operation."""


def drop_defaults(result: Any) -> Any:
    """Return a result without the fields that are empty, because tools leave them out."""
    if isinstance(result, dict):
        shown = {name: drop_defaults(one) for name, one in result.items()}
        return {name: one for name, one in shown.items() if one not in (None, 0, [])}
    return [drop_defaults(one) for one in result] if isinstance(result, list) else result
