"""Contains the document under review: its sentences, lines, prose and positions."""

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate

from kebab.core.review import ReviewText, Span
from kebab.text.language import detect_text_language
from kebab.text.sentences import Sentence, find_sentences

_WIDE = re.compile("[\U00010000-\U0010ffff]")
"""The characters that are two units in UTF-16."""
_LANGUAGE_SAMPLE = 16_000
_BORDER = re.compile(
    r"\n(?=[ \t>]*(?:\n|\Z|[-*+\u2022][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\||:::|--|==))"
)
"""Where a paragraph ends."""


class ReviewDocument:
    """A text with what rules and models need of it; everything is computed on first use.

    Offsets are code points of `text` unless a method says otherwise.
    """

    def __init__(self, source: ReviewText) -> None:
        self.source = source
        self.text = source.text
        self.markup = source.markup

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences of the whole text, in order; items count them from 0."""
        return find_sentences(self.text)

    @cached_property
    def lang(self) -> str | None:
        """The language that the file or the index names, else that of the first prose."""
        if self.source.lang is not None:
            return self.source.lang
        start = self.markup.front_matter.end if self.markup.front_matter else 0
        return detect_text_language(" ".join(self.prose[start : start + _LANGUAGE_SAMPLE].split()))

    @cached_property
    def prose(self) -> str:
        """The text with blanks in place of front matter, code, addresses and markup without words.

        Every other character, and every newline, has the same offset as in `text`.
        """
        return hide_spans(self.text, self.code_spans)

    @cached_property
    def code_spans(self) -> list[Span]:
        """The front matter and `markup.code` in order; overlapping spans are one."""
        front = self.markup.front_matter
        spans = [*([(front.start, front.end)] if front else []), *self.markup.code]
        merged: list[Span] = []
        for start, end in sorted(spans):
            if merged and start < merged[-1][1]:
                merged[-1] = merged[-1][0], max(merged[-1][1], end)
            elif end > start:
                merged.append((start, end))
        return merged

    @cached_property
    def paragraphs(self) -> list[Span]:
        """The runs of prose lines: a paragraph, a heading, a list item or a table row each."""
        prose, start, found = self.prose, 0, []
        for end in [*(border.start() for border in _BORDER.finditer(prose)), len(prose)]:
            block = prose[start:end]
            if block and not block.isspace():
                heading = block.find("\n", 1) if block.lstrip().startswith("#") else -1
                if heading > 0:
                    found.append((start, start + heading))
                    start += heading
                found.append((start, end))
            start = end
        return found

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of each line."""
        return [0, *accumulate(len(line) + 1 for line in self.text.split("\n"))][:-1]

    def find_line(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset, both from 1; columns are code points."""
        index = bisect_right(self.line_starts, offset) - 1
        return index + 1, offset - self.line_starts[index] + 1

    def find_sentence_range(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and the last sentence that [start, end) touches.

        Between two sentences it is the next one, behind the last sentence the last, and (0, 0) in
        a text without sentences.
        """
        if not self.sentences:
            return 0, 0
        last = len(self.sentences) - 1
        first = min(bisect_right(self._sentence_ends, start), last)
        touched = bisect_right(self._sentence_starts, max(start, end - 1)) - 1
        return first, max(first, min(touched, last))

    @cached_property
    def line_end(self) -> str:
        """The line end of most lines of the file."""
        raw, lines = self.source.raw, self.text.count("\n")
        double = raw.count("\r\n")
        single = raw.count("\r") - double
        if 2 * double > lines:
            return "\r\n"
        return "\r" if 2 * single > lines else "\n"

    @cached_property
    def _sentence_starts(self) -> list[int]:
        return [one.start for one in self.sentences]

    @cached_property
    def _sentence_ends(self) -> list[int]:
        return [one.end for one in self.sentences]

    def to_utf16(self, start: int, end: int) -> Span:
        """Return [start, end) as UTF-16 code units of the raw file."""
        extra = self._extra_units
        return start + bisect_left(extra, start), end + bisect_left(extra, end)

    def from_utf16(self, start: int, end: int) -> Span:
        """Return [start, end) UTF-16 code units of the raw file as code points of the text.

        A position inside a character, or between CR and LF, is that of the character.
        """
        return self._find_offset(start), self._find_offset(end)

    @cached_property
    def _extra_units(self) -> list[int]:
        """The offset of each character that takes one unit more in the raw file."""
        text, raw = self.text, self.source.raw
        wide = [] if text.isascii() else _find_wide(text)
        if len(raw) == len(text):
            return wide
        return sorted([*wide, *_find_double_ends(raw)])

    @cached_property
    def _extra_unit_starts(self) -> list[int]:
        """The same characters as UTF-16 code units of the raw file."""
        return [offset + number for number, offset in enumerate(self._extra_units)]

    def _find_offset(self, unit: int) -> int:
        offset = unit - bisect_left(self._extra_unit_starts, unit)
        return min(max(0, offset), len(self.text))


def _blank(part: str) -> str:
    """Return a text of the same length without anything but newlines."""
    if "\n" not in part:
        return " " * len(part)
    return "\n".join(" " * len(line) for line in part.split("\n"))


def hide_spans(text: str, spans: list[Span]) -> str:
    """Return a text of the same length with blanks in the spans; newlines stay."""
    parts, done = [], 0
    for start, end in sorted(spans):
        first = max(start, done)
        if end > first:
            parts += [text[done:first], _blank(text[first:end])]
            done = end
    parts.append(text[done:])
    return "".join(parts)


def _find_wide(text: str) -> list[int]:
    """Return the offsets of the characters that are two units in UTF-16."""
    return [found.start() for found in _WIDE.finditer(text)]


def _find_double_ends(raw: str) -> list[int]:
    r"""Return the offsets, in the text with `\n`, of the line ends that are CR LF in the file."""
    found, position, removed = [], raw.find("\r\n"), 0
    while position >= 0:
        found.append(position - removed)
        removed += 1
        position = raw.find("\r\n", position + 2)
    return found
