"""Declares the structured results of the MCP tools, which have fields of the replies of operations.

A result holds what a program needs to go on: references, scores, counts and verdicts. The text that
a model reads is not repeated in it. Fields with their default are left out. `coverage` tells how
much of the sources the index has read, by which an empty result is judged. The URI of a resource,
such as `kebab:///notes/a.md#L12-L30`, has the absolute path of the file, percent-encoded; text that
has no file is named by the id of its document, `kebab://id/ID`. The fragment is that of the
citation. `kebab fetch` and the tool `read` take these URIs too.
"""

import os
from typing import Any, TypeVar
from urllib.parse import quote

from msgspec import Struct

from kebab.app.references import ID_AUTHORITY
from kebab.search.citations import find_fragment, format_hit_reference, get_cited_lines
from kebab.wire.citation import Freshness
from kebab.wire.search import ConfidenceName, SearchResponse

SCHEME = "kebab://"


def format_resource_uri(file: str | None, doc_id: str, fragment: str = "") -> str:
    """Return the URI of a document, or of the place in it that a fragment such as `#L5` names."""
    path = quote(os.fsencode(file)) if file else f"{ID_AUTHORITY}/{doc_id}"
    return f"{SCHEME}{path}{fragment}"


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
            "annotations": {"priority": round(hit.score, 2)},
        }
        for hit in reply.hits
    ]


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


F = TypeVar("F", bound=Struct)


def keep_fields(reply: Struct, form: type[F], **own: Any) -> F:
    """Return a result with fields of its own, and those that a reply has under the same name."""
    names = form.__struct_fields__
    same = {name: value for name in names if (value := getattr(reply, name, None)) is not None}
    return form(**(same | own))
