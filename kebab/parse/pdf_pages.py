"""Reads the lines of PDF pages through PDFium, and brings them into reading order."""

import ctypes
import logging
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby, pairwise, repeat
from operator import sub
from typing import TYPE_CHECKING, Any, NamedTuple

from kebab.core.pictures import PictureAnswer
from kebab.errors.system import translate_import_errors
from kebab.parse.pdf_text import (
    DOUBTED_LETTERS,
    LATIN_LETTERS,
    clean_text,
    is_legible,
    raise_end,
    restore_cork,
)

if TYPE_CHECKING:
    from types import ModuleType

_LAM = "\u0644"
_ALEF_LAM = re.compile("[\u0622\u0623\u0625\u0627]\u0644")

MAX_PAGE_CHARS = 200_000
"""The characters that are read of one page; a page of dense print has about 10,000."""

_GAP = 0.9
"""The width of a gap between two cells or columns, in font sizes."""
_GAP_OVER_SPACES = 2.2
"""How many times wider than the spaces of a justified line such a gap is."""
_FEW_SPACES = 3
_TOUCHING_WORDS = 0.03

_DIVISIONS = "\ufffe\u00ad"
"""How PDFium and soft hyphens mark that a word continues in the next line."""
_WORD = re.compile(r"\S+")
_LINE_END = re.compile("\r?\n|\r|[\ufffe\u00ad]\r?\n?")
_BOLD = re.compile(r"bold|black|heavy|semib|demi|bx\d|Medi(?:Ital)?$", re.IGNORECASE)
_SIDES = ((0, 2, 1), (3, 1, 1), (2, 0, -1), (1, 3, -1))
"""The first and the last side of a character and their sign, by the direction of its line.

The sides of a box are left, top, right and bottom.
"""
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
    has a picture. `recognized` is text that was recognised in the picture of the page; where a
    model was asked, `answer` is what it wrote.
    """

    number: int
    segments: tuple[Segment, ...]
    legible: bool = True
    cut: bool = False
    has_image: bool = False
    recognized: str = ""
    answer: PictureAnswer | None = None


class _Line(NamedTuple):
    """The words of a line with the indexes of their first characters, and how the first one looks.

    `quarter` is its direction in quarters of a turn. `hyphen` says that a division of a word ends
    the line.
    """

    words: list[str]
    starts: list[int]
    quarter: int
    base: float
    size: float
    bold: bool
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


_BOXES = 512
"""How many boxes of characters are asked for in one turn."""


class PageReader:
    """Reads the pages of one document; `document` is its handle in PDFium.

    The functions for characters are called without the conversions of their bindings, which take
    three times as long as the functions themselves.
    """

    def __init__(self, document: object) -> None:
        """Prepare the memory for the results of calls."""
        self._c = load_pdfium().raw
        self._document = document
        self._text = ctypes.c_void_p()
        self._boxes = (self._c.FS_RECTF * _BOXES)()
        self._box_references = [ctypes.byref(box) for box in self._boxes]
        self._get_box = _get_function("FPDFText_GetLooseCharBox")
        self._get_matrix = _get_function("FPDFText_GetMatrix")
        self._get_size = _get_function("FPDFText_GetFontSize", ctypes.c_double)
        self._get_font = _get_function("FPDFText_GetFontInfo")
        self._get_origin = _get_function("FPDFText_GetCharOrigin")
        self._has_error = _get_function("FPDFText_HasUnicodeMapError", ctypes.c_int)
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._matrix, self._flags = self._c.FS_MATRIX(), ctypes.c_int()
        self._name = ctypes.create_string_buffer(_FONT_NAME_BYTES)
        self._bold: dict[bytes, bool] = {}

    def read(self, index: int) -> PageText:
        """Return the text of a page; a page that cannot be loaded has none."""
        page = self._c.FPDF_LoadPage(self._document, index)
        if not page:
            return PageText(index + 1, ())
        try:
            number = index + 1
            handle = self._c.FPDFText_LoadPage(page)
            if not handle:
                return PageText(number, ())
            try:
                self._text = ctypes.cast(handle, ctypes.c_void_p)
                text, count = self._get_text(handle)
                if not text.strip():
                    objects = min(self._c.FPDFPage_CountObjects(page), MAX_PAGE_CHARS)
                    get, get_type = self._c.FPDFPage_GetObject, self._c.FPDFPageObj_GetType
                    # A scan is often a picture within a form.
                    has_image = any(
                        get_type(get(page, index)) in {_IMAGE, _FORM} for index in range(objects)
                    )
                    return PageText(number, (), has_image=has_image)
                lines = list(self._find_lines(restore_cork(text)))
                errors = sum(self._has_error(self._text, line.starts[0]) > 0 for line in lines)
                is_doubted = errors > _UNMAPPED_SHARE * len(lines)
                if not is_legible(text, DOUBTED_LETTERS if is_doubted else LATIN_LETTERS):
                    return PageText(number, (), legible=False)
                return PageText(number, self._cut_lines(lines), cut=count > MAX_PAGE_CHARS)
            finally:
                self._c.FPDFText_ClosePage(handle)
        finally:
            self._c.FPDF_ClosePage(page)

    def _get_text(self, handle: object) -> tuple[str, int]:
        """Return the text of the page, and how many characters it has."""
        count = max(self._c.FPDFText_CountChars(handle), 0)
        units = (ctypes.c_ushort * (min(count, MAX_PAGE_CHARS) + 1))()
        read = self._c.FPDFText_GetText(handle, 0, len(units) - 1, units)
        data = bytes(memoryview(units))[: 2 * max(read - 1, 0)]
        text = data.decode("utf-16-le", "replace")
        return _ALEF_LAM.sub(self._order_ligature, text) if _LAM in text else text, count

    def _order_ligature(self, pair: re.Match[str]) -> str:
        """Return alef and lam in the order of their ligature when one glyph shows both.

        PDFium turns a line around, also where the file has the letters of a glyph in order.
        """
        places = []
        for index in range(*pair.span()):
            self._get_origin(self._text, index, ctypes.byref(self._x), ctypes.byref(self._y))
            places.append((self._x.value, self._y.value))
        return pair[0][::-1] if places[0] == places[1] else pair[0]

    def _cut_lines(self, lines: list[_Line]) -> tuple[Segment, ...]:
        """Return the segments of all lines."""
        lengths = [0] * _QUARTERS
        for line in lines:
            lengths[line.quarter] += sum(map(len, line.words))
        main = lengths.index(max(lengths))
        firsts = [start for line in lines for start in line.starts]
        words = [word for line in lines for word in line.words]
        lasts = [first + len(word) - 1 for first, word in zip(firsts, words, strict=True)]
        for line in lines:
            for at, word in enumerate(line.words):
                if word[-1].isdigit() and len(word) > 1:
                    line.words[at] = self._raise_end(word, line.starts[at], line.quarter)
        first_sides, last_sides = self._get_boxes(firsts), self._get_boxes(lasts)
        segments: list[Segment] = []
        begin = 0
        for line in lines:
            end = begin + len(line.words)
            first, last, sign = _SIDES[line.quarter]
            starts = _orient(first_sides[4 * begin + first : 4 * end : 4], sign)
            ends = _orient(last_sides[4 * begin + last : 4 * end : 4], sign)
            segments += _cut_line(line, starts, ends, turned=line.quarter != main)
            begin = end
        return tuple(segments)

    def _raise_end(self, word: str, start: int, quarter: int) -> str:
        """Return a word whose last digits are raised and small as superscripts."""
        size, last = self._get_size(self._text, start), start + len(word) - 1
        small = self._get_size(self._text, last)
        if quarter or not 0 < small < _SMALL * size:
            return word
        bases = []
        for index in (start, last):
            self._get_origin(self._text, index, ctypes.byref(self._x), ctypes.byref(self._y))
            bases.append(self._y.value)
        at = len(word)
        while self._get_size(self._text, start + at - 1) == small:
            at -= 1
        return raise_end(word[:at], word[at:]) if bases[1] - bases[0] > _RAISED * small else word

    def _get_boxes(self, indexes: Sequence[int]) -> list[float]:
        """Return the four sides of each of these characters."""
        sides: list[float] = []
        memory = memoryview(self._boxes).cast("B").cast("f")
        for start in range(0, len(indexes), _BOXES):
            part = indexes[start : start + _BOXES]
            deque(map(self._get_box, repeat(self._text), part, self._box_references), maxlen=0)
            sides += memory[: 4 * len(part)]
        return sides

    def _find_lines(self, text: str) -> Iterator[_Line]:
        """Yield the lines with words; PDFium counts characters in units of UTF-16."""
        is_wide = max(text) > "\uffff"
        start = 0
        for end in [*_LINE_END.finditer(text), None]:
            until = end.start() if end else len(text)
            starts = [word.start() for word in _WORD.finditer(text, start, until)]
            words = text[start:until].split()
            if is_wide:
                starts = [len(text[:at].encode("utf-16-le")) // 2 for at in starts]
            if words:
                hyphen = end is not None and end[0][0] in _DIVISIONS
                yield self._build_line(words, starts, hyphen=hyphen)
            start = end.end() if end else len(text)

    def _build_line(self, words: list[str], starts: list[int], *, hyphen: bool) -> _Line:
        """Return a line with the style and the place of its first character."""
        text, index, matrix = self._text, starts[0], self._matrix
        self._get_matrix(text, index, ctypes.byref(matrix))
        a, b = matrix.a, matrix.b
        quarter = (0 if a >= 0 else 2) if abs(a) >= abs(b) else (1 if b > 0 else 3)
        scale = float((matrix.c**2 + matrix.d**2) ** 0.5)
        size = self._get_size(text, index) * scale
        self._flags.value = 0
        flags = ctypes.byref(self._flags)
        self._get_font(text, index, self._name, _FONT_NAME_BYTES, flags)
        name = self._name.value
        if name not in self._bold:
            self._bold[name] = bool(_BOLD.search(name.decode("latin-1")))
        bold = self._bold[name] or bool(self._flags.value & _FORCE_BOLD)
        self._get_origin(text, index, ctypes.byref(self._x), ctypes.byref(self._y))
        x, y = self._x.value, self._y.value
        base = _clamp((y, -x, -y, x)[quarter])
        return _Line(words, starts, quarter, base, round(_clamp(size), 1), bold, hyphen)


@cache
def _get_function(name: str, result: Any = None) -> Callable[..., Any]:
    """Return a function of PDFium without the types of its arguments."""
    address = ctypes.cast(getattr(load_pdfium().raw, name), ctypes.c_void_p).value
    return ctypes.PYFUNCTYPE(result)(address or 0)


def _orient(sides: Iterable[float], sign: int) -> list[float]:
    """Return coordinates in the direction of a line, without those that are beyond any page."""
    return [sign * side if abs(side) < _MAX_POINTS else 0.0 for side in sides]


def _cut_line(
    line: _Line, starts: Sequence[float], ends: Sequence[float], *, turned: bool
) -> Iterator[Segment]:
    """Yield the parts of a line between wide gaps; its words start and end at these places."""
    words, size = line.words, line.size
    gaps = list(map(sub, starts[1:], ends))
    wide = _GAP * max(size, 1.0)
    borders = [len(words)]
    if gaps and max(gaps) >= wide:
        spaces = sorted(gap for gap in gaps if gap > 0)
        if len(spaces) >= _FEW_SPACES:
            wide = max(wide, min(_GAP_OVER_SPACES * spaces[len(spaces) // 4], 3 * wide))
        borders = [*(at for at, gap in enumerate(gaps, 1) if gap >= wide), len(words)]
    begin = 0
    for end in borders:
        hyphen = line.hyphen and end == len(words)
        piece = _join_words(words[begin:end], gaps[begin : end - 1], size)
        text = clean_text(piece) + ("-" if hyphen else "")
        left, right = starts[begin], max(ends[end - 1], starts[begin])
        yield Segment(text, left, right, line.base, size, line.bold, hyphen, turned)
        begin = end


def _join_words(words: Sequence[str], gaps: Sequence[float], size: float) -> str:
    """Return words with spaces between them, except where they touch: there the font changes."""
    touching = _TOUCHING_WORDS * size
    if not gaps or min(gaps) > touching:
        return " ".join(words)
    spaces = ("" if abs(gap) <= touching else " " for gap in gaps)
    return words[0] + "".join(space + text for space, text in zip(spaces, words[1:], strict=True))


def _clamp(points: float) -> float:
    """Return a coordinate that can be computed with, whatever the file says."""
    return points if -_MAX_POINTS < points < _MAX_POINTS else 0.0


_SMALL = 0.85
_RAISED = 0.2
"""How much smaller and higher than the text a superscript is; it is raised by .3 to .5."""
_SAME_LINE = 0.35
"""How far base lines of one line are apart at most, in font sizes."""
_OVERLAP = 0.3
_DISORDER_SHARE = 0.03
_BIN_POINTS = 3.0
_MIDDLE = (0.15, 0.85)
_MIN_COLUMN_ROWS = 4
_MIN_COLUMN_SHARE = 0.15
_CROSSING_SHARE = 0.2
_PROSE_CHARS = 22
"""The mean length of the lines of a column of text; the cells of tables are shorter."""
_MAX_DEPTH = 4
_MAX_VALLEYS = 6
_TOUCHING = 0.15
"""The width of the gap below which two segments are one word, in font sizes."""


class Row(NamedTuple):
    """A line of a page: its cells from left to right, most often one.

    `spans` are the left and right sides of the cells where there are several.
    """

    cells: tuple[str, ...]
    left: float
    right: float
    base: float
    size: float
    bold: bool
    hyphen: bool
    turned: bool
    spans: tuple[tuple[float, float], ...] = ()

    @property
    def text(self) -> str:
        """The cells as one line."""
        return " ".join(self.cells)


def build_rows(segments: Sequence[Segment]) -> list[Row]:
    """Return the lines of a page in reading order; turned text comes last."""
    straight = [segment for segment in segments if not segment.turned and segment.text.strip()]
    turned = [segment for segment in segments if segment.turned and segment.text.strip()]
    return [*_join_segments(order_segments(straight)), *_join_segments(turned)]


def order_segments(segments: Sequence[Segment]) -> list[Segment]:
    """Return segments in reading order.

    The order of the file is that in which most programs write text, with its columns, boxes and
    cells. Where it jumps up within a column, or alternates between columns, the positions decide.
    """
    beside = sum(_is_same_line(before, after) for before, after in pairwise(segments))
    has_columns = beside >= _MIN_COLUMN_ROWS and _find_gutter(segments) is not None
    jumps = sum(
        after.base > before.base + before.size / 2 and _overlap(before, after)
        for before, after in pairwise(segments)
    )
    if has_columns or jumps > max(1, _DISORDER_SHARE * len(segments)):
        return _order_by_position(segments, 0)
    return list(segments)


def _overlap(one: Segment, other: Segment) -> bool:
    common = min(one.right, other.right) - max(one.left, other.left)
    return common > _OVERLAP * max(min(one.right - one.left, other.right - other.left), 1.0)


def _is_same_line(before: Segment, after: Segment) -> bool:
    tolerance = _SAME_LINE * max(before.size, after.size)
    return (
        abs(before.base - after.base) <= tolerance and after.left >= before.right - before.size / 2
    )


def _order_by_position(segments: Sequence[Segment], depth: int) -> list[Segment]:
    """Return the segments from top to bottom, and column by column where there is a gutter."""
    gutter = _find_gutter(segments) if depth < _MAX_DEPTH else None
    lines: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda one: -one.base):
        last = lines[-1][0] if lines else None
        tolerance = _SAME_LINE * segment.size
        if last is not None and abs(last.base - segment.base) <= tolerance:
            lines[-1].append(segment)
        else:
            lines.append([segment])
    for line in lines:
        line.sort(key=lambda one: one.left)
    if gutter is None:
        return [segment for line in lines for segment in line]
    ordered: list[Segment] = []
    left: list[Segment] = []
    right: list[Segment] = []

    def close_columns() -> None:
        for column in (left, right):
            ordered.extend(_order_by_position(column, depth + 1))
            column.clear()

    for line in lines:
        if any(segment.left < gutter < segment.right for segment in line):
            close_columns()
            ordered.extend(line)
            continue
        for segment in line:
            (left if segment.right <= gutter else right).append(segment)
    close_columns()
    return ordered


def _find_gutter(segments: Sequence[Segment]) -> float | None:
    """Return where a vertical gutter separates columns of text, None when there is none."""
    if len(segments) < 2 * _MIN_COLUMN_ROWS:
        return None
    start = min(segment.left for segment in segments)
    width = max(segment.right for segment in segments) - start
    bins = int(width / _BIN_POINTS) + 1
    if not 1 < bins < 10_000:  # noqa: PLR2004 - a page of more than ten metres
        return None
    changes = [0] * (bins + 2)
    for segment in segments:
        changes[int((segment.left - start) / _BIN_POINTS)] += 1
        changes[int((segment.right - start) / _BIN_POINTS) + 1] -= 1
    # How many segments stand over each strip of the page.
    crossing, count = [], 0
    for change in changes[:bins]:
        count += change
        crossing.append(count)
    for number in _list_valleys(crossing, _CROSSING_SHARE * len(segments)):
        gutter = start + (number + 0.5) * _BIN_POINTS
        if _has_text_columns(segments, gutter):
            return gutter
    return None


def _list_valleys(crossing: Sequence[int], limit: float) -> list[int]:
    """Return the middles of the strips that few segments cross, the emptiest and widest first."""
    first, last = (round(share * len(crossing)) for share in _MIDDLE)
    valleys = []
    for count, group in groupby(range(first, last), key=crossing.__getitem__):
        strips = list(group)
        if count <= limit:
            valleys.append((count, -len(strips), strips[len(strips) // 2]))
    return [number for _, _, number in sorted(valleys)[:_MAX_VALLEYS]]


def _has_text_columns(segments: Sequence[Segment], gutter: float) -> bool:
    """Return whether both sides of a gutter hold lines of text that stand side by side."""
    left = [segment for segment in segments if segment.right <= gutter]
    right = [segment for segment in segments if segment.left >= gutter]
    total = sum(len(segment.text) for segment in segments)
    for side in (left, right):
        chars = sum(len(segment.text) for segment in side)
        if (
            len(side) < _MIN_COLUMN_ROWS
            or chars < _MIN_COLUMN_SHARE * total
            or chars < _PROSE_CHARS * len(side)
        ):
            return False
    top = min(max(one.base for one in left), max(one.base for one in right))
    bottom = max(min(one.base for one in left), min(one.base for one in right))
    return top > bottom


def _join_segments(segments: Iterable[Segment]) -> list[Row]:
    """Return the rows of segments in reading order."""
    lines: list[list[Segment]] = []
    for segment in segments:
        if lines and _is_same_line(lines[-1][-1], segment):
            lines[-1].append(segment)
        else:
            lines.append([segment])
    return [_build_row(line) for line in lines]


def _is_raised(before: Segment, after: Segment) -> bool:
    return after.size < _SMALL * before.size and after.base - before.base > _RAISED * after.size


def _build_row(line: Sequence[Segment]) -> Row:
    if len(line) == 1:
        return Row((line[0].text,), *line[0][1:])
    cells = [line[0].text]
    spans = [(line[0].left, line[0].right)]
    for before, after in pairwise(line):
        gap = after.left - before.right
        if gap > _SAME_LINE * 2 * before.size:
            cells.append(after.text)
            spans.append((after.left, after.right))
        elif gap < _TOUCHING * before.size and _is_raised(before, after):
            cells[-1] = raise_end(cells[-1], after.text)
        else:
            cells[-1] += after.text if gap < _TOUCHING * before.size else f" {after.text}"
        spans[-1] = (min(spans[-1][0], after.left), max(spans[-1][1], after.right))
    longest = max(line, key=lambda one: len(one.text))
    return Row(
        cells=tuple(cells),
        left=line[0].left,
        right=max(one.right for one in line),
        base=longest.base,
        size=longest.size,
        bold=all(one.bold for one in line),
        hyphen=line[-1].hyphen,
        turned=longest.turned,
        spans=tuple(spans),
    )
