"""Identities: lower-case hex digests of BLAKE2b over length-prefixed parts."""

from hashlib import blake2b
from typing import NewType

DocId = NewType("DocId", str)
ChunkId = NewType("ChunkId", str)
Key = NewType("Key", int)
"""The integer by which both stores know a chunk."""

DocNumber = NewType("DocNumber", int)
"""The integer by which one snapshot knows a document."""

_ID_BYTES = 16


def digest(*parts: str, size: int = _ID_BYTES) -> str:
    """Return `size` bytes of BLAKE2b over the parts, in hex; part lists never run together."""
    state = blake2b(digest_size=size)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        state.update(len(raw).to_bytes(8, "big"))
        state.update(raw)
    return state.hexdigest()


def content_hash(data: bytes) -> str:
    """Return the hash of a file's bytes, 64 hex digits."""
    return blake2b(data, digest_size=32).hexdigest()


def doc_id(source: str, path: str, occurrence: int = 0) -> DocId:
    """Return the id a document gets when it is first seen at `path` of `source`.

    `occurrence` is above 0 only when an earlier document from that path has moved away and
    still holds the id.
    """
    return DocId(digest("doc", source, path, str(occurrence)))


def chunk_id(doc: DocId, chunker: str, text_hash: str, occurrence: int) -> ChunkId:
    """Return the id of the `occurrence`-th chunk with this text in a document."""
    return ChunkId(digest("chunk", doc, chunker, text_hash, str(occurrence)))
