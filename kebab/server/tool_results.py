"""Declares the structured results of the MCP tools, and builds them from replies of operations.

A result holds what a program needs to go on: references, scores, counts and verdicts. The text that
a model reads is not repeated in it. Fields with their default are left out. `coverage` tells how
much of the sources the index has read, by which an empty result is judged. The URI of a resource,
such as `kebab:///notes/a.md#L12-L30`, has the absolute path of the file, percent-encoded; text that
has no file is named by the id of its document, `kebab://id/ID`. The fragment is that of the
citation. `kebab fetch` and the tool `read` take these URIs too.
"""

from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

import msgspec
from msgspec import Struct

from kebab.app.conversions import format_timestamp
from kebab.app.reference_syntax import ID_AUTHORITY
from kebab.search.citations import find_fragment, format_hit_reference, get_cited_lines
from kebab.wire.ask import Answer
from kebab.wire.citation import Freshness
from kebab.wire.coverage import Coverage
from kebab.wire.fetch import FetchList, GrepResponse, Outline
from kebab.wire.health import Introspection
from kebab.wire.ingest import IngestReport
from kebab.wire.library import FetchResult, PathExplanations
from kebab.wire.record import NotFound
from kebab.wire.search import ConfidenceName, SearchHit, SearchResponse

SCHEME = "kebab://"
TEMPLATE = f"{SCHEME}{{+path}}"
"""The URI template of every document with a file."""


def format_resource_uri(file: str | None, doc_id: str, fragment: str = "") -> str:
    """Return the URI of a document, or of the place in it that a fragment such as `#L5` names."""
    path = encode_path(file) if file else f"{ID_AUTHORITY}/{doc_id}"
    return f"{SCHEME}{path}{fragment}"


def encode_path(path: str) -> str:
    """Return a path as the template takes it: percent-encoded, except the slashes."""
    return quote(path.encode("utf-8", "surrogateescape"))


def list_hit_references(reply: SearchResponse) -> list[str]:
    """Return the reference of each hit.

    Paths are below the source of the first hit; one of another source, or of several, is absolute.
    """
    folders: dict[str, set[str]] = {}
    for hit in reply.hits:
        folders.setdefault(hit.doc_path, set()).add(hit.source)
    shared = {reply.hits[0].source} if reply.hits else set()
    return [
        format_hit_reference(
            hit, get_cited_lines(hit.citation), absolute=folders[hit.doc_path] != shared
        )
        for hit in reply.hits
    ]


def build_hit_links(reply: SearchResponse) -> list[dict[str, Any]]:
    """Return a `resource_link` for each hit; its priority is the score of the hit."""
    return [
        {
            "type": "resource_link",
            "uri": format_resource_uri(hit.file, hit.doc_id, find_fragment(hit.citation.uri)),
            "name": hit.doc_path.rpartition("/")[2],
            "annotations": {"priority": round(hit.score, 2)} | _read_time(hit),
        }
        for hit in reply.hits
    ]


def _read_time(hit: SearchHit) -> dict[str, str]:
    """Return when the file was changed; nothing for a file that is gone, or text without a file."""
    try:
        changed = Path(hit.file or "").stat().st_mtime
    except OSError:
        return {}
    return {"lastModified": format_timestamp(changed)} if hit.file else {}


class Result(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The structured result of a tool."""


class FoundPassage(Struct, frozen=True, kw_only=True):
    """A passage that a search found."""

    ref: str
    score: float
    confidence: ConfidenceName
    freshness: Freshness


class SearchResult(Result, frozen=True, kw_only=True):
    """The passages of a page; `convincing` says that the best hit of the search is above `weak`."""

    hits: list[FoundPassage]
    convincing: bool
    next_cursor: str | None = None
    coverage: dict[str, Any] = {}


class ReadPlace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The lines that were read; `rest` is the reference of what the budget cut off."""

    ref: str
    first_line: int
    last_line: int
    freshness: Freshness
    rest: str | None = None


class ReadResult(Result, frozen=True, kw_only=True):
    """The places that were read."""

    places: list[ReadPlace]
    missing: list[str] = []


class GrepResult(Result, frozen=True, kw_only=True):
    """The number of matching lines of each file."""

    files: dict[str, int]
    has_more: bool
    coverage: dict[str, Any] = {}


class OutlineResult(Result, frozen=True, kw_only=True):
    """The size of what was outlined."""

    found: bool
    documents: int = 0
    sections: int = 0
    tokens: int = 0
    coverage: dict[str, Any] = {}


class ExplainResult(Result, frozen=True, kw_only=True):
    """The verdict: with a query whether the search finds the document, else if it is indexed."""

    found: bool
    reason: str
    rank: int | None = None


class StatusResult(Result, frozen=True, kw_only=True):
    """What the index holds; `pending` passages wait for a vector."""

    documents: int
    passages: int
    changed: int = 0
    pending: int = 0
    coverage: dict[str, Any] = {}


class IngestResult(Result, frozen=True, kw_only=True):
    """The number of documents of the scanned folders, and of each kind of change."""

    documents: int
    new: int = 0
    updated: int = 0
    removed: int = 0
    errors: int = 0
    cancelled: bool = False


class AskResult(Result, frozen=True, kw_only=True):
    """Whether the answer rests on the notes, and the places that it cites."""

    grounded: bool
    refs: list[str]
    refusal_reason: str | None = None
    coverage: dict[str, Any] = {}


Explained: TypeAlias = PathExplanations | NotFound


def _to_fields(coverage: Coverage | None) -> dict[str, Any]:
    """Return what the index covers as plain fields: its schema would fill the list of tools."""
    return {} if coverage is None else msgspec.to_builtins(coverage)


def build_search_result(reply: SearchResponse) -> SearchResult:
    """Return the references of the hits with their scores."""
    return SearchResult(
        hits=[
            FoundPassage(
                ref=ref,
                score=round(hit.score, 2),
                confidence=hit.confidence,
                freshness=hit.freshness,
            )
            for hit, ref in zip(reply.hits, list_hit_references(reply), strict=True)
        ],
        convincing=bool(reply.hits) and reply.convincing,
        next_cursor=reply.next_cursor,
        coverage=_to_fields(reply.coverage),
    )


def build_read_result(reply: FetchList) -> ReadResult:
    """Return the lines that were read, and the references that name nothing."""
    return ReadResult(
        places=[
            ReadPlace(
                ref=one.citation.uri,
                first_line=one.start_line,
                last_line=one.end_line,
                freshness=one.freshness,
                rest=one.rest,
            )
            for one in reply.results
            if isinstance(one, FetchResult)
        ],
        missing=[one.name for one in reply.results if isinstance(one, NotFound)],
    )


def build_grep_result(reply: GrepResponse) -> GrepResult:
    """Return the files that match."""
    files = {found.file or found.doc_path: found.lines for found in reply.files}
    return GrepResult(files=files, has_more=reply.has_more, coverage=_to_fields(reply.coverage))


def build_outline_result(reply: Outline | NotFound) -> OutlineResult:
    """Return the size of a document or a folder."""
    if isinstance(reply, NotFound):
        return OutlineResult(found=False)
    return OutlineResult(
        found=True,
        documents=reply.documents,
        sections=len(reply.sections),
        tokens=reply.tokens,
        coverage=_to_fields(reply.coverage),
    )


def build_explain_result(reply: Explained) -> ExplainResult:
    """Return what the index says of a file."""
    match reply:
        case PathExplanations(paths=[only]):
            return ExplainResult(found=only.indexed is not None, reason=only.reason)
        case _:
            return ExplainResult(found=False, reason="missing")


def build_status_result(reply: Introspection) -> StatusResult:
    """Return the figures of the index."""
    stats = reply.stats
    return StatusResult(
        documents=stats.doc_count,
        passages=stats.chunk_count,
        changed=reply.coverage.changed if reply.coverage else stats.stale_doc_count,
        pending=stats.pending_embeddings,
        coverage=_to_fields(reply.coverage),
    )


def build_ingest_result(reply: IngestReport) -> IngestResult:
    """Return the counts of a run."""
    return msgspec.convert(reply, IngestResult, from_attributes=True)


def build_ask_result(reply: Answer) -> AskResult:
    """Return what an answer cites."""
    cited = dict.fromkeys(one.citation.uri for one in reply.citations)
    return AskResult(
        grounded=reply.grounded,
        refs=list(cited),
        refusal_reason=reply.refusal_reason,
        coverage=_to_fields(reply.coverage),
    )
