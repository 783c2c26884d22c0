"""Splits a document into sections and chunks.

A chunk holds blocks of one section, or pieces of them. The title and the heading path are embedded
with it; the tokens that they leave for its text are its room (`kebab.chunk.budget`). A chunk that
begins inside a table or a function is stored with a lead (`Chunk.context`), without which it cannot
be understood: the header row or the signature. The sentence that introduces a list is no lead: it
lowered the ranking of sections (`docs/search-quality.md`). It is not cut from the begin of the list
where both fit.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise, zip_longest
from operator import attrgetter

from kebab.chunk.budget import Budget, Context, build_contexts
from kebab.chunk.pack import (
    ChunkDraft,
    Piece,
    Range,
    TextMeter,
    enforce_limit,
    get_cutters,
    pack_pieces,
    trim,
)
from kebab.core.chunks import Chunk, Place
from kebab.core.documents import Block, BlockKind, ParsedDocument

MAX_CHARS = 240
MAX_SHARE = 3
"""A lead has at most `MAX_CHARS` characters and a third of the tokens of a chunk."""

_KINDS_WITH_LEAD = frozenset({BlockKind.TABLE, BlockKind.CODE})
_NOT_BLANK = re.compile(r"\S")
_RULE_LINE = re.compile(r"[\s|:+=-]+\Z")


class LeadFinder:
    """Finds the leads of the passages of a document."""

    def __init__(self, text: str, blocks: Sequence[Block], budget: Budget) -> None:
        self._text = text
        self._blocks = blocks
        self._budget = budget
        self._starts = [block.start for block in blocks]
        self._leads: dict[int, str] = {}

    def find(self, start: int) -> str:
        """Return the lead of a passage that begins at an offset, empty when it needs none."""
        index = bisect_right(self._starts, start) - 1
        if index < 0 or self._blocks[index].kind not in _KINDS_WITH_LEAD:
            return ""
        block = self._blocks[index]
        # The label of a table is its header row, which may stand in an earlier block.
        is_first = _NOT_BLANK.search(self._text, block.start, start) is None
        if is_first and (not block.label or self._text.startswith(block.label, block.start)):
            return ""
        if index not in self._leads:
            self._leads[index] = self._shorten(self._find_in_block(index))
        return self._leads[index]

    def _find_in_block(self, index: int) -> str:
        """Return the lead of the passages from the middle of a block."""
        block = self._blocks[index]
        if block.kind is BlockKind.CODE:
            if not index or self._blocks[index - 1].kind is not BlockKind.HEADING:
                return ""
            # The heading is a signature, unless it is a title behind `#` or `=`.
            heading = self._blocks[index - 1]
            text = " ".join(self._text[heading.start : heading.end].split())
            return "" if text.lstrip("#= ").strip() == heading.label else text
        if block.label:
            return block.label
        # The header of a table is its first line that is no rule.
        lines = self._text[block.start : block.end].split("\n", 2)
        return next((line.strip() for line in lines[:2] if not _RULE_LINE.match(line)), "")

    def _shorten(self, lead: str) -> str:
        """Return a lead that is not too long, cut at a word; none when a word is too long."""
        while lead:
            (size,) = self._budget.measure([lead])
            if len(lead) <= MAX_CHARS and size * MAX_SHARE <= self._budget.limit:
                break
            lead = lead[: min(MAX_CHARS, len(lead) * 3 // 4)].rpartition(" ")[0].rstrip()
        return lead


_MAX_GAP = 200
"""How much text between two blocks may be part of a chunk, such as a comment between paragraphs."""

_HAS_WORD = re.compile(r"\w")
_INTRODUCTION = (BlockKind.PARAGRAPH, BlockKind.LIST)
_COLONS = (":", "：")


@dataclass(slots=True)
class Section:
    """Blocks below one heading, each with its heading path.

    `has_body` says that a block other than a heading has a word. `ended` says that the parser found
    no text below the last heading.
    """

    level: int = 0
    blocks: list[Block] = field(default_factory=list)
    paths: list[tuple[str, ...]] = field(default_factory=list)
    has_body: bool = False
    ended: bool = False


def split_sections(
    text: str, blocks: Iterable[Block], places: Sequence[Place] = ()
) -> Iterator[Section]:
    """Yield the sections of a document in order.

    None of them crosses the begin of a place (a page, slide, cell or sheet), or much text between
    two blocks, which is left out. `ends` of a heading says that its section has no text. `ends` of
    another block is a level: the sections of this and deeper levels end before it.
    """
    open_headings: list[Block] = []
    path: tuple[str, ...] = ()
    section = Section()
    starts = {place.start for place in places}
    end = 0
    for block in blocks:
        far = block.start - end > _MAX_GAP and len(text[end : block.start].strip()) > _MAX_GAP
        end = block.end
        if (far or block.start in starts) and section.blocks:
            yield section
            section = Section()
        if block.kind is BlockKind.HEADING:
            ended = section.ended and not block.ends
            if section.has_body or ended or block.level < section.level:
                yield section
                section = Section(level=block.level)
            section.level = section.level or block.level
            open_headings = [above for above in open_headings if above.level < block.level]
            open_headings.append(block)
            section.ended = bool(block.ends)
        else:
            if block.ends:
                open_headings = [above for above in open_headings if above.level < block.ends]
                if section.has_body or section.ended:
                    yield section
                    section = Section()
            section.has_body = section.has_body or bool(_HAS_WORD.search(text, *block[1:3]))
        if block.ends or block.kind is BlockKind.HEADING:
            path = tuple(above.label for above in open_headings if above.label)
        section.blocks.append(block)
        section.paths.append(path)
    if section.blocks:
        yield section


def find_common_prefix(paths: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the longest common prefix of paths."""
    first, *others = paths
    for path in others:
        depth = 0
        while depth < min(len(first), len(path)) and first[depth] == path[depth]:
            depth += 1
        first = first[:depth]
    return first


@dataclass(slots=True)
class _Part:
    """A block or a piece of one, with its size and its room in tokens.

    One that is too long has `parts`, which the cutter number `depth` of its kind gave.
    """

    kind: BlockKind
    where: Range
    room: int
    depth: int = 0
    size: int = 0
    parts: "list[_Part] | None" = None

    def is_too_long(self) -> bool:
        """Return whether this has to be cut and can be."""
        return self.size > self.room and self.where.end - self.where.start > 1

    def cut(self, text: str) -> "list[_Part]":
        """Cut this with the next cutter, and return the parts that have no size yet."""
        cutters = get_cutters(self.kind)
        ranges = cutters[min(self.depth, len(cutters) - 1)](text, self.where, self.room)
        if len(ranges) == 1:
            self.depth += 1
            return []
        self.parts = [_Part(self.kind, where, self.room, self.depth + 1) for where in ranges]
        return self.parts

    def list_smallest(self) -> "Iterator[_Part]":
        """Yield the parts that are not cut, in order."""
        if self.parts is None:
            yield self
        else:
            for part in self.parts:
                yield from part.list_smallest()


def split_document(document: ParsedDocument, budget: Budget) -> list[Chunk]:
    """Return the chunks of a document, in order and without overlap.

    Every character of a block that is not blank is in exactly one chunk. The title must leave
    room in the limit, as the titles of parsers do.
    """
    text, title = document.text, document.title
    sections = list(split_sections(text, document.blocks, document.places))
    contexts = build_contexts(title, [path for part in sections for path in part.paths], budget)
    leads = LeadFinder(text, document.blocks, budget)
    meter = TextMeter(text, budget)
    cells = _measure_blocks(meter, sections, contexts)
    drafts = [
        draft._replace(lead=lead) if (lead := leads.find(draft.start)) else draft
        for section in sections
        for draft in _draft_chunks(text, section, contexts, cells)
    ]
    drafts = enforce_limit(meter, title, drafts, leads.find)
    return list(_build_chunks(document, drafts))


def _measure_blocks(
    meter: TextMeter,
    sections: Sequence[Section],
    contexts: dict[tuple[str, ...], Context],
) -> Iterator[list[Piece]]:
    """Yield the pieces of every block, each small enough for its chunk.

    All blocks of the document are counted in large batches, then all parts of those that are too
    long, and so on.
    """
    blocks = [
        _Part(block.kind, Range(block.start, block.end), contexts[path].room)
        for section in sections
        for block, path in zip(section.blocks, section.paths, strict=True)
    ]
    _count_parts(meter, blocks)
    # Headings get room in the block behind them, at most half of its room.
    taken = 0
    for part in blocks:
        if part.kind is BlockKind.HEADING:
            taken += part.size
        else:
            part.room = max(part.room - taken, -(-part.room // 2))
            taken = 0
    waiting = blocks
    while waiting := [part for part in waiting if part.is_too_long()]:
        smaller = [new for part in waiting for new in part.cut(meter.text)]
        _count_parts(meter, smaller)
        waiting = [part for part in waiting if part.parts is None] + smaller
    cells = [[*part.list_smallest()] for part in blocks]
    _count_gaps(meter, [*chain.from_iterable(cells)])
    for cell, after in zip_longest(cells, cells[1:]):
        pieces = [Piece(part.where, part.size, part.kind is BlockKind.HEADING) for part in cell]
        if after is not None and _introduces_list(meter.text, cell[-1], after[0]):
            pieces[-1] = pieces[-1]._replace(glued=True)
        yield pieces


def _introduces_list(text: str, part: _Part, after: _Part) -> bool:
    """Return whether a part ends with the sentence that introduces the list behind it."""
    if (part.kind, after.kind) != _INTRODUCTION:
        return False
    return text[part.where.start : part.where.end].rstrip().endswith(_COLONS)


def _count_parts(meter: TextMeter, parts: Sequence[_Part]) -> None:
    """Set the size of each part."""
    sizes = meter.measure(part.where for part in parts)
    for part, size in zip(parts, sizes, strict=True):
        part.size = max(size, 1)


def _count_gaps(meter: TextMeter, parts: Sequence[_Part]) -> None:
    """Add the text that is left out behind a part to its size; a chunk may contain it."""
    gaps = [
        (part, where)
        for part, after in pairwise(parts)
        if part.where.end < after.where.start
        and (where := _find_gap(meter.text, part.where.end, after.where.start)) is not None
    ]
    sizes = meter.measure(where for _, where in gaps)
    for (part, _), size in zip(gaps, sizes, strict=True):
        part.size += size


def _find_gap(text: str, start: int, end: int) -> Range | None:
    """Return the text between two parts without outer space; None when there is none, or much."""
    gap = text[start:end]
    short = gap.strip()
    if not 0 < len(short) <= _MAX_GAP:
        return None
    first = start + len(gap) - len(gap.lstrip())
    return Range(first, first + len(short))


def _draft_chunks(
    text: str,
    section: Section,
    contexts: dict[tuple[str, ...], Context],
    cells: Iterator[list[Piece]],
) -> Iterator[ChunkDraft]:
    """Yield the drafts of the chunks of a section, whose pieces are the next cells."""
    room = min(contexts[path].room for path in section.paths)
    index = 0
    for where in pack_pieces(islice(cells, len(section.blocks)), room):
        while section.blocks[index].end <= where.start:
            index += 1
        path = contexts[_find_path(section, index, where.end)].path
        trimmed = trim(text, where)
        if trimmed is not None:
            yield ChunkDraft(trimmed.start, trimmed.end, path)


def _find_path(section: Section, first: int, end: int) -> tuple[str, ...]:
    """Return the path of the first block that is no heading, else the common path."""
    paths = []
    for index in range(first, len(section.blocks)):
        if section.blocks[index].start >= end:
            break
        if section.blocks[index].kind is not BlockKind.HEADING:
            return section.paths[index]
        paths.append(section.paths[index])
    return find_common_prefix(paths)


def _build_chunks(document: ParsedDocument, drafts: Sequence[ChunkDraft]) -> Iterator[Chunk]:
    """Yield the chunks of the drafts, with their text, lines and places."""
    text = document.text
    line, offset, ordinal = 1, 0, 0
    for draft in drafts:
        where = trim(text, Range(draft.start, draft.end))
        if where is None:
            continue
        line += text.count("\n", offset, where.start)
        offset = where.start
        body = text[where.start : where.end]
        yield Chunk(
            ordinal=ordinal,
            text=body,
            start=where.start,
            end=where.end,
            start_line=line,
            end_line=line + body.count("\n"),
            heading_path=draft.path,
            context=draft.lead,
            place=_find_place(document, where.start),
        )
        ordinal += 1


def _find_place(document: ParsedDocument, start: int) -> Place | None:
    """Return the place of a chunk that begins at an offset, with its own offset and row."""
    if not document.places:
        return None
    number = bisect_right(document.places, start, key=attrgetter("start")) - 1
    if number < 0:
        return None
    place = document.places[number]
    row = place.row + document.text.count("\n", place.start, start) if place.row else 0
    return place._replace(start=start, row=row)
