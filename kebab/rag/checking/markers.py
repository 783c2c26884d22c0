"""Parses the citation markers of an answer."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]

_FENCE = re.compile(r"^[ \t>]*+(?P<sign>`{3,}+|~{3,}+)(?P<info>[^\n]*+)", re.MULTILINE)
_TICKS = re.compile("`++")
_BREAK = re.compile(r"\n[ \t>]*+(?=\n)")


def find_fenced_blocks(text: str) -> list[Span]:
    """Return the fenced blocks of a text with their fences, as [start, end), in order."""
    found: list[Span] = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence if fence["sign"][0] == "~" or "`" not in fence["info"] else None
        elif not fence["info"].strip() and fence["sign"].startswith(opened["sign"]):
            found.append((opened.start(), fence.end()))
            opened = None
    if opened is not None:
        found.append((opened.start(), len(text)))
    return found


def find_code_spans(text: str) -> list[Span]:
    """Return the spans of code, fenced or between backticks, as [start, end), in order."""
    blocks = find_fenced_blocks(text)
    return sorted([*blocks, *_find_inline_code(text, blocks)])


def is_inside(spans: list[Span], position: int) -> bool:
    """Return whether a position is in one of the sorted, disjoint spans."""
    index = bisect_right(spans, position, key=lambda span: span[0])
    return index > 0 and position < spans[index - 1][1]


def _find_inline_code(text: str, blocks: list[Span]) -> Iterator[Span]:
    """Yield the spans between two equal rows of backticks in one paragraph."""
    rows = [row.span() for row in _TICKS.finditer(text) if not is_inside(blocks, row.start())]
    closing = _find_closing_rows(text, rows, blocks)
    index = 0
    while index < len(rows):
        end = closing[index]
        if end is not None:
            yield rows[index][0], rows[end][1]
            index = end
        index += 1


def _find_closing_rows(text: str, rows: list[Span], blocks: list[Span]) -> list[int | None]:
    """Return for each row of backticks the index of the row that closes it, if any."""
    borders = sorted([*(one.start() for one in _BREAK.finditer(text)), *(low for low, _ in blocks)])
    following: dict[tuple[int, int], int] = {}
    closing: list[int | None] = [None] * len(rows)
    for index in range(len(rows) - 1, -1, -1):
        start, end = rows[index]
        key = (end - start, bisect_right(borders, start))
        closing[index] = following.get(key)
        following[key] = index
    return closing


_BLANK = r"[ \t\u00a0\u3000]{0,3}"
MARKER_NAMES = (
    "passages?|sources?|notes?|docs?|documents?|refs?|references?|citations?|quellen?"
    "|출처|구절|지문|문서|자료|노트|발췌"
    "|出典|引用|文献|資料|资料|段落|文書"
    "|出处|出處|来源|來源|文档"
)
"""The words before the number of a passage."""

_LABEL = rf"(?:(?:(?:{MARKER_NAMES}){_BLANK}[#:.]?|[#^]){_BLANK})?"
_DASH = "[-\u2010-\u2015\u2212~\u301c\uff5e]"
_ITEM = rf"{_LABEL}\d++(?:{_BLANK}{_DASH}{_BLANK}{_LABEL}\d++)?"
_BETWEEN = rf"{_BLANK}(?:[,;&\u3001\uff0c\uff1b]|and|or)?{_BLANK}"
_MARKER = re.compile(
    r"(?:(?P<double>\[\[)|(?P<escaped>\\\[)|(?P<plain>\[)|[\u3010\uff3b\u3014])"
    rf"(?P<body>{_BLANK}{_ITEM}(?:{_BETWEEN}{_ITEM})*+{_BLANK})"
    r"(?:\u2020[^\[\]\u3010\u3011\n]{0,60})?"
    r"(?(double)\]\]|(?(escaped)\\?\]|(?(plain)\]|[\u3011\uff3d\u3015])))"
    r"(?:\((?:[^()\[\]\s]|\([^()\[\]\s]{0,300}+\)){0,2000}+(?:[ \t]\"[^\"\n]{0,200}+\")?\))?",
    re.IGNORECASE,
)
_ITEMS = re.compile(rf"(\d+)(?:{_BLANK}{_DASH}{_BLANK}{_LABEL}(\d+))?", re.IGNORECASE)
_GAP = re.compile(r"[ \t]{0,3}[,;\u3001\uff0c]?[ \t]{0,3}")

_MAX_DIGITS = 9
"""A longer number names no passage; its first digits are reported."""

_MAX_RANGE_DIGITS = 3
"""Two longer numbers with a dash between them are years, not markers."""

_MAX_RANGE = 20
"""Only the ends of a wider range are read."""

_OPENING, _CLOSING = "[`~\\\u3010\uff3b\u3014", "]`~\u3011\uff3d\u3015"
_FENCES = ("```", "~~~")
_MAX_GAP = 8
_BLANKS = 8


@dataclass(frozen=True, slots=True)
class MarkerSpan:
    """A marker at [start, end) code points."""

    marker: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text in which each marker is written as `[n]`, with the spans of all of them in order.

    `unknown` are the removed markers that name no passage, with their former positions.
    """

    text: str
    markers: tuple[MarkerSpan, ...]
    unknown: tuple[MarkerSpan, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """Markers side by side: the text before each one, and its numbers."""

    start: int
    end: int
    entries: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(slots=True)
class _Output:
    parts: list[str] = field(default_factory=list)
    length: int = 0
    markers: list[MarkerSpan] = field(default_factory=list)
    unknown: list[MarkerSpan] = field(default_factory=list)

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def add_row(self, row: _Row, known: Collection[int]) -> None:
        written: set[int] = set()
        for before, numbers in row.entries:
            new = [one for one in dict.fromkeys(numbers) if one in known and one not in written]
            if new and written:
                self.add(before)
            for number in new:
                start = self.length
                self.add(f"[{number}]")
                self.markers.append(MarkerSpan(number, start, self.length))
            written.update(new)
            self.unknown += (
                MarkerSpan(number, self.length, self.length)
                for number in dict.fromkeys(numbers)
                if number not in known
            )


def parse_markers(text: str, known: Collection[int]) -> MarkedText:
    """Return a text with its known markers in one form, and without the others.

    Equal neighbours become one marker. The rest of the text is unchanged.
    """
    output = _Output()
    position = 0
    for row in _find_rows(text):
        low, high = row.start, row.end
        is_known = any(number in known for _, numbers in row.entries for number in numbers)
        if not is_known:
            low, high = _include_brackets(text, position, low, high)
        output.add(text[position:low])
        output.add_row(row, known)
        if not is_known:
            output.add(choose_separator(text, low, high))
        position = high
    output.add(text[position:])
    return MarkedText("".join(output.parts), tuple(output.markers), tuple(output.unknown))


def find_markers(text: str) -> list[MarkerSpan]:
    """Return the known and unknown markers of a text, each with its first number."""
    return [MarkerSpan(row.entries[0][1][0], row.start, row.end) for row in _find_rows(text)]


def cut_markers(text: str, start: int, end: int, markers: Iterable[MarkerSpan]) -> str:
    """Return [start, end) of a text without the markers and the blanks before them."""
    parts: list[str] = []
    position = start
    for one in markers:
        parts.append(text[position : one.start].rstrip(" \t"))
        position = one.end
    return "".join([*parts, text[position:end]]).strip()


def choose_separator(text: str, start: int, end: int) -> str:
    """Return what replaces a removed part so that brackets or backticks do not meet.

    Otherwise a new `[1]` or a new fence could appear that was never checked.
    """
    if text.startswith(_FENCES, end):
        return "\\"
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    meet = before != "" and after != "" and (before in _OPENING or after in _CLOSING)
    return " " if meet and not after.isspace() and not before.isspace() else ""


def _find_rows(text: str) -> Iterator[_Row]:
    """Yield the rows of adjacent markers outside of code."""
    code = find_code_spans(text)
    start = end = -1
    entries: list[tuple[str, tuple[int, ...]]] = []
    for found in _MARKER.finditer(text):
        if is_inside(code, found.start()) or not (numbers := _parse_numbers(found["body"])):
            continue
        gap = text[end : found.start()] if end >= 0 and found.start() - end < _MAX_GAP else None
        if gap is None or not _GAP.fullmatch(gap):
            if entries:
                yield _Row(start, end, tuple(entries))
            start, entries, gap = found.start(), [], ""
        entries.append((gap, numbers))
        end = found.end()
    if entries:
        yield _Row(start, end, tuple(entries))


def _parse_numbers(body: str) -> tuple[int, ...]:
    """Return the numbers of a marker with those inside ranges; none when it is no marker."""
    numbers: list[int] = []
    for first, last in _ITEMS.findall(body):
        if last and max(len(first), len(last)) > _MAX_RANGE_DIGITS:
            return ()
        low, high = int(first[:_MAX_DIGITS]), int((last or first)[:_MAX_DIGITS])
        numbers += range(low, high + 1) if low <= high <= low + _MAX_RANGE else (low, high)
    return tuple(numbers)


def _include_brackets(text: str, least: int, low: int, high: int) -> tuple[int, int]:
    """Return the span of a removed row with round brackets around it and blanks before it."""
    if text[low - 1 : low] == "(" and text[high : high + 1] == ")" and low > least:
        low, high = low - 1, high + 1
    start = least + len(text[least:low].rstrip(" \t"))
    if start == 0 or text[start - 1] == "\n":
        rest = text[high : high + _BLANKS]
        return low, high + len(rest) - len(rest.lstrip(" \t"))
    return start, high
