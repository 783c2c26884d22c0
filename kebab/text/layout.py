"""Layout: the blocks of a Markdown or plain text, with the signs of Markdown replaced by spaces.

Every character of `Layout.plain` stands at the same place as in the text.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

_FENCE = re.compile(r"\s{0,3}(?:`{3,}|~{3,})(?P<info>[^`\n]*)$")
_QUOTED = re.compile(r"[ \t]*(?:>[ \t]?)+")
_ITEM = re.compile(
    r"[ \t]*(?:[-*+\u2022\u2023\u25e6\u00b7\u30fb]|\(?\d{1,3}[.)]|[a-zA-Z]\))[ \t]+"
    r"(?:\[[ xX]\][ \t]+)?(?=\S)"
)
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
_RULE = re.compile(r"[ \t]*(?:[-=_*~|:+.][ \t]*){2,}$")
_SILENT = re.compile(r"[ \t]*(?:(?:<!--[^>]*-->|\{\{[<%][^{}]*[>%]\}\}|\{%[^{}]*%\})[ \t]*)+$")
"""A line of nothing but comments and commands of page generators."""

_UNDERLINE = re.compile(r"[ \t]*(?:=+|-{2,})[ \t]*$")
_TABLE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*(?::?-+:?[ \t]*)?)*$")
_KEYED = re.compile(r"[ \t]*[^\s:\uff1a][^:\uff1a\n]{0,23}(?::\s|\uff1a)")
_ENDED = re.compile(r"(?:  |\\|[\ub2e4\uc694\uc8e0\uc74c\ud568\ub428])$")

_WIDEST_WRAP = 120
"""Longer lines were not wrapped by hand or by an editor."""

_NARROWEST_WRAP = 40
_SHORT = 0.7
"""A line shorter than this share of the widest, next word included, was ended on purpose."""

_FIRST_DENSE = "\u0e00"
"""From here on scripts have no capitals, or no blanks, that would tell where a sentence begins."""


class LayoutKind(StrEnum):
    """What a block is."""

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
    sign: int
    """Where the content begins."""
    kind: LayoutKind | None
    """None: nothing stands here."""
    depth: int = 0
    """How often it is quoted."""


def build_layout(text: str) -> Layout:
    """Return the blocks of a text: paragraphs, list items, headings, table rows and code."""
    lines = list(_lines(text))
    plain = "".join(
        " " * (line.sign - line.start) + text[line.sign : line.end] + "\n" for line in lines
    )
    return Layout(plain[: len(text)], tuple(_blocks(plain, lines)))


def _lines(text: str) -> Iterator[_Line]:
    """Yield every line with what it is."""
    spans = list(_line_spans(text))
    code = _code(text, spans)
    for index, (start, end) in enumerate(spans):
        line = code.get(index) or _line(text, start, end)
        heads = line.kind is LayoutKind.ROW and index + 1 < len(spans)
        if heads and _TABLE.match(text[slice(*spans[index + 1])]):
            line = replace(line, kind=LayoutKind.HEADING)
        yield line


def _line_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where lines stand, without their newlines."""
    at = 0
    for line in text.split("\n"):
        yield at, at + len(line)
        at += len(line) + 1


def _code(text: str, spans: list[tuple[int, int]]) -> dict[int, _Line]:
    """Return the lines of fenced code by index; a fence that is never closed fences nothing."""
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


def _line(text: str, start: int, end: int) -> _Line:
    quoted = _QUOTED.match(text, start, end)
    at = quoted.end() if quoted else start
    depth = quoted[0].count(">") if quoted else 0
    content = text[at:end]
    if not content.strip() or any(one.match(content) for one in (_RULE, _UNDERLINE, _SILENT)):
        return _Line(start, end, end, None, depth)
    for pattern, kind in ((_HEADING, LayoutKind.HEADING), (_ITEM, LayoutKind.ITEM)):
        if sign := pattern.match(text, at, end):
            return _Line(start, end, sign.end(), kind, depth)
    kind = LayoutKind.ROW if content.lstrip().startswith("|") else LayoutKind.PROSE
    return _Line(start, end, at, kind, depth)


def _blocks(plain: str, lines: list[_Line]) -> Iterator[LayoutBlock]:
    """Yield the blocks: lines that belong together."""
    group: list[_Line] = []
    for line in lines:
        if group and not _continues(group[-1], line):
            yield from _split(plain, group)
            group = []
        if line.kind is not None:
            group.append(line)
    if group:
        yield from _split(plain, group)


def _continues(before: _Line, line: _Line) -> bool:
    """Return whether a line goes on with the block of the line before it."""
    if line.kind is LayoutKind.CODE:
        return before.kind is LayoutKind.CODE
    wrapped = before.kind in {LayoutKind.PROSE, LayoutKind.ITEM} and line.kind is LayoutKind.PROSE
    return wrapped and line.depth <= before.depth


def _split(plain: str, group: list[_Line]) -> Iterator[LayoutBlock]:
    """Yield a group of lines, parted where a line was ended on purpose."""
    kind = group[0].kind or LayoutKind.PROSE
    if kind is LayoutKind.CODE:
        yield LayoutBlock(group[0].start, group[-1].end, kind)
        return
    widest = max(_width(plain[line.sign : line.end]) for line in group)
    start = group[0].start
    for before, line in pairwise(group):
        if _ended(plain[before.sign : before.end], plain[line.sign : line.end], widest):
            yield LayoutBlock(start, before.end, kind)
            start = line.start
    yield LayoutBlock(start, group[-1].end, kind)


def _ended(before: str, after: str, widest: int) -> bool:
    """Return whether the newline between two lines of a paragraph ends a sentence."""
    if _ENDED.search(before) or (_KEYED.match(before) and _KEYED.match(after)):
        return True
    if not _NARROWEST_WRAP <= widest <= _WIDEST_WRAP:
        return False
    word = after.split(maxsplit=1)[0]
    begins = word[0].isupper() or word[0].isdigit()
    open_ = before.rstrip().endswith((",", ";")) or before.rstrip()[-1:] >= _FIRST_DENSE
    return begins and not open_ and _width(before) + 1 + _width(word) < widest * _SHORT


def _width(line: str) -> int:
    """Return how many columns a line takes in a terminal."""
    if line.isascii():
        return len(line)
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in line)
