"""Keeps the hits of the last search at a terminal: `kebab open 2` shows the second one.

They are in a small file that belongs to one knowledge base, and only its owner can read it. An
ingest embeds their documents first.
"""

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from kebab.config.settings import Settings, resolve_paths
from kebab.core.chunks import ChunkId, compute_digest

if TYPE_CHECKING:
    from kebab.wire.record import NotFound
    from kebab.wire.search import SearchResponse

_MAX_BYTES = 1_000_000


class _LastHit(NamedTuple):
    """A hit: its rank, the id of its passage, and a reference that holds after an ingest."""

    rank: int
    chunk_id: str
    ref: str


def get_hits_path(settings: Settings) -> Path:
    """Return the path of the file for the knowledge base of these settings."""
    paths = resolve_paths(settings)
    return paths.state / f"last-hits-{compute_digest(str(paths.data), size=8)}.json"


def store_hits(settings: Settings, reply: "SearchResponse") -> None:
    """Replace the stored hits; a state folder that cannot be written changes nothing."""
    from kebab.core.files import quote_path
    from kebab.search.citations import locate_hit

    rows = []
    for hit in reply.hits:  # with the absolute path of its file, where it has one
        _, mark, fragment = (uri := hit.citation.uri).rpartition("#")
        absolute = locate_hit(hit, reply.sources)
        ref = uri if absolute is None else f"{quote_path(absolute)}{mark}{fragment}"
        rows.append(_LastHit(hit.rank, hit.chunk_id, ref))
    path = get_hits_path(settings)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    data = msgspec.json.encode(rows)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Only its owner can read it.
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "wb") as opened:
            opened.write(data)
        temporary.replace(path)


def list_last_hits(settings: Settings) -> list[ChunkId]:
    """Return the passages of the last search at a terminal; none when they cannot be read."""
    try:
        return [ChunkId(hit.chunk_id) for hit in _load_hits(settings)]
    except _UNREADABLE:
        return []


_UNREADABLE = (OSError, msgspec.DecodeError, UnicodeDecodeError)


def _load_hits(settings: Settings) -> list[_LastHit]:
    with get_hits_path(settings).open("rb") as file:
        return msgspec.json.decode(file.read(_MAX_BYTES), type=list[_LastHit])


def find_hit(settings: Settings, rank: int) -> "list[str] | NotFound":
    """Return references to the hit of this rank, the most exact first."""
    from kebab.app.references import build_lookup_fault

    try:
        hits = _load_hits(settings)
    except FileNotFoundError:
        return build_lookup_fault(str(rank), "there is no last search: run `kebab search` first")
    except _UNREADABLE:
        return build_lookup_fault(str(rank), "the last hits cannot be read: search again")
    for hit in hits:
        if hit.rank == rank:
            return [hit.chunk_id, hit.ref]
    ranks = [hit.rank for hit in hits]
    shown = f"it has hits {ranks[0]} to {ranks[-1]}" if ranks else "it found nothing"
    shown = "it has 1 hit" if ranks == [1] else shown
    return build_lookup_fault(str(rank), f"the last search has no hit {rank}: {shown}")
