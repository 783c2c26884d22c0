"""Splits a document into the segments that are translated, and the segments into units.

A segment is a sentence of prose, a heading, an item or a cell of a table. Everything between the
segments stays as it is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kebab.core.media import MARKDOWN
from kebab.core.review import Span
from kebab.review.document import ReviewDocument
from kebab.review.placeholders import BLOCK_LINE, BLOCK_TAG, Masked, ProtectedSpans
from kebab.text.layout import LayoutKind
from kebab.text.sentences import Sentence

MIN_UNIT_CHARS = 700
MAX_UNIT_CHARS = 900
MAX_UNIT_SEGMENTS = 32

_TABLE_RULE = re.compile(r"^[ \t>]*(?=[^\n]*-)(?=[^\n]*\|)[-:| \t]+$", re.MULTILINE)
_CELL = re.compile(r"(?:\\.|`[^`\n]*`|\[\[[^\]\n]*\]\]|[^|\\`\n])+")
_COLUMNS = re.compile(r"\S[ \t]{2,}\S|\t")


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a document to translate: [start, end) code points of its text.

    Attributes:
        cid: The id, such as `seg-0001`; it is the same for the same text.
        masked: The source on one line, with placeholders.
        kind: What contains it.
    """

    cid: str
    start: int
    end: int
    masked: Masked = field(repr=False)
    kind: LayoutKind = LayoutKind.PROSE

    @property
    def source(self) -> str:
        """The text that the model gets."""
        return self.masked.text


def split_segments(document: ReviewDocument) -> list[Segment]:
    """Return the segments of a document in order; they do not overlap."""
    protected = ProtectedSpans(document)
    segments: list[Segment] = []
    for start, end, kind in _iter_parts(document):
        span = protected.trim(start, end)
        masked = protected.mask(*span)
        if masked.has_words:
            cid = f"seg-{len(segments) + 1:04}"
            segments.append(Segment(cid=cid, start=span[0], end=span[1], masked=masked, kind=kind))
    return segments


def _iter_parts(document: ReviewDocument) -> Iterator[Sentence]:
    """Yield the sentences outside front matter and code, tables cell by cell."""
    text, markup = document.text, document.markup
    is_markdown = document.source.media == MARKDOWN
    front = [(markup.front_matter.start, markup.front_matter.end)] if markup.front_matter else []
    borders = (BLOCK_LINE, BLOCK_TAG) if is_markdown else ()
    marks = [found.span() for border in borders for found in border.finditer(text)]
    closed = sorted([*front, *markup.code_blocks, *marks])
    tables = list(find_table_spans(text)) if is_markdown else []
    cells = [
        Sentence(*cell, LayoutKind.ROW) for table in tables for cell in split_table(text, table)
    ]
    prose = [one for one in document.sentences if one.kind is not LayoutKind.CODE]
    if not is_markdown:
        prose = [part for one in prose for part in _split_columns(text, one)]
    prose = list(_subtract(prose, sorted([*closed, *tables])))
    yield from sorted([*prose, *_subtract(cells, closed)])


def _subtract(parts: Sequence[Sentence], hidden: Sequence[Span]) -> Iterator[Sentence]:
    """Yield what is left of some parts outside some spans; both are in order."""
    first = 0
    for part in parts:
        start = part.start
        while first < len(hidden) and hidden[first][1] <= start:
            first += 1
        for index in range(first, len(hidden)):
            low, high = hidden[index]
            if low >= part.end:
                break
            if low > start:
                yield Sentence(start, low, part.kind)
            start = max(start, high)
        if start < part.end:
            yield Sentence(start, part.end, part.kind)


def find_table_spans(text: str) -> Iterator[Span]:
    """Yield the tables: a header, a rule with as many cells, and the lines up to a blank one."""
    done = 0
    for rule in _TABLE_RULE.finditer(text):
        start = text.rfind("\n", 0, max(0, rule.start() - 1)) + 1
        header = text[start : rule.start()].rstrip("\n")
        if start < done or rule.start() == 0 or "|" not in header:
            continue
        end = rule.end()
        while end < len(text):
            following = text.find("\n", end + 1)
            line = text[end + 1 : following if following >= 0 else len(text)]
            if not line.strip(" \t>"):
                break
            end = following if following >= 0 else len(text)
        done = end
        yield start, end


def split_table(text: str, table: Span) -> Iterator[Span]:
    """Yield the cells of the rows of a table."""
    start = table[0]
    for line in text[slice(*table)].split("\n"):
        content = len(line) - len(line.lstrip(" \t>"))
        for cell in _CELL.finditer(line, content):
            yield start + cell.start(), start + cell.end()
        start += len(line) + 1


def _split_columns(text: str, one: Sentence) -> Iterator[Sentence]:
    """Yield a sentence of a plain text, line by line when its lines have columns."""
    if not _COLUMNS.search(text, one.start, one.end):
        yield one
        return
    start = one.start
    for line in text[one.start : one.end].split("\n"):
        yield Sentence(start, start + len(line), one.kind)
        start += len(line) + 1


def group_segments(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Return the segments in groups of 700 to 900 characters, cut before a heading if possible."""
    groups: list[list[Segment]] = []
    size = 0
    for segment in segments:
        length = len(segment.source)
        full = size + length > MAX_UNIT_CHARS or (groups and len(groups[-1]) == MAX_UNIT_SEGMENTS)
        begins = segment.kind is LayoutKind.HEADING and size >= MIN_UNIT_CHARS
        if not groups or full or begins:
            groups.append([])
            size = 0
        groups[-1].append(segment)
        size += length
    return groups
