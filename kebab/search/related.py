"""Finds related documents by vectors and keywords, and the passage most like a paragraph.

By vectors, a document is as similar as the passages of the other one are, on average, to their
best matches in it. By keywords, it is as similar as its best passages score for the keywords.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from kebab.core.chunks import CosineScale, DocId, Key, remove_language
from kebab.core.ports import Vectors
from kebab.core.queries import Filters, Snippet, StoredChunk
from kebab.core.review import SimilarParagraph
from kebab.errors.system import translate_import_errors
from kebab.search import snippet
from kebab.search.lexical import COMMON_SHARE, compute_rarity, quote_phrase, quote_term
from kebab.search.query_parser import Phrase
from kebab.search.retrieval import DEGRADING, build_degraded, describe_loss, find_nearest
from kebab.text.language import strip_stop_words
from kebab.text.tokenizer import Term, build_phrase_terms, tokenize

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix
    from kebab.store.sqlite.reader import SqliteReader
    from kebab.wire.search import DegradedChannel


LEXICAL_SHARE = 0.5
"""The share of keywords where vectors are known too; anything from .4 to .6 is within .01."""

MIN_SCORE = 0.3
"""Below it documents have little in common; the nearest ones of one project are mostly above it."""

SURE_SCORE, MIN_SHARED = 0.4, 0.15
"""Below the first, documents in one language must share keywords to the extent of the second, as
the nearest ones of other projects seldom do."""

MIN_LEXICAL_SCORE = 0.1
"""The same for keywords alone, whose scores are lower."""

_MAX_MATCHES = 600
"""How many passages the keywords find."""

_BEST = 3
_MAX_PROBES = 32
"""How many passages of a document are searched for; of a longer one evenly spaced passages."""

_MAX_NEAREST = 100
"""How many passages each probe finds."""

_MAX_MEASURED = 100
"""How many documents found by probes, and how many found by keywords, are compared in full."""


class VectorSpace(Struct, frozen=True, kw_only=True):
    """The vectors of the library, and the cosine scale and the language axes of their model."""

    vectors: Callable[[], Vectors | None]
    scale: CosineScale
    load_axes: "Callable[[], Matrix | None]" = lambda: None


class VectorSimilarity(Struct, frozen=True, kw_only=True):
    """The similarity of a document from 0 to 1, and the two passages that match best."""

    score: float
    own: Key
    other: Key
    cosine: float


class DocumentVectors:
    """The vectors of one document, compared with those of others."""

    def __init__(
        self, library: "SqliteReader", space: VectorSpace, chunks: Sequence[StoredChunk]
    ) -> None:
        self._library = library
        self._space = space
        self._vectors = space.vectors()
        self._own = frozenset(chunk.key for chunk in chunks)
        held = sorted(library.find_committed_keys(self._own))
        step = max(1, -(-len(held) // _MAX_PROBES))
        self.keys, self._rows = self._stack_vectors(held[::step])
        """The passages that are compared; empty when the document has no vector."""

    def find_similar(
        self, filters: Filters, others: Iterable[DocId]
    ) -> dict[DocId, VectorSimilarity]:
        """Return the similarity of the nearest documents, and of the first of some others."""
        if self._vectors is None or not self.keys:
            return {}
        allowed = self._library.list_allowed_keys(filters)
        cosines: dict[Key, float] = defaultdict(float)
        for row in self._rows:
            for key, cosine in find_nearest(
                self._library, self._vectors, row, _MAX_NEAREST, allowed, self._own
            ):
                cosines[key] += cosine
        totals: dict[DocId, float] = defaultdict(float)
        for key, doc in self._library.find_doc_ids(list(cosines)).items():
            totals[doc] += cosines[key]
        nearest = sorted(totals, key=lambda doc: (-totals[doc], doc))[:_MAX_MEASURED]
        wanted = dict.fromkeys([*nearest, *list(others)[:_MAX_MEASURED]])
        found = {doc: self._measure(doc) for doc in wanted}
        return {doc: one for doc, one in found.items() if one is not None}

    def _measure(self, doc: DocId) -> VectorSimilarity | None:
        """Return the similarity of a document; None when it has no vectors."""
        held = self._library.list_allowed_keys(Filters(doc_id=doc)) or []
        keys, rows = self._stack_vectors(leave_out_shared(self._library, held))
        if not keys:
            return None
        axes = self._space.load_axes()
        cosines = remove_language(self._rows, axes) @ remove_language(rows, axes).T
        cosines = cosines.clip(-1.0, 1.0)
        scores = [self._space.scale.normalise(best) for best in cosines.max(axis=1).tolist()]
        own, other = divmod(int(cosines.argmax()), len(keys))
        return VectorSimilarity(
            score=sum(scores) / len(scores),
            own=self.keys[own],
            other=keys[other],
            cosine=round(float(cosines[own, other]), 6),
        )

    def _stack_vectors(self, keys: Collection[Key]) -> "tuple[list[Key], Matrix]":
        """Return those of these chunks that have a vector, and their vectors in rows."""
        with translate_import_errors("vectors", "numpy"):
            import numpy as np

        found = {} if self._vectors is None else self._vectors.get(keys)
        rows = np.stack(list(found.values())) if found else np.empty((0, 0), np.float32)
        return list(found), rows


class RelatedDocument(Struct, frozen=True, kw_only=True):
    """A related document, and the passages that show best why.

    The score of a channel without evidence is None.
    """

    score: float
    vector_score: float | None
    lexical_score: float | None
    own: StoredChunk
    other: StoredChunk
    snippet: Snippet
    cosine: float | None


_MANY, _SEARCHED, _LONG = 4, 32, 64
"""A passage of so many documents tells nothing of one; a long document has no template of a day."""

_HEADINGS = re.compile(r"\A(?:#.*\s+)+")
"""The first lines of a passage, of which one may be the date of the day."""


def leave_out_shared(library: "SqliteReader", keys: Collection[Key]) -> list[Key]:
    """Return the passages of a document that few others share; all of one that has none."""
    shared = library.find_shared_keys(keys, _MANY)
    return [key for key in keys if key not in shared] or [*keys]


class RelatedFinder:
    """Finds the documents related to one document; without vectors by keywords alone."""

    def __init__(
        self, library: "SqliteReader", chunks: Sequence[StoredChunk], space: VectorSpace | None
    ) -> None:
        self._library = library
        by_key = {chunk.key: chunk for chunk in chunks}
        is_long = len(chunks) >= _LONG
        own = [one.key for one in chunks if is_long or not self._is_template(one)] or by_key
        self._chunks = {key: by_key[key] for key in leave_out_shared(library, own)}
        self._doc_id = chunks[0].doc_id
        self._keywords = extract_keywords(library, (chunk.text for chunk in self._chunks.values()))
        self._space = space
        self.degraded: tuple[DegradedChannel, ...] = ()
        """What could not be compared; set by `find`."""

    def _is_template(self, chunk: StoredChunk) -> bool:
        """Return whether many documents hold the text of a passage behind its headings."""
        terms = tuple(build_phrase_terms(_HEADINGS.sub("", chunk.text)))
        if not terms:
            return False
        found = self._library.search_lexical(quote_phrase(Phrase(terms)), Filters(), _SEARCHED)
        return len({*self._library.find_doc_ids([key for key, _ in found]).values()}) >= _MANY

    def find(self, limit: int, filters: Filters) -> list[RelatedDocument]:
        """Return the related documents that pass the filters, best first."""
        lexical = self._search_keywords(filters)
        vectors = self._search_vectors(filters, sorted(lexical, key=lambda doc: -lexical[doc][0]))
        # A document without vectors counts by keywords alone.
        scores = {doc: score for doc, (score, _) in lexical.items()}
        vectors.pop(self._doc_id, None)
        for doc, similar in vectors.items():
            words = LEXICAL_SHARE * scores.get(doc, 0.0)
            scores[doc] = words + (1 - LEXICAL_SHARE) * similar.score
        least = MIN_SCORE if vectors else MIN_LEXICAL_SCORE
        doubtful = {
            similar.other: doc
            for doc, similar in vectors.items()
            if least <= scores[doc] < SURE_SCORE
            and (doc not in lexical or lexical[doc][0] < MIN_SHARED)
        }
        languages = {None, *(chunk.lang for chunk in self._chunks.values())}
        for chunk in self._library.load_chunks(list(doubtful)):
            if chunk.lang in languages:
                del scores[doubtful[chunk.key]]
        order = sorted(scores, key=lambda doc: (-scores[doc], doc))[:limit]
        return [
            self._build_related(scores[doc], lexical.get(doc), vectors.get(doc))
            for doc in order
            if scores[doc] >= least
        ]

    def _search_keywords(self, filters: Filters) -> dict[DocId, tuple[float, Key]]:
        """Return the similarity of documents by keywords, each with its best passage."""
        if not self._keywords:
            return {}
        match = " OR ".join(quote_term(Term(token)) for token in self._keywords)
        own = Filters(doc_id=self._doc_id)
        full = sum(score for _, score in self._library.search_lexical(match, own, _BEST)) or 1.0
        found = self._library.search_lexical(match, filters, _MAX_MATCHES + len(self._chunks))
        owners = self._library.find_doc_ids([key for key, _ in found])
        scores: dict[DocId, list[tuple[float, Key]]] = defaultdict(list)
        for key, score in found:
            if owners[key] != self._doc_id:
                scores[owners[key]].append((score, key))
        return {
            doc: (min(1.0, sum(score for score, _ in best[:_BEST]) / full), best[0][1])
            for doc, best in scores.items()
        }

    def _search_vectors(
        self, filters: Filters, others: Iterable[DocId]
    ) -> dict[DocId, VectorSimilarity]:
        if self._space is None:
            self.degraded = (build_degraded("no passage is embedded yet", "kebab ingest"),)
            return {}
        try:
            vectors = DocumentVectors(self._library, self._space, list(self._chunks.values()))
            states = [chunk.vector_state for chunk in self._chunks.values()]
            missing = len(states) - states.count("committed")
            hint = "kebab ingest" if "pending" in states or not missing else None
            if not vectors.keys and "unsupported" in states:
                reason = "the model does not know the script of this document"
            elif not vectors.keys:
                reason = "no passage of this document is embedded yet"
            else:
                reason = f"{missing} of {len(states)} passages of this document are not embedded"
            if missing or not vectors.keys:
                self.degraded = (build_degraded(reason, hint),)
            return vectors.find_similar(filters, others)
        except DEGRADING as signal:
            self.degraded = (describe_loss(signal),)
            return {}

    def _build_related(
        self, score: float, lexical: tuple[float, Key] | None, similar: VectorSimilarity | None
    ) -> RelatedDocument:
        best = [similar.other] if similar else [lexical[1]] if lexical else []
        (other,) = self._library.load_chunks(best)
        # Without vectors the own passage is the one that shares the most keywords.
        there = self._keywords.keys() & tokenize(other.text)

        def weigh_shared(chunk: StoredChunk) -> float:
            held = there.intersection(tokenize(chunk.text))
            return sum(weight for token, weight in self._keywords.items() if token in held)

        chunks = self._chunks
        own = chunks[similar.own] if similar else max(chunks.values(), key=weigh_shared)
        shared = there.intersection(tokenize(own.text))
        weights = {token: self._keywords[token] for token in shared}
        return RelatedDocument(
            score=score,
            vector_score=similar.score if similar else None,
            lexical_score=lexical[0] if lexical else None,
            own=own,
            other=other,
            snippet=snippet.cut_snippet(other.text, weights, 240),
            cosine=similar.cosine if similar else None,
        )


MAX_KEYWORDS = 64
"""Page r@5 on the links of k8s-links-ko: .532 with 32 keywords, .549 with these."""

_MAX_COUNTED = 1_000
"""How many of the most frequent tokens of a document are looked up in the index."""


def extract_keywords(library: "SqliteReader", texts: Iterable[str]) -> dict[str, float]:
    """Return the keywords of texts with their weights, the heaviest first.

    They are frequent in the texts, but not in most chunks of the library.
    """
    counts = Counter(token for text in texts for token in tokenize(strip_stop_words(text)))
    frequent = dict(counts.most_common(_MAX_COUNTED))
    total = library.count_chunks()
    held = library.get_document_frequencies(frequent)
    weights = {
        token: (1 + math.log(count)) * compute_rarity(held[token], total)
        for token, count in frequent.items()
        if 1 < held[token] <= max(2, total * COMMON_SHARE)
    }
    return dict(sorted(weights.items(), key=lambda one: (-one[1], one[0]))[:MAX_KEYWORDS])


LEAST_SHARED = 0.8
"""The least share of the runs of tokens of a paragraph that a copy holds."""

_RUN = 3
_RAREST = 4
"""How many terms a copy must hold before it is compared."""

_MOST_COPIES = 3
"""A text in more documents is a licence or another text that repeats on purpose."""

_LEAST_KNOWN = 0.85
"""The least share of the terms of a paragraph that other passages hold."""


def find_similar_passage(
    library: "SqliteReader", paragraph: str, is_own: Callable[[StoredChunk], bool], *, copies: int
) -> SimilarParagraph | None:
    """Return the passage that holds nearly all of a paragraph, from another document.

    `copies` passages of the library are known to hold it: 1 when it is indexed.
    """
    tokens = tokenize(paragraph)
    if len(tokens) < _RUN:
        return None
    terms = list(dict.fromkeys(tokens))
    counts = library.get_document_frequencies(terms)
    known = [term for term in terms if counts.get(term, 0) > copies]
    if len(known) < len(terms) * _LEAST_KNOWN:
        return None
    rarest = sorted(known, key=lambda term: counts[term])[:_RAREST]
    match = " AND ".join('"' + term.replace('"', '""') + '"' for term in rarest)
    found = library.search_lexical(match, Filters(), 16)
    chunks = library.load_chunks([key for key, _ in found])
    runs = _list_runs(tokens)
    similar = [
        SimilarParagraph(chunk, share)
        for chunk in chunks
        if not is_own(chunk)
        and (share := len(runs & _list_runs(tokenize(chunk.text))) / len(runs)) >= LEAST_SHARED
    ]
    if not similar or len({one.chunk.doc_id for one in similar}) > _MOST_COPIES:
        return None
    return max(similar, key=lambda one: one.similarity)


def _list_runs(tokens: list[str]) -> set[tuple[str, ...]]:
    """Return the runs of consecutive tokens."""
    return set(zip(*(islice(tokens, first, None) for first in range(_RUN)), strict=False))
