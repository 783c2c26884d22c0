"""Cites passages by lines, pages, slides, cells, sections or symbols, and formats references.

A `Place` is the `number` of a page, a slide or a notebook's cell. Only that of a sheet has a `row`:
its first one, with the `columns` (`A:F`) and the name of the sheet as `label`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from kebab.core.chunks import Place
from kebab.core.documents import PUBLISHED_ROOT, STDIN, StoredDocument
from kebab.core.files import join_root, quote_path
from kebab.core.media import CitationKind, get_media_type
from kebab.core.queries import Hit, StoredChunk
from kebab.wire.record import (
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
    find_fragment,
)

if TYPE_CHECKING:
    from kebab.wire.search import SearchHit


def cite_chunk(chunk: StoredChunk, first: int | None = None, last: int | None = None) -> Citation:
    """Return the citation of a chunk, of the kind that fits its file format.

    `first` and `last` narrow it to some lines of the text, where the kind can name them. `kebab
    fetch` takes its URI, which names the base of the chunk.
    """
    citation = _cite_place(chunk, first, last)
    return replace(citation, uri=f"{chunk.base}:{citation.uri}") if chunk.base else citation


def _cite_place(chunk: StoredChunk, first: int | None, last: int | None) -> Citation:
    media, path, place = get_media_type(chunk.media), chunk.path, chunk.place
    first, last = first or chunk.start_line, last or chunk.end_line
    if media.cites is CitationKind.CODE:
        return cite_code(path, first, last, chunk.heading_path, media.language)
    if not chunk.text and place is None and media.cites is not CitationKind.LINE:
        return SectionCitation(
            path=path, uri=quote_path(path), section=SectionSpan(title=chunk.title)
        )
    if media.cites is CitationKind.SECTION:
        return cite_section(path, chunk.heading_path, chunk.title, first, last)
    if place is None or media.cites is CitationKind.LINE:
        return cite_lines(path, first, last)
    if place.row:
        place = place._replace(row=place.row + first - chunk.start_line)
    return cite_place(path, place, media.cites, rows=last - first + 1)


def build_file_path(stored: StoredChunk | StoredDocument) -> str | None:
    """Return the absolute path of a document's file; None for text without one on this machine."""
    if stored.source == STDIN or stored.root.startswith(PUBLISHED_ROOT):
        return None
    return join_root(stored.root, stored.path)


def list_sources(hits: Iterable[Hit]) -> dict[str, str]:
    """Return the folder of each source of hits that has one on this machine."""
    chunks = (hit.chunk for hit in hits if not hit.chunk.base)
    return {one.source: one.root for one in chunks if build_file_path(one) is not None}


def cite_lines(path: str, start: int, end: int) -> Citation:
    """Return the citation of lines `start` to `end` of a file."""
    uri = format_reference(path, start, end)
    return LineCitation(path=path, uri=uri, line=LineSpan(start=start, end=end))


def cite_code(path: str, first: int, last: int, headings: Sequence[str], language: str) -> Citation:
    """Return the citation of lines of source code; `headings` are the symbols around them."""
    span = CodeSpan(start=first, end=last, symbol=".".join(headings), language=language)
    uri = format_reference(path, first, last)
    return CodeCitation(path=path, uri=uri, code=span)


def cite_section(path: str, headings: Sequence[str], title: str, first: int, last: int) -> Citation:
    """Return the citation of the section that some headings lead to.

    The headings between the title of the document and that of the section are part of the URI,
    because sections of different chapters often have the same title. Text without a heading has
    the URI of its lines `first` to `last`, which are lines of the extracted text.
    """
    names = list(headings[1:] if len(headings) > 1 and headings[0] == title else headings)
    uri = f"{quote_path(path)}#{'/'.join(map(quote_path, names))}"
    return SectionCitation(
        path=path,
        uri=uri if names else format_reference(path, first, last),
        section=SectionSpan(title=names[-1] if names else title),
    )


def cite_place(path: str, place: Place, kind: CitationKind, rows: int) -> Citation:
    """Return the citation of a page, a slide, or cells; of a sheet it names `rows` rows."""
    quoted = quote_path(path)
    if kind is CitationKind.PAGE:
        page = PageSpan(number=place.number, of=max(place.of, place.number))
        uri, origin = f"{quoted}#page={place.number}", place.origin or UNSET
        return PageCitation(path=path, uri=uri, page=page, origin=origin)
    if kind is CitationKind.SLIDE:
        slide = SlideSpan(number=place.number)
        return SlideCitation(path=path, uri=f"{quoted}#slide={place.number}", slide=slide)
    if not place.row:
        cell = CellSpan(index=place.number)
        return CellCitation(path=path, uri=f"{quoted}#cell={place.number}", cell=cell)
    first, _, last = place.columns.partition(":")
    cells = f"{first}{place.row}:{last or first}{place.row + rows - 1}"
    span = CellSpan(index=place.number, sheet=place.label, range=cells)
    uri = f"{quoted}#{quote_path(place.label)}!{cells}"
    return CellCitation(path=path, uri=uri, cell=span)


def format_reference(name: str, first: int, last: int) -> str:
    """Return the reference to lines `first` to `last` of a file, which `kebab fetch` takes."""
    return quote_path(name) + (f"#L{first}" if first == last else f"#L{first}-L{last}")


def locate_hit(hit: "SearchHit", sources: Mapping[str, str]) -> str | None:
    """Return the absolute path of the file of a hit; None for one without a file here.

    `sources` are the folders that come with the hit.
    """
    folder = None if hit.base else sources.get(hit.source)
    return None if folder is None else join_root(folder, hit.doc_path)


def format_hit_reference(
    hit: "SearchHit", lines: tuple[int, int] | None, file: str | None = None
) -> str:
    """Return a reference to `lines` of the file of a hit, or to the place of the hit without lines.

    `kebab fetch` takes it; with `file` it names the file by its whole path.
    """
    name = file or hit.doc_path
    base = f"{hit.base}:" if hit.base else ""
    if lines is None:
        return f"{base}{quote_path(name)}{find_fragment(hit.citation.uri)}"
    return base + format_reference(name, *lines)
