"""Parses PDF files with PDFium: text by pages, in reading order, with headings."""

import re
import threading
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from kebab.core.chunks import Place
from kebab.core.documents import Metadata, Omission, ParsedDocument
from kebab.core.files import OCR_SETTING, OcrSettings
from kebab.core.ports import PictureReader, describe_answers, format_origin, list_failures
from kebab.limits.deadline import build_refusal
from kebab.parse.blocks import TextBuilder
from kebab.parse.metadata import convert_properties
from kebab.parse.pdf.grids import load_pdfium
from kebab.parse.pdf.ocr import recognize_pages, write_model_text, write_recognized_text
from kebab.parse.pdf.pages import MAX_ANNOTATIONS, PageReader, PageText, Segment, is_legible
from kebab.parse.pdf.paragraphs import Bookmark, HeadingRules, LineJoiner, PageWriter
from kebab.parse.pdf.rows import Row, build_rows, collect_tables

_MIN_PAGES = 3
_EDGE_LINES = 3
"""How many lines at the top and at the bottom of a page may be running heads."""
_MAX_HEAD_CHARS = 160
_STEP_POINTS = 6.0
_LARGER = 1.15
"""How much larger than most text a line is that heads a page, as `Exercise 3` does."""
_HAS_LETTER = re.compile(r"[^\W\d_]")
_DIGITS = re.compile(r"\d+")
_SHORT_NUMBER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
_ROMAN = re.compile(r"[ivxlcdm]+", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"(?:\w{1,6}\.?\s)?\W*(\d{1,5})\W*(?:(?:of|von|sur|de|/)\s*\d{1,5}\W*)?")
_BLANKS = re.compile(r"\s+")


def remove_running_heads(pages: Sequence[PageText]) -> list[PageText]:
    """Return the pages without the lines that repeat at the same place of at least three pages.

    Lines in large letters, and long ones, count as repeated only with the same numbers. The first
    page with such a line has it among its heads; numbers of pages are left out.
    """
    # The size in which most text is written, 0 without text.
    sizes: Counter[float] = Counter()
    for page in pages:
        for segment in page.segments:
            sizes[round(segment.size, 1)] += len(segment.text)
    large = _LARGER * max(sizes, key=sizes.__getitem__, default=0.0)
    keys = []  # where the first and the last lines of each page stand, with their texts
    for page in pages:
        bases = sorted({segment.base for segment in page.segments})
        edges = {*bases[:_EDGE_LINES], *bases[-_EDGE_LINES:]}
        keys.append([_get_key(one, large) if one.base in edges else None for one in page.segments])
    counts = Counter(key for page_keys in keys for key in {*page_keys})
    # A number that grows with the pages is that of a page.
    offsets: defaultdict[object, Counter[int]] = defaultdict(Counter)
    for page, page_keys in zip(pages, keys, strict=True):
        for one, key in zip(page.segments, page_keys, strict=True):
            for number in _SHORT_NUMBER.findall(one.text) if counts[key] >= _MIN_PAGES else ():
                offsets[key][int(number) - page.number] += 1
    known: set[tuple[str, ...]] = set()
    shown: set[str] = set()
    kept = []
    for page, page_keys in zip(pages, keys, strict=True):
        inside, heads, repeated = list[Segment](), list[str](), list[str]()
        for one, key in zip(page.segments, page_keys, strict=True):
            if key is None or (counts[key] < _MIN_PAGES and not _is_page_number(one, page)):
                inside.append(one)
            elif (
                _HAS_LETTER.search(key[1])
                and (name := _name_head(one.text, page.number, offsets[key])) not in known
            ):
                known.add(name)
                heads.append(one.text)
            elif one.text not in shown:
                repeated.append(one.text)
            shown.add(one.text)
        page = page._replace(segments=tuple(inside), heads=tuple(heads), repeated=tuple(repeated))  # noqa: PLW2901
        kept.append(page)
    return kept


def _name_head(text: str, page: int, offsets: Mapping[int, int]) -> tuple[str, ...]:
    """Return what tells a running head from others: its text, and all numbers but the page's."""
    numbers = _SHORT_NUMBER.findall(text)
    for number in [one for one in numbers if offsets[int(one) - page] > 1][:1]:
        numbers.remove(number)
    return (" ".join(_SHORT_NUMBER.sub("", text).casefold().split()), *numbers)


def _get_key(segment: Segment, large: float) -> tuple[int, str]:
    """Return where a line stands, and its text, without numbers if it is neither large nor long."""
    is_plain = segment.size < large and len(segment.text) <= _MAX_HEAD_CHARS
    is_counted = _HAS_LETTER.search(segment.text) or _PAGE_NUMBER.fullmatch(segment.text)
    words = _DIGITS.sub("", segment.text) if is_plain and is_counted else segment.text
    text = _BLANKS.sub(" ", words).strip().casefold()
    return round(segment.base / _STEP_POINTS), "" if _ROMAN.fullmatch(text) else text


def _is_page_number(segment: Segment, page: PageText) -> bool:
    """Return whether the lowest or highest line of a page is its number."""
    match = _PAGE_NUMBER.fullmatch(segment.text)
    if match is None or int(match[1]) != page.number:
        return False
    bases = {one.base for one in page.segments}
    return segment.base in {min(bases), max(bases)} and len(bases) > 1


MAX_BOOKMARKS = 10_000
_MAX_DEPTH = 15
_MAX_DECLARED_TITLE_CHARS = 300
_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?")
_FIELDS = {"Title": "title", "Author": "creator", "Keywords": "keywords", "Subject": "subject"}


def read_metadata(properties: Mapping[str, str]) -> Metadata:
    """Return what the properties of the file say; what programs fill in is left out."""
    fields = {name: _clean(properties.get(key, "")) for key, name in _FIELDS.items()}
    fields = {name: text for name, text in fields.items() if is_legible(text)}
    title = fields.get("title", "")
    if len(title) > _MAX_DECLARED_TITLE_CHARS or "\ufffd" in title:
        del fields["title"]
    if stamp := _DATE.match(properties.get("CreationDate", "").strip()):
        fields["created"] = f"{stamp[1]}-{stamp[2] or '01'}-{stamp[3] or '01'}"
    return convert_properties(fields)


def _clean(text: str) -> str:
    """Return a property on one line; UTF-8 that was stored as Latin-1 is repaired."""
    line = " ".join(text.replace("\0", " ").split())
    try:
        return line.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return line


def read_bookmarks(document: Any) -> list[Bookmark]:
    """Return the outline of a document; an outline that refers to itself ends."""
    marks: list[Bookmark] = []
    for entry in document.get_toc(max_depth=_MAX_DEPTH):
        # A title that is no text, or a target that is no page, leaves out one entry.
        with suppress(ValueError):
            target = entry.get_dest()
            index = target.get_index() if target is not None else None
            if index is not None:
                marks.append(Bookmark(entry.level + 1, entry.get_title(), index + 1))
        if len(marks) >= MAX_BOOKMARKS:
            break
    return marks


def list_attachments(document: Any, data: bytes) -> Iterator[tuple[str, Any]]:
    """Yield the names of the attached files, and the files, without those that are damaged.

    They belong to the document or to an annotation of a page.
    """
    for index in range(document.count_attachments()):
        with suppress(RuntimeError):
            file = document.get_attachment(index)
            yield " ".join(file.get_name().split()), file
    pdfium = load_pdfium()
    for number in range(min(len(document), MAX_PAGES) if b"/EmbeddedFile" in data else 0):
        with suppress(RuntimeError):
            page = document[number]
            for index in range(min(pdfium.raw.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
                note = pdfium.raw.FPDFPage_GetAnnot(page, index)
                if handle := pdfium.raw.FPDFAnnot_GetFileAttachment(note):
                    file = pdfium.PdfAttachment(handle, document)
                    yield " ".join(file.get_name().split()), file
                pdfium.raw.FPDFPage_CloseAnnot(note)
            page.close()


MAX_PAGES = 5_000
MAX_CHARS = 20_000_000
"""The characters that are read of one file."""

_HEADER_BYTES = 1024
_ENCRYPTED = {
    4: "the file is encrypted: it opens only with a password",
    5: "the file is encrypted in a way that cannot be read",
}
_MIN_TITLE_LETTERS = 3
_MAX_FOUND_TITLE_CHARS = 200
_LISTED_PAGES = 10
_LOCK = threading.Lock()
"""PDFium must not be called by two threads at once."""


class PdfParser:
    """Parses PDF files; a passage is cited by its page."""

    def __init__(self, ocr: OcrSettings | PictureReader | None = None) -> None:
        """Store what reads pages without text, tesseract or a model; None means that they stay."""
        self._ocr = ocr
        self._origin = ""
        if ocr is not None and not isinstance(ocr, OcrSettings):
            self._origin = format_origin("ocr", ocr.name)

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; its title is that of its properties, else the largest text."""
        with _LOCK, self._open(data) as document:
            total = len(document)
            pages = list(_read_pages(document, total))
            attachments = dict(list_attachments(document, data))
            metadata = read_metadata(document.get_metadata_dict())
            bookmarks = read_bookmarks(document)
            has_forms = load_pdfium().raw.FPDF_GetXFAPacketCount(document.raw) > 0
            if self._ocr is not None:
                pages = recognize_pages(document, pages, self._ocr, path)
        self._require_text(pages)
        answers = [page.answer for page in pages if page.answer is not None]
        if attachments and pages:
            label = f"Attachments: {', '.join(filter(None, attachments))}"
            pages[-1] = pages[-1]._replace(comments=(*pages[-1].comments, label))
        document = self._build(pages, total, metadata, bookmarks, path)
        unread = (Omission("texts of forms in XML", ""),) * has_forms
        return document._replace(
            omissions=(*document.omissions, *unread),
            warnings=(*document.warnings, *describe_answers(answers)),
            failures=list_failures(answers),
        )

    @contextmanager
    def _open(self, data: bytes) -> Iterator[Any]:
        """Yield the document of PDFium."""
        pdfium = load_pdfium()
        if not data.strip(b"\0 \t\r\n"):
            raise build_refusal("the file is empty")
        if b"%PDF-" not in data[:_HEADER_BYTES]:
            raise build_refusal("not a PDF file")
        # Some failures keep the error of an earlier file, so the last one is made that of no PDF.
        pdfium.raw.FPDF_LoadMemDocument(b" ", 1, None)
        try:
            document = pdfium.PdfDocument(data)
        except pdfium.PdfiumError as fault:
            is_cut = b"%%EOF" not in data[-_HEADER_BYTES:]
            part = "end of the file is missing" if is_cut else "structure of the PDF cannot be read"
            cause = _ENCRYPTED.get(fault.err_code, f"damaged: the {part}")
            raise build_refusal(cause) from fault
        try:
            yield document
        finally:
            document.close()

    def _build(
        self,
        pages: Sequence[PageText],
        total: int,
        metadata: Metadata,
        bookmarks: Sequence[Bookmark],
        path: str,
    ) -> ParsedDocument:
        pages = remove_running_heads(pages)
        rows = [build_rows(page.segments) for page in pages]
        rules = HeadingRules(rows, bookmarks)
        joiner = LineJoiner(
            line
            for page, page_rows in zip(pages, rows, strict=True)
            for row_lines in (page.recognized.splitlines(), *(row.lines for row in page_rows))
            for line in row_lines
        )
        builder = TextBuilder()
        for page, page_rows in zip(pages, rows, strict=True):
            builder.begin_place(
                Place(0, page.number, of=total, origin=self._origin if page.answer else "")
            )
            if page.recognized and page.answer:
                write_model_text(builder, page.recognized)
            elif page.recognized:
                write_recognized_text(builder, page.recognized, joiner)
            levels = [rules.get_level(row, page.number) for row in page_rows]
            PageWriter(builder, page_rows, levels, joiner).write()
            for head in (*page.heads, *_list_unprinted(bookmarks, page, page_rows)):
                builder.add_paragraph(head)
            for comment in page.comments:
                builder.add_quote(comment)
            heads = (one for one in page.repeated if any(map(str.isalpha, one)))
            builder.leave_out("running heads", " ".join(heads))
            if not page.recognized and (page.has_image or not page.legible):
                builder.leave_out_unread("pictures of text and broken fonts")
        addresses = (one.removeprefix("mailto:") for page in pages for one in page.addresses)
        builder.leave_out_unknown("addresses of links", addresses)
        title = None if metadata.title else _find_title(rows, rules.body, joiner)
        return builder.build(path, metadata, title=title, warnings=_describe_losses(pages, total))

    def _require_text(self, pages: Sequence[PageText]) -> None:
        """Refuse a document without any text."""
        if any(page.segments or page.recognized or page.comments for page in pages):
            return
        if any(page.answer and page.answer.failure for page in pages):
            return
        if any(not page.legible for page in pages):
            raise build_refusal("the text is unreadable: broken fonts")
        if any(page.has_image for page in pages):
            if self._ocr is not None:
                raise build_refusal("only images, and no text was recognised in them")
            raise build_refusal("only images, no text", setting=OCR_SETTING)
        raise build_refusal("no text")


def _read_pages(document: Any, total: int) -> Iterator[PageText]:
    """Yield the pages up to the limits."""
    reader, chars = PageReader(document.raw), 0
    for index in range(min(total, MAX_PAGES)):
        page = collect_tables(reader.read(index))
        chars += sum(len(segment.text) for segment in page.segments)
        if chars > MAX_CHARS:
            return
        yield page


def _list_unprinted(
    bookmarks: Sequence[Bookmark], page: PageText, rows: Sequence[Row]
) -> Iterator[str]:
    """Yield the titles of the outline that point to a page and do not stand there."""
    titles = [mark.title for mark in bookmarks if mark.page == page.number]
    printed = _fold_letters(" ".join([page.recognized, *(row.text for row in rows)] * bool(titles)))
    for title in titles:
        if _fold_letters(title) not in printed:
            yield title.strip()


def _fold_letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _find_title(pages: Sequence[Sequence[Row]], body: float, joiner: LineJoiner) -> str | None:
    """Return the largest text of the first page, when it is larger than the text and short."""
    first = next((rows for rows in pages if rows), ())
    size = max((row.size for row in first if not row.turned), default=0.0)
    if size <= body:
        return None
    title = ""
    for row in first:
        if row.size == size and not row.turned and not row.table:
            title = joiner.join(title, row.text, hyphen=row.hyphen) if title else row.text
        elif title:
            break
    letters = sum(char.isalpha() for char in title)
    return title if letters >= _MIN_TITLE_LETTERS and len(title) <= _MAX_FOUND_TITLE_CHARS else None


def _describe_losses(pages: Sequence[PageText], total: int) -> list[str]:
    """Return the warnings about what was not read."""
    warnings = []
    if len(pages) < total:
        warnings.append(f"only the first {len(pages)} of {total} pages are searched")
    recognized = [one for one in pages if one.recognized]
    lost = [one for one in pages if not one.recognized]
    broken = [one for one in lost if not one.legible]
    for wording, found in (
        ("text of {} is unreadable: broken fonts", [one for one in broken if not one.segments]),
        (
            "a part of the text of {} is unreadable: broken fonts",
            [one for one in broken if one.segments],
        ),
        ("text of {} was cut: too many characters", [one for one in pages if one.cut]),
        ("no text on {}: only images", [one for one in lost if one.has_image]),
        ("text of {} was recognised in images and may have mistakes", recognized),
    ):
        if numbers := [one.number for one in found]:
            warnings.append(wording.format(_format_pages(numbers)))
    return warnings


def _format_pages(numbers: Sequence[int]) -> str:
    """Return page numbers as text, e.g. `pages 2, 5, 6`."""
    shown = ", ".join(map(str, numbers[:_LISTED_PAGES]))
    more = f" and {len(numbers) - _LISTED_PAGES} more" if len(numbers) > _LISTED_PAGES else ""
    return f"page{'s' if len(numbers) > 1 else ''} {shown}{more}"
