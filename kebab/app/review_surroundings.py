"""Answers what reviews ask about the world around a document.

Files, anchors, notes, and passages of other notes that are nearly the same.

It needs no index. Every answer is cached for one run, and every cache is bounded.
"""

import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache, partial
from pathlib import Path

from kebab.app.context import AppContext
from kebab.app.review_files import (
    fold_name,
    list_folder,
    load_files,
    read_anchors,
    read_headings,
)
from kebab.config.settings import GlossaryEntry
from kebab.core.documents import Link, LinkTarget
from kebab.core.ids import DocId
from kebab.core.queries import StoredChunk
from kebab.core.review import GlossaryTerm, ReviewText, SimilarParagraph
from kebab.errors.catalog import NotIndexed
from kebab.errors.signal import Signal
from kebab.search.related import find_similar_passage
from kebab.text.links import LinkResolver


def find_similar(
    context: AppContext, document: ReviewText, paragraph: str
) -> SimilarParagraph | None:
    """Return the most similar passage of another note when it is nearly the same.

    Without an index there is none.
    """

    def is_own(chunk: StoredChunk) -> bool:
        return chunk.doc_id == document.doc_id or Path(chunk.root, chunk.path) == document.file

    with suppress(NotIndexed), context.open_reader() as reader:
        copies = 0 if document.doc_id is None else 1
        return find_similar_passage(reader, paragraph, is_own, copies=copies)
    return None


FindSimilar = Callable[[ReviewText, str], SimilarParagraph | None]
"""Returns the most similar passage of another note for a paragraph of a document."""


class ReviewSurroundings:
    """The port `Surroundings` over the file system, the settings, and the index if there is one.

    With `stale_days` 0 no statement is stale. Without `find_similar` there are no passages of
    other notes.
    """

    def __init__(
        self,
        *,
        today: date,
        stale_days: int = 0,
        load_documents: Callable[[], Iterable[LinkTarget]] = tuple,
        find_similar: FindSimilar | None = None,
    ) -> None:
        self.today = today
        self.stale_days = stale_days
        self._load_documents = load_documents
        self._find_similar = find_similar
        self.has_index = find_similar is not None
        self._list_folder = lru_cache(4096)(list_folder)
        self._list_anchors = lru_cache(2048)(read_anchors)
        self._load_files = lru_cache(4)(load_files)
        self._load_resolver = lru_cache(4)(self._build_resolver)
        self._load_headings = lru_cache(4)(lambda root: read_headings(root, self._load_files(root)))

    def exists(self, path: Path | str) -> bool:
        """Return whether a file or a folder exists; the case of its name must be right."""
        folder, name = os.path.split(path)
        if not name:
            return True
        names = self._list_folder(folder)
        return name in names or unicodedata.normalize("NFC", name) in names

    def list_anchors(self, path: Path) -> frozenset[str] | None:
        """Return the anchors of a Markdown file, folded; None when they are not known."""
        return self._list_anchors(str(path))

    def find_heading(self, document: ReviewText, key: str) -> Path | None:
        """Return the only Markdown file of the same source with this heading."""
        found = self._load_headings(document.root).get(key)
        return document.root / found if found else None

    def find_note(self, document: ReviewText, target: str) -> Path | None:
        """Return the file of the same source with this path, name, title or alias.

        In a source with very many files it is the root, because nothing is certainly missing.
        """
        path = os.path.relpath(document.file, document.root).replace(os.sep, "/")
        found = self._load_resolver(document.root).resolve(Link(DocId(""), "", path, target))
        if found is None:
            return None if self._load_files(document.root).is_complete else document.root
        return document.root / str(found)

    def list_namesakes(self, document: ReviewText, name: str) -> list[Path]:
        """Return the files of the same source whose name is this one; their case may differ."""
        found = self._load_files(document.root).by_name.get(fold_name(name), ())
        return [document.root / path for path in found]

    def find_similar(self, document: ReviewText, paragraph: str) -> SimilarParagraph | None:
        """Return the most similar passage of another note when it is nearly the same."""
        return self._find_similar(document, paragraph) if self._find_similar else None

    @cached_property
    def _documents(self) -> Mapping[str, LinkTarget]:
        return {one.path: one for one in self._load_documents()}

    def _build_resolver(self, root: Path) -> LinkResolver:
        """Return the resolver of links to the files below a root, by path, title and alias."""
        targets = []
        for path in self._load_files(root).paths:
            known = self._documents.get(path)
            title, aliases = (known.title, known.aliases) if known else (path, ())
            targets.append(LinkTarget(DocId(path), "", path, title, aliases))
        return LinkResolver(targets)


def build_surroundings(context: AppContext) -> ReviewSurroundings:
    """Return the surroundings of the documents of one run."""
    find: FindSimilar | None = partial(find_similar, context)
    try:
        with context.open_reader():
            pass
    except NotIndexed:
        find = None
    except Signal:
        pass  # the rule that asks reports it

    def load_documents() -> list[LinkTarget]:
        try:
            with context.open_catalogue() as catalogue:
                return catalogue.list_link_targets()
        except NotIndexed:
            return []

    return ReviewSurroundings(
        today=datetime.fromtimestamp(context.clock.now(), UTC).astimezone().date(),
        stale_days=context.settings.review.stale_days,
        load_documents=load_documents,
        find_similar=find,
    )


def list_terms(entries: Iterable[GlossaryEntry]) -> list[GlossaryTerm]:
    """Return the terms of settings."""
    return [GlossaryTerm(one.preferred, tuple(one.forbidden), one.lang) for one in entries]
