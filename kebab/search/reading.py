"""Reading: the passages that a search looks into, each read and cut into tokens once."""

from collections.abc import Collection, Sequence

from kebab.core.hit import StoredChunk
from kebab.core.ids import DocNumber, Key
from kebab.core.ports import LibraryReader
from kebab.search.coverage import together
from kebab.text.tokenizer import tokenize


class Reading:
    """The passages of one search."""

    def __init__(self, library: LibraryReader) -> None:
        self._library = library
        self._chunks: dict[Key, StoredChunk] = {}
        self._bodies: dict[Key, tuple[str, ...]] = {}

    def chunks(self, keys: Sequence[Key]) -> list[StoredChunk]:
        """Return the chunks in the order of their keys; unknown keys are left out."""
        missing = [key for key in keys if key not in self._chunks]
        if missing:
            self._chunks.update((chunk.key, chunk) for chunk in self._library.chunks(missing))
        return [self._chunks[key] for key in keys if key in self._chunks]

    def documents(self, keys: Collection[Key]) -> dict[Key, DocNumber]:
        """Return a number for the document of each chunk; unknown keys are left out."""
        return self._library.documents(keys)

    def body(self, chunk: StoredChunk) -> tuple[str, ...]:
        """Return the tokens of a passage, in order."""
        if chunk.key not in self._bodies:
            self._bodies[chunk.key] = tuple(tokenize(chunk.text))
        return self._bodies[chunk.key]

    def tokens(self, chunk: StoredChunk) -> frozenset[str]:
        """Return the tokens of a passage with its title and headings."""
        return together((chunk.title, *chunk.heading_path)).union(self.body(chunk))
