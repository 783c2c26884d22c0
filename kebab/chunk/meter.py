"""Measures parts of one text in tokens, and keeps passages below the limit."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from kebab.chunk.budget import CHARACTERS_PER_TOKEN, Budget
from kebab.chunk.estimate import (
    accumulate_figures,
    add_figures,
    estimate_tokens,
    round_figures,
)
from kebab.chunk.pack import Range, halve
from kebab.core.chunks import build_embed_text

_MAX_INDEXED_CHARS = 1_000_000
"""The longest text whose lines are indexed: each line takes about a hundred bytes."""


class ChunkDraft(NamedTuple):
    """A range of the document's text that becomes a chunk, with its heading path and its lead."""

    start: int
    end: int
    path: tuple[str, ...]
    lead: str = ""


class TextMeter:
    """Measures ranges of a text as `Budget.measure` does.

    A range is counted again and again: as a block, as its parts, in a passage. With the estimator,
    each line is counted once, and a range is a difference of two sums.
    """

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text
        self.limit = budget.limit
        self._budget = budget
        estimates = budget.count is estimate_tokens and len(text) <= _MAX_INDEXED_CHARS
        self._index = _LineIndex(text, budget.limit * CHARACTERS_PER_TOKEN) if estimates else None

    def measure(self, ranges: Iterable[Range]) -> Iterator[int]:
        """Yield the size of each range in tokens."""
        if self._index is None:
            return self._budget.measure_many(self.text[start:end] for start, end in ranges)
        return (self._estimate(self._index, start, end) for start, end in ranges)

    def measure_drafts(self, title: str, drafts: Iterable[ChunkDraft]) -> Iterator[int]:
        """Yield the size of each draft in tokens, as it will be embedded."""
        if self._index is None:
            return self._budget.measure_many(
                build_embed_text(title, path, self.text[start:end], lead)
                for start, end, path, lead in drafts
            )
        return self._estimate_drafts(self._index, title, drafts)

    def _estimate_drafts(
        self, index: "_LineIndex", title: str, drafts: Iterable[ChunkDraft]
    ) -> Iterator[int]:
        heads: dict[tuple[tuple[str, ...], str], tuple[int, int]] = {}
        for start, end, path, lead in drafts:
            head = heads.get((path, lead))
            if head is None:
                above = build_embed_text(title, path, "", lead)
                head = heads[path, lead] = (len(above), add_figures(above))
            yield self._estimate(index, start, end, *head)

    def _estimate(
        self, index: "_LineIndex", start: int, end: int, chars: int = 0, figures: int = 0
    ) -> int:
        """Return the size of a range behind a text with these characters and figures."""
        size = -(-(chars + end - start) // CHARACTERS_PER_TOKEN)
        if size > self.limit:
            return size
        return max(size, round_figures(figures + index.add_figures(start, end)))


class _LineIndex:
    """Adds up the figures of any range of a text of at most `max_chars` characters."""

    def __init__(self, text: str, max_chars: int) -> None:
        lines = text.split("\n")
        self._text = text
        self._starts = [*accumulate((len(line) + 1 for line in lines), initial=0)]
        self._sums = [*accumulate_figures(lines, max_chars)]

    def add_figures(self, start: int, end: int) -> int:
        """Return the sums of a range."""
        starts, sums = self._starts, self._sums
        first = bisect_right(starts, start) - 1
        last = bisect_right(starts, end, first) - 1
        if first == last:
            if start == starts[first] and end == starts[first + 1] - 1:
                return sums[first + 1] - sums[first]
            return add_figures(self._text[start:end])
        total = sums[last] - sums[first]
        if start != starts[first]:
            total += add_figures(self._text[start : starts[first + 1]]) - (
                sums[first + 1] - sums[first]
            )
        if end == starts[last + 1] - 1:
            return total + sums[last + 1] - sums[last]
        return total + add_figures(self._text[starts[last] : end])


def enforce_limit(
    meter: TextMeter,
    title: str,
    drafts: Sequence[ChunkDraft],
    find_lead: Callable[[int], str] = lambda _: "",
) -> list[ChunkDraft]:
    """Halve the drafts whose embedded text exceeds the limit, until none does.

    Token counts of parts do not always add up to that of the whole, so the packed drafts are
    counted again as they will be embedded.
    """
    unchecked = drafts = list(drafts)
    while unchecked:
        sizes = meter.measure_drafts(title, unchecked)
        halves = {
            draft: [
                ChunkDraft(part.start, part.end, draft.path, find_lead(part.start))
                for part in halve(meter.text, Range(draft.start, draft.end))
            ]
            for draft, size in zip(unchecked, sizes, strict=True)
            if size > meter.limit
        }
        if not halves:
            return drafts
        drafts = [part for draft in drafts for part in halves.get(draft) or [draft]]
        unchecked = [part for parts in halves.values() for part in parts]
    return drafts
