"""Finds the fenced blocks of an answer with the markers that belong to them."""

import re
from bisect import bisect_left
from dataclasses import dataclass

from kebab.rag.checking.markers import MarkedText, MarkerSpan, Span, find_fenced_blocks

_OPENING = re.compile(r"(?P<indent>[ \t>]*)(?P<sign>`{3,}|~{3,})(?P<info>[^\n]*)\n?")
_CLOSING = re.compile(r"\n?[ \t>]*(?:`{3,}|~{3,})[ \t]*\Z")
_INNER_MARKER = re.compile(r"(?<=\S)[ \t]+\[(?P<number>\d{1,3})\](?=[ \t]*(?:\n|\Z))")
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block at [start, end), with its content at `content`.

    `tail` is the end of the markers on the line of its end or on the next one; `inner` are the
    markers at the ends of its lines, with the blanks before them.
    """

    start: int
    end: int
    content: Span
    indent: str
    sign: str
    info: str
    is_closed: bool
    tail: int
    inner: tuple[MarkerSpan, ...]

    @property
    def span(self) -> Span:
        """The block with the markers after it."""
        return self.start, self.tail


def find_fences(marked: MarkedText) -> list[Fence]:
    """Return the fenced blocks of an answer in order."""
    starts = [marker.start for marker in marked.markers]
    return [_read_fence(marked, span, starts) for span in find_fenced_blocks(marked.text)]


def _read_fence(marked: MarkedText, span: Span, starts: list[int]) -> Fence:
    text, (start, end) = marked.text, span
    opening = _OPENING.match(text, start)
    low = opening.end() if opening else start
    sign = opening["sign"] if opening else "```"
    closing = _CLOSING.search(text, max(low - 1, start), end)
    is_closed = closing is not None and closing.start() >= low - 1 and closing[0].strip() != ""
    high = max(low, closing.start()) if closing and is_closed else end
    inner = tuple(
        MarkerSpan(int(one["number"]), *one.span())
        for one in _INNER_MARKER.finditer(text, low, high)
    )
    return Fence(
        start=start,
        end=end,
        content=(low, high),
        indent=opening["indent"] if opening else "",
        sign=sign,
        info=opening["info"].strip() if opening else "",
        is_closed=is_closed,
        tail=_find_tail(marked, end, starts),
        inner=inner,
    )


def _find_tail(marked: MarkedText, end: int, starts: list[int]) -> int:
    """Return the end of the markers that follow a block on a line of their own."""
    index, tail, text = bisect_left(starts, end), end, marked.text
    while index < len(starts):
        gap = text[tail : starts[index]]
        if gap.strip(" \t\n>().,;") or gap.count("\n") > (2 if tail == end else 0):
            break
        tail = marked.markers[index].end
        index += 1
    rest = text[tail:].partition("\n")[0]
    return end if tail > end and _WORD.search(rest) else tail
