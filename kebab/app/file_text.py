"""Reads the text of a document by lines, with its pages or cells, its headings and sections.

For a format that is cited by lines these are the lines of the file. For any other format they are
lines of the text that its parser extracted. While such a file is as it was indexed, its passages
give that text, so no parser runs and no library is needed.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from kebab.app.context import AppContext
from kebab.core.chunks import Place
from kebab.core.documents import BlockKind, DocumentDetail, ParsedDocument, StoredDocument
from kebab.core.files import CONTAINERS, OcrSettings, join_root
from kebab.core.media import CitationKind, get_media_type
from kebab.core.ports import Parser
from kebab.core.queries import StoredChunk
from kebab.errors.catalog import DependencyMissing, IoError, ParseFailed, TimedOut
from kebab.errors.system import translate_os_errors
from kebab.search.citations import cite_code, cite_lines, cite_place, cite_section
from kebab.wire.citation import ABSENT, Citation, Freshness
from kebab.wire.library import FetchKind


def build_parsers(context: AppContext, *, asks: bool = False) -> Mapping[str, Parser]:
    """Return the parsers by media type; those of pictures read them as the settings say.

    Only with `asks` a model is asked about pictures that it has not seen.

    Raises:
        ConfigInvalid: The model server may not have pictures.
    """
    from kebab.parse.registry import configure_parsers

    ingest, model = context.settings.ingest, None
    if ingest.captions or ingest.ocr == "model":
        from kebab.app.model_adapters import PictureModel

        model = PictureModel(context.settings, context.paths.data, asks=asks)
    ocr = OcrSettings(ingest.ocr_languages, ingest.ocr_page_deadline_s)
    return configure_parsers(ocr if ingest.ocr is True else None, model)


class Section(NamedTuple):
    """A heading with everything below it, to the next heading of the same or a higher level.

    `first` and `last` are lines of the file, 1-based and inclusive; `end` is the last line with the
    blank lines that follow.
    """

    level: int
    title: str
    path: tuple[str, ...]
    first: int
    last: int
    end: int


_NO_LETTERS = re.compile(r"[\W_]+")


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


def list_sections(document: ParsedDocument) -> list[Section]:
    """Return the sections of a document in the order of their headings."""
    lines = document.text.removesuffix("\n").split("\n")
    return build_sections(list(_find_headings(document)), lines)


def build_sections(
    headings: Sequence[tuple[int, str | None, int]], lines: Sequence[str]
) -> list[Section]:
    """Return the sections of headings, each given by its level, title and line.

    Without a title it is where the sections of its level and below end.
    """
    sections = []
    path: list[tuple[int, str]] = []
    for number, (level, title, first) in enumerate(headings):
        if title is None:
            continue
        after = (line for other, _, line in headings[number + 1 :] if other <= level)
        end = next(after, len(lines) + 1) - 1
        last = end
        while last > first and not lines[last - 1].strip():
            last -= 1
        path = [entry for entry in path if entry[0] < level] + [(level, title)]
        sections.append(Section(level, title, tuple(name for _, name in path), first, last, end))
    return sections


def _find_headings(document: ParsedDocument) -> Iterator[tuple[int, str | None, int]]:
    """Yield the level, the title and the line of each heading.

    A block that ends sections has no title.
    """
    line, position = 1, 0
    for block in document.blocks:
        if block.kind is BlockKind.HEADING or block.ends:
            line += document.text.count("\n", position, block.start)
            position = block.start
            heading = block.kind is BlockKind.HEADING
            yield block.level or block.ends, block.label if heading else None, line


def find_section(sections: Iterable[Section], first: int, last: int) -> Section | None:
    """Return the smallest section that contains the lines; None when none contains them all."""
    inside = [section for section in sections if section.first <= first and last <= section.end]
    return inside[-1] if inside else None


def find_section_by_title(
    sections: Sequence[Section], title: str, document_title: str = ""
) -> Section | None:
    """Return the section with this title, or with this anchor of a link.

    The titles of sections above it may stand before its own. A section below no other, or below
    the title of the document only, wins; then the first with the title does. A title that ends in
    `…` is the beginning of one.
    """
    if title.endswith("…"):
        cut = make_anchor(title.removesuffix("…"))
        paths = (
            (one, make_anchor(" ".join(_drop_title(one.path, document_title)))) for one in sections
        )
        return next((one for one, path in paths if cut and path.startswith(cut)), None)
    wanted = make_anchor(title)
    forms: tuple[Callable[[Section], bool], ...] = (
        lambda one: make_anchor(" ".join(_drop_title(one.path, document_title))) == wanted,
        lambda one: make_anchor(one.title) == wanted,
        lambda one: f"-{make_anchor(' '.join(one.path))}".endswith(f"-{wanted}"),
    )
    found = (section for fits in forms for section in sections if fits(section))
    return next(found, None) if wanted else None


def _drop_title(path: tuple[str, ...], title: str) -> tuple[str, ...]:
    return path[1:] if len(path) > 1 and path[0] == title else path


def make_anchor(title: str) -> str:
    """Return a heading in the form that links use: lower case, with hyphens between words."""
    return _NO_LETTERS.sub("-", unicodedata.normalize("NFC", title).casefold()).strip("-")


_HEADING = re.compile(r"(#{1,6}) (.+)")

UNREADABLE = (IoError, ParseFailed, TimedOut, DependencyMissing)
"""The errors of a file whose text cannot be read at present."""


class PlaceLines(NamedTuple):
    """A page, a slide, a cell or rows of a sheet, and its lines, 1-based and inclusive."""

    place: Place
    first: int
    last: int


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
        places = list(_list_places(parsed))
        lines = split_lines(parsed.text)
        return FileText(document, lines, places, (), lambda: list_sections(parsed))
    return join_passages(detail)


def join_passages(detail: DocumentDetail) -> FileText:
    """Return the text that was indexed: each passage at its lines."""
    lines = _join_lines(detail.chunks)
    chunks = detail.chunks
    places = list(_group_places(chunks))
    return FileText(detail.summary, lines, places, chunks, lambda: _find_sections(chunks, lines))


def _parse(context: AppContext, document: StoredDocument) -> ParsedDocument:
    from kebab.parse.isolation import find_parser

    parser = find_parser(context.settings.plugins, build_parsers(context), document.media)
    return parse_file(read_file(document), document.path, parser)


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


def _list_places(parsed: ParsedDocument) -> Iterator[PlaceLines]:
    """Yield the places of a parsed document with their lines, without blank lines at the end."""
    ends = [*(place.start for place in parsed.places), len(parsed.text)][1:]
    line, position = 1, 0
    for place, end in zip(parsed.places, ends, strict=True):
        line += parsed.text.count("\n", position, place.start)
        position = place.start
        yield PlaceLines(place, line, line + parsed.text[place.start : end].rstrip().count("\n"))


def _group_places(chunks: Sequence[StoredChunk]) -> Iterator[PlaceLines]:
    """Yield the places of passages; passages of one place are in one, rows without gaps."""
    last: PlaceLines | None = None
    for chunk in chunks:
        if chunk.place is None:
            continue
        place, line = chunk.place, chunk.start_line
        if last is not None:
            before = last.place
            is_same = (before.number, before.label, before.origin) == (
                place.number,
                place.label,
                place.origin,
            )
            if is_same and (not place.row or place.row - line == before.row - last.first):
                last = last._replace(last=chunk.end_line)
                continue
            yield last
        last = PlaceLines(place, line, chunk.end_line)
    if last is not None:
        yield last


def _join_lines(chunks: Sequence[StoredChunk]) -> list[str]:
    """Return the lines of passages; two passages on one line are joined."""
    lines: list[str] = []
    for number, chunk in enumerate(chunks):
        first, *others = chunk.text.split("\n")
        lines += [""] * (chunk.start_line - 1 - len(lines))
        if number and lines and chunk.start_line <= len(lines):
            before = chunks[number - 1]
            if before.place is not None and chunk.place is not None:
                has_gap = chunk.place.start > before.place.start + len(before.text)
            else:  # a blank, except inside eastern text
                end = before.text[-1:]
                is_wide = bool(end) and unicodedata.east_asian_width(end) in "WF"
                has_gap = not is_wide or unicodedata.name(end, "").startswith("HANGUL")
            lines[-1] += " " * has_gap + first
        else:
            lines.append(first)
        lines += others
    return lines


def _find_sections(chunks: Sequence[StoredChunk], lines: Sequence[str]) -> list[Section]:
    """Return the sections of the passages; a parser writes headings as `#` lines at their start."""
    found: list[tuple[int, str, int]] = []
    for chunk in chunks:
        opening = []
        for number, line in enumerate(chunk.text.split("\n"), chunk.start_line):
            if match := _HEADING.fullmatch(line):
                opening.append((len(match[1]), match[2].strip(), number))
            elif line.strip():
                break
        # A long heading is cut in the path of a passage.
        last = chunk.heading_path[-1].removesuffix("…") if chunk.heading_path else None
        if last is not None and any(title.startswith(last) for _, title, _ in opening):
            found += opening
    return build_sections(found, lines)
