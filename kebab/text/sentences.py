"""Splits Markdown or plain text into blocks and sentences.

Every character of `Layout.plain` has the same position as in the text.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate, pairwise
from typing import NamedTuple

from kebab.text.sentence_ends import find_sentence_ends

_FENCE = re.compile(r"\s{0,3}(?:`{3,}|~{3,})(?P<info>[^`\n]*)$")
_QUOTED = re.compile(r"[ \t]*(?:>[ \t]?)+")
_ITEM = re.compile(
    r"[ \t]*(?:[-*+•\u2023\u25e6·・]|\(?\d{1,3}[.)]|[a-zA-Z]\))[ \t]+"
    r"(?:\[[ xX]\][ \t]+)?(?=\S)"
)
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
_RULE = re.compile(r"[ \t]*(?:[-=_*~|:+.][ \t]*){2,}$")
_COMMENT = re.compile(r"[ \t]*(?:(?:<!--[^>]*-->|\{\{[<%][^{}]*[>%]\}\}|\{%[^{}]*%\})[ \t]*)+$")
"""A line that holds only comments and commands of page generators."""

_LABEL = re.compile(
    r"[ \t]*(?:\([\w.:/-]+\)=|\.\.[ \t]+_[^\n]+:|\{#[^{}\s]+\}"
    r"|<a[ \t][^<>]*>(?:[ \t]*</a>)?)[ \t]*$"
)
"""A line that holds only the label of the text below it: `(name)=`, `.. _name:`, `{#name}`."""

_UNDERLINE = re.compile(r"[ \t]*(?:=+|-{2,})[ \t]*$")
_TABLE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*(?::?-+:?[ \t]*)?)*$")
_KEY_VALUE = re.compile(r"[ \t]*[^\s:：][^:：\n]{0,23}(?::\s|：)")
_HARD_BREAK = re.compile(r"(?:  |\\|[다요죠음함됨])$")

_MAX_WRAP = 120
"""Longer lines are not wrapped by hand or by an editor."""

_MIN_WRAP = 40
_SHORT = 0.7
"""A line that is shorter than this share of the widest, next word included, ends on purpose."""

_WITHOUT_CONTENT = (_RULE, _UNDERLINE, _COMMENT, _LABEL)

_FIRST_DENSE = "\u0e00"
"""From here on scripts have no capitals, or no blanks, that mark the start of a sentence."""


class LayoutKind(StrEnum):
    """The kind of a block."""

    PROSE = "prose"
    ITEM = "item"
    HEADING = "heading"
    """A heading, or the row that heads a table."""
    ROW = "row"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class LayoutBlock:
    """A span [start, end) of a text; every sentence lies within one."""

    start: int
    end: int
    kind: LayoutKind


@dataclass(frozen=True, slots=True)
class Layout:
    """The blocks of a text in order, and the text with its Markdown signs replaced by spaces."""

    plain: str
    blocks: tuple[LayoutBlock, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    content: int
    """The start of the content, after the Markdown signs."""
    kind: LayoutKind | None
    """None: the line has no content."""
    depth: int = 0
    """The depth of the quotation."""


def build_layout(text: str) -> Layout:
    """Return the blocks of a text: paragraphs, list items, headings, table rows and code."""
    lines = list(_iter_lines(text))
    plain = "".join(
        " " * (line.content - line.start) + text[line.content : line.end] + "\n" for line in lines
    )
    return Layout(plain[: len(text)], tuple(_iter_blocks(plain, lines)))


def _iter_lines(text: str) -> Iterator[_Line]:
    """Yield every line with its kind."""
    lengths = [len(line) for line in text.split("\n")]
    starts = accumulate((length + 1 for length in lengths), initial=0)
    spans = [(start, start + length) for start, length in zip(starts, lengths, strict=False)]
    code = _find_code(text, spans)
    for index, (start, end) in enumerate(spans):
        line = code.get(index) or _parse_line(text, start, end)
        heads = line.kind is LayoutKind.ROW and index + 1 < len(spans)
        if heads and _TABLE.match(text[slice(*spans[index + 1])]):
            line = replace(line, kind=LayoutKind.HEADING)
        yield line


def _find_code(text: str, spans: list[tuple[int, int]]) -> dict[int, _Line]:
    """Return the lines of fenced code by index; a fence that is never closed has no code."""
    found: dict[int, _Line] = {}
    opened: int | None = None
    for index, (start, end) in enumerate(spans):
        fence = _FENCE.match(text[start:end])
        if fence is None:
            continue
        found[index] = _Line(start, end, end, None)
        if opened is None or fence["info"].strip():
            opened = index
            continue
        for inner in range(opened + 1, index):
            low, high = spans[inner]
            kind = LayoutKind.CODE if text[low:high].strip() else None
            found[inner] = _Line(low, high, low, kind)
        opened = None
    return found


def _parse_line(text: str, start: int, end: int) -> _Line:
    quoted = _QUOTED.match(text, start, end)
    content_start = quoted.end() if quoted else start
    depth = quoted[0].count(">") if quoted else 0
    content = text[content_start:end]
    if not content.strip() or any(one.match(content) for one in _WITHOUT_CONTENT):
        return _Line(start, end, end, None, depth)
    for pattern, kind in ((_HEADING, LayoutKind.HEADING), (_ITEM, LayoutKind.ITEM)):
        if sign := pattern.match(text, content_start, end):
            return _Line(start, end, sign.end(), kind, depth)
    kind = LayoutKind.ROW if content.lstrip().startswith("|") else LayoutKind.PROSE
    return _Line(start, end, content_start, kind, depth)


def _iter_blocks(plain: str, lines: list[_Line]) -> Iterator[LayoutBlock]:
    """Yield the blocks of consecutive lines."""
    group: list[_Line] = []
    for line in lines:
        if group and not _continues(group[-1], line):
            yield from _split_group(plain, group)
            group = []
        if line.kind is not None:
            group.append(line)
    if group:
        yield from _split_group(plain, group)


def _continues(before: _Line, line: _Line) -> bool:
    """Return whether a line continues the block of the line before it."""
    if line.kind is LayoutKind.CODE:
        return before.kind is LayoutKind.CODE
    wrapped = before.kind in {LayoutKind.PROSE, LayoutKind.ITEM} and line.kind is LayoutKind.PROSE
    return wrapped and line.depth <= before.depth


def _split_group(plain: str, group: list[_Line]) -> Iterator[LayoutBlock]:
    """Yield the blocks of a group of lines, split where a line ends on purpose."""
    kind = group[0].kind or LayoutKind.PROSE
    if kind is LayoutKind.CODE:
        yield LayoutBlock(group[0].start, group[-1].end, kind)
        return
    widest = max(measure_width(plain[line.content : line.end]) for line in group)
    start = group[0].start
    for before, line in pairwise(group):
        if _ends_sentence(
            plain[before.content : before.end], plain[line.content : line.end], widest
        ):
            yield LayoutBlock(start, before.end, kind)
            start = line.start
    yield LayoutBlock(start, group[-1].end, kind)


def _ends_sentence(before: str, after: str, widest: int) -> bool:
    """Return whether the newline between two lines of a paragraph ends a sentence."""
    if _HARD_BREAK.search(before) or (_KEY_VALUE.match(before) and _KEY_VALUE.match(after)):
        return True
    if not _MIN_WRAP <= widest <= _MAX_WRAP:
        return False
    word = after.split(maxsplit=1)[0]
    begins = word[0].isupper() or word[0].isdigit()
    open_ = before.rstrip().endswith((",", ";")) or before.rstrip()[-1:] >= _FIRST_DENSE
    return (
        begins and not open_ and measure_width(before) + 1 + measure_width(word) < widest * _SHORT
    )


def measure_width(line: str) -> int:
    """Return how many columns a line takes in a terminal."""
    if line.isascii():
        return len(line)
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in line)


LONGEST = 400
"""The most code points of one sentence; longer ones are cut, at a clause where there is one."""

_CLAUSE = re.compile(r"[;:,；：，、\u060c\u061b](?:\s|(?<=[；：，、]))")
_SPACE = re.compile(r"\s+")
_find_word = re.compile(r"[^\W_]").search


class Sentence(NamedTuple):
    """A sentence at [start, end) code points of a text, and the kind of its block."""

    start: int
    end: int
    kind: LayoutKind


def find_sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text in order.

    They are trimmed, do not overlap, and hold at least one letter or digit. The signs of lists,
    headings and quotations are before them. A heading, a table row and code count as sentences.
    """
    layout = build_layout(text)
    plain = layout.plain
    return [
        Sentence(*span, block.kind)
        for block in layout.blocks
        for start, end in _split_block(plain, block)
        for span in _trim_spans(plain, _split_long(plain, start, end))
    ]


def find_sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the sentences of a text as [start, end) code points, in order."""
    return [(one.start, one.end) for one in find_sentences(text)]


def _split_block(plain: str, block: LayoutBlock) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a block; long code counts line by line."""
    if block.kind is LayoutKind.CODE and block.end - block.start > LONGEST:
        start = block.start
        for line in plain[block.start : block.end].split("\n"):
            yield start, start + len(line)
            start += len(line) + 1
        return
    start = block.start
    if block.kind in {LayoutKind.PROSE, LayoutKind.ITEM}:
        for end in find_sentence_ends(plain[block.start : block.end]):
            yield start, block.start + end
            start = block.start + end
    yield start, block.end


def _split_long(plain: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence in parts that are not too long."""
    while end - start > LONGEST:
        stretch = (start + LONGEST // 2, start + LONGEST)
        ends = [found.end() for found in _CLAUSE.finditer(plain, *stretch)]
        ends = ends or [found.end() for found in _SPACE.finditer(plain, *stretch)]
        position = ends[-1] if ends else stretch[1]
        yield start, position
        start = position
    yield start, end


def _trim_spans(plain: str, parts: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield those parts that hold a word, without white space around them."""
    for start, end in parts:
        part = plain[start:end]
        if _find_word(part):
            yield start + len(part) - len(part.lstrip()), start + len(part.rstrip())
