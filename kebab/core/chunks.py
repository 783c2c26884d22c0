"""Chunks: what is indexed, found and cited."""

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kebab.core.ids import ChunkId, DocId, Key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]
    """One unit vector, shape (dimension,)."""
    Matrix: TypeAlias = NDArray[np.float32]
    """Unit vectors in rows, shape (count, dimension)."""


class Chunk(NamedTuple):
    """A slice of a document's text that fits the embedder's window.

    `text == document.text[start:end]` in code points; `start_line` and `end_line` are the lines of
    the file that hold it, 1-based and inclusive. `heading_path` leads from the document's top to
    the section that the chunk stands in; a heading that opens the chunk is its last element.
    """

    ordinal: int
    text: str
    start: int
    end: int
    start_line: int
    end_line: int
    heading_path: tuple[str, ...] = ()


class ChunkRow(NamedTuple):
    """A chunk with its identities, ready to be stored.

    `embed_hash` is the digest of what the embedder is given (see `build_embed_text`), by which equal
    passages share one vector.
    """

    chunk: Chunk
    chunk_id: ChunkId
    text_hash: str
    embed_hash: str


class PendingChunk(NamedTuple):
    """A stored chunk that still lacks its vector."""

    key: Key
    chunk_id: ChunkId
    doc_id: DocId
    title: str
    heading_path: tuple[str, ...]
    text: str
    embed_hash: str


class ChunkText(NamedTuple):
    """A stored chunk's text alone, with the document it is of and the hash of that one's bytes."""

    key: Key
    doc_id: DocId
    content_hash: str
    text: str


KeyedScore: TypeAlias = tuple[Key, float]
"""A chunk and its score; lists of them stand best first, ties by the smaller key."""


def build_embed_text(title: str, heading_path: tuple[str, ...], text: str) -> str:
    """Return what an embedder is given for a chunk: its context on one line, then its text.

    A title that the heading path begins with is not said twice.
    """
    path = heading_path[1:] if heading_path[:1] == (title,) else heading_path
    context = " > ".join(part for part in (title, *path) if part)
    return f"{context}\n{text}" if context else text
