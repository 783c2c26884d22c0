"""Answers what reviews ask about the world around a document.

Files, anchors, notes, and passages of other notes that are nearly the same or may contradict it.

It needs no index. Every answer is cached for one run, and every cache is bounded.
"""

import math
import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

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
from kebab.core.queries import Confidence, Hit, Query, StoredChunk
from kebab.core.review import GlossaryTerm, ReviewText, SimilarParagraph
from kebab.errors.catalog import InvalidInput, NotIndexed
from kebab.errors.signal import Signal
from kebab.review.document import ReviewDocument
from kebab.search.citations import build_file_path
from kebab.search.related import find_similar_passage
from kebab.text.links import LinkResolver
from kebab.wire.search import DegradedChannel

if TYPE_CHECKING:
    from kebab.review.model_worker import FindRelated


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


NO_INDEX = DegradedChannel(
    channel="related",
    reason="there is no index, so contradictions with other notes are not looked for",
    hint="kebab ingest FOLDER",
)
"""What a deep review goes without when there is no index."""

_HITS = 8
_PASSAGES = 3
"""The most passages that a part of a document is compared with."""
_LEAST_SHARE = 0.35
"""The least share of the score of a complete match, which the document itself has in the index.

The confidence tells little then, because the document leaves none for other notes. Over the
samples, passages about the same had .44 to .54 and others at most .22.
"""


def build_passage_finder(context: AppContext) -> "FindRelated | None":
    """Return what finds passages of other notes for a text; None when there is no index."""
    try:
        with context.open_reader():
            return lambda document, text: _find_passages(context, document, text)
    except NotIndexed:
        return None


def _find_passages(
    context: AppContext, document: ReviewDocument, text: str
) -> tuple[StoredChunk, ...]:
    """Return the passages of other notes that are about the same as a text, the best first."""
    from kebab.app.search import build_engine

    query = Query(text=text, prose=True, limit=_HITS, per_doc=2, rerank=False)
    try:
        with context.open_reader() as reader:
            hits = build_engine(context, reader).search(query).hits
    except (InvalidInput, NotIndexed):
        return ()  # a text without words, or an index that was deleted meanwhile
    own = [hit for hit in hits if _is_from(document, hit.chunk)]
    complete = max(map(_get_word_score, own), default=math.inf)
    others = [
        hit.chunk
        for hit in hits
        if hit not in own
        and (
            hit.confidence is not Confidence.WEAK or _get_word_score(hit) >= _LEAST_SHARE * complete
        )
    ]
    return tuple(others[:_PASSAGES])


def _get_word_score(hit: Hit) -> float:
    return hit.retrieval.lexical_score or 0.0


def _is_from(document: ReviewDocument, chunk: StoredChunk) -> bool:
    source = document.source
    is_same = source.doc_id is not None and chunk.doc_id == source.doc_id
    return is_same or build_file_path(chunk) == str(source.file)


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
