"""Splits a document into sections and chunks.

A chunk holds blocks of one section, or pieces of them. The title and the heading path are embedded
with it; the tokens that they leave for its text are its room (`kebab.chunk.budget`). A chunk that
begins inside a table or a function is stored with a lead (`Chunk.context`), without which it cannot
be understood: the header row or the signature. The first chunk has the properties that the text
does not hold. The sentence that introduces a list is no lead: it
lowered the ranking of sections (`docs/notes/search-quality.md`). It is not cut from the begin of
the list where both fit.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise, takewhile, zip_longest
from operator import attrgetter

from msgspec import Struct, field

from kebab.chunk.budget import (
    MAX_GAP,
    Budget,
    ChunkDraft,
    Context,
    Piece,
    Range,
    build_contexts,
    enforce_limit,
    get_cutters,
    pack_pieces,
    trim,
)
from kebab.core.chunks import Chunk, Place
from kebab.core.documents import Block, BlockKind, ParsedDocument, apply_edits

MAX_CHARS = 240
MAX_SHARE = 3
"""A lead has at most `MAX_CHARS` characters and a third of the tokens of a chunk."""

_KINDS_WITH_LEAD = frozenset({BlockKind.TABLE, BlockKind.CODE})
_NOT_BLANK = re.compile(r"\S")
_COMMENT = re.compile(r"\s*(?://|#(?![\[\w])|/?\*|--\s|;|%)")
_RULE_LINE = re.compile(r"[\s|:+=-]+\Z")


class LeadFinder:
    """Finds the leads of the passages of a document."""

    def __init__(self, document: ParsedDocument, budget: Budget) -> None:
        self._text = document.text
        self._blocks = blocks = document.blocks
        self._metadata = document.metadata
        self._budget = budget
        self._starts = [block.start for block in blocks]
        self._leads: dict[int, str] = {}

    def find(self, start: int) -> str:
        """Return the lead of a passage that begins at an offset, empty when it needs none."""
        index = bisect_right(self._starts, start) - 1
        if not index and start == self._starts[0] and (lead := self._describe_properties()):
            return self._shorten(lead)
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
            lines = self._text[heading.start : heading.end].split("\n")
            code = [line for line in lines if not _COMMENT.match(line)]
            text = " ".join(" ".join(code or lines).split())
            return "" if text.lstrip("#= ").strip() == heading.label else text
        if block.label:
            return block.label
        # The header of a table is its first line that is no rule.
        lines = self._text[block.start : block.end].split("\n", 2)
        return next((line.strip() for line in lines[:2] if not _RULE_LINE.match(line)), "")

    def _describe_properties(self) -> str:
        """Return the properties of the document that its blocks do not hold."""
        properties = self._metadata.list_properties()
        if not properties or self._blocks[0].kind is BlockKind.PROPERTIES:
            return ""
        parts = (self._text[block.start : block.end] for block in self._blocks)
        text = "\n".join(parts).casefold()
        fields: dict[str, list[str]] = {}
        for key, value in properties:
            if value and key != "title" and value.casefold() not in text:
                fields.setdefault(key, []).append(value)
        return "; ".join(f"{key}: {', '.join(values)}" for key, values in fields.items())

    def _shorten(self, lead: str) -> str:
        """Return a lead that is not too long, cut at a word; none when a word is too long."""
        while lead:
            (size,) = self._budget.measure([lead])
            if len(lead) <= MAX_CHARS and size * MAX_SHARE <= self._budget.limit:
                break
            lead = lead[: min(MAX_CHARS, len(lead) * 3 // 4)].rpartition(" ")[0].rstrip()
        return lead


_PART_CHARS = 1_000_000
"""How much of a long text is cut at once, so that a limit leaves the passages before it."""

_HAS_WORD = re.compile(r"\w")
_UNNAMED = re.compile(
    r"(?:sheet|table|tabelle|feuil(?:le)?|hoja|foglio|planilha|blad|ark|лист|工作表|表格?|シート|시트)"
    r"[ _]?\d*",
    re.IGNORECASE,
)
"""The names that programs give to sheets and tables."""

_INTRODUCTION = (BlockKind.PARAGRAPH, BlockKind.LIST)


class Section(Struct):
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

    None of them crosses the begin of a place (a page, slide, cell or sheet), an end of properties,
    or much text between two blocks, which is left out. A name that a person gave to a sheet is a
    heading above its rows. `ends` of a heading says that its section has no text. `ends` of another
    block is a level: the sections of this and deeper levels end before it.
    """
    open_headings: list[Block] = []
    path: tuple[str, ...] = ()
    section = Section()
    sheets = {place.start: place.label for place in places}
    end = 0
    for block in blocks:
        far = block.start - end > MAX_GAP and len(text[end : block.start].strip()) > MAX_GAP
        end = block.end
        if section.blocks and end - section.blocks[0].start > _PART_CHARS:
            far = True
        if BlockKind.PROPERTIES in {block.kind, *(one.kind for one in section.blocks[-1:])}:
            far = True
        if (far or block.start in sheets) and section.blocks:
            yield section
            section = Section()
        if name := sheets.get(block.start):
            path = tuple(one for one in name.split("::") if not _UNNAMED.fullmatch(one))
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
            section.has_body = section.has_body or bool(
                _HAS_WORD.search(text, block.start, block.end)
            )
        if block.ends or block.kind is BlockKind.HEADING:
            path = tuple(above.label for above in open_headings if above.label)
        section.blocks.append(block)
        section.paths.append(path)
    if section.blocks:
        yield section


class _Part(Struct):
    """A block or a part that was cut `depth` times, with its size and its room in tokens."""

    kind: BlockKind
    where: Range
    room: int
    depth: int = 0
    size: int = 0


def split_document(document: ParsedDocument, budget: Budget) -> list[Chunk]:
    """Return the chunks of a document, in order and without overlap.

    Every character of a block that is not blank is in exactly one chunk. The title must leave
    room in the limit, as the titles of parsers do.
    """
    return list(iterate_chunks(document, budget))


def iterate_chunks(document: ParsedDocument, budget: Budget) -> Iterator[Chunk]:
    """Yield what `split_document` returns; a long document is cut part by part."""
    return _build_chunks(document, _draft_document(document, budget))


def _draft_document(document: ParsedDocument, budget: Budget) -> Iterator[ChunkDraft]:
    """Yield the drafts of a document, measured together for each part of whole sections."""
    text, title = document.text, document.title
    leads = LeadFinder(document, budget)
    remaining = split_sections(text, document.blocks, document.places)
    while sections := list(_take_sections(remaining)):
        paths = [path for part in sections for path in part.paths]
        contexts = build_contexts(title, paths, budget)
        cells = _measure_blocks(text, budget, sections, contexts)
        drafts = [
            draft._replace(lead=lead) if (lead := leads.find(draft.start)) else draft
            for section in sections
            for draft in _draft_chunks(text, section, contexts, cells)
        ]
        yield from enforce_limit(text, budget, title, drafts, leads.find)


def _take_sections(remaining: Iterator[Section]) -> Iterator[Section]:
    """Yield the next sections, up to one that ends a part."""
    start: int | None = None
    for section in remaining:
        start = section.blocks[0].start if start is None else start
        yield section
        if section.blocks[-1].end - start > _PART_CHARS:
            return


def _measure_blocks(
    text: str,
    budget: Budget,
    sections: Sequence[Section],
    contexts: dict[tuple[str, ...], Context],
) -> Iterator[list[Piece]]:
    """Yield the pieces of every block, each small enough for its chunk.

    All blocks of the document are counted in large batches, then all parts of those that are too
    long, and so on.
    """
    cells = [
        [_Part(block.kind, Range(block.start, block.end), contexts[path].room)]
        for section in sections
        for block, path in zip(section.blocks, section.paths, strict=True)
    ]
    _count_parts(text, budget, [*chain.from_iterable(cells)])
    # Headings get room in the block behind them, at most half of its room.
    taken = 0
    for (part,) in cells:
        if part.kind is BlockKind.HEADING:
            taken += part.size
        else:
            part.room = max(part.room - taken, -(-part.room // 2))
            taken = 0
    waiting = cells
    while waiting := [cell for cell in waiting if any(map(_is_too_long, cell))]:
        for cell in waiting:
            cell[:] = [smaller for part in cell for smaller in _cut_part(text, part)]
        _count_parts(text, budget, [part for cell in waiting for part in cell if not part.size])
    _count_gaps(text, budget, [*chain.from_iterable(cells)])
    for cell, after in zip_longest(cells, cells[1:]):
        pieces = [Piece(part.where, part.size, part.kind is BlockKind.HEADING) for part in cell]
        last = cell[-1]
        if after is not None and (last.kind, after[0].kind) == _INTRODUCTION:
            # The sentence that introduces a list stays with it.
            glued = text[slice(*last.where)].rstrip().endswith((":", "："))
            pieces[-1] = pieces[-1]._replace(glued=glued)
        yield pieces


def _count_parts(text: str, budget: Budget, parts: Sequence[_Part]) -> None:
    sizes = budget.measure_many(text[slice(*part.where)] for part in parts)
    for part, size in zip(parts, sizes, strict=True):
        part.size = max(size, 1)


def _count_gaps(text: str, budget: Budget, parts: Sequence[_Part]) -> None:
    """Add the text that is left out behind a part to its size; a chunk may contain it."""
    gaps = []
    for part, after in pairwise(parts):
        gap = text[part.where.end : after.where.start]
        if 0 < len(short := gap.strip()) <= MAX_GAP:
            start = part.where.end + gap.index(short)
            gaps.append((part, Range(start, start + len(short))))
    sizes = budget.measure_many(text[slice(*where)] for _, where in gaps)
    for (part, _), size in zip(gaps, sizes, strict=True):
        part.size += size


def _is_too_long(part: _Part) -> bool:
    """Return whether a part has to be cut and can be."""
    return part.size > part.room and part.where.end - part.where.start > 1


def _cut_part(text: str, part: _Part) -> list[_Part]:
    """Cut a part that is too long with the next cutter."""
    if not _is_too_long(part):
        return [part]
    cutters = get_cutters(part.kind)
    ranges = cutters[min(part.depth, len(cutters) - 1)](text, part.where, part.room)
    size = part.size if len(ranges) == 1 else 0
    return [_Part(part.kind, where, part.room, part.depth + 1, size) for where in ranges]


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
    """Return the path of the first block that is no heading, else what all paths begin with."""
    paths = []
    for index in range(first, len(section.blocks)):
        if section.blocks[index].start >= end:
            break
        if section.blocks[index].kind is not BlockKind.HEADING:
            return section.paths[index]
        paths.append(section.paths[index])
    levels = zip(*paths, strict=False)
    return tuple(level[0] for level in takewhile(lambda level: len({*level}) == 1, levels))


def _build_chunks(document: ParsedDocument, drafts: Iterable[ChunkDraft]) -> Iterator[Chunk]:
    text, edits = document.text, document.edits
    line, offset, ordinal = 1, 0, 0
    for draft in drafts:
        where = trim(text, Range(draft.start, draft.end))
        if where is None:
            continue
        line += text.count("\n", offset, where.start)
        offset = where.start
        seen = apply_edits(text, where.start, where.end, edits) if edits else text[slice(*where)]
        if not seen.strip():
            continue
        blank = seen[: len(seen) - len(seen.lstrip())]
        body = seen[blank.rfind("\n") + 1 :].rstrip()
        first = line + blank.count("\n")
        yield Chunk(
            ordinal=ordinal,
            text=body,
            start=where.start,
            end=where.end,
            start_line=first,
            end_line=first + body.count("\n"),
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
