"""Where the words of a query stand in a text, seen as the tokenizer sees both."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from kebab.search.alphabet import clusters, is_dense, unit_spans
from kebab.search.tokens import index_tokens, normalize, unit_tokens

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
    return [
        match
        for start, end in unit_spans(text)
        for match in _of_unit(text[start:end], start, weights)
    ]


def _of_unit(unit: str, start: int, weights: Mapping[str, float]) -> Iterator[Match]:
    normal = normalize(unit)
    if normal and is_dense(normal):
        yield from _of_run(unit, start, weights)
        return
    tokens = unit_tokens(unit) if normal == unit else index_tokens(unit)
    hits = [token for token in tokens if token in weights]
    if not hits:
        return
    parts = list(_of_parts(unit, start, weights)) if hits[-1] != tokens[-1] else []
    token = max(hits, key=lambda one: weights[one])
    yield from parts or [Match(start, start + len(unit), token, weights[token])]


def _of_parts(unit: str, start: int, weights: Mapping[str, float]) -> Iterator[Match]:
    """Yield the parts of a linked word that match by themselves."""
    for part in _part_spans(unit):
        for token in index_tokens(part[0])[-1:]:
            if token in weights:
                yield Match(start + part.start(), start + part.end(), token, weights[token])


def _of_run(run: str, start: int, weights: Mapping[str, float]) -> Iterator[Match]:
    """Yield the bigrams, or the single characters, of a dense run that match."""
    signs = clusters(run)
    if "".join(signs) != run or normalize(run) != run:
        signs = list(run)
    places = [start]
    for sign in signs:
        places.append(places[-1] + len(sign))
    plain = [normalize(sign) for sign in signs]
    for index, sign in enumerate(plain):
        if sign in weights:
            yield Match(places[index], places[index + 1], sign, weights[sign])
    for index, (left, right) in enumerate(pairwise(plain)):
        if left + right in weights:
            yield Match(places[index], places[index + 2], left + right, weights[left + right])
