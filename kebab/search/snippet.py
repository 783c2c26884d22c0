"""Snippets: a window of the original text around its best match, with the matches marked.

The text is verbatim: nothing is joined, shortened or decorated inside the window, so a snippet can
be looked up in the file as it stands.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kebab.core.hit import Snippet
from kebab.search.matches import Match, matches

_SENTENCE = re.compile(
    r"(?<=[.!?\u2026])[\"')\]]*\s+|(?<=[\u3002\uff01\uff1f\uff61])[\u300d\u300f\uff09]*|\n+"
)
_REPEAT = 0.1
"""What a word that is already in the window adds, as a share of its weight."""

_FILL = 0.8
"""The share of the window that matches may span; the rest is for whole sentences."""

_TAIL = 0.6
"""A sentence that ends after this share of the window ends the snippet."""


@dataclass(frozen=True, slots=True)
class _Window:
    start: int
    end: int


def cut(text: str, weights: Mapping[str, float], chars: int) -> Snippet:
    """Return the window of at most `chars` code points that holds the most telling matches.

    Args:
        text: The chunk's text.
        weights: What each token of the query is worth.
        chars: The bound, in code points.
    """
    found = matches(text, weights)
    window = _trimmed(text, _window(text, found, chars))
    inside = [
        (one.start - window.start, min(one.end, window.end) - window.start)
        for one in found
        if window.start <= one.start < window.end
    ]
    return Snippet(text=text[window.start : window.end], highlights=tuple(_merged(inside)))


def _window(text: str, found: list[Match], chars: int) -> _Window:
    if len(text) <= chars:
        return _Window(0, len(text))
    first, last = _best(found, int(chars * _FILL)) if found else (0, 0)
    breaks = [end.end() for end in _SENTENCE.finditer(text)]
    start = _start(text, first, last, breaks, chars)
    return _Window(start, _end(text, start, last, breaks, chars))


def _best(found: list[Match], span: int) -> tuple[int, int]:
    """Return the stretch of at most `span` code points whose matches weigh the most."""
    best, stretch = -1.0, (found[0].start, found[0].end)
    for index, first in enumerate(found):
        seen: set[str] = set()
        worth, end = 0.0, first.end
        for match in found[index:]:
            if match.end - first.start > span and match is not first:
                break
            worth += match.weight * (_REPEAT if match.token in seen else 1.0)
            seen.add(match.token)
            end = match.end
        if worth > best:
            best, stretch = worth, (first.start, end)
    return stretch


def _start(text: str, first: int, last: int, breaks: list[int], chars: int) -> int:
    """Return where the snippet begins: a sentence, else a word, before the first match."""
    room = max(0, chars - (last - first))
    earliest = max(0, first - room)
    if earliest == 0:
        return 0
    sentences = [place for place in breaks if earliest <= place <= first]
    if sentences:
        return sentences[0] if first - sentences[0] <= room // 2 else sentences[-1]
    middle = max(0, first - room // 3)
    blank = text.find(" ", middle, first)
    return blank + 1 if blank >= 0 else _whole(text, middle)


def _end(text: str, start: int, last: int, breaks: list[int], chars: int) -> int:
    """Return where the snippet ends: at a sentence or a word within the bound."""
    limit = start + chars
    if limit >= len(text):
        return len(text)
    floor = max(last, start + int(chars * _TAIL))
    sentences = [place for place in breaks if floor <= place <= limit]
    if sentences:
        return sentences[-1]
    blank = max(text.rfind(" ", max(last, start + chars // 2), limit + 1), -1)
    return blank if blank > start else _whole(text, limit)


def _whole(text: str, place: int) -> int:
    """Return a place that does not part a letter from its marks."""
    while place > 0 and _joins(text, place):
        place -= 1
    return place


def _joins(text: str, place: int) -> bool:
    """Return whether the characters around a place belong together."""
    import unicodedata

    after, before = text[place : place + 1], text[place - 1]
    return (
        before == "\u200d"
        or after in {"\u200d", "\ufe0f"}
        or (bool(after) and unicodedata.category(after).startswith("M"))
    )


def _trimmed(text: str, window: _Window) -> _Window:
    """Return the window without white space at its ends."""
    part = text[window.start : window.end]
    left = len(part) - len(part.lstrip())
    return _Window(window.start + left, window.start + left + len(part.strip()))


def _merged(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield spans in order, those that touch or overlap as one."""
    start = end = -1
    for low, high in sorted(spans):
        if low <= end:
            end = max(end, high)
            continue
        if end > start >= 0:
            yield start, end
        start, end = low, high
    if end > start >= 0:
        yield start, end
