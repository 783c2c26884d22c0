"""Arrangement: which of the ranked chunks are shown, one after the other."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from kebab.core.hit import StoredChunk
from kebab.core.ids import DocId, Key

COPIES = 3
"""How often the very same text is shown; further copies, in other documents, are left out."""

_BATCH, _LARGEST_BATCH = 12, 96


def arrange(
    keys: Sequence[Key],
    read: Callable[[Sequence[Key]], list[StoredChunk]],
    per_doc: int | None,
) -> Iterator[StoredChunk]:
    """Yield chunks in their order, at most `per_doc` of one document and few copies of one text.

    They are read in growing batches, as far as the caller goes.
    """
    documents: Counter[DocId] = Counter()
    texts: Counter[str] = Counter()
    for batch in _batches(keys):
        for chunk in read(batch):
            if per_doc is not None and documents[chunk.doc_id] >= per_doc:
                continue
            if texts[chunk.text] >= COPIES:
                continue
            documents[chunk.doc_id] += 1
            texts[chunk.text] += 1
            yield chunk


def _batches(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    start, size = 0, _BATCH
    while start < len(keys):
        yield keys[start : start + size]
        start, size = start + size, min(2 * size, _LARGEST_BATCH)
