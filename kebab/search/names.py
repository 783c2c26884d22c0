"""Finds documents whose name a query is, and moves them up.

The names of a document are those of its file, its title and its aliases; folders only help to tell
documents of one name apart. A name counts as far as the query covers it and is covered by it, so
that a query that is the whole name of a document puts that document first, in whatever passage its
words stand, while a common word of many names changes little.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import commonprefix
from pathlib import PurePosixPath

from kebab.core.ids import DocNumber, Key
from kebab.core.ports import LibraryReader
from kebab.core.queries import NamedDocument
from kebab.core.spelling import count_edits
from kebab.search.lexical import WeightedTerms
from kebab.search.query_parser import ParsedQuery, strip_stop_words
from kebab.search.snippet import PassageCache
from kebab.text.language import is_dense
from kebab.text.names import NameWord, join_name, list_names, read_file_name, split_name

_MAX_WORDS = 12
"""A query of more words is no name."""

_CANDIDATE_LIMIT = 24
"""How many documents are compared with the query."""

_INFLECTED, _MISTYPED, _ELSEWHERE = 0.96, 0.95, 0.8
"""The weights of a name in other forms, of a mistyped word, and of one in another name or a folder.

Of two names in other forms the one with the longer common beginning comes first.
"""

_SHORTEST = 5
"""The least letters of a word in which a wrong or missing one is looked for."""

_LEAST_PART = 0.05
"""A smaller part of a name gains nothing."""

_GAIN, _FALL = 1.5, 3
"""What the best passage of a document gains at most, and the power of the part of the name."""

_LEAD, _LEAST_SCORE = 0.3, 0.8
"""How far a document whose name the query is stands above all others, and its least score.

The lead is beyond the reach of reranking, and small, because the scores of the other hits depend on
their distance from the first.
"""


@dataclass(frozen=True, slots=True)
class NameMatches:
    """How far the query is the name of documents, from 0 to 1, and their first chunks.

    `tokens` are those tokens of the query that occur in the names of these documents.
    """

    parts: Mapping[DocNumber, float] = field(default_factory=dict)
    first: Mapping[DocNumber, Key] = field(default_factory=dict)
    tokens: frozenset[str] = frozenset()


def match_names(
    library: LibraryReader, parsed: ParsedQuery, weighted: WeightedTerms
) -> NameMatches:
    """Return the documents that the words of a query may name."""
    query = split_name(strip_stop_words(parsed.plain))
    if not 0 < len(query) <= _MAX_WORDS:
        return NameMatches()
    matcher = _Matcher(query, parsed.plain, weighted.rarities)
    for word in query:
        is_mistyped = len(word.text) >= _SHORTEST - 1 and word.tokens[-1] in weighted.absent
        if is_mistyped and word.text.isalnum() and not is_dense(word.text):
            matcher.correct(word, library.list_similar_words(word.text))
    found = library.find_named_documents(matcher.asked, parsed.filters, _CANDIDATE_LIMIT)
    parts = {one.number: part for one in found if (part := matcher.compare(one)) >= _LEAST_PART}
    return NameMatches(
        parts=parts,
        first={one.number: one.first for one in found if one.number in parts},
        tokens=frozenset(matcher.held),
    )


def boost_named(
    scores: Mapping[Key, float], matches: NameMatches, passages: PassageCache, *, adds: bool
) -> dict[Key, float]:
    """Return what the best passage of each named document gains.

    With `adds` a document without any candidate gives its first passage.
    """
    best: dict[DocNumber, Key] = {}
    for key, owner in passages.find_doc_numbers(scores.keys()).items():
        if owner in matches.parts and (owner not in best or scores[key] > scores[best[owner]]):
            best[owner] = key
    if adds:
        best = {**matches.first, **best}
    top = max(scores.values(), default=0.0)
    gains: dict[Key, float] = {}
    for owner, key in best.items():
        part, score = matches.parts[owner], scores.get(key, 0.0)
        highest = max(top + _LEAD * part, _LEAST_SCORE * part)
        gains[key] = max(0.0, min(_GAIN * part**_FALL, highest - score))
    return gains


def _collect_tokens(names: Iterable[str]) -> frozenset[str]:
    return frozenset(token for name in names for word in split_name(name) for token in word.tokens)


class _Matcher:
    """Compares one query with the names of documents.

    `asked` are the tokens to look up, `held` those of the query that names have.
    """

    def __init__(
        self, query: Sequence[NameWord], plain: str, rarities: Mapping[str, float]
    ) -> None:
        self._query = query
        self._plain = plain.lower()
        self._weights = [
            max((rarities.get(token, 0.0) for token in word.tokens), default=0.0) or 1.0
            for word in query
        ]
        self._tokens = {token for word in query for token in word.tokens}
        self._corrected: dict[NameWord, list[NameWord]] = {}
        self._whole = {join_name(plain): 1.0}
        self.held: set[str] = set()

    @property
    def asked(self) -> set[str]:
        """The tokens to look up: those of the words, and the whole query in one word."""
        others = (other for words in self._corrected.values() for other in words)
        return self._tokens.union(self._whole, *(other.tokens for other in others)) - {""}

    def correct(self, word: NameWord, similar: Sequence[str]) -> None:
        """Take a word for those that differ from it by one letter, and not in a digit."""
        digits = [*filter(str.isdigit, word.text)]
        for text in similar:
            is_near = len(text) >= _SHORTEST and count_edits(word.text, text, 1) == 1
            if is_near and [*filter(str.isdigit, text)] == digits:
                self._corrected.setdefault(word, []).extend(split_name(text))
                whole = join_name(self._plain.replace(word.text, text))
                self._whole.setdefault(whole, _MISTYPED)

    def compare(self, document: NamedDocument) -> float:
        """Return how far the query is the name of a document, from 0 to 1."""
        path = PurePosixPath(document.path)
        names = list_names(document.path, document.title, document.aliases)
        folders = [read_file_name(folder) for folder in path.parts[:-1]]
        tokens = _collect_tokens((*names, *folders))
        self.held |= tokens & self._tokens
        written = names | {
            document.path: 1.0,
            path.name: 1.0,
            " ".join((*folders[-1:], path.stem)): 1.0,
        }
        return max(
            *(self._whole.get(join_name(name), 0.0) * weight for name, weight in written.items()),
            *(weight * self._measure_part(name, tokens) for name, weight in names.items()),
        )

    def _measure_part(self, name: str, tokens: frozenset[str]) -> float:
        """Return how far the query is a name of a document with these tokens in all its names."""
        held = self._measure_held(name)
        if not held:
            return 0.0
        one, other = self._plain, name.lower()
        alike = len(commonprefix((one, other))) / max(len(one), len(other))
        inflected = _INFLECTED + (1 - _INFLECTED) / 2 * alike
        return inflected * held * self._measure_named(_collect_tokens((name,)), tokens)

    def _measure_held(self, name: str) -> float:
        """Return the part of a name that the query holds."""
        words = split_name(strip_stop_words(name))
        others = {
            token for some in self._corrected.values() for one in some for token in one.tokens
        }
        plain, corrected = frozenset(self._tokens), frozenset(self._tokens | others)
        covered = (
            max(word.cover(plain), _MISTYPED * word.cover(corrected) if others else 0.0)
            for word in words
        )
        return sum(covered) / len(words) if words else 0.0

    def _measure_named(self, own: frozenset[str], tokens: frozenset[str]) -> float:
        """Return the part of the query that a name holds, or the other names and folders."""
        covered = 0.0
        for word, weight in zip(self._query, self._weights, strict=True):
            others = (_MISTYPED * one.cover(own) for one in self._corrected.get(word, ()))
            covered += weight * max(word.cover(own), _ELSEWHERE * word.cover(tokens), *others)
        return covered / sum(self._weights)
