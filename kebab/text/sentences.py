"""Splits Markdown or plain text into blocks and sentences, in any script.

Every character of `Layout.plain` has the same position as in the text. `find_sentence_ends` reads a
paragraph, `find_sentence_starts` a raw text with its lines. A possible abbreviation ends no
sentence, because half a sentence costs a reader more than a long one.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from enum import StrEnum
from itertools import accumulate, pairwise
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from kebab.text.normalize import compile_lazily, load_words, split_names, trim_span

_WIDE_STOPS = "\u3002\uff01\uff1f\uff61\uff0e"
_WIDE = frozenset(_WIDE_STOPS)
"""Stops of scripts without blanks; a blank follows any other stop."""

_STOPS = ".!?\u2026\u203c\u2047\u2048\u2049\u0964\u0965\u061f\u06d4" + _WIDE_STOPS
_STOP_RUN = compile_lazily(f"[{_STOPS}][{_STOPS}]*(?:(?![A-Za-z0-9])|(?<=[{_WIDE_STOPS}]))")
"""Runs of stops, without the points in numbers and file names."""

_CLOSERS = "[\"'\u201d\u2019\u00bb)\\]*_}]*"
_NOTES = r"(?:\s?\[\d{1,3}\])*"
_CLOSING = compile_lazily(
    rf"{_CLOSERS}(?:\s?\[\d{{1,3}}\]|\[(?!\d{{1,3}}\])[^\[\]\n]{{1,24}}\])*(?=\s|$)"
    r"(?=[\s\"'\u201c\u2018\u00ab(\[*_{\u00bf\u00a1]*+(\S?))"
)
"""Closing signs after a stop, notes in brackets, and the first sign of the next sentence."""

_WIDE_CLOSERS = "[\u300d\u300f\uff09\u3011\u3009\u300b\uff3d\u201d\u2019\"')\\]*_]"
_WIDE_CLOSING = compile_lazily(
    rf"(?:{_WIDE_CLOSERS}++(?![\u3041-\u309f\u3001\uff0c,])|(?!{_WIDE_CLOSERS})){_NOTES}"
)
"""The same after a full-width stop; a particle after a quotation continues the sentence."""

_UNSPLIT = compile_lazily(
    r"`[^`\n]{1,200}`|\]\([^()\s]{1,500}\)"
    r"|\u300c[^\u300c\u300d]{0,300}\u300d|\u300e[^\u300e\u300f]{0,300}\u300f"
    r"|\uff08[^\uff08\uff09]{0,300}\uff09"
)
"""Spans that contain no sentence end: code, link targets, quotations and full-width brackets."""

_SPACE = compile_lazily(r"\s+")
_CAPITAL_START = r"[.!?]\s+[A-Z\u00c0-\u00de\u0410-\u042f]"

_WRAPPED = 50
"""A line of this many code points without a final stop is taken to be wrapped."""

_NEWLINES = compile_lazily("\n[\\s]*")
_OPENED_BLOCK = compile_lazily(r"\s*(?:[-*+>]\s|[#|]|```|~~~|\d{1,3}[.)]\s)")
_LINE_END = compile_lazily(f"[{_STOPS}:|][\"'\u201d\u2019\u00bb)\\]*_\\s]*$")


_NEVER_LAST, _BEFORE_NUMBERS, _SOMETIMES_LAST = (
    split_names(load_words("abbreviations")[kind])
    for kind in ("never_last", "before_numbers", "sometimes_last")
)
_DEPENDING = _BEFORE_NUMBERS | _SOMETIMES_LAST
_STARTERS, _MONTHS = map(split_names, load_words("sentence_starts").values())
_REACH = 40
"""How many code points around a full stop are read."""

_LONGEST_MARK = 3
"""The most digits of the number of a list item; a line may begin with a year."""

_WORD_BEFORE = compile_lazily(r"[\w.\u00b0\u00ba'-]{1,24}$")
_WORD_AFTER = compile_lazily(r"[\W_]*([^\W\d_]+)")


def find_sentence_ends(part: str) -> Iterator[int]:
    """Yield the ends of the sentences of a paragraph, after closing signs and notes.

    The end of the paragraph is yielded only if it follows a stop.
    """
    wholes = [found.span() for found in _UNSPLIT.finditer(part)]
    uncased = part.lstrip()[:1].islower() and not re.search(_CAPITAL_START, part)
    for stop in _STOP_RUN.finditer(part):
        end = _find_end(part, stop, uncased=uncased)
        if end is not None and not (wholes and _is_inside(wholes, stop.start(), end)):
            yield end


def find_sentence_starts(text: str) -> list[int]:
    """Return the starts of the sentences of a text in rising order, beginning with 0.

    Markdown is not parsed: a line break starts a sentence, unless the line looks wrapped.
    """
    starts = {found.end() for found in _NEWLINES.finditer(text) if not _line_goes_on(text, found)}
    gaps = ((end, _SPACE.match(text, end)) for end in find_sentence_ends(text))
    starts.update(gap.end() if gap else end for end, gap in gaps)
    starts.discard(len(text))
    return sorted({0, *starts})


def _find_end(part: str, stop: re.Match[str], *, uncased: bool) -> int | None:
    """Return the end of the sentence of a stop; None when the stop ends none.

    `stop` is a run of stops in a paragraph; `uncased` sentences start without capitals.
    """
    signs, end = stop[0], stop.end()
    if not _WIDE.isdisjoint(signs):
        begin = stop.start()
        is_decimal = (
            signs == "\uff0e"
            and part[begin - 1 : begin].isdigit()
            and part[end : end + 1].isdigit()
        )
        found = None if is_decimal else _WIDE_CLOSING.match(part, end)
        return found and found.end()
    found = _CLOSING.match(part, end)
    is_ellipsis = signs[-1] == "\u2026" or signs.endswith("..")
    # A small letter continues the sentence.
    if found is None or (found[1].islower() and (is_ellipsis or not uncased)):
        return None
    abbreviated = signs == "." and found[1] and is_abbreviation(part, stop.start(), end)
    return None if abbreviated else found.end()


def _is_inside(wholes: list[tuple[int, int]], start: int, end: int) -> bool:
    """Return whether a span lies strictly inside of one of some spans in order."""
    before = bisect_left(wholes, (start,)) - 1
    return before >= 0 and end < wholes[before][1]


def _line_goes_on(text: str, newline: re.Match[str]) -> bool:
    """Return whether a sentence continues after a line break and its blanks."""
    start, end = newline.span()
    begin = text.rfind("\n", 0, start) + 1
    if end - start > 1 or start - begin < _WRAPPED or text[begin] == "#":
        return False
    if end == len(text) or _OPENED_BLOCK.match(text, end):
        return False
    ended = _LINE_END.search(text, begin, start)
    return not ended or (ended[0][0] == "." and is_abbreviation(text, ended.start(), end))


def is_abbreviation(text: str, stop: int, after: int) -> bool:
    """Return whether the full stop at a position belongs to the word before it.

    `after` is the position after the stop and its closing signs.
    """
    word = text[max(0, stop - _REACH) : stop].rpartition(" ")[2]
    if not word.isalpha():
        found = _WORD_BEFORE.search(word)
        word = found[0].strip("'") if found else ""
    word = word.lower()
    if word in _NEVER_LAST:
        return True
    if not (word in _DEPENDING or word.isdigit() or _is_initials(word)):
        return False
    following = text[after : after + _REACH].lstrip()
    named = _WORD_AFTER.match(following)
    start = named[1].lower() if named else ""
    if word.isdigit():
        number = stop - len(word)
        before = text[text.rfind("\n", 0, number) + 1 : number]
        # The numbers of list items begin a line.
        return start in _MONTHS or (len(word) <= _LONGEST_MARK and not before.strip(" \t>("))
    if word in _BEFORE_NUMBERS and following[:1].isdigit():
        return True
    return (word in _SOMETIMES_LAST or _is_initials(word)) and start not in _STARTERS


def _is_initials(word: str) -> bool:
    """Return whether a lower-case word is letters with full stops between: `j`, `u.s`, `p.m`."""
    return (len(word) == 1 or word[1:2] == ".") and all(
        len(letter) == 1 and letter.islower() for letter in word.split(".")
    )


_FENCE = compile_lazily(r"\s{0,3}(?:`{3,}|~{3,})(?P<info>[^`\n]*)$")
_QUOTED = compile_lazily(r"[ \t]*(?:>[ \t]?)+")
_ITEM = compile_lazily(
    r"[ \t]*(?:[-*+•\u2023\u25e6·・]|\(?\d{1,3}[.)]|[a-zA-Z]\))[ \t]+"
    r"(?:\[[ xX]\][ \t]+)?(?=\S)"
)
_HEADING = compile_lazily(r"[ \t]*#{1,6}[ \t]+")
_WITHOUT_CONTENT = compile_lazily(
    r"[ \t]*+(?:[-=_*~|:+.][ \t]*+){2,}+$"
    r"|[ \t]*=+[ \t]*$"
    r"|[ \t]*(?:(?:<!--[^>]*-->|\{\{[<%][^{}]*[>%]\}\}|\{%[^{}]*%\})[ \t]*)+$"
    r"|[ \t]*(?:\([\w.:/-]+\)=|\.\.[ \t]+_[^\n]+:|\{#[^{}\s]+\}"
    r"|<a[ \t][^<>]*>(?:[ \t]*</a>)?)[ \t]*$"
)
"""A rule, an underline, commands of page generators, or the label of the text below.

Labels are `(name)=`, `.. _name:`, `{#name}` and `<a id="name">`.
"""

_TABLE = compile_lazily(r"[ \t]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+(?::?-++:?[ \t]*+)?)*+$")
_KEY_VALUE = compile_lazily(r"[ \t]*[^\s:：][^:：\n]{0,23}(?::\s|：)")
_HARD_BREAK = compile_lazily(r"(?:  |\\|[다요죠음함됨])$")

_MAX_WRAP = 120
"""Longer lines are not wrapped by hand or by an editor."""

_MIN_WRAP = 40
_SHORT = 0.7
"""A line that is shorter than this share of the widest, next word included, ends on purpose."""

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


class LayoutBlock(Struct, frozen=True):
    """A span [start, end) of a text; every sentence lies within one."""

    start: int
    end: int
    kind: LayoutKind


class Layout(Struct, frozen=True):
    """The blocks of a text in order, and the text with its Markdown signs replaced by spaces."""

    plain: str
    blocks: tuple[LayoutBlock, ...]


class _Line(Struct, frozen=True):
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
        line = text[start:end]
        fence = _FENCE.match(line) if line.lstrip()[:3] in ("```", "~~~") else None
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
    first = content.lstrip()[:2]
    if first[:1].isalpha() and first[1:] != ")":  # most lines; no mark begins with a letter
        return _Line(start, end, content_start, LayoutKind.PROSE, depth)
    if not first or _WITHOUT_CONTENT.match(content):
        return _Line(start, end, end, None, depth)
    for pattern, kind in ((_HEADING, LayoutKind.HEADING), (_ITEM, LayoutKind.ITEM)):
        if sign := pattern.match(text, content_start, end):
            return _Line(start, end, sign.end(), kind, depth)
    kind = LayoutKind.ROW if first.startswith("|") else LayoutKind.PROSE
    return _Line(start, end, content_start, kind, depth)


def _iter_blocks(plain: str, lines: list[_Line]) -> Iterator[LayoutBlock]:
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

_CLAUSE = compile_lazily(r"[;:,；：，、\u060c\u061b](?:\s|(?<=[；：，、]))")
_WORD_SIGN = compile_lazily(r"[^\W_]")


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
        Sentence(*trim_span(plain, *span), block.kind)
        for block in layout.blocks
        for start, end in _split_block(plain, block)
        for span in _split_long(plain, start, end)
        if _WORD_SIGN.search(plain, *span)
    ]


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
