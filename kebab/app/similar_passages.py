"""Finds passages of other notes that are nearly the same as a paragraph under review."""

from pathlib import Path

from kebab.app.context import AppContext
from kebab.core.queries import StoredChunk
from kebab.core.review import ReviewText, SimilarParagraph
from kebab.errors.catalog import NotIndexed
from kebab.search.similar import find_similar_passage


class SimilarPassages:
    """The passages of the index; without an index there are none."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._is_indexed = True

    def find(self, document: ReviewText, paragraph: str) -> SimilarParagraph | None:
        """Return the most similar passage of another note when it is nearly the same."""
        if not self._is_indexed:
            return None

        def is_own(chunk: StoredChunk) -> bool:
            return chunk.doc_id == document.doc_id or Path(chunk.root, chunk.path) == document.file

        try:
            with self._context.open_reader() as reader:
                copies = 0 if document.doc_id is None else 1
                return find_similar_passage(reader, paragraph, is_own, copies=copies)
        except NotIndexed:
            self._is_indexed = False
            return None
