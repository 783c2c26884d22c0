"""Splits Markdown or plain text into sentences, each within one block of its layout."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kebab.text.layout import LayoutBlock, LayoutKind, build_layout
from kebab.text.sentence_ends import find_sentence_ends

LONGEST = 400
"""The most code points of one sentence; longer ones are cut, at a clause where there is one."""

_CLAUSE = re.compile(
    r"[;:,\uff1b\uff1a\uff0c\u3001\u060c\u061b](?:\s|(?<=[\uff1b\uff1a\uff0c\u3001]))"
)
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
        position = _find_break(plain, start + LONGEST // 2, start + LONGEST)
        yield start, position
        start = position
    yield start, end


def _find_break(plain: str, low: int, high: int) -> int:
    """Return the last clause mark of a stretch, else its last space, else its end."""
    for pattern in (_CLAUSE, _SPACE):
        ends = [found.end() for found in pattern.finditer(plain, low, high)]
        if ends:
            return ends[-1]
    return high


def _trim_spans(plain: str, parts: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield those parts that hold a word, without white space around them."""
    for start, end in parts:
        part = plain[start:end]
        if _find_word(part):
            yield start + len(part) - len(part.lstrip()), start + len(part.rstrip())
