"""Finds related documents by vectors and keywords."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kebab.core.ids import DocId, Key
from kebab.core.ports import LibraryReader
from kebab.core.queries import Filters, Snippet, StoredChunk
from kebab.errors.catalog import DependencyMissing, IoError, StoreCorrupt
from kebab.search import lexical, snippet
from kebab.search.document_similarity import DocumentVectors, VectorSimilarity, VectorSpace
from kebab.search.lexical import COMMON_SHARE, compute_rarity
from kebab.search.query_parser import strip_question_words
from kebab.search.vector import build_degraded
from kebab.text.tokenizer import Term, tokenize
from kebab.wire.search import DegradedChannel

MAX_TERMS = 64
"""Page r@5 on the links of k8s-links-ko: .532 with 32 terms, .549 with these."""

_COUNTED = 1_000
"""The most different tokens whose frequency is looked up: of a book the most frequent ones."""

_SHOWN = 6
_LEAST_LETTERS = 2


@dataclass(frozen=True, slots=True)
class DocumentKeywords:
    """The most telling tokens of a document, each with its weight, the heaviest first."""

    weights: Mapping[str, float]

    @property
    def match(self) -> str:
        """The expression that finds chunks with any of them."""
        return lexical.join_alternatives(lexical.quote_term(Term(token)) for token in self.weights)

    def within(self, text: str) -> Mapping[str, float]:
        """Return those of the tokens that a text holds."""
        held = set(tokenize(text))
        return {token: weight for token, weight in self.weights.items() if token in held}


def extract_keywords(library: LibraryReader, texts: Iterable[str]) -> DocumentKeywords:
    """Return the most telling tokens of texts; tokens of most chunks tell nothing."""
    counts = Counter(token for text in texts for token in tokenize(strip_question_words(text)))
    kept = dict(counts.most_common(_COUNTED))
    total = library.count_chunks()
    held = library.get_document_frequencies(kept)
    weights = {
        token: (1 + math.log(count)) * compute_rarity(held[token], total)
        for token, count in kept.items()
        if 1 < held[token] <= max(2, total * COMMON_SHARE)
    }
    heaviest = sorted(weights.items(), key=lambda one: (-one[1], one[0]))[:MAX_TERMS]
    return DocumentKeywords(dict(heaviest))


def find_shared_words(words: DocumentKeywords, texts: Iterable[str]) -> list[str]:
    """Return the telling words that stand in texts, as they are written there, best first."""
    found: dict[str, tuple[float, str]] = {}
    for text in texts:
        whole = snippet.cut_snippet(text, words.weights, len(text))
        for start, end in whole.highlights:
            written = whole.text[start:end]
            tokens = frozenset(tokenize(written)) & words.weights.keys()
            worth = sum(words.weights[token] for token in tokens)
            if len(written) >= _LEAST_LETTERS and worth:
                found.setdefault(_alike(written), (worth, written))
    return _distinct(found.values())


def _distinct(found: Iterable[tuple[float, str]]) -> list[str]:
    """Return the best words, none of which is a part of a better one."""
    kept: list[str] = []
    for _, written in sorted(found, key=lambda one: (-one[0], one[1])):
        if not any(written.casefold() in one.casefold() for one in kept):
            kept.append(written)
        if len(kept) == _SHOWN:
            break
    return kept


def _alike(written: str) -> str:
    """Return what different forms of one word have in common: its tokens in order."""
    return " ".join(tokenize(written))


LEXICAL_SHARE = 0.5
"""The share of words where meaning is known too; anything from .4 to .6 is within .01."""

MIN_SCORE = 0.2
"""Below it documents have little in common: the median of the three nearest of other matters."""

MIN_LEXICAL_SCORE = 0.1
"""The same where words alone are known, whose evidence is lower."""

_MATCHES = 600
"""How many passages the words find."""

_BEST = 3
_READ = 32
"""The most passages of a neighbour that are read for shared words."""

_SNIPPET_CHARS = 240
_LOST = (DependencyMissing, IoError, StoreCorrupt)
"""What takes the vectors away without ending the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassagePair:
    """The passages that show best why two documents are neighbours."""

    own: StoredChunk
    other: StoredChunk
    snippet: Snippet
    cosine: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedDocument:
    """A document that is near, with what shows why; a channel that knows nothing is None."""

    score: float
    meaning: float | None
    words: float | None
    pair: PassagePair
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Match:
    """How near a document is by words, and its best passage."""

    share: float
    key: Key


class RelatedFinder:
    """Finds the neighbours of one document in a snapshot; without a space by words alone."""

    def __init__(
        self, library: LibraryReader, chunks: Sequence[StoredChunk], space: VectorSpace | None
    ) -> None:
        self._library = library
        self._chunks = {chunk.key: chunk for chunk in chunks}
        self._doc_id = chunks[0].doc_id
        self._words = extract_keywords(library, (chunk.text for chunk in chunks))
        self.degraded: tuple[DegradedChannel, ...] = ()
        """What could not be compared; known once neighbours were asked for."""
        self._space = space

    def nearest(self, limit: int, filters: Filters) -> list[RelatedDocument]:
        """Return the nearest documents that pass the filters, best first."""
        words = self._by_words(filters)
        meaning = self._by_meaning(filters, sorted(words, key=lambda doc: -words[doc].share))
        scores = {doc: _score(words.get(doc), meaning.get(doc)) for doc in {*words, *meaning}}
        least = MIN_SCORE if meaning else MIN_LEXICAL_SCORE
        order = sorted(scores, key=lambda doc: (-scores[doc], doc))[:limit]
        return [
            self._neighbour(doc, scores[doc], words.get(doc), meaning.get(doc))
            for doc in order
            if scores[doc] >= least
        ]

    def _by_words(self, filters: Filters) -> dict[DocId, _Match]:
        if not self._words.weights:
            return {}
        match, own = self._words.match, Filters(doc_id=self._doc_id)
        full = sum(score for _, score in self._library.search_lexical(match, own, _BEST)) or 1.0
        found = self._library.search_lexical(match, filters, _MATCHES + len(self._chunks))
        owners = self._library.find_doc_ids([key for key, _ in found])
        scores: dict[DocId, list[tuple[float, Key]]] = defaultdict(list)
        for key, score in found:
            if key not in self._chunks:
                scores[owners[key]].append((score, key))
        return {
            doc: _Match(min(1.0, sum(score for score, _ in best[:_BEST]) / full), best[0][1])
            for doc, best in scores.items()
        }

    def _by_meaning(
        self, filters: Filters, others: Iterable[DocId]
    ) -> dict[DocId, VectorSimilarity]:
        if self._space is None:
            self.degraded = (build_degraded("no passage has a vector yet", "kebab ingest"),)
            return {}
        try:
            meaning = DocumentVectors(self._library, self._space, list(self._chunks.values()))
            self.degraded = self._lacking(known=meaning.known)
            return meaning.nearness(filters, others)
        except _LOST as signal:
            self.degraded = (build_degraded(signal.format_message(), signal.format_hint()),)
            return {}

    def _lacking(self, *, known: bool) -> tuple[DegradedChannel, ...]:
        """Return what is to be said of passages that have no vector."""
        states = [chunk.vector_state for chunk in self._chunks.values()]
        lacking = len(states) - states.count("committed")
        if not lacking and known:
            return ()
        hint = "kebab ingest" if "pending" in states or not lacking else None
        if known:
            reason = f"passages of this document without a vector: {lacking} of {len(states)}"
        elif "unsupported" in states:
            reason = "the model does not know the script of this document"
        else:
            reason = "no passage of this document has a vector yet"
        return (build_degraded(reason, hint),)

    def _neighbour(
        self, doc: DocId, score: float, words: _Match | None, meaning: VectorSimilarity | None
    ) -> RelatedDocument:
        best = meaning.other if meaning else words.key if words else None
        keys = (self._library.list_allowed_keys(Filters(doc_id=doc)) or [])[:_READ]
        read = {one.key: one for one in self._library.load_chunks([*keys, *([best] if best else [])])}
        other = read[best] if best else next(iter(read.values()))
        return RelatedDocument(
            score=score,
            meaning=meaning.share if meaning else None,
            words=words.share if words else None,
            pair=self._pair(other, meaning),
            terms=tuple(find_shared_words(self._words, (chunk.text for chunk in read.values()))),
        )

    def _pair(self, other: StoredChunk, meaning: VectorSimilarity | None) -> PassagePair:
        own = self._chunks[meaning.own] if meaning else self._likest(other)
        common = self._words.within(own.text).keys() & self._words.within(other.text).keys()
        weights = {token: self._words.weights[token] for token in common}
        return PassagePair(
            own=own,
            other=other,
            snippet=snippet.cut_snippet(other.text, weights, _SNIPPET_CHARS),
            cosine=meaning.cosine if meaning else None,
        )

    def _likest(self, other: StoredChunk) -> StoredChunk:
        """Return the own passage that shares the most telling words with another."""
        there = self._words.within(other.text)

        def worth(chunk: StoredChunk) -> float:
            here = self._words.within(chunk.text)
            return sum(weight for token, weight in here.items() if token in there)

        return max(self._chunks.values(), key=worth)


def _score(words: _Match | None, meaning: VectorSimilarity | None) -> float:
    """Return both kinds of evidence as one; what has no vectors is judged by its words alone."""
    by_words = words.share if words else 0.0
    if meaning is None:
        return by_words
    return LEXICAL_SHARE * by_words + (1 - LEXICAL_SHARE) * meaning.share
