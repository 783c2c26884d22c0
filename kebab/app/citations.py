"""Cites passages by lines, pages, slides, cells, sections or symbols, and formats references."""

import unicodedata

from kebab.core.chunks import Place
from kebab.core.media import CitationKind, get_media_type
from kebab.core.queries import StoredChunk
from kebab.wire.citation import (
    CellCitation,
    CellSpan,
    Citation,
    CodeCitation,
    CodeSpan,
    LineCitation,
    LineSpan,
    PageCitation,
    PageSpan,
    SectionCitation,
    SectionSpan,
    SlideCitation,
    SlideSpan,
)

_RESERVED = frozenset("%#?\\\"<>^`{}|[]()*' ")


def cite_chunk(chunk: StoredChunk) -> Citation:
    """Return the citation of a chunk, of the kind that fits its file format."""
    media, path, place = get_media_type(chunk.media), chunk.path, chunk.place
    if media.cites is CitationKind.CODE:
        return _cite_code(chunk, media.language)
    if media.cites is CitationKind.SECTION:
        title = chunk.heading_path[-1] if chunk.heading_path else chunk.title
        uri = f"{quote_path(path)}#{quote_path(title)}"
        return SectionCitation(path=path, uri=uri, section=SectionSpan(title=title))
    if place is None or media.cites is CitationKind.LINE:
        return cite_lines(path, chunk.start_line, chunk.end_line)
    return _cite_place(path, place, media.cites, rows=chunk.end_line - chunk.start_line + 1)


def cite_lines(path: str, start: int, end: int) -> Citation:
    """Return the citation of lines `start` to `end` of a file."""
    uri = format_reference(path, start, end)
    return LineCitation(path=path, uri=uri, line=LineSpan(start=start, end=end))


def _cite_code(chunk: StoredChunk, language: str) -> Citation:
    first, last = chunk.start_line, chunk.end_line
    span = CodeSpan(start=first, end=last, symbol=".".join(chunk.heading_path), language=language)
    uri = format_reference(chunk.path, first, last)
    return CodeCitation(path=chunk.path, uri=uri, code=span)


def _cite_place(path: str, place: Place, kind: CitationKind, rows: int) -> Citation:
    """Return the citation of a page, a slide, or cells; `rows` is how many rows a sheet's has."""
    quoted = quote_path(path)
    if kind is CitationKind.PAGE:
        page = PageSpan(number=place.number, of=max(place.of, place.number))
        return PageCitation(path=path, uri=f"{quoted}#page={place.number}", page=page)
    if kind is CitationKind.SLIDE:
        slide = SlideSpan(number=place.number)
        return SlideCitation(path=path, uri=f"{quoted}#slide={place.number}", slide=slide)
    if not place.row:
        cell = CellSpan(index=place.number)
        return CellCitation(path=path, uri=f"{quoted}#cell={place.number}", cell=cell)
    cells = _format_cells(place, rows)
    span = CellSpan(index=place.number, sheet=place.label, range=cells)
    uri = f"{quoted}#{quote_path(place.label)}!{cells}"
    return CellCitation(path=path, uri=uri, cell=span)


def _format_cells(place: Place, rows: int) -> str:
    """Return the cells of some rows of a sheet, e.g. `A2:F20`."""
    first, _, last = place.columns.partition(":")
    return f"{first}{place.row}:{last or first}{place.row + rows - 1}"


def format_reference(name: str, first: int, last: int) -> str:
    """Return the reference to lines `first` to `last` of a file, which `kebab fetch` takes."""
    return quote_path(name) + (f"#L{first}" if first == last else f"#L{first}-L{last}")


def quote_path(path: str) -> str:
    """Return a path with reserved, blank and invisible characters escaped for an IRI."""
    return "".join(char if _is_plain(char) else _escape(char) for char in path)


def _is_plain(character: str) -> bool:
    if character in _RESERVED:
        return False
    return " " < character < "\x7f" or unicodedata.category(character)[0] not in "CZ"


def _escape(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))
