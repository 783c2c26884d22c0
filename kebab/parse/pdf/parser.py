"""Parses PDF files with PDFium: text by pages, in reading order, with headings."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kebab.core.chunks import Place
from kebab.core.documents import Metadata, ParsedDocument
from kebab.core.ocr import OCR_SETTING, OcrSettings
from kebab.errors.catalog import ParseFailed
from kebab.parse.pdf.headings import Bookmark, HeadingRules
from kebab.parse.pdf.layout import Row, build_rows
from kebab.parse.pdf.metadata import read_bookmarks, read_metadata
from kebab.parse.pdf.ocr import write_recognized_text
from kebab.parse.pdf.pages import PageReader, PageText, load_pdfium
from kebab.parse.pdf.paragraphs import join_lines, write_page
from kebab.parse.pdf.running_heads import remove_running_heads
from kebab.parse.pdf.scanned_pages import recognize_pages
from kebab.parse.text_builder import TextBuilder

MAX_PAGES = 5_000
MAX_CHARS = 20_000_000
"""The characters that are read of one file."""

_HEADER_BYTES = 1024
_PASSWORD, _SECURITY = 4, 5
_MIN_TITLE_LETTERS = 3
_MAX_TITLE_CHARS = 200
_LISTED_RANGES = 10
_LOCK = threading.Lock()
"""PDFium must not be called by two threads at once."""


class PdfParser:
    """Parses PDF files; a passage is cited by its page."""

    version = "pdf-v1"

    def __init__(self, ocr: OcrSettings | None = None) -> None:
        """Store the settings of the recognition of pictures; None means that it is off."""
        self._ocr = ocr

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; its title is that of its properties, else the largest text.

        Raises:
            ParseFailed: The file is encrypted or damaged, or has no text that can be read.
            DependencyMissing: PDFium is not installed.
        """
        with _LOCK, self._open(data, path) as document:
            total = len(document)
            pages = list(_read_pages(document, total))
            metadata = read_metadata(document.get_metadata_dict())
            bookmarks = read_bookmarks(document)
            if self._ocr is not None:
                pages = recognize_pages(document, pages, self._ocr, path, self.version)
        self._require_text(pages, path)
        return _build_document(pages, total, metadata, bookmarks, path)

    @contextmanager
    def _open(self, data: bytes, path: str) -> Iterator[Any]:
        """Yield the document of PDFium."""
        pdfium = load_pdfium()
        if not data.strip(b"\0 \t\r\n"):
            raise self._refuse(path, "the file is empty")
        if b"%PDF-" not in data[:_HEADER_BYTES]:
            raise self._refuse(path, "not a PDF file")
        try:
            document = pdfium.PdfDocument(data)
        except pdfium.PdfiumError as fault:
            raise self._refuse(path, _describe_fault(fault.err_code, data)) from fault
        try:
            yield document
        finally:
            document.close()

    def _require_text(self, pages: Sequence[PageText], path: str) -> None:
        """Refuse a document without any text."""
        if any(page.segments or page.recognized for page in pages):
            return
        if any(not page.legible for page in pages):
            raise self._refuse(path, "the text is unreadable: broken fonts")
        if any(page.has_image for page in pages):
            if self._ocr is not None:
                raise self._refuse(path, "only images, and no text was recognised in them")
            raise self._refuse(path, "only images, no text", setting=OCR_SETTING)
        raise self._refuse(path, "no text")

    def _refuse(self, path: str, cause: str, setting: str | None = None) -> ParseFailed:
        return ParseFailed(path=path, parser=self.version, cause=cause, setting=setting)


def _describe_fault(code: int | None, data: bytes) -> str:
    if code == _PASSWORD:
        return "the file is encrypted: it opens only with a password"
    if code == _SECURITY:
        return "the file is encrypted in a way that cannot be read"
    if b"%%EOF" not in data[-_HEADER_BYTES:]:
        return "damaged: the end of the file is missing"
    return "damaged: the structure of the PDF cannot be read"


def _read_pages(document: Any, total: int) -> Iterator[PageText]:
    """Yield the pages up to the limits."""
    reader, chars = PageReader(document.raw), 0
    for index in range(min(total, MAX_PAGES)):
        page = reader.read(index)
        chars += sum(len(segment.text) for segment in page.segments)
        if chars > MAX_CHARS:
            return
        yield page


def _build_document(
    pages: Sequence[PageText],
    total: int,
    metadata: Metadata,
    bookmarks: Sequence[Bookmark],
    path: str,
) -> ParsedDocument:
    rows = [build_rows(page.segments) for page in remove_running_heads(pages)]
    rules = HeadingRules(rows, bookmarks)
    builder = TextBuilder()
    for page, page_rows in zip(pages, rows, strict=True):
        builder.begin_place(Place(0, page.number, of=total))
        if page.recognized:
            write_recognized_text(builder, page.recognized)
        write_page(builder, page_rows, rules, page.number)
    title = None if metadata.title else _find_title(rows, rules.body)
    return builder.build(path, metadata, title=title, warnings=_describe_losses(pages, total))


def _find_title(pages: Sequence[Sequence[Row]], body: float) -> str | None:
    """Return the largest text of the first page, when it is larger than the text and short."""
    first = next((rows for rows in pages if rows), ())
    size = max((row.size for row in first if not row.turned), default=0.0)
    if size <= body:
        return None
    title = ""
    for row in first:
        if row.size == size and not row.turned:
            title = join_lines(title, row.text, hyphen=row.hyphen) if title else row.text
        elif title:
            break
    letters = sum(char.isalpha() for char in title)
    return title if letters >= _MIN_TITLE_LETTERS and len(title) <= _MAX_TITLE_CHARS else None


def _describe_losses(pages: Sequence[PageText], total: int) -> list[str]:
    """Return the warnings about what was not read."""
    warnings = []
    if len(pages) < total:
        warnings.append(f"only the first {len(pages)} of {total} pages are searched")
    lost = [page for page in pages if not page.recognized]
    for numbers, wording in (
        (
            [page.number for page in lost if not page.legible],
            "text of {} is unreadable: broken fonts",
        ),
        ([page.number for page in pages if page.cut], "text of {} was cut: too many characters"),
        ([page.number for page in lost if page.has_image], "no text on {}: only images"),
        (
            [page.number for page in pages if page.recognized],
            "text of {} was recognised in images and may have mistakes",
        ),
    ):
        if numbers:
            warnings.append(wording.format(_format_pages(numbers)))
    return warnings


def _format_pages(numbers: Iterable[int]) -> str:
    """Return page numbers as text, e.g. `pages 2, 5-9 and 12`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    parts = ["-".join(map(str, part)) for part in ranges]
    if len(parts) > _LISTED_RANGES:
        parts = [*parts[:_LISTED_RANGES], f"{len(parts) - _LISTED_RANGES} more"]
    if len(parts) == 1:
        return f"page{'s' if '-' in parts[0] else ''} {parts[0]}"
    return f"pages {', '.join(parts[:-1])} and {parts[-1]}"
