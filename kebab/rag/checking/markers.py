"""Parses the citation markers and the fenced blocks of an answer, and edits its text.

Citations in round brackets become `[n]`. `(Passage 2)` is one anywhere. `(2)` is one only at the
end of a sentence of a text that has no other marker, because it may also number a list or an
equation.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from itertools import accumulate
from typing import TypeAlias

from msgspec import Struct

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
    borders = sorted([*(one.start() for one in _BREAK.finditer(text)), *(low for low, _ in blocks)])
    # For each row of backticks the index of the row that closes it, if any.
    following: dict[tuple[int, int], int] = {}
    closing: list[int | None] = [None] * len(rows)
    for index in range(len(rows) - 1, -1, -1):
        start, end = rows[index]
        key = (end - start, bisect_right(borders, start))
        closing[index] = following.get(key)
        following[key] = index
    index = 0
    while index < len(rows):
        last = closing[index]
        if last is not None:
            yield rows[index][0], rows[last][1]
            index = last
        index += 1


_BLANK = r"[ \t\u00a0\u3000]{0,3}"
MARKER_NAMES = (
    "passages?|sources?|notes?|docs?|documents?|refs?|references?|citations?|quellen?"
    "|출처|구절|지문|문서|자료|노트|발췌"
    "|出典|引用|文献|資料|资料|段落|文書"
    "|出处|出處|来源|來源|文档"
)
"""The words before the number of a passage."""

_LABEL = rf"(?:(?:(?:{MARKER_NAMES}){_BLANK}[#:.]?|[#^]){_BLANK})?"
_DASH = "[-\u2010-\u2015\u2212~〜～]"
_ITEM = rf"{_LABEL}\d++(?:{_BLANK}{_DASH}{_BLANK}{_LABEL}\d++)?"
_BETWEEN = rf"{_BLANK}(?:[,;&、，；]|and|or)?{_BLANK}"
_MARKER = re.compile(
    r"(?:(?P<double>\[\[)|(?P<escaped>\\\[)|(?P<plain>\[)|[【［〔])"
    rf"(?P<body>{_BLANK}{_ITEM}(?:{_BETWEEN}{_ITEM})*+{_BLANK})"
    r"(?:\u2020[^\[\]【】\n]{0,60})?"
    r"(?(double)\]\]|(?(escaped)\\?\]|(?(plain)\]|[】］〕])))"
    r"(?:\((?:[^()\[\]\s]|\([^()\[\]\s]{0,300}+\)){0,2000}+(?:[ \t]\"[^\"\n]{0,200}+\")?\))?",
    re.IGNORECASE,
)
_ITEMS = re.compile(rf"(\d+)(?:{_BLANK}{_DASH}{_BLANK}{_LABEL}(\d+))?", re.IGNORECASE)
_GAP = re.compile(r"[ \t]{0,3}[,;、，]?[ \t]{0,3}")

_MAX_DIGITS = 9
"""A longer number names no passage; its first digits are reported."""

_MAX_RANGE_DIGITS = 3
"""Two longer numbers with a dash between them are years, not markers."""

_MAX_RANGE = 20
"""Only the ends of a wider range are read."""

_OPENING_BRACKETS, _CLOSING_BRACKETS = "[`~\\【［〔", "]`~】］〕"
_FENCES = ("```", "~~~")
_MAX_GAP = 8
_BLANKS = 8


class MarkerSpan(Struct, frozen=True):
    """A marker at [start, end) code points."""

    marker: int
    start: int
    end: int


class MarkedText(Struct, frozen=True):
    """A text in which each marker is written as `[n]`, with the spans of all of them in order.

    `unknown` are the removed markers that name no passage, with their former positions.
    """

    text: str
    markers: tuple[MarkerSpan, ...]
    unknown: tuple[MarkerSpan, ...]


class _Row(Struct, frozen=True):
    """Markers side by side: the text before each one, and its numbers."""

    start: int
    end: int
    entries: tuple[tuple[str, tuple[int, ...]], ...]


def parse_markers(text: str, known: Collection[int]) -> MarkedText:
    """Return a text with its known markers in one form, and without the others.

    Equal neighbours become one marker. The rest of the text is unchanged.
    """
    parts: list[str] = []
    markers: list[MarkerSpan] = []
    unknown: list[MarkerSpan] = []
    position = length = 0

    def add(part: str) -> None:
        nonlocal length
        parts.append(part)
        length += len(part)

    for row in _find_rows(text):
        low, high = row.start, row.end
        is_known = any(number in known for _, numbers in row.entries for number in numbers)
        if not is_known:
            low, high = _include_brackets(text, position, low, high)
        add(text[position:low])
        written: set[int] = set()
        for before, numbers in row.entries:
            new = [one for one in dict.fromkeys(numbers) if one in known and one not in written]
            if new and written:
                add(before)
            for number in new:
                start = length
                add(f"[{number}]")
                markers.append(MarkerSpan(number, start, length))
            written.update(new)
            lost = [one for one in dict.fromkeys(numbers) if one not in known]
            unknown += (MarkerSpan(number, length, length) for number in lost)
        if not is_known:
            add(choose_separator(text, low, high))
        position = high
    add(text[position:])
    return MarkedText("".join(parts), tuple(markers), tuple(unknown))


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
    meet = (
        before != "" and after != "" and (before in _OPENING_BRACKETS or after in _CLOSING_BRACKETS)
    )
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


_NUMBERS = r"\d{1,3}(?:[ \t]?(?:[,;&、，-]|and|und|et)[ \t]?\d{1,3}){0,9}"
_LABELLED = re.compile(
    r"[(（](?:see|cf\.?|siehe|vgl\.|from|voir|v\u00e9ase)?[ \t:]{0,2}"
    rf"(?:{MARKER_NAMES})[ \t]{{0,2}}[#:.]?[ \t]{{0,2}}(?P<body>{_NUMBERS})[)）]",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"(?:(?<=[\w\"'”’)%\]][ \t])|(?<=[\u3040-ヿ\u3400-\u9fff가-힣]))"
    rf"[(（](?P<body>{_NUMBERS})[)）](?=[ \t]*(?:[.!?,;:。！？，]|$))",
    re.MULTILINE,
)
_DIGITS = re.compile(r"\d{1,3}")


def rewrite_round_markers(text: str, known: Collection[int]) -> str:
    """Return a text with its citations in round brackets written as `[n]`.

    Numbers that are not those of a known passage stay as they are.
    """
    text = _rewrite(_LABELLED, text, known)
    if find_markers(text):
        return text
    return _rewrite(_PLAIN, text, known)


def _rewrite(pattern: re.Pattern[str], text: str, known: Collection[int]) -> str:
    code = find_code_spans(text) if pattern.search(text) else []

    def replace(found: re.Match[str]) -> str:
        numbers = [int(one) for one in _DIGITS.findall(found["body"])]
        if is_inside(code, found.start()) or not all(one in known for one in numbers):
            return found[0]
        return "".join(f"[{number}]" for number in numbers)

    return pattern.sub(replace, text)


_OPENING_FENCE = re.compile(r"(?P<indent>[ \t>]*)(?P<sign>`{3,}|~{3,})(?P<info>[^\n]*)\n?")
_CLOSING_FENCE = re.compile(r"\n?[ \t>]{0,99}+(?:(?<!`)`{3,}+|(?<!~)~{3,}+)[ \t]*+\Z")
_INNER_MARKER = re.compile(r"(?<=\S)[ \t]+\[(?P<number>\d{1,3})\](?=[ \t]*(?:\n|\Z))")
_WORD = re.compile(r"[^\W_]")


class Fence(Struct, frozen=True):
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
    starts, text = [marker.start for marker in marked.markers], marked.text
    found: list[Fence] = []
    for start, end in find_fenced_blocks(text):
        opening = _OPENING_FENCE.match(text, start)
        low = opening.end() if opening else start
        closing = _CLOSING_FENCE.search(text, max(low - 1, start), end)
        is_closed = closing is not None and closing.start() >= low - 1 and closing[0].strip() != ""
        high = max(low, closing.start()) if closing and is_closed else end
        inner = tuple(
            MarkerSpan(int(one["number"]), *one.span())
            for one in _INNER_MARKER.finditer(text, low, high)
        )
        found.append(
            Fence(
                start=start,
                end=end,
                content=(low, high),
                indent=opening["indent"] if opening else "",
                sign=opening["sign"] if opening else "```",
                info=opening["info"].strip() if opening else "",
                is_closed=is_closed,
                tail=_find_tail(marked, end, starts),
                inner=inner,
            )
        )
    return found


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


class Edit(Struct, frozen=True):
    """Replaces [start, end) of a text; an empty range inserts."""

    start: int
    end: int
    text: str = ""


class EditedText:
    """A text after edits that do not overlap.

    Two insertions at one position keep their order.
    """

    def __init__(self, text: str, edits: Iterable[Edit]) -> None:
        ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
        parts: list[str] = []
        position = 0
        for edit in ordered:
            parts += (text[position : edit.start], edit.text)
            position = edit.end
        self.text = "".join([*parts, text[position:]])
        self._ends = [edit.end for edit in ordered]
        growth = (len(edit.text) - (edit.end - edit.start) for edit in ordered)
        self._shifts = [0, *accumulate(growth)]

    def map_span(self, span: Span) -> Span:
        """Return the new position of a span whose ends are not inside an edit.

        Text inserted at its end belongs to the span, text inserted at its start does not.
        """
        start, end = (
            position + self._shifts[bisect_right(self._ends, position)] for position in span
        )
        return start, end
