"""The identities of chunks: stable while their text is, whatever happens around them."""

from collections import Counter
from collections.abc import Iterable

from kebab.core.chunks import Chunk, ChunkRow, embed_text
from kebab.core.ids import DocId, chunk_id, digest

DEFAULT_LIMIT = 254
"""The window of all-MiniLM-L6-v2 without its two special tokens."""


def chunker_version(limit: int = DEFAULT_LIMIT) -> str:
    """Return the label of a chunker: how it cuts, its limit in tokens, and its version."""
    return f"heading-{limit}-v1"


CHUNKER_VERSION = chunker_version()


def rows(
    doc_id: DocId, title: str, chunks: Iterable[Chunk], chunker: str = CHUNKER_VERSION
) -> tuple[ChunkRow, ...]:
    """Return the chunks of a document with their ids; equal texts are told apart by their order."""
    seen: Counter[str] = Counter()
    found = []
    for chunk in chunks:
        text_hash = digest(chunk.text)
        found.append(
            ChunkRow(
                chunk=chunk,
                chunk_id=chunk_id(doc_id, chunker, text_hash, seen[text_hash]),
                text_hash=text_hash,
                embed_hash=digest(embed_text(title, chunk.heading_path, chunk.text)),
            )
        )
        seen[text_hash] += 1
    return tuple(found)
