"""Cuts files of data along their keys, and bounds how much of a large one is searched."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kebab.core.documents import Block, BlockKind, Metadata, ParsedDocument
from kebab.parse.blocks import (
    Span,
    build_blocks,
    choose_title,
    exclude_lines,
    format_file_name,
    isolate_lines,
    omit_gaps,
)
from kebab.parse.encoding import Decoded

MAX_LINES = 20_000
MAX_LINE_CHARS = 10_000
_DEEPEST_LEVEL = 6
_FEW_LINES = 8
_WORD = re.compile(r"\w")
_VAGUE_STEMS = (
    "app",
    "chart",
    "compose",
    "config",
    "data",
    "docker-compose",
    "index",
    "main",
    "metadata",
    "package",
    "pom",
    "project",
    "settings",
    "tsconfig",
    "values",
)
"""Stems of files that say less than the names of their folders."""


class Region(NamedTuple):
    """A key with its value on the lines [first, last), 0-based; the heading ends before `head`."""

    label: str
    first: int
    head: int
    last: int


class Bounds(NamedTuple):
    """What is left out of a file: lines [first, last), and warnings about them."""

    dropped: tuple[tuple[int, int], ...] = ()
    warnings: tuple[str, ...] = ()


def build_data_document(
    decoded: Decoded,
    path: str,
    spans: Iterable[Span],
    bounds: Bounds = Bounds(),  # noqa: B008 - immutable
) -> ParsedDocument:
    """Return the document of a file of data with these spans, without what is left out."""
    lines = decoded.text.split("\n")
    warnings = [*decoded.warnings, *bounds.warnings]
    count = len(lines) - (not lines[-1])
    dropped = [(first, min(last, MAX_LINES)) for first, last in bounds.dropped if first < MAX_LINES]
    if count > MAX_LINES:
        dropped.append((MAX_LINES, len(lines)))
        warnings.append(f"only the first {MAX_LINES:,} of {count:,} lines are searched")
    long = [
        (number, number + 1)
        for number, line in enumerate(lines[:MAX_LINES])
        if len(line) > MAX_LINE_CHARS
    ]
    if long:
        shown = f"lines of which only the first {MAX_LINE_CHARS:,} characters are searched"
        warnings.append(f"{shown}: {len(long)}")
    said = (span for span in spans if _has_word(lines, span))
    kept = isolate_lines(exclude_lines(said, dropped), long)
    blocks = build_blocks(decoded.text, 0, omit_gaps(kept, len(lines)))
    return ParsedDocument(
        text=decoded.text,
        title=choose_title(Metadata(title=format_file_name(path, _VAGUE_STEMS)), (), path),
        blocks=tuple(_shorten(decoded.text, block) for block in blocks),
        encoding=decoded.encoding,
        warnings=tuple(warnings),
    )


def _has_word(lines: Sequence[str], span: Span) -> bool:
    """Return whether lines say anything; a few that only close something do not."""
    few = span.last - span.first <= _FEW_LINES
    return not few or any(map(_WORD.search, lines[span.first : span.last]))


def cut_regions(regions: Iterable[Region], lines: int) -> Iterator[Span]:
    """Yield a heading for the first line of each region, and code for all other lines.

    The regions are sorted by their first lines and nested. One that begins on a line of another
    heading is left out.
    """
    done = 0
    around: list[Region] = []
    for region in regions:
        while around and around[-1].last <= region.first:
            yield from _cut_code(done, around[-1].last, len(around) + 1)
            done = max(done, around.pop().last)
        if region.first < done or len(around) >= _DEEPEST_LEVEL:
            continue
        yield from _cut_code(done, region.first, len(around) + 1)
        around.append(region)
        done = region.head
        whole = len(around) if done == region.last else 0
        yield Span(BlockKind.HEADING, region.first, done, len(around), region.label, whole)
    while around:
        yield from _cut_code(done, around[-1].last, len(around) + 1)
        done = max(done, around.pop().last)
    yield from _cut_code(done, lines, 1)


def _cut_code(first: int, last: int, level: int) -> Iterator[Span]:
    if first < last:
        yield Span(BlockKind.CODE, first, last, ends=level)


def _shorten(text: str, block: Block) -> Block:
    """Return a block without the end of a line that is too long."""
    if block.end - block.start <= MAX_LINE_CHARS or text.find("\n", block.start, block.end) >= 0:
        return block
    return block._replace(end=block.start + MAX_LINE_CHARS)
