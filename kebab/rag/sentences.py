"""Sentences: where each one of a passage stands, in any script, in Markdown as in plain text.

A sentence never leaves its block, and no model of a language is asked: too long a sentence costs a
reader a second, half of one costs the meaning. So what may be an abbreviation does not end one.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kebab.rag.layout import Block, Kind, layout
from kebab.search.abbreviations import abbreviates

LONGEST = 400
"""The most code points of one sentence; longer ones are cut, at a clause where there is one."""

_STOP = re.compile(
    r"(?<![.!?\u2026])[.!?\u2026\u203c\u2047-\u2049\u0964\u0965\u061f\u06d4]++"
    r"[\"'\u201d\u2019\u00bb)\]*_}]*(?:\s?\[\d{1,3}\]|\[(?!\d{1,3}\])[^\[\]\n]{1,24}\])*(?=\s|$)"
    r"|(?P<wide>[\u3002\uff01\uff1f\uff61]+|(?<!\d)\uff0e|\uff0e(?!\d))"
    r"(?P<shut>[\u300d\u300f\uff09\u3011\u3009\u300b\uff3d\u201d\u2019\"')\]*_]*)(?:\s?\[\d{1,3}\])*"
)
"""What may end a sentence, with what closes there and the notes in brackets behind it."""

_WHOLE = re.compile(
    r"`[^`\n]{1,200}`|\]\([^()\s]{1,500}\)"
    r"|\u300c[^\u300c\u300d]{0,300}\u300d|\u300e[^\u300e\u300f]{0,300}\u300f"
    r"|\uff08[^\uff08\uff09]{0,300}\uff09"
)
"""What no sentence ends in: code, targets of links, speech and asides in full-width brackets."""

_NEXT = re.compile(r"[\s\"'\u201c\u2018\u00ab(\[*_{\u00bf\u00a1]*([^\s])")
_GOES_ON = re.compile(r"[\u3041-\u309f\u3001\uff0c,]")
_CLAUSE = re.compile(
    r"[;:,\uff1b\uff1a\uff0c\u3001\u060c\u061b](?:\s|(?<=[\uff1b\uff1a\uff0c\u3001]))"
)
_SPACE = re.compile(r"\s+")
_CASED = re.compile(r"[.!?]\s+[A-Z\u00c0-\u00de\u0410-\u042f]")
_word = re.compile(r"[^\W_]").search


class Sentence(NamedTuple):
    """A sentence at [start, end) code points of a text, and what it stands in."""

    start: int
    end: int
    kind: Kind


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences of a passage as [start, end) code points, in order.

    They are trimmed, do not overlap, and hold at least one letter or digit. Signs that only
    arrange the text (of lists, headings, quotations) stand before them; a heading, a table row and
    code count as sentences.
    """
    return [(one.start, one.end) for one in placed(text)]


def placed(text: str) -> list[Sentence]:
    """Return the sentences of a passage with the kind of block that each stands in."""
    arranged = layout(text)
    plain = arranged.plain
    return [
        Sentence(*span, block.kind)
        for block in arranged.blocks
        for start, end in _of_block(plain, block)
        for span in _trimmed(plain, _cut(plain, start, end))
    ]


def _of_block(plain: str, block: Block) -> Iterator[tuple[int, int]]:
    if block.kind is Kind.CODE and block.end - block.start > LONGEST:
        at = block.start
        for line in plain[block.start : block.end].split("\n"):
            yield at, at + len(line)
            at += len(line) + 1
    elif block.kind in {Kind.PROSE, Kind.ITEM}:
        yield from _of_prose(plain, block)
    else:
        yield block.start, block.end


def _of_prose(plain: str, block: Block) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a paragraph."""
    part = plain[block.start : block.end]
    whole = [found.span() for found in _WHOLE.finditer(part)]
    small = not _CASED.search(part) and part.lstrip()[:1].islower()
    at = 0
    for stop in _STOP.finditer(part):
        if any(low < stop.start() and stop.end() < high for low, high in whole):
            continue
        if _ends(part, stop, small=small):
            yield block.start + at, block.start + stop.end()
            at = stop.end()
    yield block.start + at, block.end


def _ends(part: str, stop: re.Match[str], *, small: bool) -> bool:
    """Return whether a stop ends a sentence; `small` when sentences begin without capitals."""
    if stop["wide"]:
        return not (stop["shut"] and _GOES_ON.match(part, stop.end()))
    following = _NEXT.match(part, stop.end())
    if following is None:
        return True
    if following[1].islower() and not small:
        return False
    return (
        stop[0][0] != "."
        or stop[0].startswith("..")
        or not abbreviates(part, stop.start(), stop.end())
    )


def _cut(plain: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence in parts that are not too long."""
    while end - start > LONGEST:
        place = _break(plain, start + LONGEST // 2, start + LONGEST)
        yield start, place
        start = place
    yield start, end


def _break(plain: str, low: int, high: int) -> int:
    """Return the last clause mark of a stretch, else its last space, else its end."""
    for pattern in (_CLAUSE, _SPACE):
        ends = [found.end() for found in pattern.finditer(plain, low, high)]
        if ends:
            return ends[-1]
    return high


def _trimmed(plain: str, parts: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield those parts that hold a word, without white space around them."""
    for start, end in parts:
        part = plain[start:end]
        if _word(part):
            yield start + len(part) - len(part.lstrip()), start + len(part.rstrip())
