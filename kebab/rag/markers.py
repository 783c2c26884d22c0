"""Parses the citation markers and the fenced blocks of an answer.

`(Passage 2)` is a marker anywhere. `(2)` is one only at the end of a sentence of a text that has no
other marker, because it may also number a list or an equation.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

Span: TypeAlias = tuple[int, int]

_FENCE = re.compile(r"^[ \t>]*+(?P<sign>`{3,}+|~{3,}+)(?P<info>[^\n]*+)", re.MULTILINE)
_INLINE = re.compile(
    r"(?<!`)(?P<ticks>`++)(?:(?!\n[ \t>]*\n|\n[ \t>]*```)[\s\S]){1,500}?(?<!`)(?P=ticks)(?!`)"
)
"""Code between equal rows of backticks in one paragraph."""


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
    inline = (one.span() for one in _INLINE.finditer(text))
    return sorted([*blocks, *(one for one in inline if not is_inside(blocks, one[0]))])


def is_inside(spans: list[Span], position: int) -> bool:
    """Return whether a position is in one of the sorted, disjoint spans."""
    index = bisect_right(spans, position, key=lambda span: span[0])
    return index > 0 and position < spans[index - 1][1]


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
    r"(?:\((?:[^()\[\]\s]|\([^()\[\]\s]{0,300}+\)){0,2000}+(?:[ \t]\"[^\"\n]{0,200}+\")?\))?"
    rf"|[(（](?:see |cf\. |siehe )?(?P<named>(?:{MARKER_NAMES}){_BLANK}[#:.]?{_BLANK}"
    rf"{_ITEM}(?:{_BETWEEN}{_ITEM})*+)[)）]",
    re.IGNORECASE,
)
_ITEMS = re.compile(rf"(\d+)(?:{_BLANK}{_DASH}{_BLANK}{_LABEL}(\d+))?", re.IGNORECASE)

_MAX_DIGITS = 9
"""A longer number names no passage; its first digits are reported."""

_MAX_RANGE_DIGITS = 3
"""Two longer numbers with a dash between them are years, not markers."""

_MAX_RANGE = 20
"""Only the ends of a wider range are read."""

_OPENING_BRACKETS, _CLOSING_BRACKETS = "[`~\\【［〔", "]`~】］〕"


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


def parse_markers(text: str, known: Collection[int]) -> MarkedText:
    """Return a text with its known markers in one form, and without the others.

    Equal neighbours become one marker. The rest of the text is unchanged.
    """
    text = _rewrite_round_markers(text, known)
    written = ""
    markers: list[MarkerSpan] = []
    unknown: list[MarkerSpan] = []
    position = 0
    for found in _iter_markers(text):
        numbers = _parse_numbers(found["body"] or found["named"])
        if found["named"] and not all(one in known for one in numbers):
            continue
        written = _join(written, text[position : found.start()])
        position = found.end()
        right = [one for one in dict.fromkeys(numbers) if one in known]
        if not right:
            written = _strip_before(written, markers[-1].end if markers else 0)
            if not written or written.endswith("\n"):
                position = _skip_blanks(text, position)
        place = MarkerSpan(0, len(written), len(written))
        unknown += (
            replace(place, marker=one) for one in dict.fromkeys(numbers) if one not in known
        )
        for number in right:
            last = markers[-1] if markers else None
            if last and last.marker == number and not written[last.end :].strip():
                continue
            start = len(written)
            written += f"[{number}]"
            markers.append(MarkerSpan(number, start, len(written)))
    return MarkedText(_join(written, text[position:]), tuple(markers), tuple(unknown))


def cut_markers(text: str, start: int, end: int, markers: Iterable[MarkerSpan]) -> str:
    """Return [start, end) of a text without the markers and the blanks before them."""
    written = ""
    position = start
    for one in markers:
        written = _strip_before(_join(written, text[position : one.start]), 0)
        position = one.end
        if not written or written.endswith("\n"):
            position = min(end, _skip_blanks(text, position))
    return _join(written, text[position:end])


def _strip_before(written: str, last: int) -> str:
    """Return a text without the blanks at its end, and the comma behind a marker."""
    bare = written.rstrip(" \t,;")
    return bare if len(bare) == last > 0 else written.rstrip(" \t")


def _skip_blanks(text: str, position: int) -> int:
    while text.startswith((" ", "\t"), position):
        position += 1
    return position


def _join(before: str, after: str) -> str:
    """Return two texts joined so that brackets or backticks do not meet.

    Otherwise a new `[1]` could appear that was never checked.
    """
    meet = before[-1:] in _OPENING_BRACKETS or after[:1] in _CLOSING_BRACKETS
    return f"{before} {after}" if before and after and meet else before + after


def _iter_markers(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of markers outside of code."""
    code = find_code_spans(text)
    for found in _MARKER.finditer(text):
        if not is_inside(code, found.start()) and _parse_numbers(found["body"] or found["named"]):
            yield found


def _parse_numbers(body: str) -> tuple[int, ...]:
    """Return the numbers of a marker with those inside ranges; none when it is no marker."""
    numbers: list[int] = []
    for first, last in _ITEMS.findall(body):
        if last and max(len(first), len(last)) > _MAX_RANGE_DIGITS:
            return ()
        low, high = int(first[:_MAX_DIGITS]), int((last or first)[:_MAX_DIGITS])
        numbers += range(low, high + 1) if low <= high <= low + _MAX_RANGE else (low, high)
    return tuple(numbers)


_ROUND = re.compile(
    r"(?:(?<=[\w\"'”’)%\]][ \t])|(?<=[\u3040-ヿ\u3400-\u9fff가-힣]))"
    r"[(（](?P<body>\d{1,3}(?:[ \t]?[,;&、，-][ \t]?\d{1,3}){0,9})[)）]"
    r"(?=[ \t]*(?:[.!?,;:。！？，]|$))",
    re.MULTILINE,
)


def _rewrite_round_markers(text: str, known: Collection[int]) -> str:
    """Return a text without other markers with those such as `(2)` written as `[2]`.

    They stand at the end of a sentence and name known passages.
    """
    if next(_iter_markers(text), None) is not None:
        return text
    code = find_code_spans(text)

    def rewrite(found: re.Match[str]) -> str:
        is_marker = all(one in known for one in _parse_numbers(found["body"]))
        return (
            f"[{found['body']}]" if is_marker and not is_inside(code, found.start()) else found[0]
        )

    return _ROUND.sub(rewrite, text)


_OPENING_FENCE = re.compile(r"(?P<indent>[ \t>]*)(?P<sign>`{3,}|~{3,})(?P<info>[^\n]*)\n?")
_CLOSING_FENCE = re.compile(r"\n?[ \t>]{0,99}+(?:(?<!`)`{3,}+|(?<!~)~{3,}+)[ \t]*+\Z")
_WORD = re.compile(r"[^\W_]")


class Fence(Struct, frozen=True):
    """A fenced block at [start, end), with its content at `content`.

    `tail` is the end of the markers on the line of its end or on the next one.
    """

    start: int
    end: int
    content: Span
    indent: str
    sign: str
    is_closed: bool
    tail: int

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
        found.append(
            Fence(
                start=start,
                end=end,
                content=(low, high),
                indent=opening["indent"] if opening else "",
                sign=opening["sign"] if opening else "```",
                is_closed=is_closed,
                tail=_find_tail(marked, end, starts),
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
