"""Estimates tokens, and shortens passages to whole sentences."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from kebab.text.graphemes import snap_to_grapheme
from kebab.text.sentences import find_sentence_spans

_WORD = re.compile(r"[A-Z]?[a-z]+")
_SHORT_WORD = 1.1
_SHORT = 5
_LETTER = 0.25
"""What each further letter of a word costs."""
_LONG = 10
_LONG_LETTER = 0.2
"""What the letters of long words cost more: they are compounds, or no words."""

_WEIGHTS = (
    (0.8, re.compile(r"[A-Z](?![a-z])")),
    (1.0, re.compile(r"[0-9]")),
    (0.85, re.compile(r"[\x00-\x08\x0e-\x1f!-/:-@\[-`{-\x7f]")),
    (1.0, re.compile(r"\n+|[ \t\r\v\f]{2,}|[ \t](?=[0-9])")),
)
_ABROAD = (
    (1.0, re.compile("[\u00a0-\u036f\u2010-\u2027\u3000-\u303f\uff00-\uffef]")),
    (0.6, re.compile("[\u0400-\u052f\u1e00-\u1eff]")),
    (0.8, re.compile("[\u0590-\u06ff]")),
    (1.2, re.compile("[\u0370-\u03ff\u0900-\u097f\u0e00-\u0e7f\uac00-\ud7a3]")),
    (0.9, re.compile("[\u3040-\u30ff]")),
    (1.4, re.compile("[\u3400-\u9fff]")),
)
_OTHER = 2.5
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
"""Emoji and rare characters cost twice as much as other unknown ones."""


def estimate_tokens(text: str) -> int:
    """Return how many tokens a text costs, rather too many than too few."""
    lengths = Counter(map(len, _WORD.findall(text)))
    cost = sum(times * _word(length) for length, times in lengths.items())
    cost += sum(weight * len(pattern.findall(text)) for weight, pattern in _WEIGHTS)
    return int(cost + (0 if text.isascii() else _abroad(text)) + 0.999)


def _word(length: int) -> float:
    """Return what a word of ASCII letters costs."""
    return _SHORT_WORD + _LETTER * max(0, length - _SHORT) + _LONG_LETTER * max(0, length - _LONG)


def _abroad(text: str) -> float:
    """Return what the characters beyond ASCII cost."""
    counts = [(weight, len(pattern.findall(text))) for weight, pattern in _ABROAD]
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    other = beyond - sum(count for _, count in counts) + len(_ASTRAL.findall(text))
    return sum(weight * count for weight, count in counts) + _OTHER * other


_SHORT_PASSAGE = 40
"""Text of fewer characters is not cut in halves."""


def fit_sentences(
    text: str, tokens: int, at: int = 0, price: Callable[[str], int] = estimate_tokens
) -> tuple[int, int]:
    """Return the stretch [start, end) of whole sentences around a place that a budget holds.

    It begins with the sentence of that place, which is cut when it alone is too long.
    """
    spans = find_sentence_spans(text) or [(0, len(text))]
    starts = [start for start, _ in spans]
    costs = [price(text[start:after]) for start, after in pairwise([*starts, spans[-1][1]])]
    first = last = max(0, bisect_right(starts, at) - 1)
    spent = costs[first]
    if spent > tokens:
        return _prefix(text, spans[first], tokens, price)
    while last + 1 < len(spans) and spent + costs[last + 1] <= tokens:
        last += 1
        spent += costs[last]
    while first > 0 and spent + costs[first - 1] <= tokens:
        first -= 1
        spent += costs[first]
    return spans[first][0], spans[last][1]


def split_in_half(text: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return two stretches of a text, parted near its middle; None when it is too short.

    They part between sentences, else between words, else anywhere.
    """
    if len(text.strip()) < _SHORT_PASSAGE:
        return None
    middle = len(text) // 2
    between = [(end, start) for (_, end), (start, _) in pairwise(find_sentence_spans(text))]
    border = _border(text, middle)
    end, start = min(between, key=lambda pair: abs(pair[1] - middle), default=(border, border))
    parts = _trimmed(text, 0, end), _trimmed(text, start, len(text))
    return parts if all(low < high for low, high in parts) else None


def _prefix(
    text: str, span: tuple[int, int], tokens: int, price: Callable[[str], int]
) -> tuple[int, int]:
    """Return the longest beginning of a stretch that a budget holds, cut between words."""
    start, end = span
    ends = range(start + 1, end + 1)
    fit = bisect_right(ends, tokens, key=lambda place: price(text[start:place]))
    limit = ends[max(0, fit - 1)]
    return _trimmed(text, start, limit if limit == end else _border(text, limit, start + 1))


def _border(text: str, place: int, least: int = 1) -> int:
    """Return the last blank before a place in reach, else the place moved off a letter's marks."""
    reach = max(least, place - max(_SHORT_PASSAGE, place // 4))
    blank = max(text.rfind(" ", reach, place), text.rfind("\n", reach, place))
    if blank > 0:
        return blank
    return max(least, snap_to_grapheme(text, place))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a stretch without white space at its ends."""
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    return start + left, start + max(left, len(part.rstrip()))
