"""Cutting a passage to less: whole sentences where there are any, verbatim in any case."""

from bisect import bisect_right
from collections.abc import Callable
from itertools import pairwise

from kebab.rag.prompting.tokens import text_tokens
from kebab.text.graphemes import snap_to_grapheme
from kebab.text.sentences import find_sentence_spans

_SHORT = 40
"""Text of fewer characters is not cut in halves."""


def fitting(
    text: str, tokens: int, at: int = 0, price: Callable[[str], int] = text_tokens
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


def halves(text: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return two stretches of a text, parted near its middle; None when it is too short.

    They part between sentences, else between words, else anywhere.
    """
    if len(text.strip()) < _SHORT:
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
    reach = max(least, place - max(_SHORT, place // 4))
    blank = max(text.rfind(" ", reach, place), text.rfind("\n", reach, place))
    if blank > 0:
        return blank
    return max(least, snap_to_grapheme(text, place))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a stretch without white space at its ends."""
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    return start + left, start + max(left, len(part.rstrip()))
