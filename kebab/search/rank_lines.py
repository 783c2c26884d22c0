"""Reads lines (text, the output of ripgrep, JSON objects) and scores them without an index."""

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from kebab.core.ids import Key
from kebab.search.query_parser import strip_stop_words
from kebab.search.ranking import (
    compute_lexical_share,
    estimate_trust,
    fuse,
    measure_lexical_strength,
)
from kebab.text.tokenizer import Term, build_query_terms, tokenize
from kebab.wire.record import DECODE_ERRORS

if TYPE_CHECKING:
    from kebab.core.ports import Embedder

_COLOR = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)")
_PLACE = re.compile(r"(?:(?P<path>[^\0\n]*?[^\0\n:]):)?(?P<line>\d+):(?:(?P<column>\d+):)?")
_CONTEXT = re.compile(r"(?P<path>[^\0\n]*?)-?(?P<line>\d+)-")
_SEPARATOR = "--"

_PLACED_SHARE = 0.5
"""When at least this share of the text lines begins with a place, it is no part of the texts."""

_TEXT_KEYS = ("text", "snippet", "content", "body", "message", "line", "title")
"""The keys of the text of an object, the first that it has."""


class LineItem(NamedTuple):
    """One line: its number in the input, its text, its place in a file, and its object."""

    number: int
    text: str
    path: str | None = None
    line: int | None = None
    item: dict[str, Any] | None = None


def read_items(lines: Sequence[str]) -> list[LineItem]:
    """Return the lines that have a text to compare."""
    found: list[LineItem] = []
    plain: list[LineItem] = []
    for index, raw in enumerate(lines):
        line = _COLOR.sub("", raw).strip("\r\n")
        fields = None
        if line.lstrip().startswith("{"):
            with suppress(*DECODE_ERRORS):
                fields = msgspec.json.decode(line.encode("utf-8", "replace"))
        if isinstance(fields, dict):
            found += _read_object(index, fields)
        elif line.strip() and line != _SEPARATOR:
            plain.append(LineItem(index, line))
    found += _split_places(plain)
    return sorted((item for item in found if item.text.strip()), key=lambda item: item.number)


def _read_object(index: int, fields: dict[str, Any]) -> Iterable[LineItem]:
    """Yield the item of an object; of the events of ripgrep only matches have one."""
    data = fields.get("data")
    if isinstance(data, dict) and fields.get("type") in ("begin", "end", "context", "summary"):
        return
    if isinstance(data, dict) and fields.get("type") == "match":
        number = data.get("line_number")
        yield LineItem(
            index,
            _read_text(data.get("lines")).rstrip("\r\n"),
            _read_text(data.get("path")) or None,
            number if isinstance(number, int) else None,
            fields,
        )
        return
    yield LineItem(index, _find_text(fields), item=fields)


def _read_text(value: Any) -> str:
    """Return a text of ripgrep, which is plain or, when it is not UTF-8, in base64."""
    if not isinstance(value, dict):
        return ""
    if isinstance(value.get("text"), str):
        return str(value["text"])
    try:
        return base64.b64decode(str(value.get("bytes", "")), validate=True).decode(
            "utf-8", "replace"
        )
    except binascii.Error:
        return ""


def _find_text(fields: dict[str, Any]) -> str:
    """Return the text of an object: that of a known key, else all its texts."""
    for key in _TEXT_KEYS:
        if isinstance(fields.get(key), str) and fields[key].strip():
            return str(fields[key])
    return " ".join(value for value in fields.values() if isinstance(value, str))


def _split_places(items: Sequence[LineItem]) -> Sequence[LineItem]:
    """Return items with their places cut off, if most of them begin with one."""
    matches = [_PLACE.match(item.text) for item in items]
    if sum(map(bool, matches)) < _PLACED_SHARE * len(items):
        return items
    places = [one or _CONTEXT.match(item.text) for item, one in zip(items, matches, strict=True)]
    return [
        item._replace(
            text=item.text[place.end() :], path=place["path"] or None, line=int(place["line"])
        )
        if place
        else item
        for item, place in zip(items, places, strict=True)
    ]


EMBED_LIMIT = 1000
"""How many different texts are embedded at most; of more, those with the best words."""

EMBED_CHARS = 1000
"""How much of a long text is embedded."""

_K1, _B = 1.2, 0.5
"""The saturation of bm25, and how far it prefers short texts; lines differ much in length."""

_SAMPLE = 5
"""How many texts show the language of all."""


def score_words(query: str, texts: Sequence[str]) -> dict[Key, float]:
    """Return bm25 of every text as a share of the best possible score, 0 to 1."""
    terms = build_query_terms(strip_stop_words(query)) or build_query_terms(query)
    counts = [Counter(tokenize(text)) for text in texts]
    weights = {term: _compute_idf(term, counts) for term in terms}
    best = sum(weights.values()) * (_K1 + 1)
    lengths = [sum(count.values()) for count in counts]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    scores: dict[Key, float] = {}
    for position, (count, length) in enumerate(zip(counts, lengths, strict=True)):
        norm = _K1 * (1 - _B + _B * length / (mean or 1.0))
        hits = ((weights[term], _count(term, count)) for term in terms)
        score = sum(weight * hit * (_K1 + 1) / (hit + norm) for weight, hit in hits if hit)
        scores[Key(position)] = min(1.0, score / best) if best else 0.0
    return scores


def _count(term: Term, count: Mapping[str, int]) -> int:
    if not term.prefix:
        return count.get(term.text, 0)
    return sum(number for token, number in count.items() if token.startswith(term.text))


def _compute_idf(term: Term, counts: Sequence[Mapping[str, int]]) -> float:
    """Return the rarity of a term among the texts, which is always positive."""
    holding = sum(1 for count in counts if _count(term, count))
    return math.log(1 + (len(counts) - holding + 0.5) / (holding + 0.5))


def select_for_embedding(words: Mapping[Key, float], texts: Sequence[str]) -> list[Key]:
    """Return one text of each spelling, the best by words first, up to the limit."""
    order = sorted(words, key=lambda key: (-words[key], key))
    firsts: dict[str, Key] = {}
    for key in order:
        firsts.setdefault(texts[key], key)
    return list(firsts.values())[:EMBED_LIMIT]


def score_meaning(
    query: str, texts: Sequence[str], keys: Sequence[Key], embedder: "Embedder"
) -> dict[Key, float]:
    """Return the semantic evidence of the selected texts and of their copies.

    Raises:
        EmbeddingUnavailable: The model cannot be loaded.
        TimedOut: The model took too long.
    """
    asked = embedder.embed_query(query)
    embeddable = [key for key in keys if embedder.supports(texts[key])]
    cosines: dict[str, float] = {}
    passages = [texts[key][:EMBED_CHARS] for key in embeddable]
    for indexes, matrix in embedder.embed_passages(passages):
        for index, vector in zip(indexes, matrix, strict=True):
            cosines[texts[embeddable[index]]] = float(vector @ asked)
    found = {Key(n): cosines[text] for n, text in enumerate(texts) if text in cosines}
    return embedder.profile.cosine_scale.normalise_all(found)


def merge_scores(
    query: str,
    words: Mapping[Key, float],
    meaning: Mapping[Key, float],
    texts: Sequence[str],
    embedder: "Embedder",
) -> dict[Key, float]:
    """Return the fused score of every text."""
    model, strength = embedder.profile, measure_lexical_strength(words)
    trust = estimate_trust(model.language_trust, texts[:_SAMPLE], query, strength)
    return fuse(dict(words), dict(meaning), compute_lexical_share(model, trust, strength))
