"""Reads the lines of PDF pages, with their positions and fonts, through PDFium."""

import ctypes
import logging
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from kebab.errors.system import translate_import_errors
from kebab.parse.pdf.legibility import clean_text, is_legible

if TYPE_CHECKING:
    from types import ModuleType

MAX_PAGE_CHARS = 200_000
"""The characters that are read of one page; a page of dense print has about 10,000."""

_GAP = 0.9
"""The width of a gap between two cells or columns, in font sizes."""
_GAP_OVER_SPACES = 2.2
"""How many times wider than the spaces of a justified line such a gap is."""
_FEW_SPACES = 3
_TOUCHING = 0.03

_DIVISIONS = "\ufffe\u00ad"
"""How PDFium and soft hyphens mark that a word continues in the next line."""
_LINE_END = re.compile("\r?\n|\r|[\ufffe\u00ad]\r?\n?")
_WORD = re.compile(r"[^\s\u00a0]+")
_BOLD = re.compile(r"bold|black|heavy|semib|demi|bx\d|Medi(?:Ital)?$", re.IGNORECASE)
_SIDES = (("left", "right", 1), ("bottom", "top", 1), ("right", "left", -1), ("top", "bottom", -1))
"""The first and the last side of a character and their sign, by the direction of its line."""
_MAX_POINTS = 1e5
_FORCE_BOLD = 1 << 18
_FONT_NAME_BYTES = 128
_IMAGE, _FORM = 3, 5
_QUARTERS = 4
_UNMAPPED_SHARE = 0.5


class Segment(NamedTuple):
    """Text on one line of a page, without a wide gap; a wide gap begins another segment.

    `left`, `right` and `base` (of the letters) are in points, in the direction in which most of the
    page is written; `base` grows upwards. `size` is that of the font. `hyphen` says that the last
    character divides a word. `turned` text runs in another direction than most of the page.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    bold: bool = False
    hyphen: bool = False
    turned: bool = False


class PageText(NamedTuple):
    """The segments of a page in the order of the file.

    `number` counts from 1. `legible` is false when the fonts do not say which letters they show.
    `cut` says that the page has more text than was read, and `has_image` that a page without text
    has a picture. `recognized` is text that was recognised in the picture of the page.
    """

    number: int
    segments: tuple[Segment, ...]
    legible: bool = True
    cut: bool = False
    has_image: bool = False
    recognized: str = ""


class _Style(NamedTuple):
    """The direction in quarters of a turn, the font size and the weight of a character."""

    quarter: int
    size: float
    bold: bool


class _Line(NamedTuple):
    """The words of a line with the indexes of their first characters.

    `hyphen` says that a division of a word ends the line.
    """

    words: list[tuple[int, str]]
    style: _Style
    hyphen: bool


def load_pdfium() -> "ModuleType":
    """Return the bindings of PDFium.

    Raises:
        DependencyMissing: They are not installed.
    """
    with translate_import_errors("reading PDF files", "pypdfium2", "pdf"):
        import pypdfium2

    # Its warnings about odd outlines would go to the terminal.
    logging.getLogger("pypdfium2").setLevel(logging.CRITICAL)
    module: ModuleType = pypdfium2
    return module


class PageReader:
    """Reads the pages of one document; `document` is its handle in PDFium."""

    def __init__(self, document: object) -> None:
        """Prepare the memory for the results of calls."""
        self._c = load_pdfium().raw
        self._document = document
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._rectangle, self._matrix = self._c.FS_RECTF(), self._c.FS_MATRIX()
        self._name = ctypes.create_string_buffer(_FONT_NAME_BYTES)
        self._flags = ctypes.c_int()
        self._text: object = None
        self._bold: dict[bytes, bool] = {}

    def read(self, index: int) -> PageText:
        """Return the text of a page; a page that cannot be loaded has none."""
        page = self._c.FPDF_LoadPage(self._document, index)
        if not page:
            return PageText(index + 1, ())
        try:
            return self._read_page(page, index + 1)
        finally:
            self._c.FPDF_ClosePage(page)

    def _read_page(self, page: object, number: int) -> PageText:
        self._text = self._c.FPDFText_LoadPage(page)
        if not self._text:
            return PageText(number, ())
        try:
            text, count = self._get_text()
            if not text.strip():
                return PageText(number, (), has_image=self._has_image(page))
            lines = list(self._find_lines(text))
            if not self._is_mapped(lines) or not is_legible(text):
                return PageText(number, (), legible=False)
            return PageText(number, self._cut_lines(lines), cut=count > MAX_PAGE_CHARS)
        finally:
            self._c.FPDFText_ClosePage(self._text)
            self._text = None

    def _get_text(self) -> tuple[str, int]:
        """Return the text of the page, and how many characters it has."""
        count = max(self._c.FPDFText_CountChars(self._text), 0)
        units = (ctypes.c_ushort * (min(count, MAX_PAGE_CHARS) + 1))()
        read = self._c.FPDFText_GetText(self._text, 0, len(units) - 1, units)
        data = bytes(memoryview(units))[: 2 * max(read - 1, 0)]
        return data.decode("utf-16-le", "replace"), count

    def _has_image(self, page: object) -> bool:
        objects = min(self._c.FPDFPage_CountObjects(page), MAX_PAGE_CHARS)
        get, get_type = self._c.FPDFPage_GetObject, self._c.FPDFPageObj_GetType
        # A scan is often a picture within a form.
        return any(get_type(get(page, index)) in {_IMAGE, _FORM} for index in range(objects))

    def _is_mapped(self, lines: list[_Line]) -> bool:
        """Return whether most fonts say which letters they show, by the first of each line."""
        has_error = self._c.FPDFText_HasUnicodeMapError
        errors = sum(has_error(self._text, line.words[0][0]) > 0 for line in lines)
        return bool(errors <= _UNMAPPED_SHARE * len(lines))

    def _cut_lines(self, lines: list[_Line]) -> tuple[Segment, ...]:
        """Return the segments of all lines."""
        lengths = [0] * _QUARTERS
        for line in lines:
            lengths[line.style.quarter] += sum(len(word) for _, word in line.words)
        main = lengths.index(max(lengths))
        return tuple(segment for line in lines for segment in self._cut_line(line, main))

    def _find_lines(self, text: str) -> Iterator[_Line]:
        """Yield the lines with words; PDFium counts characters in units of UTF-16."""
        is_wide = max(text) > "\uffff"
        start = 0
        for end in [*_LINE_END.finditer(text), None]:
            line = text[start : end.start() if end else len(text)]
            words = [(start + word.start(), word[0]) for word in _WORD.finditer(line)]
            if is_wide:
                words = [(len(text[:at].encode("utf-16-le")) // 2, word) for at, word in words]
            if words:
                hyphen = end is not None and end[0][0] in _DIVISIONS
                yield _Line(words, self._get_style(words[0][0]), hyphen)
            start = end.end() if end else len(text)

    def _get_style(self, index: int) -> _Style:
        self._c.FPDFText_GetMatrix(self._text, index, ctypes.byref(self._matrix))
        a, b = self._matrix.a, self._matrix.b
        quarter = (0 if a >= 0 else 2) if abs(a) >= abs(b) else (1 if b > 0 else 3)
        scale = float((self._matrix.c**2 + self._matrix.d**2) ** 0.5)
        size = self._c.FPDFText_GetFontSize(self._text, index) * scale
        self._flags.value = 0
        self._c.FPDFText_GetFontInfo(
            self._text, index, self._name, _FONT_NAME_BYTES, ctypes.byref(self._flags)
        )
        name = self._name.value
        if name not in self._bold:
            self._bold[name] = bool(_BOLD.search(name.decode("latin-1")))
        return _Style(
            quarter,
            round(_clamp(size), 1),
            self._bold[name] or bool(self._flags.value & _FORCE_BOLD),
        )

    def _get_base(self, index: int, quarter: int) -> float:
        """Return how high the base line of a character is, in the direction of its line."""
        self._c.FPDFText_GetCharOrigin(
            self._text, index, ctypes.byref(self._x), ctypes.byref(self._y)
        )
        x, y = self._x.value, self._y.value
        return _clamp((y, -x, -y, x)[quarter])

    def _get_edges(self, words: list[tuple[int, str]], quarter: int) -> list[tuple[float, float]]:
        """Return where each word begins and ends, in the direction of its line."""
        get_box, text = self._c.FPDFText_GetLooseCharBox, self._text
        box, reference = self._rectangle, ctypes.byref(self._rectangle)
        first, last, sign = _SIDES[quarter]
        edges = []
        for at, word in words:
            get_box(text, at, reference)
            start = getattr(box, first)
            if len(word) > 1:
                get_box(text, at + len(word) - 1, reference)
            edges.append((_clamp(sign * start), _clamp(sign * getattr(box, last))))
        return edges

    def _cut_line(self, line: _Line, main: int) -> Iterator[Segment]:
        """Yield the parts of a line between wide gaps; most lines have the direction `main`."""
        words, style, hyphen = line
        edges = self._get_edges(words, style.quarter)
        base = self._get_base(words[0][0], style.quarter)
        gaps = [after[0] - before[1] for before, after in pairwise(edges)]
        wide = _choose_gap(gaps, style.size)
        begin = 0
        for end in range(1, len(words) + 1):
            if end < len(words) and gaps[end - 1] < wide:
                continue
            is_last = end == len(words)
            piece = _join_words(words[begin:end], gaps[begin : end - 1], style.size)
            yield Segment(
                text=clean_text(piece) + ("-" if hyphen and is_last else ""),
                left=edges[begin][0],
                right=max(edges[end - 1][1], edges[begin][0]),
                base=base,
                size=style.size,
                bold=style.bold,
                hyphen=hyphen and is_last,
                turned=style.quarter != main,
            )
            begin = end


def _join_words(words: Sequence[tuple[int, str]], gaps: Sequence[float], size: float) -> str:
    """Return words with spaces between them, except where they touch: there the font changes."""
    texts = [word for _, word in words]
    touching = _TOUCHING * size
    if not gaps or min(gaps) > touching:
        return " ".join(texts)
    spaces = ("" if abs(gap) <= touching else " " for gap in gaps)
    return texts[0] + "".join(space + text for space, text in zip(spaces, texts[1:], strict=True))


def _clamp(points: float) -> float:
    """Return a coordinate that can be computed with, whatever the file says."""
    return points if -_MAX_POINTS < points < _MAX_POINTS else 0.0


def _choose_gap(gaps: list[float], size: float) -> float:
    """Return the width from which a gap separates cells or columns."""
    wide = _GAP * max(size, 1.0)
    spaces = sorted(gap for gap in gaps if gap > 0)
    if len(spaces) >= _FEW_SPACES:
        wide = max(wide, min(_GAP_OVER_SPACES * spaces[len(spaces) // 4], 3 * wide))
    return wide
