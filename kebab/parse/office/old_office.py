"""Reads Word and PowerPoint 97-2003 and documents of Hangul.

Word files are converted to `.docx` and read as such. The model that `dochan` makes of the others is
written into a builder: footnotes and comments follow what they belong to, headers and footers
stand at the end.
"""

import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kebab.core.chunks import Place
from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.errors.system import translate_import_errors
from kebab.limits.deadline import build_refusal
from kebab.parse.archive import ENCRYPTED, OLE2_MAGIC, Archive
from kebab.parse.blocks import TextBuilder, label_note
from kebab.parse.metadata import convert_properties
from kebab.parse.office.docx import DocxParser
from kebab.parse.office.ooxml import (
    LONGEST_HEADING,
    add_margins,
    add_slide_heading,
    is_file_link,
    read_properties,
)
from kebab.text.normalize import split_names

FAULTS = (
    *(ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError),
    *(ValueError, struct.error, zlib.error),
)
"""What the libraries raise for damaged files, beside their own exceptions."""

_LOSS = re.compile(r"ERR|생략|초과|budget|exceeded|skipped|omitted|truncated|malformed")
"""Reports of the library that some text is left out."""

_LIMIT = re.compile(r"limit|exceed|초과")
_PROTECTED = re.compile(r"암호|DRM|password|ncrypt")
_FOREIGN = "damaged, or of another kind"
_DAMAGED = "parts of the file are damaged and not read"
_PREVIEW = "only the preview is read, which is the beginning of the text: the rest is damaged"
_HANGUL_3 = "a document of Hangul 3; save it as HWPX, DOCX or PDF"
_UNNUMBERED = "the numbers of lists and the places of notes are not read"
_MAX_CONVERTED_BYTES = 400_000
"""The longest text to convert: the time grows with its square, and this takes about 7 s."""

_LOST_PARTS = split_names(
    "MAIN_TEXTBOX_TABLE_MALFORMED NUMBERING_TABLE_MALFORMED STYLE_TABLE_MALFORMED"
)
"""Reports of the conversion that text or the meaning of styles is lost."""


class DocParser(DocxParser):
    """Parses Word 97-2003 documents as the Word documents that they are converted to."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; citations name its sections."""
        refuse_foreign(data)
        with translate_import_errors("reading Word 97-2003 documents", "msdoc2docx", "office"):
            from doc2docx import convert
            from doc2docx.errors import Doc2DocxError, EncryptedDocumentError
        with TemporaryDirectory(prefix="kebab-") as folder:
            source, target = Path(folder, "file.doc"), Path(folder, "file.docx")
            source.write_bytes(data)
            try:
                if len(_read_stream(data, "WordDocument")) > _MAX_CONVERTED_BYTES:
                    raise ValueError(_UNNUMBERED)
                report = convert(source, target).report
                converted = target.read_bytes()
            except EncryptedDocumentError as fault:
                raise build_refusal(ENCRYPTED) from fault
            except (Doc2DocxError, *FAULTS):
                document = OldOfficeParser("doc").parse(data, path)
                if not document.text:
                    raise build_refusal(_FOREIGN) from None
                return document._replace(warnings=(*document.warnings, _UNNUMBERED))
        document = super().parse(converted, path)
        is_partial = any(one.code in _LOST_PARTS for one in report.diagnostics)
        return document._replace(warnings=(*document.warnings, *[_DAMAGED] * is_partial))


class OldOfficeParser:
    """Parses PowerPoint 97-2003, Hangul 5 and later with its XML form, and damaged Word files."""

    def __init__(self, kind: str) -> None:
        """Name the format: `doc`, `ppt` or `hwp`."""
        self._kind = kind

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; citations name its sections or slides. Deleted text is left out."""
        kind, metadata = self._detect_kind(data)
        with translate_import_errors("reading old Office and Hangul documents", "dochan", "office"):
            from dochan import Dochan
        options = {"revision_mode": "final"} if kind.startswith("hwp") else {}
        with TemporaryDirectory(prefix="kebab-") as folder:
            source = Path(folder, f"file.{kind}")
            source.write_bytes(data)
            try:
                model = Dochan(str(source), **options).doc
            except FAULTS as fault:
                raise build_refusal(_FOREIGN) from fault
        if any("MemoryError" in error for error in model.errors):  # the library catches it
            raise MemoryError
        errors = "\n".join(model.errors)
        writer = _ElementWriter([style.name for style in model.styles])
        for number, section in enumerate(model.sections, 1):
            if kind == "ppt":
                writer.add_slide(section.elements, Place(0, number, of=len(model.sections)))
            else:
                writer.add(section.elements)
        builder, warning = writer.builder, _DAMAGED if _LOSS.search(errors) else ""
        add_margins(builder, writer.margins)
        if kind == "ppt":
            footers = _list_footers(_read_stream(data, "PowerPoint Document"))
            builder.leave_out("headers and footers", " ".join(dict.fromkeys(footers)))
        if "ERR" in errors and not builder.length:
            warning = _PREVIEW
            for line in _read_stream(data, "PrvText").decode("utf-16-le", "replace").splitlines():
                builder.add_paragraph(line)
        cause = _PROTECTED.search(errors) and "ERR" in errors and ENCRYPTED
        if not cause and not builder.length:
            is_limited = _LIMIT.search(errors)
            damage = _FOREIGN if "ERR" in errors else ""
            cause = "it exceeds the limits of the library" if is_limited else damage
        if cause or model.source_format not in {"", kind}:
            raise build_refusal(cause or _FOREIGN)
        metadata = metadata or _read_properties(data)
        return builder.build(path, metadata, warnings=[warning] * bool(warning), links=writer.links)

    def _detect_kind(self, data: bytes) -> tuple[str, Metadata | None]:
        """Return the suffix for a file, and the metadata of one in XML."""
        if self._kind == "hwp" and data.startswith(b"PK"):
            archive = Archive(data)
            if b"encryption-data" in (archive.find("META-INF/manifest.xml") or b""):
                raise build_refusal(ENCRYPTED)
            metadata = Metadata()
            with suppress(ParseFailed):  # the text is worth more than its title
                metadata = read_properties(archive.find_tree("Contents/content.hpf"))
            return "hwpx", metadata
        if self._kind == "hwp" and data.startswith(b"HWP Document File"):
            raise build_refusal(_HANGUL_3)
        refuse_foreign(data)
        return self._kind, None


def refuse_foreign(data: bytes) -> None:
    """Refuse a file that is no compound file."""
    if not data.startswith(OLE2_MAGIC):
        raise build_refusal("damaged: not a compound file")


def _read_stream(data: bytes, name: str) -> bytes:
    with translate_import_errors("reading old Office documents", "dochan", "office"):
        from dochan.cfb import OleFileIO

    try:
        with OleFileIO(data) as container:
            content: bytes = container.openstream(name).read() if container.exists(name) else b""
            return content
    except FAULTS:
        return b""


_FOOTERS = re.compile(rb"[\x0f\x3f\x4f]\0\xd9\x0f(....)", re.DOTALL)
_STRING = re.compile(rb"[\0\x10\x20]\0\xba\x0f(....)", re.DOTALL)
"""The records of a presentation with headers and footers, and their texts ([MS-PPT] 2.4.15)."""


def _list_footers(stream: bytes) -> Iterator[str]:
    """Yield the headers and footers of slides and notes, which the library does not read."""
    for found in _FOOTERS.finditer(stream):
        part = stream[found.end() : found.end() + int.from_bytes(found[1], "little")]
        for one in _STRING.finditer(part):
            text = part[one.end() : one.end() + int.from_bytes(one[1], "little")]
            yield text.decode("utf-16-le", "replace")


_DRAWN_TEXT, _CONTINUED, _CHART_TEXT = 0x01B6, 0x003C, 0x100D
"""The records of a workbook with a comment or text box, what follows it, and text of a chart."""


def list_drawn_texts(data: bytes) -> Iterator[str]:
    """Yield the comments, text boxes and texts of charts of a workbook of Excel 97-2003."""
    stream, at, before = _read_stream(data, "Workbook"), 0, 0
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        at += 4 + size
        start = {_CONTINUED: at - size, _CHART_TEXT: at - size + 3}.get(kind, at)
        if start < at and (kind == _CHART_TEXT or before == _DRAWN_TEXT):
            text = stream[start + 1 : at]
            yield text.decode("utf-16-le" if stream[start] else "latin-1", "replace")
        before = kind


_SUMMARIES = ("\x05SummaryInformation", "\x05HwpSummaryInformation")
_SUMMARY_ID = bytes.fromhex("e0859ff2f94f6810ab9108002b27b3d9")
"""The id of the properties of Office; those of Hangul have the same form under another id."""


def _read_properties(data: bytes) -> Metadata:
    with translate_import_errors("reading properties of documents", "msdoc2docx", "office"):
        from doc2docx.diagnostics import ConversionReport
        from doc2docx.errors import Doc2DocxError
        from doc2docx.oleps import read_summary_information
    content = bytearray(next(filter(None, (_read_stream(data, one) for one in _SUMMARIES)), b""))
    content[28:44] = _SUMMARY_ID
    try:
        found = read_summary_information(bytes(content), report=ConversionReport("", ""))
    except (Doc2DocxError, *FAULTS):
        return Metadata()
    names = ("title", "creator", "keywords", "modified", "created")
    return convert_properties({name: getattr(found, name) or "" for name in names})


_OUTLINE = re.compile(r"(?:개요|outline)\s*(\d)", re.IGNORECASE)
"""The styles of headings in Hangul."""

_LONG_CELL_CHARS = 2_000


class _ElementWriter:
    """Writes the elements of a model of `dochan` into a builder."""

    def __init__(self, styles: Sequence[str]) -> None:
        """`styles` are the names of the styles of paragraphs by number."""
        self.builder = TextBuilder()
        self.links: list[str] = []
        self.margins: list[tuple[str, list[str]]] = []
        self._styles = styles

    def add(self, elements: Iterable[Any]) -> None:
        """Add elements in their order, without the properties of the file."""
        for element in elements:
            if _get_path(element) == _SUMMARIES[0]:
                continue
            kind = type(element).__name__
            if kind == "Paragraph":
                self._add_paragraph(element)
            elif kind == "Table":
                self._add_table(element)
            elif kind in _NOTES:
                author = getattr(element, "author", "")
                self.builder.add_paragraph(label_note(element.text.strip(), author, element.type))
            elif kind == "HeaderFooter":
                self.margins.append((element.type, element.text.splitlines()))
            elif kind == "Equation":
                self.builder.add_paragraph(element.latex or element.script)
            elif kind == "Image":
                self.builder.add_paragraph(element.caption_text)

    def add_slide(self, elements: Iterable[Any], place: Place) -> None:
        """Add a slide: its title, its contents, and its notes and comments as quotations."""
        title, body, quotes = "", [], []
        for element in elements:
            path = _get_path(element)
            part = path.rpartition("#")[2]
            if part in {"notes", "comments"}:
                quotes.append((part, element.text))
            elif path == _SUMMARIES[0]:
                continue
            elif getattr(element, "heading_level", 0):
                title = f"{title} {element.text}".strip()
            else:
                body.append(element)
        self.builder.begin_place(place)
        # The number of the page of notes is a field in it.
        notes = [text for part, text in quotes if part == "notes" and text != str(place.number)]
        lines = ["Notes: " + "\n".join(notes)] if notes else []
        lines += [
            f"Comment: {text[1:-1].removeprefix('comment: ')}"
            for part, text in quotes
            if part == "comments"
        ]
        texts = (getattr(one, "text", "") or hasattr(one, "rows") for one in body)
        has_text = bool(lines) or any(texts)
        add_slide_heading(self.builder, title, place.number, has_text=has_text)
        self.add(body)
        self.builder.end_run()
        for line in lines:
            self.builder.add_quote(line)

    def _add_paragraph(self, paragraph: Any) -> None:
        runs = [run for run in paragraph.runs if not (run.note_ref or run.note_reference_type)]
        runs = [run for run in runs if not getattr(run, "_bookmark_annotation", False)]
        self.links += [run.link for run in runs if is_file_link(run.link)]
        marker = "".join(run.text for run in runs if _is_marker(run)).strip()
        text = "".join(
            run.text or getattr(run.equation, "latex", "") for run in runs if not _is_marker(run)
        ).strip()
        if marker and text:
            self.builder.add_item(0, f"{marker} {text}" if marker[0].isalnum() else text)
            return
        self.builder.end_run()
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


_NOTES = frozenset({"Footnote", "Comment"})


def _get_path(element: Any) -> str:
    path: str = getattr(getattr(element, "provenance", None), "path", "")
    return path


def _is_marker(run: Any) -> bool:
    return getattr(run, "_ppt_generated_list_prefix", False)
