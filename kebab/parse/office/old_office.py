"""Reads Word and PowerPoint 97-2003 and documents of Hangul.

Word files are converted to `.docx` and read as such. The model that `dochan` makes of the others is
written into a builder: footnotes and captions follow what they belong to; headers and footers are
left out, as in Word documents.
"""

import re
import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kebab.core.chunks import Place
from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.errors.system import translate_import_errors
from kebab.parse.archive import (
    ENCRYPTED,
    OLE2_MAGIC,
    Archive,
    get_attribute,
    get_local_tag,
    read_tree,
)
from kebab.parse.blocks import TextBuilder
from kebab.parse.office.docx import DocxParser
from kebab.parse.office.ooxml import (
    LONGEST_HEADING,
    add_slide_heading,
    convert_properties,
    is_file_link,
)
from kebab.text.normalize import split_names

FAULTS = (
    *(ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError),
    *(ValueError, struct.error, zlib.error),
)
"""What the libraries raise for damaged files, beside their own exceptions."""


class DocParser(DocxParser):
    """Parses Word 97-2003 documents as the Word documents that they are converted to."""

    version = "doc-v3"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; citations name its sections.

        Raises:
            ParseFailed: The file is damaged, encrypted, or no Word document.
            DependencyMissing: The library is not installed.
        """
        refuse_foreign(data, path, self.version)
        with translate_import_errors("reading Word 97-2003 documents", "msdoc2docx", "office"):
            from doc2docx import convert
            from doc2docx.errors import Doc2DocxError, EncryptedDocumentError
        if len(_read_stream(data, "WordDocument")) > _MAX_CONVERTED_BYTES:
            document = _read_elements(data, path, self.version, ".doc")
            return document._replace(warnings=(*document.warnings, _LONG))
        with TemporaryDirectory(prefix="kebab-") as folder:
            source, target = Path(folder, "file.doc"), Path(folder, "file.docx")
            source.write_bytes(data)
            try:
                report = convert(source, target).report
                converted = target.read_bytes()
            except EncryptedDocumentError as fault:
                raise ParseFailed(path=path, parser=self.version, cause=ENCRYPTED) from fault
            except (Doc2DocxError, *FAULTS) as fault:
                document = _read_elements(data, path, self.version, ".doc")
                if not document.text:
                    raise ParseFailed(path=path, parser=self.version, cause=_FOREIGN) from fault
                return document._replace(warnings=(_DAMAGED,))
        document = super().parse(converted, path)
        is_partial = any(one.code in _LOST_PARTS for one in report.diagnostics)
        warnings = (*document.warnings, *([_DAMAGED] if is_partial else ()))
        return document._replace(warnings=warnings)


_MAX_CONVERTED_BYTES = 400_000
"""The longest text to convert: the time grows with its square, and this takes about 7 s."""

_LONG = "the document is long: the numbers of its lists and the places of its notes are not read"
_LOST_PARTS = split_names(
    "MAIN_TEXTBOX_TABLE_MALFORMED NUMBERING_TABLE_MALFORMED STYLE_TABLE_MALFORMED"
)
"""Reports of the conversion that text or the meaning of styles is lost."""


class PptParser:
    """Parses PowerPoint 97-2003 presentations: each slide is a place, its title a heading."""

    version = "ppt-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The file is damaged, encrypted, or no presentation.
            DependencyMissing: The library is not installed.
        """
        refuse_foreign(data, path, self.version)
        return _read_elements(data, path, self.version, ".ppt")


class HwpParser:
    """Parses documents of Hangul 5 and later (`.hwp`), and their XML form (`.hwpx`)."""

    version = "hwp-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; citations name its sections. Deleted text is left out.

        Raises:
            ParseFailed: The file is damaged, encrypted, or no document of Hangul 5 or later.
            DependencyMissing: The library is not installed.
        """
        if data.startswith(b"PK"):
            archive = Archive(data, path, self.version)
            if b"encryption-data" in (archive.find("META-INF/manifest.xml") or b""):
                raise archive.refuse(ENCRYPTED)
            metadata = _read_hwpx_metadata(archive)
            return _read_elements(data, path, self.version, ".hwpx", metadata)
        if data.startswith(b"HWP Document File"):
            cause = "a document of Hangul 3; save it as HWPX, DOCX or PDF"
            raise ParseFailed(path=path, parser=self.version, cause=cause)
        refuse_foreign(data, path, self.version)
        return _read_elements(data, path, self.version, ".hwp")


def refuse_foreign(data: bytes, path: str, parser: str) -> None:
    """Refuse a file that is no compound file.

    Raises:
        ParseFailed: It is none.
    """
    if not data.startswith(OLE2_MAGIC):
        raise ParseFailed(path=path, parser=parser, cause="damaged: not a compound file")


def _read_elements(
    data: bytes, path: str, parser: str, suffix: str, metadata: Metadata | None = None
) -> ParsedDocument:
    """Return the document that `dochan` reads; without metadata, with that of a compound file.

    Raises:
        ParseFailed: The file is damaged, encrypted, or has pictures and no text.
    """
    with translate_import_errors("reading old Office and Hangul documents", "dochan", "office"):
        from dochan import Dochan
    options = {"revision_mode": "final"} if suffix.startswith(".hwp") else {}
    with TemporaryDirectory(prefix="kebab-") as folder:
        source = Path(folder, f"file{suffix}")
        source.write_bytes(data)
        try:
            model = Dochan(str(source), **options).doc
        except FAULTS as fault:
            raise ParseFailed(path=path, parser=parser, cause=_FOREIGN) from fault
    errors = "\n".join(model.errors)
    if "MemoryError" in errors:  # the library catches it
        raise MemoryError
    writer = ElementWriter([style.name for style in model.styles])
    for number, section in enumerate(model.sections, 1):
        if model.source_format == "ppt":
            writer.add_slide(section.elements, Place(0, number, of=len(model.sections)))
        else:
            writer.add(section.elements)
    builder, warning = writer.builder, _DAMAGED if _LOSS.search(errors) else ""
    if "ERR" in errors and not builder.length:
        warning = _PREVIEW
        for line in _read_stream(data, "PrvText").decode("utf-16-le", "replace").splitlines():
            builder.add_paragraph(line)
    cause = ""
    if not builder.length:
        cause = _FOREIGN if "ERR" in errors else "only images, no text" if writer.pictures else ""
        cause = "it exceeds the limits of the library" if _LIMIT.search(errors) else cause
    if _PROTECTED.search(errors) and "ERR" in errors:
        cause = ENCRYPTED
    if cause or model.source_format not in {"", suffix[1:]}:
        raise ParseFailed(path=path, parser=parser, cause=cause or _FOREIGN)
    metadata = _read_properties(data) if metadata is None else metadata
    return builder.build(path, metadata, warnings=[warning] * bool(warning), links=writer.links)


_LOSS = re.compile(r"ERR|생략|초과|budget|exceeded|skipped|omitted|truncated|malformed")
"""Reports of the library that some text is left out."""

_LIMIT = re.compile(r"limit|exceed|초과")
_FOREIGN = "damaged, or of another kind"
_PROTECTED = re.compile(r"암호|DRM|password|ncrypt")
_DAMAGED = "parts of the file are damaged and not read"
_PREVIEW = "only the preview is read, which is the beginning of the text: the rest is damaged"


_SUMMARIES = ("\x05SummaryInformation", "\x05HwpSummaryInformation")
_SUMMARY_ID = bytes.fromhex("e0859ff2f94f6810ab9108002b27b3d9")
"""The id of the properties of Office; those of Hangul have the same form under another id."""

_ID = slice(28, 44)


def _read_stream(data: bytes, name: str) -> bytes:
    with translate_import_errors("reading old Office documents", "dochan", "office"):
        from dochan.cfb import OleFileIO

    try:
        with OleFileIO(data) as container:
            content: bytes = container.openstream(name).read() if container.exists(name) else b""
            return content
    except FAULTS:
        return b""


def _read_properties(data: bytes) -> Metadata:
    with translate_import_errors("reading properties of documents", "msdoc2docx", "office"):
        from doc2docx.diagnostics import ConversionReport
        from doc2docx.errors import Doc2DocxError
        from doc2docx.oleps import read_summary_information
    content = bytearray(next(filter(None, (_read_stream(data, one) for one in _SUMMARIES)), b""))
    content[_ID] = _SUMMARY_ID
    try:
        found = read_summary_information(bytes(content), report=ConversionReport("", ""))
    except (Doc2DocxError, *FAULTS):
        return Metadata()
    names = ("title", "creator", "keywords", "modified", "created")
    return convert_properties({name: getattr(found, name) or "" for name in names})


def _read_hwpx_metadata(archive: Archive) -> Metadata:
    name = "Contents/content.hpf"
    fields: dict[str, str] = {}
    try:
        root = read_tree(archive.read(name), name, archive.refuse)
    except ParseFailed:  # the text is worth more than its title
        return Metadata()
    for element in root.iter():
        name = get_attribute(element, "name") or get_local_tag(element.tag)
        fields[_HWPX_FIELDS.get(name, name)] = element.text or ""
    return convert_properties(fields)


_HWPX_FIELDS = {"keyword": "keywords", "ModifiedDate": "modified", "CreatedDate": "created"}


_OUTLINE = re.compile(r"(?:개요|outline)\s*(\d)", re.IGNORECASE)
"""The styles of headings in Hangul."""

_LONG_CELL_CHARS = 2_000
_SUMMARY_PATH = _SUMMARIES[0]


class ElementWriter:
    """Writes the elements of a model of `dochan` into a builder, and counts its pictures."""

    def __init__(self, styles: Sequence[str]) -> None:
        """`styles` are the names of the styles of paragraphs by number."""
        self.builder = TextBuilder()
        self.links: list[str] = []
        self.pictures = 0
        self._styles = styles
        self._items: list[tuple[int, str]] = []

    def add(self, elements: Iterable[Any]) -> None:
        """Add elements in their order."""
        for element in elements:
            kind = type(element).__name__
            if _get_path(element) == _SUMMARY_PATH:
                continue
            if kind == "Paragraph":
                self._add_paragraph(element)
                continue
            self._flush()
            if kind == "Table":
                self._add_table(element)
            elif kind in {"Footnote", "Comment"}:
                self.builder.add_paragraph(f"{element.type.capitalize()}: {element.text.strip()}")
            elif kind == "Equation":
                self.builder.add_paragraph(element.latex or element.script)
            elif kind == "Image":
                self.pictures += 1
                self.builder.add_paragraph(element.caption_text)
        self._flush()

    def add_slide(self, elements: Iterable[Any], place: Place) -> None:
        """Add a slide: its title, its contents, and its notes and comments as quotations."""
        title, body, quotes = "", [], []
        for element in elements:
            path = _get_path(element)
            part = path.rpartition("#")[2]
            if part in {"notes", "comments"}:
                quotes.append((part, element.text))
            elif getattr(element, "heading_level", 0) and path != _SUMMARY_PATH:
                title = f"{title} {element.text}".strip()
            else:
                body.append(element)
        self.builder.begin_place(place)
        # The number of the page of notes is a field in it.
        notes = [text for part, text in quotes if part == "notes" and text != str(place.number)]
        comments = [
            text[1:-1].removeprefix("comment: ") for part, text in quotes if part == "comments"
        ]
        lines = ["Notes: " + "\n".join(notes)] if notes else []
        lines += [f"Comment: {text}" for text in comments]
        texts = (getattr(one, "text", "") or hasattr(one, "rows") for one in body)
        has_text = bool(lines) or any(texts)
        add_slide_heading(self.builder, title, place.number, hidden=False, has_text=has_text)
        self.add(body)
        for line in lines:
            self.builder.add_quote(line)

    def _add_paragraph(self, paragraph: Any) -> None:
        runs = [run for run in paragraph.runs if not run.note_ref]
        runs = [run for run in runs if not getattr(run, "_bookmark_annotation", False)]
        self.links += [run.link for run in runs if is_file_link(run.link)]
        marker = "".join(run.text for run in runs if _is_marker(run)).strip()
        text = "".join(
            run.text or getattr(run.equation, "latex", "") for run in runs if not _is_marker(run)
        ).strip()
        if marker and text:
            self._items.append((0, f"{marker} {text}" if marker[0].isalnum() else text))
            return
        self._flush()
        style = (
            self._styles[paragraph.style_id] if 0 <= paragraph.style_id < len(self._styles) else ""
        )
        named = _OUTLINE.match(style)
        level = int(named[1]) if named else paragraph.heading_level
        if level and len(text) <= LONGEST_HEADING:
            self.builder.add_heading(level, text)
        else:
            self.builder.add_paragraph(text)

    def _add_table(self, table: Any) -> None:
        """Add a table; one of a single column, or with long texts, places parts of the page."""
        self.builder.add_paragraph(table.caption_text)
        cells = [cell for row in table.rows for cell in row if not cell.is_merged_away]
        is_narrow = all(sum(bool(cell.text) for cell in row) <= 1 for row in table.rows)
        if is_narrow or any(len(cell.text) > _LONG_CELL_CHARS for cell in cells):
            for cell in cells:
                self.add(cell.paragraphs)
            return
        rows = [[cell.text for cell in row] for row in table.rows]
        for number, row in enumerate(table.rows):
            for column, cell in enumerate(row):
                # A merged cell stands in each of its rows, and in the first of its columns.
                for below in rows[number + 1 : number + max(1, cell.row_span)]:
                    if column < len(below) and not below[column]:
                        below[column] = cell.text
        self.builder.add_table(rows, header=all(rows[0]))
        for cell in cells:
            self.add(one for one in cell.paragraphs if type(one).__name__ in _NOTES)

    def _flush(self) -> None:
        if self._items:
            self.builder.add_list(self._items)
            self._items = []


_NOTES = frozenset({"Footnote", "Comment"})


def _get_path(element: Any) -> str:
    path: str = getattr(getattr(element, "provenance", None), "path", "")
    return path


def _is_marker(run: Any) -> bool:
    return getattr(run, "_ppt_generated_list_prefix", False)
