"""Snippets: the stretch of the original text that most likely answers, with the matches marked.

It is made of whole sentences that follow each other, as many as fit: of all such stretches the
one whose matches tell the most. Only a sentence that is too long by itself is cut. The text is
verbatim: nothing is joined, shortened or decorated, so a snippet can be looked up in the file.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from kebab.core.hit import Snippet
from kebab.search.matches import Match, matches
from kebab.text.graphemes import snap_to_grapheme
from kebab.text.sentence_ends import find_sentence_starts

_REPEAT = 0.1
"""What a word that is already in the window adds, as a share of its weight."""

_FILL = 0.8
"""The share of the window that matches within one long sentence may span."""

_BEFORE = 3
"""One part in so many of the room that matches leave is what stands before them."""


class _Window(NamedTuple):
    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start


def cut(text: str, weights: Mapping[str, float], chars: int) -> Snippet:
    """Return the window of at most `chars` code points that holds the most telling matches.

    Args:
        text: The chunk's text.
        weights: What each token of the query is worth.
        chars: The bound, in code points.
    """
    found = matches(text, weights)
    window = _window(text, found, chars)
    inside = [
        (one.start - window.start, min(one.end, window.end) - window.start)
        for one in found
        if window.start <= one.start < window.end
    ]
    return Snippet(text=text[window.start : window.end], highlights=tuple(_merged(inside)))


def _window(text: str, found: Sequence[Match], chars: int) -> _Window:
    """Return the best window; of equal ones the longest, of no matches the beginning."""
    all_ = _trimmed(text, 0, len(text))
    if all_.length <= chars:
        return all_
    places = [one.start for one in found]
    best, worth = all_, (-1.0, 0)
    for window in _windows(text, found, chars):
        inside = found[bisect_left(places, window.start) : bisect_left(places, window.end)]
        told = (_worth(inside), window.length)
        if told > worth:
            best, worth = window, told
        if not found:
            break
    return best


def _windows(text: str, found: Sequence[Match], chars: int) -> Iterator[_Window]:
    """Yield from each sentence on as many as fit; of one that does not, its best part."""
    starts = find_sentence_starts(text)
    sentences = [
        _trimmed(text, start, end)
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
    ]
    last = 0
    for index, first in enumerate(sentences):
        if first.length > chars:
            yield _part(text, first, found, chars)
            continue
        last = max(last, index)
        while last + 1 < len(sentences) and sentences[last + 1].end - first.start <= chars:
            last += 1
        yield _Window(first.start, sentences[last].end)


def _worth(inside: Sequence[Match]) -> float:
    """Return what matches tell together: each token once in full."""
    seen: set[str] = set()
    worth = 0.0
    for match in inside:
        worth += match.weight * (_REPEAT if match.token in seen else 1.0)
        seen.add(match.token)
    return worth


def _part(text: str, sentence: _Window, found: Sequence[Match], chars: int) -> _Window:
    """Return the part of a long sentence around its best matches, cut between words."""
    inside = [one for one in found if sentence.start <= one.start < sentence.end]
    first, last = _best(inside, int(chars * _FILL)) if inside else (sentence.start,) * 2
    start = sentence.start
    if last - start > chars:
        start = _word(text, max(start, first - max(0, chars - (last - first)) // _BEFORE), first)
    end = start + chars
    if end >= sentence.end:
        return _trimmed(text, start, sentence.end)
    blank = text.rfind(" ", max(last, start + chars // 2), end + 1)
    return _trimmed(
        text, start, blank if blank > start else max(snap_to_grapheme(text, end), start)
    )


def _best(found: Sequence[Match], span: int) -> tuple[int, int]:
    """Return the stretch of at most `span` code points whose matches tell the most."""
    ends = list(accumulate((one.end for one in found), max))
    best, stretch = -1.0, (found[0].start, found[0].end)
    for index, first in enumerate(found):
        last = max(index + 1, bisect_right(ends, first.start + span))
        if (worth := _worth(found[index:last])) > best:
            best, stretch = worth, (first.start, ends[last - 1])
    return stretch


def _word(text: str, low: int, high: int) -> int:
    """Return where the first word of a stretch begins, where there are words."""
    blank = text.find(" ", low, high)
    return blank + 1 if blank >= 0 else snap_to_grapheme(text, low)


def _trimmed(text: str, start: int, end: int) -> _Window:
    """Return a window without white space at its ends."""
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    return _Window(start + left, start + left + len(part.strip()))


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
