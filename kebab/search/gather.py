"""Gathering what is compared: the passages of a library as signatures, read once in order."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING

from kebab.core.chunk import Passage
from kebab.core.ids import DocId, Key
from kebab.core.ports import LibraryReader
from kebab.core.progress import Progress, ProgressKind, Report
from kebab.core.query import Filters
from kebab.search import minhash
from kebab.search.shingles import Shingler

if TYPE_CHECKING:
    from kebab.search.minhash import Signatures
    from kebab.search.shingles import Places

LEAST_TOKENS = 20
"""Shorter passages (a lone heading, a link) repeat everywhere and tell nothing."""

_BATCH = 1024
_TOLD_EVERY = 16 * _BATCH
_DIGEST = 12


@dataclass(slots=True)
class Gathered:
    """Passages by place, those of one document side by side; texts and contents as digests."""

    keys: list[Key] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    """The document of each passage, by its place among the documents."""
    counts: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    """The first passage of each document."""
    contents: list[str] = field(default_factory=list)
    """The hash of the bytes of each document."""
    parts: "list[Signatures]" = field(default_factory=list)

    @property
    def rows(self) -> "Signatures":
        """The signature of each passage."""
        if len(self.parts) > 1:
            import numpy as np

            self.parts = [np.concatenate(self.parts)]
        return self.parts[0]

    def starts(self) -> "Places":
        """Return where the passages of each document begin."""
        import numpy as np

        return np.array(self.begins, np.int64)


def gather(library: LibraryReader, filters: Filters, report: Report) -> Gathered:
    """Return the passages of all documents that pass the filters."""
    found = Gathered()
    shingler = Shingler()
    total = None if filters.active else library.chunk_count()
    last: DocId | None = None
    for batch in _batches(library.passages(filters)):
        for passage in batch:
            if passage.doc_id != last:
                last = passage.doc_id
                found.begins.append(len(found.keys))
                found.contents.append(passage.content_hash)
            found.keys.append(passage.key)
            found.owners.append(len(found.begins) - 1)
            found.texts.append(_digest(passage.text))
        shingles, starts, counts = shingler.cut([passage.text for passage in batch])
        found.counts.extend(counts.tolist())
        found.parts.append(minhash.signatures(shingles, starts))
        if len(found.keys) % _TOLD_EVERY == 0:
            report(_told(len(found.keys), total))
    return found


def _batches(passages: Iterator[Passage]) -> Iterator[list[Passage]]:
    while batch := list(islice(passages, _BATCH)):
        yield batch


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).hexdigest()


def _told(done: int, total: int | None) -> Progress:
    kind = ProgressKind.HEARTBEAT
    return Progress(kind=kind, phase="compare", done=done, total=total, unit="chunks")
