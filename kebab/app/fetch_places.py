"""Fetches the pages, slides, cells and rows that a reference names."""

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

from kebab.app.fetch import Selection, build_lines
from kebab.app.file_text import FileText, PlaceLines, cite_place_lines
from kebab.app.reference_syntax import Lines
from kebab.app.references import build_lookup_fault
from kebab.core.media import CitationKind, get_media_type
from kebab.search.citations import quote_path
from kebab.wire.citation import Freshness
from kebab.wire.library import FetchKind, FetchResult, NotFound

_UNITS: dict[CitationKind, FetchKind] = {
    CitationKind.PAGE: "page",
    CitationKind.SLIDE: "slide",
    CitationKind.CELL: "cell",
}
_FEW_SHEETS = 3
_NUMBERS = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_ROWS = re.compile(r"[A-Z]*(\d{1,9})(?::[A-Z]*(\d{1,9}))?", re.IGNORECASE)
_NAMED_UNITS = {"page": "pages", "slide": "slides", "cell": "cells", "section": "sections"}


class Request(NamedTuple):
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
    text: FileText, fragment: str, freshness: Freshness, request: Request
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
    return _fetch_rows(text, sheet, cells, freshness, request)


def fetch_numbers(
    text: FileText, numbers: Lines, freshness: Freshness, request: Request
) -> FetchResult | NotFound:
    """Return the places with these numbers, and with context their neighbours."""
    unit = get_unit(text.document.media)
    found = [one for one in text.places if numbers.first <= one.place.number <= numbers.last]
    if not found or unit is None:
        return _build_missing(text, numbers.first, request)
    first, last = text.places.index(found[0]), text.places.index(found[-1])
    first, last = max(0, first - request.context), last + request.context
    around = text.places[first : last + 1]
    return _build_result(text, found, around, unit, freshness)


def _build_missing(text: FileText, number: int, request: Request) -> NotFound:
    """Return the reply that a document has no such place, with the nearest that has text."""
    unit = get_unit(text.document.media)
    near = sorted(text.places, key=lambda one: abs(one.place.number - number))[:2]
    candidates = [f"{quote_path(request.name)}#{unit}={one.place.number}" for one in near]
    last = max((max(one.place.number, one.place.of) for one in text.places), default=0)
    message = f"the last {unit} is {last}" if number > last else f"{unit} {number} has no text"
    return build_lookup_fault(
        request.reference, f"{message}: {request.reference}", dict.fromkeys(candidates)
    )


def find_missing_sheet(text: FileText, fragment: str, request: Request) -> NotFound | None:
    """Return the reply that a workbook has no such sheet; None for other fragments."""
    sheet, mark, _ = fragment.rpartition("!")
    sheets = list(dict.fromkeys(one.place.label for one in text.places if one.place.row))
    if not mark or not sheets:
        return None
    near = difflib.get_close_matches(sheet, sheets) or sheets[:_FEW_SHEETS]
    candidates = [f"{quote_path(request.name)}#{quote_path(one)}" for one in near]
    return build_lookup_fault(request.reference, f"no such sheet: {sheet}", candidates)


def _fetch_rows(
    text: FileText, sheet: str, cells: str, freshness: Freshness, request: Request
) -> FetchResult | NotFound | None:
    """Return a sheet or some of its rows, whole, and with context the rows around them."""
    inside = [
        one for one in text.places if one.place.row and one.place.label.lower() == sheet.lower()
    ]
    match = _ROWS.fullmatch(cells)
    if not inside or (cells and not match):
        return None
    if not match:
        return _build_result(text, inside, inside, "cell", freshness)
    first, last = int(match[1]), int(match[2] or match[1])
    found = _cut_rows(inside, first, last)
    if not found:
        cited = [cite_place_lines(request.name, one, CitationKind.CELL, one.first, one.last).uri
                 for one in inside]  # fmt: skip
        message = f"no text in these cells: {request.reference}"
        return build_lookup_fault(request.reference, message, cited)
    around = _cut_rows(inside, first - request.context, last + request.context)
    return _build_result(text, found, around, "cell", freshness)


def _cut_rows(places: Sequence[PlaceLines], first: int, last: int) -> list[PlaceLines]:
    """Return the parts of places that contain the rows `first` to `last`."""
    found = []
    for one in places:
        top = max(first, one.place.row)
        bottom = min(last, one.place.row + one.last - one.first)
        if top <= bottom:
            start = one.first + top - one.place.row
            place = one.place._replace(row=top)
            found.append(PlaceLines(place, start, start + bottom - top))
    return found


def _build_result(
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
