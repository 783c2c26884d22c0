"""Stores where the hits of the last search are, so that `open` finds one by its rank.

The file is small, belongs to one knowledge base, and only its owner can read it.
"""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from kebab.app.references import build_lookup_fault
from kebab.config.paths import resolve_paths
from kebab.config.settings import Settings
from kebab.core.ids import ChunkId, compute_digest
from kebab.search.citations import quote_path
from kebab.wire.library import NotFound
from kebab.wire.search import SearchHit

_VERSION = 1
_MAX_BYTES = 1_000_000


class _StoredHit(Struct, frozen=True, array_like=True):
    """A hit: its rank, the id of its passage, and a reference that holds after an ingest."""

    rank: int
    chunk_id: str
    ref: str


class _LastHits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The hits of one page."""

    version: int
    hits: list[_StoredHit]


def get_hits_path(settings: Settings) -> Path:
    """Return the path of the file for the knowledge base of these settings."""
    paths = resolve_paths(settings)
    return paths.state / f"last-hits-{compute_digest(str(paths.data), size=8)}.json"


def store_hits(settings: Settings, hits: Sequence[SearchHit]) -> None:
    """Replace the stored hits; a state folder that cannot be written changes nothing."""
    rows = [_StoredHit(hit.rank, hit.chunk_id, _format_place(hit)) for hit in hits]
    path = get_hits_path(settings)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    data = msgspec.json.encode(_LastHits(version=_VERSION, hits=rows))
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write_private(temporary, data)
        os.replace(temporary, path)  # noqa: PTH105 - atomic


def _format_place(hit: SearchHit) -> str:
    """Return the citation of a hit with the absolute path of its file, where it has one."""
    _, mark, fragment = hit.citation.uri.rpartition("#")
    return hit.citation.uri if hit.file is None else f"{quote_path(hit.file)}{mark}{fragment}"


def _write_private(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "wb") as opened:
        opened.write(data)


def list_last_hits(settings: Settings) -> list[ChunkId]:
    """Return the passages of the last search at a terminal; none when they cannot be read."""
    try:
        return [ChunkId(hit.chunk_id) for hit in _load_hits(get_hits_path(settings)).hits]
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return []


def _load_hits(path: Path) -> _LastHits:
    with path.open("rb") as file:
        return msgspec.json.decode(file.read(_MAX_BYTES), type=_LastHits)


def find_hit(settings: Settings, rank: int) -> list[str] | NotFound:
    """Return references to the hit of this rank, the most exact first."""
    path = get_hits_path(settings)
    try:
        stored = _load_hits(path)
    except FileNotFoundError:
        return build_lookup_fault(str(rank), "there is no last search: run `kebab search` first")
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return build_lookup_fault(str(rank), "the last hits cannot be read: search again")
    if stored.version != _VERSION:
        return build_lookup_fault(str(rank), "the last hits cannot be read: search again")
    for hit in stored.hits:
        if hit.rank == rank:
            return [hit.chunk_id, hit.ref]
    ranks = [hit.rank for hit in stored.hits]
    shown = f"it has {min(ranks)} to {max(ranks)}" if ranks else "it found nothing"
    return build_lookup_fault(str(rank), f"the last search has no hit {rank}: {shown}")
