"""Packs blocks into chunks, measures them in tokens, and cuts what is too long."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, starmap
from typing import NamedTuple

from kebab.chunk.budget import (
    CHARACTERS_PER_TOKEN,
    Budget,
    accumulate_figures,
    add_figures,
    estimate_tokens,
    round_figures,
)
from kebab.core.chunks import build_embed_text
from kebab.core.documents import BlockKind


class Range(NamedTuple):
    """A range [start, end) of a document's text."""

    start: int
    end: int


Cutter = Callable[[str, Range, int], list[Range]]

_SENTENCE = re.compile(
    r"[.!?…][\"'”’)\]]*\s+|[。！？][\"'”’」』）]*\s*"
    r"|(?<=[다요죠음함])\n"
)
_GROUP = re.compile(r"\n[ \t]*\n+")
_LINE = re.compile(r"\n+")
_SPACE = re.compile(r"\s+|[,、，]")
_ITEM = re.compile(r"""(?:[}\]"\d]|true|false|null),[ \t]*(?=["{\[])|>[ \t]*(?=<\w)""")
_INDENT = re.compile(r"^[ \t]*(?=\S)", re.MULTILINE)
_WINDOW_SHARE = 4
_COMMAS = ",、，"
_MAX_MARKS = 8


def _make_cutter(pattern: re.Pattern[str]) -> Cutter:
    """Return a function that cuts behind every match."""

    def cut(text: str, whole: Range, _room: int) -> list[Range]:
        return _split_at(whole, map(re.Match.end, pattern.finditer(text, *whole)))

    return cut


def _cut_items(text: str, whole: Range, _room: int) -> list[Range]:
    """Cut a list before every line that is indented no further than the first."""
    lines = list(_INDENT.finditer(text, *whole))
    outermost = len(lines[0][0]) if lines else 0
    return _split_at(whole, (line.start() for line in lines if len(line[0]) <= outermost))


def _cut_windows(text: str, whole: Range, room: int) -> list[Range]:
    """Cut into windows that certainly fit, behind a space where there is one."""
    width = max(1, min(room, whole.end - whole.start) // _WINDOW_SHARE)
    ends = []
    position = whole.start
    while whole.end - position > width:
        position = _find_last_space(text, position, position + width)
        ends.append(position)
    return _split_at(whole, ends)


def _find_last_space(text: str, start: int, end: int) -> int:
    """Return the best position to cut in the second half of a window, else its end."""
    for position in range(end, (start + end) // 2, -1):
        if text[position - 1].isspace() or text[position - 1] in _COMMAS:
            return position
    for position in range(end, max(start, end - _MAX_MARKS), -1):
        if not unicodedata.combining(text[position]):
            return position
    return end


def _split_at(whole: Range, ends: Iterable[int]) -> list[Range]:
    """Return the parts between cuts that lie inside the range."""
    parts, start = [], whole.start
    for end in (*ends, whole.end):
        if start < end <= whole.end:
            parts.append(Range(start, end))
            start = end
    return parts


_cut_groups, _cut_lines, _cut_values, _cut_sentences = map(
    _make_cutter, (_GROUP, _LINE, _ITEM, _SENTENCE)
)
_PROSE_CUTTERS: tuple[Cutter, ...] = (_cut_sentences, _cut_lines, _cut_windows)
_LINE_CUTTERS = (_cut_groups, _cut_lines, _cut_values, _cut_sentences, _cut_windows)
_CUTTERS = {
    BlockKind.PARAGRAPH: _PROSE_CUTTERS,
    BlockKind.HEADING: _PROSE_CUTTERS,
    BlockKind.LIST: (_cut_items, _cut_lines, _cut_sentences, _cut_windows),
}


def get_cutters(kind: BlockKind) -> tuple[Cutter, ...]:
    """Return the cutters of a block kind, the best first; the last may be repeated."""
    return _CUTTERS.get(kind, _LINE_CUTTERS)


def halve(text: str, whole: Range) -> list[Range]:
    """Return two parts, cut at the best boundary near the middle; none for a single character."""
    length = whole.end - whole.start
    if length < 2:  # noqa: PLR2004 - nothing to cut
        return []
    middle = whole.start + length // 2
    quarter = Range(whole.start + length // 4, whole.end - length // 4)
    for pattern in (_GROUP, _LINE, _ITEM, _SENTENCE, _SPACE):
        ends = [
            match.end() for match in pattern.finditer(text, *quarter) if match.end() < whole.end
        ]
        if ends:
            return _split_at(whole, [min(ends, key=lambda end: abs(end - middle))])
    return _split_at(whole, [middle])


def trim(text: str, part: Range) -> Range | None:
    """Return a part without outer blank lines and outer space, None when nothing is left.

    The indent of a whole first line stays, because it has a meaning in code.
    """
    part_text = text[part.start : part.end]
    bare = part_text.strip()
    if len(bare) == len(part_text):
        return part if bare else None
    if not bare:
        return None
    first = part.start + len(part_text) - len(part_text.lstrip())
    broken = text.rfind("\n", max(0, part.start - 1), first)
    whole_line = broken >= 0 or part.start == 0
    return Range(broken + 1 if whole_line else first, part.start + len(part_text.rstrip()))


_TARGET_SHARE = 0.6
_TINY_TOKENS = 40
_MAX_GAP = 200


class Piece(NamedTuple):
    """A range of text with its size in tokens; `glued` keeps the next piece in its chunk."""

    where: Range
    size: int
    glued: bool = False


def pack_pieces(cells: Iterable[list[Piece]], room: int) -> Iterator[Range]:
    """Yield the ranges of chunks; each cell holds the pieces of one block.

    Every piece fits `room`.
    """
    current: Piece | None = None
    for cell in _join_headings(cells):
        pieces = _balance(cell, room)
        if current is not None and _should_merge(current, pieces[0], room):
            pieces[0] = _join([current, pieces[0]])
        elif current is not None:
            yield current.where
        yield from (piece.where for piece in pieces[:-1])
        current = pieces[-1]
    if current is not None:
        yield current.where


def _join_headings(cells: Iterable[list[Piece]]) -> Iterator[list[Piece]]:
    """Join the cells of headings with that of the block below them."""
    waiting: list[Piece] = []
    for cell in cells:
        if waiting and _is_apart(waiting[-1], cell[0]):
            yield waiting
            waiting = []
        waiting += cell
        if not cell[-1].glued:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _balance(cell: list[Piece], room: int) -> list[Piece]:
    """Join the pieces of a cell into as few parts as fit, of about equal size."""
    total = sum(piece.size for piece in cell)
    target = total / -(-total // room) if total else 0
    parts: list[list[Piece]] = []
    size = 0
    for piece in cell:
        full = size >= target and not (parts and parts[-1][-1].glued)
        if not parts or full or size + piece.size > room:
            parts.append([])
            size = 0
        parts[-1].append(piece)
        size += piece.size
    return [_join(part) for part in parts]


def _is_apart(left: Piece, right: Piece) -> bool:
    """Return whether much text that is no block, e.g. a comment, lies between two pieces."""
    return right.where.start - left.where.end > _MAX_GAP


def _should_merge(left: Piece, right: Piece, room: int) -> bool:
    """Return whether two neighbours make a better chunk together than alone."""
    if _is_apart(left, right):
        return False
    total = left.size + right.size
    tiny = min(left.size, right.size) < _TINY_TOKENS
    return total <= (room if tiny else room * _TARGET_SHARE)


def _join(pieces: list[Piece]) -> Piece:
    where = Range(pieces[0].where.start, pieces[-1].where.end)
    return Piece(where, sum(piece.size for piece in pieces))


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
        self._index = _LineIndex(text, budget.limit) if estimates else None

    def measure(self, ranges: Iterable[Range]) -> Iterator[int]:
        """Yield the size of each range in tokens."""
        if self._index is None:
            return self._budget.measure_many(self.text[start:end] for start, end in ranges)
        return starmap(self._index.estimate, ranges)

    def measure_drafts(self, title: str, drafts: Iterable[ChunkDraft]) -> Iterator[int]:
        """Yield the size of each draft in tokens, as it will be embedded."""
        if self._index is None:
            yield from self._budget.measure_many(
                build_embed_text(title, path, self.text[start:end], lead)
                for start, end, path, lead in drafts
            )
            return
        heads: dict[tuple[tuple[str, ...], str], tuple[int, int]] = {}
        for start, end, path, lead in drafts:
            head = heads.get((path, lead))
            if head is None:
                above = build_embed_text(title, path, "", lead)
                head = heads[path, lead] = (len(above), add_figures(above))
            yield self._index.estimate(start, end, *head)


class _LineIndex:
    """Estimates the tokens of any range of a text, by the figures of its lines."""

    def __init__(self, text: str, limit: int) -> None:
        lines = text.split("\n")
        self._text = text
        self._limit = limit
        self._starts = [*accumulate((len(line) + 1 for line in lines), initial=0)]
        self._sums = [*accumulate_figures(text, limit * CHARACTERS_PER_TOKEN)]

    def estimate(self, start: int, end: int, chars: int = 0, figures: int = 0) -> int:
        """Return the size of a range behind a text with these characters and figures."""
        size = -(-(chars + end - start) // CHARACTERS_PER_TOKEN)
        if size > self._limit:
            return size
        starts, sums = self._starts, self._sums
        first = bisect_right(starts, start) - 1
        last = bisect_right(starts, end, first) - 1
        if start != starts[first]:
            # The first line counts from the range's start on.
            line_end = min(end, starts[first + 1])
            figures += add_figures(self._text[start:line_end])
            first += 1
        if first <= last:
            figures += sums[last] - sums[first]
            if end == starts[last + 1] - 1:
                figures += sums[last + 1] - sums[last]
            elif end != starts[last]:
                figures += add_figures(self._text[starts[last] : end])
        return max(size, round_figures(figures))


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
