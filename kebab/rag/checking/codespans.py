"""Code in Markdown: where it stands, for nothing inside it is prose.

A fence that is never closed goes on to the end, as CommonMark has it: an answer may be cut off.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]

_FENCE = re.compile(r"^[ \t>]*+(?P<sign>`{3,}+|~{3,}+)(?P<info>[^\n]*+)", re.MULTILINE)
_TICKS = re.compile("`++")
_BREAK = re.compile(r"\n[ \t>]*+(?=\n)")


def fenced(text: str) -> list[Span]:
    """Return the fenced blocks of a text with their fences, as [start, end), in order."""
    found: list[Span] = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence if fence["sign"][0] == "~" or "`" not in fence["info"] else None
        elif _closes(opened, fence):
            found.append((opened.start(), fence.end()))
            opened = None
    if opened is not None:
        found.append((opened.start(), len(text)))
    return found


def code_spans(text: str) -> list[Span]:
    """Return where code stands, fenced or between backticks, as [start, end), in order."""
    blocks = fenced(text)
    return sorted([*blocks, *_inline(text, blocks)])


def inside(spans: list[Span], place: int) -> bool:
    """Return whether a place lies in one of some spans that are in order and apart."""
    index = bisect_right(spans, place, key=lambda span: span[0])
    return index > 0 and place < spans[index - 1][1]


def _closes(opened: re.Match[str], fence: re.Match[str]) -> bool:
    return not fence["info"].strip() and fence["sign"].startswith(opened["sign"])


def _inline(text: str, blocks: list[Span]) -> Iterator[Span]:
    """Yield what stands between two equal rows of backticks of one paragraph."""
    rows = [row.span() for row in _TICKS.finditer(text) if not inside(blocks, row.start())]
    closing = _closing(text, rows, blocks)
    index = 0
    while index < len(rows):
        end = closing[index]
        if end is not None:
            yield rows[index][0], rows[end][1]
            index = end
        index += 1


def _closing(text: str, rows: list[Span], blocks: list[Span]) -> list[int | None]:
    """Return for each row of backticks the next one that closes it, if any."""
    borders = sorted([*(one.start() for one in _BREAK.finditer(text)), *(low for low, _ in blocks)])
    following: dict[tuple[int, int], int] = {}
    closing: list[int | None] = [None] * len(rows)
    for index in range(len(rows) - 1, -1, -1):
        start, end = rows[index]
        key = (end - start, bisect_right(borders, start))
        closing[index] = following.get(key)
        following[key] = index
    return closing
