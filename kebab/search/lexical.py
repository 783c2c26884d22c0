"""Retrieves passages by words: weighs the terms of a query and searches the full-text index."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from kebab.core.chunks import KeyedScore
from kebab.core.ids import Key
from kebab.core.queries import StoredChunk
from kebab.search.query_parser import ParsedQuery, Phrase, is_question, list_words
from kebab.search.snippet import PassageCache
from kebab.text.language import detect_question_language, detect_script, is_dense
from kebab.text.stop_words import reads_as_another_language
from kebab.text.tokenizer import Term

if TYPE_CHECKING:
    from kebab.store.sqlite.reader import SqliteReader

TERM_LIMIT = 64
"""The most terms of one query; the rarest terms of a pasted page are searched for."""

COMMON_SHARE = 0.5
"""A term in more than this share of the chunks adds nothing to bm25: its idf is not positive.

Dropping rarer terms costs quality: hit@1 on SQuAD 2 falls by .006 at .25, and by .013 at .1.
"""

_SATURATION = 2.2
"""k1 + 1 of FTS5's bm25: the highest score of one term is its idf times this."""

_MIN_IDF = 1e-6
"""The idf that FTS5 gives a term in more than half of the rows."""

_DENSE_DISCOUNT = 0.4
"""Right passages reach .48 of the highest score on SQuAD 2 (words), .29 on JaQuAD (bigrams)."""

NO_LIMIT = 1 << 31


class WeightedTerms(Struct, frozen=True, kw_only=True):
    """The terms of a query that are searched for, with their weights in this library."""

    terms: tuple[Term, ...]
    weights: Mapping[str, float]
    """Inverse document frequency, by token."""
    max_score: float
    """The score of a chunk that holds everything the query asks for."""
    rarities: Mapping[str, float]
    """The rarity of every term of the query, also of terms that occur nowhere."""
    absent: frozenset[str] = frozenset()
    """The tokens of the query that no passage holds."""


class TokenCounts(dict[str, int]):
    """In how many chunks of one snapshot each token occurs; each is looked up once."""

    def __init__(self, library: "SqliteReader") -> None:
        super().__init__()
        self._library = library

    def look_up(self, tokens: Iterable[str]) -> None:
        """Add the counts of tokens."""
        if missing := {token for token in tokens if token not in self}:
            self.update(self._library.get_document_frequencies(missing))


def weigh_terms(library: "SqliteReader", parsed: ParsedQuery, counts: TokenCounts) -> WeightedTerms:
    """Weigh the terms of a query, and drop those that do not separate passages.

    Stop words are searched for when the index holds none of the other terms.
    """
    total = library.count_chunks()
    used = [*parsed.terms, *parsed.others]
    counts.look_up(term.text for term in used)
    indexed = [term for term in parsed.terms if term.prefix or counts[term.text]]
    if not indexed:
        # Half of all passages hold a stop word: counting them costs more than all the rest.
        counts.look_up(term.text for term in parsed.stop_terms)
        used += parsed.stop_terms
        indexed = [term for term in parsed.stop_terms if term.prefix or counts[term.text]]
    weights = {term.text: _compute_idf(counts[term.text], total) for term in used}
    rarities = {term.text: compute_rarity(counts[term.text], total) for term in used}
    rare = [term for term in indexed if term.prefix or counts[term.text] <= total * COMMON_SHARE]
    searched = sorted(rare or indexed, key=lambda term: -weights[term.text])[:TERM_LIMIT]
    found = set(indexed)
    absent = [term for term in parsed.terms if term not in found][:TERM_LIMIT]
    best = _SATURATION * sum(weights[term.text] for term in searched)
    return WeightedTerms(
        terms=(*searched, *parsed.others),
        weights={term.text: weights[term.text] for term in (*searched, *parsed.others)},
        max_score=best * _compute_demand(searched, absent, rarities),
        rarities={term.text: rarities[term.text] for term in parsed.terms},
        absent=frozenset(
            term.text for term in parsed.terms if not term.prefix and not counts[term.text]
        ),
    )


def search_lexical(
    library: "SqliteReader", parsed: ParsedQuery, weighted: WeightedTerms, limit: int
) -> list[KeyedScore]:
    """Return the best chunks by bm25."""
    match = build_match_expression(weighted.terms, parsed.required, parsed.excluded)
    return library.search_lexical(match, parsed.filters, limit) if match else []


def find_required(library: "SqliteReader", parsed: ParsedQuery) -> list[Key]:
    """Return the chunks that pass the filters and hold all required phrases, by rising key."""
    return _find_keys(library, parsed, _join_phrases(" AND ", parsed.required))


def find_excluded(library: "SqliteReader", parsed: ParsedQuery) -> list[Key]:
    """Return the chunks with any excluded phrase."""
    return _find_keys(library, parsed, _join_phrases(" OR ", parsed.excluded))


def _find_keys(library: "SqliteReader", parsed: ParsedQuery, match: str) -> list[Key]:
    found = library.search_lexical(match, parsed.filters, NO_LIMIT) if match else []
    return sorted(key for key, _ in found)


def _compute_demand(
    searched: Sequence[Term], absent: Sequence[Term], rarities: Mapping[str, float]
) -> float:
    """Return the weight of the whole query as a multiple of the weight of its searched terms.

    Bigrams overlap particles and word borders, which no passage repeats. The more of the query is
    bigrams, the less of it a good passage holds.
    """
    held = sum(rarities[term.text] for term in searched)
    whole = held + sum(rarities[term.text] for term in absent)
    dense = sum(rarities[term.text] for term in (*searched, *absent) if is_dense(term.text))
    return (whole - _DENSE_DISCOUNT * dense) / (held or 1.0)


def compute_rarity(count: int, total: int) -> float:
    """Return the rarity of a term, which is positive also in a library of a few passages.

    A word that occurs nowhere counts as one that occurs once.
    """
    count = min(max(count, 1), total)
    return math.log1p((total - count + 0.5) / (count + 0.5))


def _compute_idf(count: int, total: int) -> float:
    """Return the idf that FTS5's bm25 gives a term in `count` of `total` rows."""
    count = min(count, total)
    return max(_MIN_IDF, math.log((total - count + 0.5) / (count + 0.5)))


def quote_term(term: Term) -> str:
    """Return a token as an FTS5 string, with a star when it is a prefix."""
    doubled = term.text.replace('"', '""')
    return f'"{doubled}" *' if term.prefix else f'"{doubled}"'


def quote_phrase(phrase: Phrase) -> str:
    """Return adjacent tokens as an FTS5 string, within the column of the phrase if it has one."""
    tokens = " ".join(term.text for term in phrase.terms)
    text = quote_term(Term(tokens, prefix=phrase.terms[-1].prefix))
    return f"{phrase.column} : {text}" if phrase.column else text


def build_match_expression(
    terms: Iterable[Term], required: Iterable[Phrase], excluded: Iterable[Phrase]
) -> str:
    """Return an FTS5 expression: all required phrases, any of the terms, no excluded phrase.

    The required phrases are in both branches, because every branch that matches adds to bm25.
    """
    words = " OR ".join(map(quote_term, terms))
    must, must_not = _join_phrases(" AND ", required), _join_phrases(" OR ", excluded)
    wanted = f"(({must}) AND ({words})) OR ({must})" if must and words else must or words
    return f"({wanted}) NOT ({must_not})" if must_not and wanted else wanted


def _join_phrases(operator: str, phrases: Iterable[Phrase]) -> str:
    return operator.join(f"({quote_phrase(phrase)})" for phrase in phrases)


_SAMPLE = 200
"""How much of a passage in an unknown language shows its script."""


class QueryLanguage:
    """The language of a query, as far as its words tell it.

    Of a query in an unknown language only a question is compared, by its stop words: names and
    keywords belong to no language.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._code = detect_question_language(text).code
        self._asks = is_question(text)
        self._judged: dict[str, bool] = {}

    @property
    def is_known(self) -> bool:
        """Whether passages can be told from the query by their language."""
        return self._code is not None or self._asks

    def differs_from(self, chunk: StoredChunk) -> bool:
        """Return whether a passage is in another language, as far as that can be told."""
        if not self.is_known:
            return False
        if chunk.lang is None:
            script = detect_script(chunk.text[:_SAMPLE])
            return script is not None and script != detect_script(self._text)
        if chunk.lang not in self._judged:
            self._judged[chunk.lang] = (
                chunk.lang != self._code
                if self._code is not None
                else reads_as_another_language(list_words(self._text), chunk.lang, asks=True)
            )
        return self._judged[chunk.lang]


def find_foreign(text: str, keys: Iterable[Key], passages: PassageCache) -> set[Key]:
    """Return the passages in another language than a query, if others are in its language."""
    language = QueryLanguage(text)
    if not language.is_known:
        return set()
    chunks = passages.load_chunks(list(keys))
    foreign = {chunk.key for chunk in chunks if language.differs_from(chunk)}
    return foreign if len(foreign) < len(chunks) else set()
