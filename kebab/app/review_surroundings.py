"""Answers what rules ask about the world around a document.

Files, anchors, notes, habits, and passages of other notes that are nearly the same or may
contradict it.

It needs no index. Every answer is cached for one run, and every cache is bounded.
"""

import math
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.app.review_files import (
    HEAD_BYTES,
    MAX_BYTES,
    draw_linked_notes,
    fold_name,
    get_kind,
    is_built,
    list_folder,
    list_keys,
    load_files,
    name_fault,
    read_anchors,
    read_faults,
    read_fields,
    read_head,
    read_jumps,
    read_keys,
    read_routes,
)
from kebab.app.review_text import build_review_text
from kebab.config.settings import GlossaryEntry
from kebab.core.documentation import choose_documents
from kebab.core.documents import Link, LinkResolver, LinkTarget
from kebab.core.files import resolve_links
from kebab.core.ids import DocId
from kebab.core.media import MARKDOWN, detect_media_type, is_prose
from kebab.core.queries import Confidence, Hit, Query, StoredChunk
from kebab.core.review import GlossaryTerm, ReviewText, SimilarParagraph, Site
from kebab.errors.catalog import InvalidInput, NotIndexed
from kebab.errors.signal import Signal
from kebab.review.document import ReviewDocument, list_words
from kebab.review.rules.links import find_doubtful, is_of_program
from kebab.review.rules.sites import detect_site
from kebab.search.citations import build_file_path
from kebab.search.related import find_similar_passage
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


def list_documents_with(
    context: AppContext, document: ReviewText, word: str
) -> list[tuple[str, ...]] | None:
    """Return the names and titles of documents of the same folder that have a word, or of many.

    None is returned when the index does not have the document.
    """
    from kebab.text.tokenizer import tokenize

    if document.doc_id is None or not word.isascii():
        return None
    with suppress(NotIndexed), context.open_catalogue() as catalogue:
        found = catalogue.list_documents_with(str(document.root), word, tokenize(word)[0])
        return [_name_copy(path, title) for path, title in found]
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


ListDocumentsWith = Callable[[ReviewText, str], Iterable[tuple[str, ...]] | None]
"""Returns what tells the documents with a word apart; None when the index lacks the folder."""

FindSimilar = Callable[[ReviewText, str], SimilarParagraph | None]
"""Returns the most similar passage of another note for a paragraph of a document."""

_MIN_NOTES = 5
_USUAL_SHARE = 0.95
_LONG_BYTES = 256 * 1024
"""Longer documents do not tell whether findings about links are doubtful."""
_HEADING_CHARS = 64 * 1024 * 1024
_BEGINNING = 200
"""How many characters tell documents with the same name apart."""
_VOCABULARY_CHARS = 8 * 1024 * 1024
"""How much of a folder without an index is read to learn its words; it takes .2 s."""


class ReviewSurroundings:
    """The port `Surroundings` over the file system, the settings, and the index if there is one.

    With `stale_days` 0 no statement is stale. Without `find_similar` there are no passages of
    other notes.
    """

    def __init__(  # noqa: PLR0913 - each is something else that rules ask about
        self,
        *,
        today: date,
        glossary: Sequence[GlossaryTerm] = (),
        stale_days: int = 0,
        load_documents: Callable[[], Iterable[LinkTarget]] = tuple,
        find_similar: FindSimilar | None = None,
        words: Iterable[str] = (),
        list_documents_with: ListDocumentsWith | None = None,
    ) -> None:
        self.today = today
        self.glossary = glossary
        self.stale_days = stale_days
        self._load_documents = load_documents
        self._find_similar = find_similar
        self.has_index = find_similar is not None
        self.words = frozenset(word.lower() for word in words)
        self._list_documents_with = list_documents_with
        self._counts: dict[tuple[Path, str], int] = {}
        self._list_folder = lru_cache(4096)(list_folder)
        self._list_anchors = lru_cache(2048)(read_anchors)
        self._list_headings = lru_cache(2048)(read_keys)
        self._load_files = lru_cache(4)(load_files)
        self._load_resolver = lru_cache(4)(self._build_resolver)
        self._list_fields = lru_cache(256)(read_fields)
        self._count_fields = lru_cache(256)(self._count_kind)
        self._detect_site = lru_cache(4096)(self._detect_site_above)
        self._list_routes = lru_cache(8)(read_routes)
        self._list_jumps = lru_cache(64)(lambda folder: read_jumps(folder, list_folder(folder)))
        self._list_all_jumps = lru_cache(4)(
            lambda root: read_jumps(root, self._load_files(root).paths)
        )
        self._list_faults = lru_cache(4)(
            lambda root: read_faults(root, self._load_files(root).paths)
        )
        self._find_doubtful = lru_cache(4)(self._find_doubtful_rules)
        self._is_built = lru_cache(4096)(is_built)
        self._load_headings = lru_cache(4)(self._read_headings)
        self._count_words = lru_cache(4)(self._read_words)

    def replace_settings(
        self, glossary: Sequence[GlossaryTerm] | None, stale_days: int | None
    ) -> "ReviewSurroundings":
        """Return the same surroundings, caches included, with other settings unless None."""
        other = copy(self)
        other.glossary = self.glossary if glossary is None else glossary
        other.stale_days = self.stale_days if stale_days is None else stale_days
        return other

    def exists(self, path: Path | str) -> bool:
        """Return whether a file or a folder exists; the case of its name must be right."""
        folder, name = os.path.split(path)
        if not name:
            return True
        names = self._list_folder(folder)
        return name in names or unicodedata.normalize("NFC", name) in names

    def find_any_case(self, path: str) -> str | None:
        """Return the only existing path that differs from one in letter case at most."""
        if self.exists(path):
            return path
        folder, name = os.path.split(path)
        parent = self.find_any_case(folder) if name else None
        if parent is None:
            return None
        folded = fold_name(name)
        found = {
            unicodedata.normalize("NFC", one): one
            for one in self._list_folder(parent)
            if fold_name(one) == folded
        }
        return f"{parent.rstrip('/')}/{next(iter(found.values()))}" if len(found) == 1 else None

    def find_original(self, file: Path) -> Path:
        """Return the file that a symbolic link leads to; another file is its own."""
        return Path(resolve_links(str(file)))

    def is_built(self, path: str) -> bool:
        """Return whether a build writes a missing file: Git ignores it, or a build copies it."""
        return self._is_built(path)

    def find_site(self, file: Path) -> Site | None:
        """Return the site whose configuration is nearest above a file."""
        return self._detect_site(os.path.dirname(file))  # noqa: PTH120 - far faster

    def _detect_site_above(self, folder: str) -> Site | None:
        site = detect_site(folder, self.exists, lambda path: read_head(path, HEAD_BYTES) or "")
        above = os.path.dirname(folder)  # noqa: PTH120 - far faster
        if site is not None or above == folder or self.exists(f"{folder}/.git"):
            return site
        return self._detect_site(above)

    def list_routes(self, site: Site) -> frozenset[str]:
        """Return the names, in lower case, of pages of a site, and those that they declare."""
        return self._list_routes(site.root)

    def list_anchors(self, path: Path) -> frozenset[str] | None:
        """Return the anchors of a Markdown file, folded; None when they are not known."""
        return self._list_anchors(str(path))

    def has_heading(self, path: Path, key: str) -> bool:
        """Return whether a line of a Markdown file looks like a heading with a key."""
        return key in self._list_headings(str(path))

    def find_heading(self, document: ReviewText, key: str) -> Path | None:
        """Return the only Markdown file of the same source with this heading.

        In a source with very many files there is none, because no heading is certainly the only
        one.
        """
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

    def list_usual_fields(self, document: ReviewText) -> frozenset[str]:
        """Return the fields, in lower case, of nearly all other notes of a folder and kind."""
        folder, name = os.path.split(document.file)
        front = document.markup.front_matter
        kind = get_kind(name, dict(front.fields)) if front else None
        notes = self._list_fields(folder)
        own = notes.get(name)
        is_counted = own is not None and kind in (None, own.kind)
        counts, total = self._count_fields(folder, kind)
        others = total - is_counted
        if others < _MIN_NOTES:
            return frozenset()
        return frozenset(
            field
            for field, count in counts.items()
            if count - (is_counted and own is not None and field in own.fields)
            >= _USUAL_SHARE * others
        )

    def _count_kind(self, folder: str, kind: tuple[str, ...] | None) -> tuple[Counter[str], int]:
        """Return how many notes of a folder and kind have each field, and their number."""
        notes = [
            one.fields for one in self._list_fields(folder).values() if kind in (None, one.kind)
        ]
        return Counter(field for fields in notes for field in fields), len(notes)

    def is_usual_fault(self, document: ReviewText, fault: str) -> bool:
        """Return whether the front matter of most files of the source has a fault."""
        faults = self._list_faults(document.root)
        return len(faults) > _MIN_NOTES and 2 * faults.count(name_fault(fault)) > len(faults)

    def list_usual_jumps(self, document: ReviewText) -> frozenset[tuple[int, int]]:
        """Return the jumps of headings that most other files of the same folder have.

        In a folder with few others all files of the source count.
        """
        jumps = self._list_jumps(document.file.parent)
        if len(jumps) <= _MIN_NOTES:
            jumps = self._list_all_jumps(document.root)
        others = [found for file, found in jumps.items() if file != str(document.file)]
        if len(others) < _MIN_NOTES:
            return frozenset()
        counts = Counter(jump for found in others for jump in found)
        return frozenset(jump for jump, count in counts.items() if 2 * count >= len(others))

    def list_doubtful(self, document: ReviewText) -> frozenset[str]:
        """Return the rules about links whose findings in the source are probably no mistakes.

        That is only known of sites and of programs; notes have no build. Of many files not all are
        read.
        """
        if not is_of_program(document, self):
            return frozenset()
        return self._find_doubtful(document.root)

    def _find_doubtful_rules(self, root: Path) -> frozenset[str]:
        files = [(path, detect_media_type(path) or "") for path in self._load_files(root).paths]

        def read_documents() -> Iterator[ReviewDocument]:
            for path in draw_linked_notes(root, choose_documents(files)):
                with suppress(Signal):
                    text = build_review_text(Path(path), root, max_bytes=_LONG_BYTES)
                    yield ReviewDocument(text)

        return find_doubtful(read_documents(), self)

    def count_documents(self, document: ReviewText, word: str) -> int:
        """Return in how many documents of the same folder a lower-case word stands, or many.

        The index is asked, or else the first files of the folder. Documents that begin alike and
        whose files and folders have the same names, as those of other versions have, count once.
        """
        key = document.root, word
        if key not in self._counts:
            paths = self._list_documents_with(document, word) if self._list_documents_with else None
            self._counts[key] = (
                self._count_words(document.root)[word.encode()]
                if paths is None
                else len(set(paths))
            )
        return self._counts[key]

    def _read_headings(self, root: Path) -> Mapping[str, str]:
        """Return the file of each heading of a folder; an empty text when several have it."""
        found: dict[str, str] = {}
        size = 0
        for path in self._load_files(root).paths:
            if detect_media_type(path) != MARKDOWN:
                continue
            text = read_head(str(root / path), MAX_BYTES) or ""
            size += len(text)
            if size > _HEADING_CHARS or not self._load_files(root).is_complete:
                return {}
            for key in list_keys(text):
                found[key] = "" if key in found else path
        return found

    def _read_words(self, root: Path) -> Counter[bytes]:
        """Return in how many of the first documents of a folder each word stands."""
        counts: Counter[bytes] = Counter()
        size, seen = 0, set()
        for path in self._load_files(root).paths:
            if is_prose(detect_media_type(path)):
                text = read_head(str(root / path), MAX_BYTES) or ""
                key = _name_copy(path, text[:_BEGINNING])
                if key not in seen:
                    counts.update(set(list_words(text)))
                    seen.add(key)
                size += len(text)
                if size > _VOCABULARY_CHARS:
                    break
        return counts

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

    review = context.settings.review
    return ReviewSurroundings(
        today=datetime.fromtimestamp(context.clock.now(), UTC).astimezone().date(),
        glossary=list_terms(review.glossary),
        stale_days=review.stale_days,
        load_documents=load_documents,
        find_similar=find,
        words=review.words,
        list_documents_with=partial(list_documents_with, context),
    )


def list_terms(entries: Iterable[GlossaryEntry]) -> list[GlossaryTerm]:
    """Return the terms of settings."""
    return [GlossaryTerm(one.preferred, tuple(one.forbidden), one.lang) for one in entries]


def _name_copy(path: str, beginning: str) -> tuple[str, ...]:
    """Return what copies of a document in folders of versions have in common."""
    return (*path.rsplit("/", 2)[-2:], beginning)
