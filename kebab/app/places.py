"""Cuts what was asked for out of a document: lines, a passage, pages, slides, cells, rows."""

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import UNSET, Struct
from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.file_text import (
    UNREADABLE,
    FileText,
    PlaceLines,
    cite_place_lines,
    join_passages,
    load_text,
)
from kebab.app.reference_syntax import Lines
from kebab.app.references import build_lookup_fault
from kebab.core.documents import DocumentDetail, check_freshness
from kebab.core.media import CitationKind, get_media_type
from kebab.core.queries import StoredChunk
from kebab.search.citations import cite_chunk, quote_path
from kebab.wire.citation import ABSENT, Citation, FetchedPlace, Freshness
from kebab.wire.library import FetchKind, FetchResult
from kebab.wire.record import NotFound


class Selection(Struct, frozen=True, kw_only=True):
    """The lines of a text that are cited, 1-based and inclusive."""

    text: FileText
    freshness: Freshness
    kind: FetchKind
    start: int
    end: int
    chunk: StoredChunk | None = None
    citation: Citation | None = None
    """The citation of the lines; None where the text itself gives it."""


def fetch_passage(
    context: AppContext, chunk: StoredChunk, detail: DocumentDetail, context_lines: int
) -> FetchResult:
    """Return the lines of a passage of a document, also where an edit moved them.

    When the file no longer contains the passage, the text is the one that was indexed.
    """
    freshness = check_freshness(detail.summary)
    try:
        text = load_text(context, detail, freshness)
        moved = locate_passage(text.lines, chunk) if freshness == "changed" else None
    except UNREADABLE:
        if freshness == "fresh":
            raise
        text, moved = join_passages(detail), None
    lines = moved or (chunk.start_line, chunk.end_line)
    selection = Selection(
        text=text,
        freshness=freshness,
        kind="chunk",
        start=lines[0],
        end=lines[1],
        chunk=chunk,
        citation=None if moved else cite_chunk(chunk),
    )
    if freshness == "changed" and not moved:
        return build_indexed_text(selection, chunk.text)
    return build_lines(selection, context_lines)


def fetch_document(context: AppContext, found: DocumentDetail) -> FetchResult:
    """Return a whole file; when it is gone, the text that was indexed."""
    freshness = check_freshness(found.summary)
    text = load_text(context, found, freshness)
    count = max(1, len(text.lines))
    return build_lines(Selection(text=text, freshness=freshness, kind="doc", start=1, end=count))


def locate_passage(lines: Sequence[str], chunk: StoredChunk) -> tuple[int, int] | None:
    """Return the lines that contain the text of a passage now, nearest to where it was."""
    text, wanted = "\n".join(lines), chunk.text
    starts = []
    position = text.find(wanted) if wanted else -1
    while position >= 0:
        starts.append(text.count("\n", 0, position) + 1)
        position = text.find(wanted, position + len(wanted))
    if not starts:
        return None
    first = min(starts, key=lambda start: abs(start - chunk.start_line))
    return first, first + wanted.count("\n")


def build_lines(selection: Selection, context_lines: int = 0) -> FetchResult:
    """Return the selected lines of a text, with further lines on both sides."""
    lines = selection.text.lines
    first = max(1, selection.start - context_lines)
    last = min(len(lines), selection.end + context_lines)
    text = "\n".join(lines[first - 1 : last])
    found = build_indexed_text(selection, text, (first, max(first, last)))
    return replace(found, is_indexed_text=selection.freshness in ABSENT)


def build_indexed_text(
    selection: Selection, text: str, span: tuple[int, int] | None = None
) -> FetchResult:
    """Return text that was indexed; `span` are its lines, by default those of the selection."""
    document = selection.text.document
    first, last = span or (selection.start, selection.end)
    return FetchResult(
        kind=selection.kind,
        doc_id=document.doc_id,
        doc_path=document.path,
        title=document.title,
        chunk_id=selection.chunk.chunk_id if selection.chunk else None,
        text=text,
        start_line=first,
        end_line=last,
        line_count=len(selection.text.lines),
        citation=selection.citation or selection.text.cite(selection.start, selection.end),
        freshness=selection.freshness,
        truncated=False,
        is_indexed_text=True,
        places=_list_places(selection.text, first, last) or UNSET,
    )


def _list_places(text: FileText, first: int, last: int) -> list[FetchedPlace]:
    """Return the pages, slides or cells of lines."""
    path, kind = text.document.path, get_media_type(text.document.media).cites
    inside = (one for one in text.places if one.first <= last and first <= one.last)
    return [
        FetchedPlace(
            line=max(one.first, first),
            uri=cite_place_lines(path, one, kind, first, last).uri,
            origin=one.place.origin or UNSET,
        )
        for one in inside
    ]


_UNITS: dict[CitationKind, FetchKind] = {
    CitationKind.PAGE: "page",
    CitationKind.SLIDE: "slide",
    CitationKind.CELL: "cell",
}
_FEW_SHEETS = 3
_NUMBERS = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_ROWS = re.compile(r"[A-Z]*(\d{1,9})(?::[A-Z]*(\d{1,9}))?", re.IGNORECASE)
_NAMED_UNITS = {"page": "pages", "slide": "slides", "cell": "cells", "section": "sections"}


class PlaceRequest(NamedTuple):
    """A reference to a place: as given, the shortest name of its document, and the context."""

    reference: str
    name: str
    context: int


def get_unit(media: str) -> FetchKind | None:
    """Return what a format is divided into; None for lines and sections."""
    return _UNITS.get(get_media_type(media).cites)


def find_foreign_unit(media: str, fragment: str) -> str | None:
    """Return the units of a fragment such as `page=3` that a format does not have."""
    name, mark, _ = fragment.partition("=")
    unit = _NAMED_UNITS.get(name) if mark else None
    return None if name == get_unit(media) else unit


def describe_units(media: str) -> str:
    """Return what a document of a format has instead of other units."""
    unit = get_unit(media)
    if unit:
        return f"{unit}s"
    return "sections" if get_media_type(media).cites is CitationKind.SECTION else "lines"


def fetch_fragment(
    text: FileText, fragment: str, freshness: Freshness, request: PlaceRequest
) -> FetchResult | NotFound | None:
    """Return the places that a fragment names; None when it names none in any form.

    The forms are `page=3`, `page=3-5`, `slide=4`, `cell=0`, `Sheet1` and `Sheet1!A2:F20`.
    """
    unit = get_unit(text.document.media)
    if unit is None:
        return None
    name, _, numbers = fragment.partition("=")
    match = _NUMBERS.fullmatch(numbers)
    if name.lower() == unit and match:
        first, last = int(match[1]), int(match[2] or match[1])
        return fetch_numbers(text, Lines(min(first, last), max(first, last)), freshness, request)
    sheet, _, cells = fragment.rpartition("!") if "!" in fragment else (fragment, "", "")
    # A sheet or some of its rows, whole, and with context the rows around them.
    inside = [
        one for one in text.places if one.place.row and one.place.label.lower() == sheet.lower()
    ]
    match = _ROWS.fullmatch(cells)
    if not inside or (cells and not match):
        return None
    if not match:
        return _build_places(text, inside, inside, "cell", freshness)
    first, last = int(match[1]), int(match[2] or match[1])
    found = _cut_rows(inside, first, last)
    if not found:
        cited = [cite_place_lines(request.name, one, CitationKind.CELL, one.first, one.last).uri
                 for one in inside]  # fmt: skip
        message = f"no text in these cells: {request.reference}"
        return build_lookup_fault(request.reference, message, cited)
    around = _cut_rows(inside, first - request.context, last + request.context)
    return _build_places(text, found, around, "cell", freshness)


def fetch_numbers(
    text: FileText, numbers: Lines, freshness: Freshness, request: PlaceRequest
) -> FetchResult | NotFound:
    """Return the places with these numbers, and with context their neighbours."""
    unit = get_unit(text.document.media)
    found = [one for one in text.places if numbers.first <= one.place.number <= numbers.last]
    if not found or unit is None:
        return _build_missing(text, numbers.first, request)
    first, last = text.places.index(found[0]), text.places.index(found[-1])
    first, last = max(0, first - request.context), last + request.context
    around = text.places[first : last + 1]
    return _build_places(text, found, around, unit, freshness)


def _build_missing(text: FileText, number: int, request: PlaceRequest) -> NotFound:
    """Return the reply that a document has no such place, with the nearest that has text."""
    unit = get_unit(text.document.media)
    near = sorted(text.places, key=lambda one: abs(one.place.number - number))[:2]
    candidates = [f"{quote_path(request.name)}#{unit}={one.place.number}" for one in near]
    last = max((max(one.place.number, one.place.of) for one in text.places), default=0)
    message = f"the last {unit} is {last}" if number > last else f"{unit} {number} has no text"
    return build_lookup_fault(
        request.reference, f"{message}: {request.reference}", dict.fromkeys(candidates)
    )


def find_missing_sheet(text: FileText, fragment: str, request: PlaceRequest) -> NotFound | None:
    """Return the reply that a workbook has no such sheet; None for other fragments."""
    sheet, mark, _ = fragment.rpartition("!")
    sheets = list(dict.fromkeys(one.place.label for one in text.places if one.place.row))
    if not mark or not sheets:
        return None
    near = difflib.get_close_matches(sheet, sheets) or sheets[:_FEW_SHEETS]
    candidates = [f"{quote_path(request.name)}#{quote_path(one)}" for one in near]
    return build_lookup_fault(request.reference, f"no such sheet: {sheet}", candidates)


def _cut_rows(places: Sequence[PlaceLines], first: int, last: int) -> list[PlaceLines]:
    found = []
    for one in places:
        top = max(first, one.place.row)
        bottom = min(last, one.place.row + one.last - one.first)
        if top <= bottom:
            start = one.first + top - one.place.row
            place = one.place._replace(row=top)
            found.append(PlaceLines(place, start, start + bottom - top))
    return found


def _build_places(
    text: FileText,
    found: Sequence[PlaceLines],
    around: Sequence[PlaceLines],
    unit: FetchKind,
    freshness: Freshness,
) -> FetchResult:
    """Return the text of the places around; the citation is that of the first one found."""
    document = text.document
    kind = get_media_type(document.media).cites
    selection = Selection(
        text=text,
        freshness=freshness,
        kind=unit,
        start=around[0].first,
        end=around[-1].last,
        citation=cite_place_lines(document.path, found[0], kind, found[0].first, found[0].last),
    )
    return build_lines(selection)
