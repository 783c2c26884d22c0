"""Finds documents whose name a query is, and moves them up.

The names of a document are those of its file, its title and its aliases; folders only help to tell
documents of one name apart. A name counts as far as the query covers it and is covered by it, so
that a query that is the whole name of a document puts that document first, in whatever passage its
words stand, while a common word of many names changes little.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from kebab.core.chunks import DocNumber, Key
from kebab.core.queries import NamedDocument
from kebab.search.lexical import WeightedTerms
from kebab.search.query_parser import ParsedQuery, classify_intent
from kebab.search.snippet import PassageCache
from kebab.text.dates import write_dates
from kebab.text.language import is_dense, strip_stop_words
from kebab.text.names import Names, NameWord, join_name, read_names, separate_words, split_name
from kebab.text.normalize import count_alike

if TYPE_CHECKING:
    from kebab.store.sqlite.reader import SqliteReader

NAME = "name"
"""The name of the boost."""

_MAX_WORDS = 12
"""A query of more words is no name."""

_CANDIDATE_LIMIT = 16
"""How many documents are compared with the query."""

_INFLECTED, _MISTYPED, _ELSEWHERE = 0.96, 0.95, 0.8
"""The weights of a name in other forms, of a mistyped word, and of one in another name or a folder.
"""

_SHORTEST = 5
"""The least letters of a word in which a wrong or missing one is looked for."""

_GAIN = 2.5
"""What the best passage of a document gains for a whole name, at most up to the lead."""

_FALL, _PROSE_FALL = 10.0, 5.0
"""The gain falls with this power of the part of a name, and with the second more for prose."""

_RESCUE = 0.5
"""What a document gains for words that occur in names only, as a share of the query."""

_LEAST_GAIN = 0.01
_WHOLE = 0.9
"""From this part on the query is the name, in other forms or with one wrong letter."""

_LEAD, _LEAST_SCORE = 0.3, 0.8
"""How far a document whose name the query is stands above all others, and its least score: beyond
the reach of reranking, but the scores of the other hits depend on their distance from it."""


class NameMatch(NamedTuple):
    """A document that the query may name: its first chunk, how far, and what it gains for that."""

    first: Key
    part: float
    gain: float


class NameMatches(Struct, frozen=True):
    """The documents that a query may name, and the tokens of the query that their names hold."""

    documents: Mapping[DocNumber, NameMatch] = field(default_factory=dict)
    tokens: frozenset[str] = frozenset()

    def names_owner(self, key: Key, passages: PassageCache) -> bool:
        """Return whether the query is the name of the document of a passage."""
        owner = passages.find_doc_numbers([key]).get(key) if self.documents else None
        match = self.documents.get(owner) if owner is not None else None
        return match is not None and match.part >= _WHOLE


def match_names(
    library: "SqliteReader", parsed: ParsedQuery, weighted: WeightedTerms
) -> NameMatches:
    """Return the documents that the words of a query may name."""
    plain = write_dates(parsed.plain)
    query = split_name(strip_stop_words(plain))
    if not 0 < len(query) <= _MAX_WORDS:
        return NameMatches()
    matcher = _Matcher(query, plain, weighted)
    for word in split_name(separate_words(plain)):
        absent = weighted.absent.intersection(
            word.tokens if is_dense(word.text) else word.tokens[-1:]
        )
        if absent and len(word.text) >= _SHORTEST - 1 and word.text.isalnum():
            matcher.correct(word, library.list_similar_words(word.text))
    found = library.find_named_documents(matcher.asked, parsed.filters, _CANDIDATE_LIMIT)
    fall = _FALL + _PROSE_FALL * (1 - classify_intent(parsed).topic)
    documents: dict[DocNumber, NameMatch] = {}
    for one in found:
        part, rescued = matcher.compare(one)
        gain = _GAIN * part**fall + _RESCUE * rescued
        if gain >= _LEAST_GAIN:
            documents[one.number] = NameMatch(one.first, part, gain)
    return NameMatches(documents, frozenset(matcher.held))


def boost_named(
    scores: Mapping[Key, float], matches: NameMatches, passages: PassageCache, *, adds: bool
) -> dict[Key, float]:
    """Return what the best passage of each named document gains.

    With `adds` a document without any candidate gives its first passage.
    """
    best: dict[DocNumber, Key] = {}
    for key, owner in passages.find_doc_numbers(scores.keys()).items():
        if owner in matches.documents and (owner not in best or scores[key] > scores[best[owner]]):
            best[owner] = key
    if adds:
        best = {owner: match.first for owner, match in matches.documents.items()} | best
    top = max(scores.values(), default=0.0)
    gains: dict[Key, float] = {}
    for owner, key in best.items():
        match, score = matches.documents[owner], scores.get(key, 0.0)
        highest = max(top + _LEAD * match.part, _LEAST_SCORE * match.part)
        gains[key] = max(0.0, min(match.gain, highest - score))
    return gains


@lru_cache(maxsize=1 << 12)
def _split_content(name: str) -> tuple[NameWord, ...]:
    return split_name(strip_stop_words(name))


class _Matcher:
    """Compares one query with the names of documents.

    `asked` are the tokens to look up, `held` those of the query that names have.
    """

    def __init__(self, query: Sequence[NameWord], plain: str, weighted: WeightedTerms) -> None:
        self._query = query
        self._plain = plain.lower()
        self._weights = [
            max((weighted.rarities.get(token, 0.0) for token in word.tokens), default=0.0) or 1.0
            for word in query
        ]
        self._absent = weighted.absent
        self._tokens = frozenset(token for word in query for token in word.tokens)
        self._others: frozenset[str] = frozenset()
        self._corrected: dict[NameWord, list[NameWord]] = {}
        self._whole = {joined: 1.0} if (joined := join_name(plain)) else {}
        self.held: set[str] = set()

    @property
    def asked(self) -> set[str]:
        """The tokens to look up: those of the words, and the whole query in one word."""
        return {*self._tokens, *self._others, *self._whole}

    def correct(self, word: NameWord, similar: Sequence[str]) -> None:
        """Take a word for those that differ from it by one letter, and not in a digit."""
        from kebab.core.spelling import count_edits

        digits = [*filter(str.isdigit, word.text)]
        for text in similar:
            is_long = len(text) >= _SHORTEST or is_dense(text)
            is_near = is_long and count_edits(word.text, text, 1) == 1
            if is_near and [*filter(str.isdigit, text)] == digits:
                words = split_name(text)
                self._corrected.setdefault(word, []).extend(words)
                self._others |= {token for one in words for token in one.tokens}
                whole = join_name(self._plain.replace(word.text, text))
                self._whole.setdefault(whole, _MISTYPED)

    def compare(self, document: NamedDocument) -> tuple[float, float]:
        """Return how far the query is the name of a document, and the part that no passage holds.

        Both are from 0 to 1. The second is the share of the query in words that stand in the names
        and folders of this document, but in no passage.
        """
        names = read_names(document.path, document.title, document.aliases)
        is_written_so = join_name(self._plain) in names.joined
        self.held |= self._tokens if is_written_so else names.all_tokens & self._tokens
        rescued = sum(
            weight * word.cover(names.all_tokens)
            for word, weight in zip(self._query, self._weights, strict=True)
            if self._absent.issuperset(word.grams)
        ) / sum(self._weights)
        part = max(
            _WHOLE if rescued >= 1 else 0.0,  # as the name of a folder
            *(names.joined.get(joined, 0.0) * weight for joined, weight in self._whole.items()),
            *(weight * self._measure_part(one, names) for one, weight in names.weights.items()),
        )
        return part, rescued

    def _measure_part(self, name: str, names: Names) -> float:
        """Return how far the query is one of the names of a document."""
        held = self._measure_held(name)
        if not held:
            return 0.0
        one, other = self._plain, name.lower()
        alike = count_alike(one, other) / max(len(one), len(other))
        inflected = _INFLECTED + (1 - _INFLECTED) / 2 * alike
        return inflected * held * self._measure_named(names.tokens[name], names.all_tokens)

    def _measure_held(self, name: str) -> float:
        """Return the part of a name that the query holds."""
        words = _split_content(name)
        held = sum(word.cover(self._tokens) for word in words)
        if self._others and held < len(words):
            tokens = self._tokens | self._others
            held = sum(
                max(word.cover(self._tokens), _MISTYPED * word.cover(tokens)) for word in words
            )
        return held / len(words) if words else 0.0

    def _measure_named(self, own: frozenset[str], tokens: frozenset[str]) -> float:
        """Return the part of the query that a name holds, or the other names and folders."""
        covered = 0.0
        for word, weight in zip(self._query, self._weights, strict=True):
            others = (_MISTYPED * one.cover(own) for one in self._corrected.get(word, ()))
            covered += weight * max(word.cover(own), _ELSEWHERE * word.cover(tokens), *others)
        return covered / sum(self._weights)
