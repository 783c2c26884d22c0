"""Where the words of a query stand in a text, seen as the tokenizer sees both."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from kebab.text.normalize import normalize_for_index
from kebab.text.scripts import is_dense, iter_unit_matches, split_clusters, split_units
from kebab.text.tokenizer import tokenize, tokenize_unit

_part_spans = re.compile(r"[^\W_]+(?:[+#]+)?").finditer


@dataclass(frozen=True, slots=True)
class Match:
    """A stretch [start, end) of a text that a token of the query stands for."""

    start: int
    end: int
    token: str
    weight: float


def matches(text: str, weights: Mapping[str, float]) -> list[Match]:
    """Return the matches of query tokens in a text, in order."""
    telling = _telling(text, weights)
    found: list[Match] = []
    for place in iter_unit_matches(text) if telling else ():
        unit = place[0]
        if (tokens := telling.get(unit)) is None:
            continue
        if is_dense(unit):
            found.extend(_of_run(unit, place.start(), weights))
        else:
            found.extend(_of_word(unit, place.start(), tokens, weights))
    return found


def _telling(text: str, weights: Mapping[str, float]) -> dict[str, tuple[str, ...]]:
    """Return the different units of a text that may match, with their tokens.

    Few do: where they stand is looked up for these alone.
    """
    asked = frozenset(weights)
    tokens = {unit: _tokens(unit) for unit in set(split_units(text))}
    telling = {unit: held for unit, held in tokens.items() if not asked.isdisjoint(held)}
    if any(len(token) == 1 and is_dense(token) for token in asked):
        telling |= {unit: held for unit, held in tokens.items() if is_dense(unit)}
    return telling


@lru_cache(maxsize=1 << 15)
def _tokens(unit: str) -> tuple[str, ...]:
    """Return what the index holds of a unit of an original text."""
    return tokenize_unit(unit) if unit.isascii() else tuple(tokenize(unit))


def _of_word(
    unit: str, start: int, tokens: Sequence[str], weights: Mapping[str, float]
) -> Iterator[Match]:
    """Yield a word that matches: as a whole, or only those parts of it that do."""
    token = max((one for one in tokens if one in weights), key=lambda one: weights[one])
    parts = [] if tokens[-1] in weights else list(_of_parts(unit, start, weights))
    yield from parts or [Match(start, start + len(unit), token, weights[token])]


def _of_parts(unit: str, start: int, weights: Mapping[str, float]) -> Iterator[Match]:
    """Yield the parts of a linked word that match by themselves."""
    for part in _part_spans(unit):
        for token in tokenize(part[0])[-1:]:
            if token in weights:
                yield Match(start + part.start(), start + part.end(), token, weights[token])


def _of_run(run: str, start: int, weights: Mapping[str, float]) -> Iterator[Match]:
    """Yield the bigrams, or the single characters, of a dense run that match."""
    signs = split_clusters(run)
    places = [start]
    for sign in signs:
        places.append(places[-1] + len(sign))
    plain = [normalize_for_index(sign) for sign in signs]
    for index, sign in enumerate(plain):
        if sign in weights:
            yield Match(places[index], places[index + 1], sign, weights[sign])
    for index, (left, right) in enumerate(pairwise(plain)):
        if left + right in weights:
            yield Match(places[index], places[index + 2], left + right, weights[left + right])
