"""Reads the text of a document by lines, with its pages or cells, its headings and sections.

For a format that is cited by lines these are the lines of the file. For any other format they are
lines of the text that its parser extracted. While such a file is as it was indexed, its passages
give that text, so no parser runs and no library is needed.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from kebab.app.context import AppContext
from kebab.chunk.sections import (
    PlaceLines,
    Section,
    list_places,
    list_sections,
    restore_lines,
    restore_places,
    restore_sections,
)
from kebab.core.documents import DocumentDetail, ParsedDocument, StoredDocument
from kebab.core.files import CONTAINERS, join_root
from kebab.core.media import CitationKind, get_media_type
from kebab.core.ports import Parser
from kebab.core.queries import StoredChunk
from kebab.errors.catalog import DependencyMissing, IoError, ParseFailed, TimedOut
from kebab.errors.system import translate_os_errors
from kebab.search.citations import cite_code, cite_lines, cite_place, cite_section
from kebab.wire.library import FetchKind
from kebab.wire.record import ABSENT, Citation, Freshness


def parse_file(data: bytes, path: str, parser: Parser) -> ParsedDocument:
    """Parse a file as ingest does, an isolated one in a worker process with the usual limits.

    Raises:
        ParseFailed: The bytes are not text, or the parser refuses them.
        TimedOut: An isolated parser takes too long.
    """
    from kebab.core.ports import is_isolated
    from kebab.parse.registry import convert_exceptions

    if is_isolated(parser):
        from kebab.parse.isolation import parse_guarded

        return parse_guarded(parser, data, path)
    with convert_exceptions(path, parser.version):
        return parser.parse(data, path)


UNREADABLE = (IoError, ParseFailed, TimedOut, DependencyMissing)
"""The errors of a file whose text cannot be read at present."""


class FileText(Struct, frozen=True, eq=False, dict=True):
    """The text of a document by lines, with its places in order."""

    document: StoredDocument
    lines: Sequence[str]
    places: Sequence[PlaceLines] = ()
    _chunks: Sequence[StoredChunk] = ()
    """The passages of the document."""
    _load_sections: Callable[[], list[Section]] = list

    @cached_property
    def sections(self) -> list[Section]:
        """The sections in the order of their headings."""
        return self._load_sections()

    def find_place(self, line: int) -> PlaceLines | None:
        """Return the place that contains a line, or the last one before it."""
        before = [one for one in self.places if one.first <= line]
        return before[-1] if before else None

    def cite(self, first: int, last: int, symbols: Sequence[str] | None = None) -> Citation:
        """Return the citation of lines, of the kind that fits the file format.

        `symbols` are those around source code, where the caller knows them.
        """
        path, media = self.document.path, get_media_type(self.document.media)
        if media.cites is CitationKind.CODE:
            if symbols is None:  # those around the line when the file was indexed
                chunks = (one for one in self._chunks if one.start_line <= first <= one.end_line)
                symbols = next((one.heading_path for one in chunks), ())
            return cite_code(path, first, last, symbols, media.language)
        if media.cites is CitationKind.SECTION:
            inside = [one for one in self.sections if one.first <= first <= one.end]
            headings = inside[-1].path if inside else ()
            return cite_section(path, headings, self.document.title, first, last)
        found = self.find_place(first)
        if found is None or media.cites is CitationKind.LINE:
            return cite_lines(path, first, last)
        return cite_place_lines(path, found, media.cites, first, last)


def cite_place_lines(
    path: str, found: PlaceLines, kind: CitationKind, first: int, last: int
) -> Citation:
    """Return the citation of lines in a place; rows of a sheet are cited one by one."""
    place, first = found.place, max(first, found.first)
    if place.row:
        place = place._replace(row=place.row + first - found.first)
    return cite_place(path, place, kind, rows=max(1, min(last, found.last) - first + 1))


_UNITS: dict[CitationKind, FetchKind] = {
    CitationKind.PAGE: "page",
    CitationKind.SLIDE: "slide",
    CitationKind.CELL: "cell",
}


def get_unit(media: str) -> FetchKind | None:
    """Return what a format is divided into; None for lines and sections."""
    return _UNITS.get(get_media_type(media).cites)


def has_own_lines(media: str) -> bool:
    """Return whether a format is cited by the lines of its files."""
    return get_media_type(media).cites in {CitationKind.LINE, CitationKind.CODE}


def load_text(context: AppContext, detail: DocumentDetail, freshness: Freshness) -> FileText:
    """Return the text of a document as it is now.

    The passages give the text of a file that is gone or stayed with its publisher.

    Raises:
        IoError: The file cannot be read.
        ParseFailed: It no longer has the format that it had.
        DependencyMissing: It has changed, and its parser is not installed.
        TimedOut: It has changed, and its parser takes too long.
    """
    document = detail.summary
    if freshness in ABSENT:
        return join_passages(detail)
    if has_own_lines(document.media):
        lines = read_lines(context, document)
        return FileText(
            document, lines, (), detail.chunks, lambda: list_sections(_parse(context, document))
        )
    if freshness == "changed" and document.media not in CONTAINERS:
        parsed = _parse(context, document)
        places = list(list_places(parsed))
        lines = split_lines(parsed.text)
        return FileText(document, lines, places, (), lambda: list_sections(parsed))
    return join_passages(detail)


def join_passages(detail: DocumentDetail) -> FileText:
    """Return the text that was indexed: each passage at its lines."""
    lines = restore_lines(detail.chunks)
    chunks = detail.chunks
    places = list(restore_places(chunks))
    return FileText(detail.summary, lines, places, chunks, lambda: restore_sections(chunks, lines))


def _parse(context: AppContext, document: StoredDocument) -> ParsedDocument:
    parser = choose_parser(context, document.media)
    return parse_file(read_file(document), document.path, parser)


def choose_parser(context: AppContext, media: str) -> "Parser":
    """Return the parser of a media type, which may be that of a plugin."""
    from kebab.parse.isolation import find_parser

    return find_parser(context.settings.plugins, context.build_parsers(), media)


def read_file(document: StoredDocument) -> bytes:
    """Return the bytes of the file, or of the member of a container.

    Raises:
        IoError: It cannot be read.
        ParseFailed: The member cannot be read.
    """
    from kebab.parse.containers import read_document

    path = join_root(document.root, document.path)
    with translate_os_errors(Path(path), "read"):
        return read_document(path)


def read_lines(context: AppContext, document: StoredDocument) -> list[str]:
    """Return the lines of a text file, decoded as they were for the index.

    Raises:
        IoError: It cannot be read.
        ParseFailed: It is no longer text.
    """
    text = context.decode_text(read_file(document), Path(document.root, document.path))
    return split_lines(text)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text; the last line end begins no line."""
    return text.removesuffix("\n").split("\n") if text else []
