"""Builds the URIs of resources, such as `kebab:///notes/a.md#L12-L30`, and links to hits.

The path is the absolute path of the file, percent-encoded; text that has no file is named by the id
of its document, `kebab://id/ID`. The fragment is that of the citation. `kebab fetch` and the tool
`read` take these URIs too.
"""

from pathlib import Path
from typing import Any
from urllib.parse import quote

from kebab.app.reference_syntax import ID_AUTHORITY
from kebab.app.timestamps import format_timestamp
from kebab.search.citations import format_hit_reference, get_cited_lines, quote_path
from kebab.wire.search import SearchHit, SearchResponse

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

    Paths are below the folder of the first hit; a path that is in another folder is absolute.
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
            "uri": format_resource_uri(hit.file, hit.doc_id, _get_fragment(hit)),
            "name": hit.doc_path.rpartition("/")[2],
            "annotations": {"priority": round(hit.score, 2)} | _read_time(hit),
        }
        for hit in reply.hits
    ]


def _get_fragment(hit: SearchHit) -> str:
    return hit.citation.uri.removeprefix(quote_path(hit.citation.path))


def _read_time(hit: SearchHit) -> dict[str, str]:
    """Return when the file was changed; nothing for a file that is gone."""
    try:
        changed = Path(hit.file or "").stat().st_mtime
    except OSError:
        return {}
    return {"lastModified": format_timestamp(changed)} if hit.file else {}
