"""Finds the matches of a query in passages, computes their share, and cuts snippets."""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from kebab.core.chunks import DocNumber, Key
from kebab.core.queries import Snippet, StoredChunk
from kebab.text.language import (
    QUESTION_BIGRAMS,
    is_dense,
    iter_unit_matches,
    snap_to_grapheme,
    split_clusters,
    split_units,
)
from kebab.text.names import list_title_texts
from kebab.text.normalize import load_words, merge_spans, normalize_for_index, trim_span
from kebab.text.sentences import find_sentence_starts
from kebab.text.tokenizer import collect_all_tokens, tokenize, tokenize_unit

if TYPE_CHECKING:
    from kebab.store.sqlite.reader import SqliteReader

_find_parts = re.compile(r"[^\W_]+(?:[+#]+)?").finditer


class Match(Struct, frozen=True):
    """A span [start, end) of a text that matches a token of the query."""

    start: int
    end: int
    token: str
    weight: float


def find_matches(text: str, weights: Mapping[str, float]) -> list[Match]:
    """Return the matches of query tokens in a text, in order."""
    # Few units match, so only their positions are looked up.
    tokens_of = {unit: _tokenize_original(unit) for unit in set(split_units(text))}
    matching = {unit for unit, tokens in tokens_of.items() if not weights.keys().isdisjoint(tokens)}
    if any(len(token) == 1 and is_dense(token) for token in weights):
        matching |= set(filter(is_dense, tokens_of))
    found: list[Match] = []
    for match in iter_unit_matches(text) if matching else ():
        unit = match[0]
        if unit not in matching:
            continue
        if is_dense(unit):
            found.extend(_match_run(unit, match.start(), weights))
        else:
            found.extend(_match_word(unit, match.start(), tokens_of[unit], weights))
    return found


@lru_cache(maxsize=1 << 15)
def _tokenize_original(unit: str) -> tuple[str, ...]:
    """Return the index tokens of a unit of a text that is not normalized."""
    return tokenize_unit(unit) if unit.isascii() else tuple(tokenize(unit))


def _match_word(
    unit: str, start: int, tokens: Sequence[str], weights: Mapping[str, float]
) -> list[Match]:
    """Return the matching parts of a word, or the whole word."""
    found: list[Match] = []
    for part in _find_parts(unit) if tokens[-1] not in weights else ():
        for token in tokenize(part[0])[-1:]:
            if token in weights:
                place = start + part.start(), start + part.end()
                found.append(Match(*place, token, weights[token]))
    token = max((one for one in tokens if one in weights), key=lambda one: weights[one])
    return found or [Match(start, start + len(unit), token, weights[token])]


def _match_run(run: str, start: int, weights: Mapping[str, float]) -> Iterator[Match]:
    """Yield the matching bigrams and single characters of a dense run."""
    characters = split_clusters(run)
    offsets = [start]
    for character in characters:
        offsets.append(offsets[-1] + len(character))
    plain = [normalize_for_index(character) for character in characters]
    for index, character in enumerate(plain):
        if character in weights:
            yield Match(offsets[index], offsets[index + 1], character, weights[character])
    for index, (left, right) in enumerate(pairwise(plain)):
        if left + right in weights:
            yield Match(offsets[index], offsets[index + 2], left + right, weights[left + right])


_REPEAT = 0.1
"""The weight of a repeated word in a window, as a share of its weight."""

_FILL = 0.8
"""The share of the window that the matches of one long sentence may span."""

_BEFORE = 3
"""One part in this many of the free room is before the matches."""


class _Window(NamedTuple):
    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start


def highlight_text(text: str, weights: Mapping[str, float]) -> Snippet:
    """Return a whole text with its matches."""
    spans = [(one.start, one.end) for one in find_matches(text, weights)]
    return Snippet(text=text, highlights=tuple(merge_spans(spans)))


def cut_snippet(text: str, weights: Mapping[str, float], chars: int) -> Snippet:
    """Return the window of at most `chars` code points whose matches weigh the most."""
    found = find_matches(text, weights)
    window = _select_window(text, found, chars)
    inside = [
        (one.start - window.start, min(one.end, window.end) - window.start)
        for one in found
        if window.start <= one.start < window.end
    ]
    return Snippet(text=text[window.start : window.end], highlights=tuple(merge_spans(inside)))


def _select_window(text: str, found: Sequence[Match], chars: int) -> _Window:
    """Return the best window: of equal ones the longest, without matches the first one."""
    best = _Window(*trim_span(text, 0, len(text)))
    if best.length <= chars:
        return best
    starts = [one.start for one in found]
    best_score = (-1.0, 0)
    for window in _iter_windows(text, found, chars):
        inside = found[bisect_left(starts, window.start) : bisect_left(starts, window.end)]
        score = (_sum_weights(inside), window.length)
        if score > best_score:
            best, best_score = window, score
        if not found:
            break
    return best


def _iter_windows(text: str, found: Sequence[Match], chars: int) -> Iterator[_Window]:
    """Yield for each sentence the sentences from it on that fit, or its best part if it is long."""
    starts = find_sentence_starts(text)
    sentences = [
        _Window(*trim_span(text, start, end))
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
    ]
    last = 0
    for index, first in enumerate(sentences):
        if first.length > chars:
            yield _select_part(text, first, found, chars)
            continue
        last = max(last, index)
        while last + 1 < len(sentences) and sentences[last + 1].end - first.start <= chars:
            last += 1
        yield _Window(first.start, sentences[last].end)


def _sum_weights(inside: Sequence[Match]) -> float:
    """Return the weight of some matches; a repeated token counts little."""
    seen: set[str] = set()
    total = 0.0
    for match in inside:
        total += match.weight * (_REPEAT if match.token in seen else 1.0)
        seen.add(match.token)
    return total


def _select_part(text: str, sentence: _Window, found: Sequence[Match], chars: int) -> _Window:
    """Return the part of a long sentence around its best matches, cut between words."""
    inside = [one for one in found if sentence.start <= one.start < sentence.end]
    # The stretch whose matches weigh the most.
    ends = list(accumulate((one.end for one in inside), max))
    first, last, best = sentence.start, sentence.start, -1.0
    for index, one in enumerate(inside):
        after = max(index + 1, bisect_right(ends, one.start + int(chars * _FILL)))
        if (weight := _sum_weights(inside[index:after])) > best:
            first, last, best = one.start, ends[after - 1], weight
    start = sentence.start
    if last - start > chars:
        low = max(start, first - max(0, chars - (last - first)) // _BEFORE)
        blank = text.find(" ", low, first)
        start = blank + 1 if blank >= 0 else snap_to_grapheme(text, low)
    end = start + chars
    if end >= sentence.end:
        return _Window(*trim_span(text, start, sentence.end))
    blank = text.rfind(" ", max(last, start + chars // 2), end + 1)
    return _Window(
        *trim_span(text, start, blank if blank > start else max(snap_to_grapheme(text, end), start))
    )


class PassageCache:
    """Reads the passages of one search, each once."""

    def __init__(self, library: "SqliteReader") -> None:
        self._library = library
        self._chunks: dict[Key, StoredChunk] = {}
        self._numbers: dict[Key, DocNumber] = {}
        self._bodies: dict[tuple[Key, int], tuple[str, ...]] = {}

    def load_chunks(self, keys: Sequence[Key]) -> list[StoredChunk]:
        """Return the chunks in the order of their keys, without unknown keys."""
        missing = [key for key in keys if key not in self._chunks]
        if missing:
            self._chunks.update((chunk.key, chunk) for chunk in self._library.load_chunks(missing))
        return [self._chunks[key] for key in keys if key in self._chunks]

    def find_doc_numbers(self, keys: Collection[Key]) -> dict[Key, DocNumber]:
        """Return the document number of each chunk, without unknown keys."""
        missing = [key for key in keys if key not in self._numbers]
        if missing:
            self._numbers.update(self._library.find_doc_numbers(missing))
        return {key: self._numbers[key] for key in keys if key in self._numbers}

    def tokenize_body(self, chunk: StoredChunk) -> tuple[str, ...]:
        """Return the tokens of a passage, in order; one that has grown has others."""
        known = chunk.key, chunk.end_line - chunk.start_line
        if known not in self._bodies:
            self._bodies[known] = tuple(tokenize(chunk.text))
        return self._bodies[known]

    def tokenize_passage(self, chunk: StoredChunk) -> frozenset[str]:
        """Return the tokens of a passage with its title, its headings and its context."""
        above = (*list_title_texts(chunk.title, chunk.path), *chunk.heading_path, chunk.context)
        return collect_all_tokens(above).union(self.tokenize_body(chunk))


_is_grammar = re.compile(load_words("patterns")["grammar_bigrams"]).fullmatch
_GRAMMAR_WEIGHT = 0.3
"""The weight of a bigram of Hiragana alone, or with a sign of Chinese grammar: seldom a name."""

_DENSE_DISCOUNT = 0.3
"""The share of a query in bigrams that no passage repeats: they overlap word borders."""

_BEGINNING = 4
_COMMON_SHARE = 0.65
"""Forms of one word share so many first letters, and such a share of the longer one."""


def weigh_keywords(rarities: Mapping[str, float]) -> dict[str, float]:
    """Return the weights of the terms without question words, unless nothing else is left."""
    weights = {
        term: weight * (_GRAMMAR_WEIGHT if _is_grammar(term) else 1.0)
        for term, weight in rarities.items()
        if term not in QUESTION_BIGRAMS
    }
    return weights or dict(rarities)


def compute_coverage(
    keywords: Mapping[str, float], tokens: Collection[str], prose: float = 1.0
) -> float:
    """Return the weighted share of keywords that some tokens hold, from 0 to 1.

    The more the query is prose, the larger a share of its bigrams is not expected.
    """
    held = sum(weight for term, weight in keywords.items() if term in tokens)
    dense = sum(weight for term, weight in keywords.items() if is_dense(term))
    expected = sum(keywords.values()) - _DENSE_DISCOUNT * prose * dense
    return min(1.0, held / (expected or 1.0))


def cut_ending(token: str) -> str:
    """Return the letters that a token shares with every other form of its word."""
    return token[: max(_BEGINNING, math.ceil(_COMMON_SHARE * len(token)))]


def select_held(keywords: Mapping[str, float], tokens: Collection[str]) -> set[str]:
    """Return the keywords that some tokens hold, as they are or in another inflected form.

    Forms of one word share their beginning. English words are stems already; in other languages a
    right passage often has another form than the question. A single sign begins a bigram.
    """
    held = keywords.keys() & tokens
    for sign in (term for term in keywords if len(term) == 1):
        if any(token[:1] == sign and is_dense(token) for token in tokens):
            held.add(sign)
    for term in keywords.keys() - held:
        if len(term) > _BEGINNING and term.isalpha() and not is_dense(term):
            start = cut_ending(term)
            if any(one.startswith(start) and term.startswith(cut_ending(one)) for one in tokens):
                held.add(term)
    return held
