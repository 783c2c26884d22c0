"""Declares the structured results of the tools, and builds them from the replies of operations.

A result holds what a program needs to go on: references, scores, counts and verdicts. The text that
a model reads is not repeated in it. Fields with their default are left out.
"""

from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from kebab.mcp.links import list_hit_references
from kebab.wire.ask import Answer
from kebab.wire.coverage import Coverage
from kebab.wire.fetch import FetchList
from kebab.wire.grep import GrepResponse
from kebab.wire.health import Introspection
from kebab.wire.ingest import IngestReport
from kebab.wire.library import FetchResult, NotFound
from kebab.wire.outline import Outline
from kebab.wire.path_explanation import PathExplanations
from kebab.wire.search import ConfidenceName, SearchResponse
from kebab.wire.why import Explanation


class Result(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The structured result of a tool."""


class FoundPassage(Struct, frozen=True, kw_only=True):
    """A passage that a search found."""

    ref: str
    score: float
    confidence: ConfidenceName


class SearchResult(Result, frozen=True, kw_only=True):
    """The passages of a page."""

    hits: list[FoundPassage]
    convincing: bool
    next_cursor: str | None = None
    coverage: dict[str, Any] = {}


class ReadPlace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The lines that were read; `rest` is the reference of what the budget cut off."""

    ref: str
    first_line: int
    last_line: int
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


Explained: TypeAlias = Explanation | PathExplanations | NotFound


def _to_fields(coverage: Coverage | None) -> dict[str, Any]:
    """Return what the index covers as plain fields: its schema would fill the list of tools."""
    return {} if coverage is None else msgspec.to_builtins(coverage)


def build_search_result(reply: SearchResponse) -> SearchResult:
    """Return the references of the hits with their scores."""
    return SearchResult(
        hits=[
            FoundPassage(ref=ref, score=round(hit.score, 2), confidence=hit.confidence)
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
    """Return the verdict of a search on a document, or of the index on a file."""
    match reply:
        case Explanation():
            return ExplainResult(found=reply.found, reason=reply.verdict, rank=reply.rank)
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
    return IngestResult(
        documents=reply.documents,
        new=reply.new,
        updated=reply.updated,
        removed=reply.removed,
        errors=reply.errors,
        cancelled=reply.cancelled,
    )


def build_ask_result(reply: Answer) -> AskResult:
    """Return what an answer cites."""
    cited = dict.fromkeys(one.citation.uri for one in reply.citations)
    return AskResult(
        grounded=reply.grounded,
        refs=list(cited),
        refusal_reason=reply.refusal_reason,
        coverage=_to_fields(reply.coverage),
    )
