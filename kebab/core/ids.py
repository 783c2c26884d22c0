"""Derives stable ids, and keeps large sets of keys in sorted arrays."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import partial
from hashlib import blake2b, file_digest
from itertools import pairwise
from typing import BinaryIO, NewType, TypeAlias

DocId = NewType("DocId", str)
ChunkId = NewType("ChunkId", str)
Key = NewType("Key", int)
"""The integer that identifies a chunk in both stores."""

DocNumber = NewType("DocNumber", int)
"""The integer that identifies a document in one snapshot."""

_ID_BYTES = 16


def compute_digest(*parts: str, size: int = _ID_BYTES) -> str:
    """Return `size` bytes of BLAKE2b over the parts, in hex; lengths separate the parts."""
    state = blake2b(digest_size=size)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        state.update(len(raw).to_bytes(8, "big"))
        state.update(raw)
    return state.hexdigest()


def hash_content(data: bytes) -> str:
    """Return the hash of a file's bytes, 64 hex digits."""
    return blake2b(data, digest_size=32).hexdigest()


def hash_file(file: BinaryIO) -> str:
    """Return the hash of the bytes of a file, as `hash_content` does, without holding them."""
    return file_digest(file, partial(blake2b, digest_size=32)).hexdigest()  # type: ignore[arg-type]


def compute_named_hash(size: int, mtime_ns: int) -> str:
    """Return what tells a file from others that is not read; it stays when the file is moved."""
    return compute_digest("named", str(size), str(mtime_ns))


def make_doc_id(source: str, path: str, occurrence: int = 0) -> DocId:
    """Return the id of a document that is first indexed at `path` of `source`.

    `occurrence` is above 0 only when an earlier document from that path has moved away and
    still holds the id.
    """
    return DocId(compute_digest("doc", source, path, str(occurrence)))


def make_chunk_id(doc: DocId, chunker: str, text_hash: str, occurrence: int) -> ChunkId:
    """Return the id of the `occurrence`-th chunk with this text in a document."""
    return ChunkId(compute_digest("chunk", doc, chunker, text_hash, str(occurrence)))


Keys: TypeAlias = "array[int]"
"""Keys in rising order; a key may be repeated."""

_PART = 65_536


def sort_keys(keys: Iterable[int]) -> Keys:
    """Sort keys."""
    return array("q", sorted(keys))


def find_missing_keys(wanted: Keys, held: Keys) -> list[Key]:
    """Return the wanted keys that are not among the held ones, in rising order."""
    missing: list[Key] = []
    for start in range(0, len(wanted), _PART):
        part = wanted[start : start + _PART]
        inside = held[bisect_left(held, part[0]) : bisect_right(held, part[-1])]
        if part != inside:
            found = set(inside)
            missing += [Key(key) for key in part if key not in found]
    return missing


def find_repeated_keys(keys: Keys) -> set[Key]:
    """Return the keys that occur more than once."""
    return {Key(key) for key, following in pairwise(keys) if key == following}
