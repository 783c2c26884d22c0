"""Reads the text of PDF pages and the drawn lines through PDFium, and judges and repairs it."""

import ctypes
import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice, pairwise, repeat
from math import isfinite
from operator import sub
from typing import NamedTuple, TypeAlias

from kebab.core.ports import PictureAnswer
from kebab.parse.blocks import label_note
from kebab.parse.pdf.grids import Grid, get_function, load_pdfium, read_grids

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
_LONG_WORD = 12
_BLANK = 0.1
"""The width of the narrowest blank, in font sizes; words of many letters are searched for it."""

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
_DOWN = 3
"""The direction of lines that run down, as those of vertical Japanese do."""
_FIRST_WIDE = "\u2e80"

Cell: TypeAlias = Sequence[tuple[str, bool]]
"""The lines of a cell, and whether a division of a word ends them."""
Table: TypeAlias = Sequence[Sequence[Cell]]


class Segment(NamedTuple):
    """Text on one line of a page, without a wide gap; a wide gap begins another segment.

    `left`, `right` and `base` (of the letters) are in points, in the direction in which most of the
    page is written; `base` grows upwards. `size` is that of the font. `hyphen` says that the last
    character divides a word. `turned` text runs in another direction than most of the page. `table`
    are the rows of cells that the segment stands for.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    bold: bool = False
    hyphen: bool = False
    turned: bool = False
    table: Table = ()

    @property
    def middle(self) -> tuple[float, float]:
        """A point within the letters."""
        return (self.left + self.right) / 2, self.base + self.size / 4


class PageText(NamedTuple):
    """The segments of a page in the order of the file, and the grids that are drawn on it.

    `number` counts from 1. `legible` is false when the fonts do not say which letters they show.
    `cut` says that the page has more text than was read, and `has_image` that a page without text
    has a picture. `recognized` is text that was recognised in the picture of the page; where a
    model was asked, `answer` is what it wrote. `comments` are what readers wrote on the page, and
    `heads` the running heads that stand here for the first time; `repeated` are the others.
    `addresses` are where its links lead.
    """

    number: int
    segments: tuple[Segment, ...]
    grids: Sequence[Grid] = ()
    legible: bool = True
    cut: bool = False
    has_image: bool = False
    recognized: str = ""
    answer: PictureAnswer | None = None
    comments: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


class _Line(NamedTuple):
    """The words of a line with the indexes of their first characters, and how the first one looks.

    `quarter` is its direction in quarters of a turn. `hyphen` says that a division of a word ends
    the line. `mark` is how many characters at its start are the raised mark of a footnote.
    """

    words: list[str]
    starts: list[int]
    quarter: int
    base: float
    size: float
    bold: bool
    hyphen: bool
    mark: int
    font: bytes


_LINK, _FREE_TEXT, _POPUP, _WIDGET = 2, 3, 16, 20
MAX_ANNOTATIONS, _MAX_COMMENT_BYTES = 5_000, 20_000
_EMPTY_STRING = 2
"""The size of an empty string in bytes."""


def read_annotations(page: object) -> tuple[tuple[str, ...], bool]:
    """Return the comments on a page, and whether text is drawn over it: forms, text boxes."""
    c = load_pdfium().raw
    comments: dict[str, None] = {}
    is_drawn_over = False
    for index in range(min(c.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
        note = c.FPDFPage_GetAnnot(page, index)
        kind = c.FPDFAnnot_GetSubtype(note)
        is_drawn_over = is_drawn_over or kind in {_FREE_TEXT, _WIDGET}
        is_drawn = kind == _FREE_TEXT and c.FPDFAnnot_GetAP(note, 0, None, 0) > _EMPTY_STRING
        if kind == _WIDGET and c.FPDFAnnot_GetAP(note, 0, None, 0) <= _EMPTY_STRING:
            name = _read_string(note, b"TU") or _read_string(note, b"T")
            comments[label_note(_read_string(note, b"V"), kind=name or "field")] = None
        if kind not in {_LINK, _POPUP, _WIDGET} and not is_drawn:
            text, author = (_read_string(note, key) for key in (b"Contents", b"T"))
            comments[text if kind == _FREE_TEXT else label_note(text, author)] = None
        c.FPDFPage_CloseAnnot(note)
    return tuple(filter(None, comments)), is_drawn_over


def _list_addresses(document: object, page: object) -> Iterator[str]:
    """Yield the addresses on the web to which a page links."""
    c = load_pdfium().raw
    position, link = ctypes.c_int(), c.FPDF_LINK()
    while c.FPDFLink_Enumerate(page, position, link):
        action = c.FPDFLink_GetAction(link)
        size = min(c.FPDFAction_GetURIPath(document, action, None, 0), _MAX_COMMENT_BYTES)
        address = ctypes.create_string_buffer(size)
        c.FPDFAction_GetURIPath(document, action, address, size)
        yield address.value.decode("utf-8", "replace")


def _read_string(note: object, key: bytes) -> str:
    """Return a string of an annotation, which PDFium writes as UTF-16, on one line."""
    get_string = load_pdfium().raw.FPDFAnnot_GetStringValue
    size = min(get_string(note, key, None, 0), _MAX_COMMENT_BYTES)
    units = (ctypes.c_ushort * (size // 2))()
    get_string(note, key, units, size)
    text = clean_text(bytes(memoryview(units)).decode("utf-16-le", "replace"))
    return " ".join(text.replace("\0", "").split())


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
        self._get_box = get_function("FPDFText_GetLooseCharBox")
        self._get_matrix = get_function("FPDFText_GetMatrix")
        self._get_size = get_function("FPDFText_GetFontSize", ctypes.c_double)
        self._get_font = get_function("FPDFText_GetFontInfo")
        self._get_origin = get_function("FPDFText_GetCharOrigin")
        self._has_error = get_function("FPDFText_HasUnicodeMapError", ctypes.c_int)
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._matrix, self._flags = self._c.FS_MATRIX(), ctypes.c_int()
        self._name = ctypes.create_string_buffer(_FONT_NAME_BYTES)
        self._bold: dict[bytes, bool] = {}

    def read(self, index: int) -> PageText:
        """Return the text of a page; a page that cannot be loaded has none."""
        page = self._c.FPDF_LoadPage(self._document, index)
        try:
            comments, is_drawn_over = read_annotations(page)
            links = islice(_list_addresses(self._document, page), MAX_ANNOTATIONS)
            addresses = tuple(dict.fromkeys(links))
            if is_drawn_over:
                # Makes a form with its values, and text boxes, a part of the page.
                self._c.FPDFPage_Flatten(page, self._c.FLAT_NORMALDISPLAY)
                self._c.FPDF_ClosePage(page)
                page = self._c.FPDF_LoadPage(self._document, index)
            text = self._read_text(page, index + 1)
            return text._replace(comments=comments, addresses=addresses)
        finally:
            self._c.FPDF_ClosePage(page)

    def _read_text(self, page: object, number: int) -> PageText:
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
            is_doubted = errors > 0.5 * len(lines)
            legible = is_legible(text, DOUBTED_LETTERS if is_doubted else LATIN_LETTERS)
            lines = lines if legible else _keep_legible_fonts(lines)
            if not lines:
                return PageText(number, (), legible=False)
            lengths = [0] * _QUARTERS
            for line in lines:
                lengths[line.quarter] += sum(map(len, line.words))
            main = lengths.index(max(lengths))
            grids = read_grids(page, main)
            segments = self._cut_lines(lines, main, grids)
            return PageText(number, segments, grids, legible, cut=count > MAX_PAGE_CHARS)
        finally:
            self._c.FPDFText_ClosePage(handle)

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

    def _cut_lines(
        self, lines: list[_Line], main: int, grids: Sequence[Grid]
    ) -> tuple[Segment, ...]:
        """Return the segments of all lines on a page most of which runs in this direction."""
        firsts = [start for line in lines for start in line.starts]
        words = [word for line in lines for word in line.words]
        lasts = [first + len(word) - 1 for first, word in zip(firsts, words, strict=True)]
        for line in lines:
            for at, word in enumerate(line.words):
                if word[-1].isdigit() and len(word) > 1:
                    line.words[at] = self._raise_end(word, line.starts[at], line.quarter)
            if line.mark:
                line.words[0] = f"{line.words[0][: line.mark]} {line.words[0][line.mark :]}"
        first_sides, last_sides = self._get_boxes(firsts), self._get_boxes(lasts)
        segments: list[Segment] = []
        begin = 0
        for line in lines:
            end = begin + len(line.words)
            first, last, sign = _SIDES[line.quarter]
            starts = first_sides[4 * begin + first : 4 * end : 4]
            ends = last_sides[4 * begin + last : 4 * end : 4]
            if sign < 0:
                starts, ends = [-side for side in starts], [-side for side in ends]
            turned = line.quarter != main
            walls = [] if turned else [at for grid in grids for at in grid.list_walls(line.base)]
            segments += _cut_line(line, starts, ends, walls, turned=turned)
            begin = end
        return tuple(segments)

    def _raise_end(self, word: str, start: int, quarter: int) -> str:
        """Return a word whose last digits are raised and small as superscripts."""
        last = start + len(word) - 1
        size, small = self._get_height(start), self._get_height(last)
        if quarter or not 0 < small < SMALL * size:
            return word
        at = len(word)
        while self._get_height(start + at - 1) == small:
            at -= 1
        is_raised = self._get_base(last) - self._get_base(start) > RAISED * small
        return raise_end(word[:at], word[at:]) if is_raised else word

    def _count_raised(self, words: Sequence[str], starts: Sequence[int]) -> int:
        """Return how many characters of the first word are small and raised beside the next."""
        first, last = starts[0], starts[0] + len(words[0]) - 1
        other = starts[1] if len(words) > 1 else last
        small = self._get_height(first)
        if other == first or not 0 < small < SMALL * self._get_height(other):
            return 0
        if not RAISED * small < self._get_base(first) - self._get_base(other) < 2 * small:
            return 0
        raised = range(first, last + 1)
        sizes = (self._get_height(index) for index in raised)
        return next((at for at, size in enumerate(sizes) if size != small), len(raised))

    def _touches(self, line: _Line, index: int) -> bool:
        """Return whether a character stands directly behind a line: an exponent at its base."""
        sides = self._get_boxes([line.starts[-1] + len(line.words[-1]) - 1, index])
        return abs(sides[4] - sides[2]) <= _TOUCHING_WORDS * line.size

    def _get_height(self, index: int) -> float:
        """Return the size of the font of a character as it is drawn; it also sets the matrix."""
        self._get_matrix(self._text, index, ctypes.byref(self._matrix))
        scale = float((self._matrix.c**2 + self._matrix.d**2) ** 0.5)
        return scale * float(self._get_size(self._text, index))

    def _get_base(self, index: int) -> float:
        self._get_origin(self._text, index, ctypes.byref(self._x), ctypes.byref(self._y))
        return self._y.value

    def _get_boxes(self, indexes: Sequence[int]) -> list[float]:
        sides: list[float] = []
        memory = memoryview(self._boxes).cast("B").cast("f")
        for start in range(0, len(indexes), _BOXES):
            part = indexes[start : start + _BOXES]
            deque(map(self._get_box, repeat(self._text), part, self._box_references), maxlen=0)
            sides += memory[: 4 * len(part)]
        is_sound = min(sides) > -_MAX_POINTS and max(sides) < _MAX_POINTS and isfinite(sum(sides))
        return sides if is_sound else [*map(_clamp, sides)]

    def _find_lines(self, text: str) -> Iterator[_Line]:
        """Yield the lines with words; PDFium counts characters in units of UTF-16."""
        is_wide = max(text) > "\uffff"
        start, line = 0, None
        for end in [*_LINE_END.finditer(text), None]:
            until = end.start() if end else len(text)
            words = text[start:until].split()
            *starts, behind = accumulate((len(word) + 1 for word in words), initial=start)
            if behind != until + 1:  # more than one blank stands somewhere
                starts = [word.start() for word in _WORD.finditer(text, start, until)]
            if is_wide:
                starts = [len(text[:at].encode("utf-16-le")) // 2 for at in starts]
            elif words and len(max(words, key=len)) >= _LONG_WORD:
                words, starts = self._divide_words(words, starts)
            if words:
                hyphen = end is not None and end[0][0] in _DIVISIONS
                mark = self._count_raised(words, starts)
                if mark == len(words[0]):
                    mark = 0
                    if line and self._touches(line, starts[0]):
                        base = line.words[-1]
                        line.words.append(raise_end(base, words.pop(0))[len(base) :])
                        line.starts.append(starts.pop(0))
                line = self._build_line(words, starts, hyphen=hyphen, mark=mark)
                yield line
            start = end.end() if end else len(text)

    def _divide_words(
        self, words: Sequence[str], starts: Sequence[int]
    ) -> tuple[list[str], list[int]]:
        """Return words and their starts, divided at gaps that are too narrow for PDFium."""
        parts, places = list[str](), list[int]()
        for word, start in zip(words, starts, strict=True):
            cuts = self._find_gaps(start, len(word)) if len(word) >= _LONG_WORD else []
            for first, last in pairwise([0, *cuts, len(word)]):
                parts.append(word[first:last])
                places.append(start + first)
        return parts, places

    def _find_gaps(self, start: int, length: int) -> list[int]:
        """Return the places in a word where its letters are apart, although most of them touch."""
        sides = self._get_boxes(range(start, start + length))
        gaps = list(map(sub, sides[4::4], sides[2:-4:4]))
        least = _BLANK * self._get_height(start)
        cuts = [at for at, gap in enumerate(gaps, 1) if gap >= least]
        is_loose = sorted(gaps)[len(gaps) // 2] * 2 > least
        return [] if is_loose or len(cuts) * 2 > len(gaps) else cuts

    def _build_line(self, words: list[str], starts: list[int], *, hyphen: bool, mark: int) -> _Line:
        """Return a line with the style and the place of its first character."""
        text, index = self._text, starts[0] + mark
        size = self._get_height(index)
        a, b = self._matrix.a, self._matrix.b
        # Text across a page, such as a watermark, is not in the direction of its lines.
        quarter = (0 if a >= 0 else 2) if abs(a) >= 3 * abs(b) else (1 if b > 0 else 3)
        self._flags.value = 0
        flags = ctypes.byref(self._flags)
        self._get_font(text, index, self._name, _FONT_NAME_BYTES, flags)
        name = self._name.value
        if name not in self._bold:
            self._bold[name] = bool(_BOLD.search(name.decode("latin-1")))
        bold = self._bold[name] or bool(self._flags.value & _FORCE_BOLD)
        self._get_origin(text, index, ctypes.byref(self._x), ctypes.byref(self._y))
        x, y = self._x.value, self._y.value
        if not quarter and words[0][0] >= _FIRST_WIDE and len(words[-1]) > 1:
            # Letters that stand below each other are a column, and columns go from right to left.
            last = starts[-1] + len(words[-1]) - 1
            self._get_origin(text, last, ctypes.byref(self._x), ctypes.byref(self._y))
            is_column = abs(self._x.value - x) < size / 2 < y - self._y.value
            quarter = _DOWN if is_column else 0
        base = _clamp((y, -x, -y, x)[quarter])
        size = round(_clamp(size), 1)
        return _Line(words, starts, quarter, base, size, bold, hyphen, mark, name)


def _keep_legible_fonts(lines: Sequence[_Line]) -> list[_Line]:
    """Return the lines in the fonts that say which letters they show."""
    texts: defaultdict[bytes, list[str]] = defaultdict(list)
    for line in lines:
        texts[line.font] += line.words
    legible = {
        font
        for font, words in texts.items()
        if sum(map(len, words)) >= DOUBTED_LETTERS and is_legible(" ".join(words), DOUBTED_LETTERS)
    }
    return [line for line in lines if line.font in legible]


def _cut_line(
    line: _Line,
    starts: Sequence[float],
    ends: Sequence[float],
    walls: Sequence[float],
    *,
    turned: bool,
) -> Iterator[Segment]:
    """Yield the parts of a line between wide gaps and walls; its words start and end there."""
    words, size = line.words, line.size
    gaps = list(map(sub, starts[1:], ends))
    wide = _GAP * max(size, 1.0)
    borders = []
    if gaps and max(gaps) >= wide:
        spaces = sorted(gap for gap in gaps if gap > 0)
        if len(spaces) >= _FEW_SPACES:
            wide = max(wide, min(_GAP_OVER_SPACES * spaces[len(spaces) // 4], 3 * wide))
        borders = [at for at, gap in enumerate(gaps, 1) if gap >= wide]
    if walls:
        middles = [(start + end) / 2 for start, end in zip(starts, ends, strict=True)]
        divided = (
            at
            for at, (before, after) in enumerate(pairwise(middles), 1)
            if any(min(before, after) < wall < max(before, after) for wall in walls)
        )
        borders = sorted({*borders, *divided})
    begin = 0
    for end in (*borders, len(words)):
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


_FEW = 20
LATIN_LETTERS = 120
DOUBTED_LETTERS = 40
"""The letters that decide about a page most of whose fonts do not say which letters they show."""
_VOWEL_SHARE = 0.25
"""The least share of vowels in Latin letters: languages have .35 to .5, a shifted code .14."""

_UNREADABLE = re.compile(
    "[\0-\x08\x0e-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\ufffd\U000f0000-\U0010ffff]"
)
_NO_ASCII_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
_WORDS = re.compile(r"[^\W\d_]{3,}")
_NOT_LATIN = re.compile("[^A-Za-z\u00aa-\u024f]+")


def is_legible(text: str, least: int = LATIN_LETTERS) -> bool:
    """Return whether a text can be read, as far as its characters tell.

    A font without a table of its letters gives private characters, control characters, or the
    letters of another code, whose statistics are those of no language. `least` is the number of
    letters from which they decide.
    """
    visible = "".join(text.split())
    unreadable = (
        0 if visible.isascii() and visible.isprintable() else len(_UNREADABLE.findall(visible))
    )
    if len(visible) < _FEW:
        return not visible or unreadable < len(visible)
    if unreadable > 0.25 * len(visible):
        return False
    quick = visible.encode("ascii", "ignore").translate(None, _NO_ASCII_LETTERS).lower()
    if sum(map(quick.count, b"aeiouy")) > 0.33 * len(quick):
        return True
    words = _WORDS.findall(text)
    letters = "".join(words)
    latin = letters if letters.isascii() else _NOT_LATIN.sub("", letters)
    if len(latin) < max(least, 0.7 * len(letters)) or _has_vowels(latin):
        return True
    # An index of code has names without vowels, as `FlxqX`, and words.
    plain = "".join(word for word in words if word.isupper() or word[1:].islower())
    return len(plain) >= least and _has_vowels(plain)


def _has_vowels(letters: str) -> bool:
    """Return whether letters have the vowels of a language."""
    bases = letters if letters.isascii() else unicodedata.normalize("NFD", letters)
    vowels = sum(map(bases.lower().count, "aeiouy\u00e6\u00f8\u0153\u0131"))
    return vowels >= _VOWEL_SHARE * len(letters)


_SYMBOLS = {
    **{
        0xFB00 + number: text
        for number, text in enumerate(("ff", "fi", "fl", "ffi", "ffl", "st", "st"))
    },
    # Bullets of the fonts Symbol and Wingdings.
    **dict.fromkeys((0xF0B7, 0xF0A7, 0xF076, 0xF0D8, 0xF0FC), "•"),
    0x00AD: None,
    0x200B: None,
    0xFEFF: None,
    0xFFFE: "-",
}
_CORK = re.compile(r"^\x88(?= )|[\x10\x15\x1b-\x1f](?=\w)|(?<=[\w.,])[\x11\x1b-\x1f]", re.MULTILINE)
_CORK_SIGNS = dict(
    zip("\x10\x11\x15\x1b\x1c\x1d\x1e\x1f\x88", "“”–\ufb00\ufb01\ufb02\ufb03\ufb04•", strict=True)
)
"""Signs beside letters in fonts of TeX that give only their own codes."""
_ODD = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\ufff0-\ufffb\uffff]+|(?P<forms>[\ufb1d-\ufdfc\ufe80-\ufefc]+)"
)
"""Control characters, and the forms and ligatures of Hebrew and Arabic letters."""


def restore_cork(text: str) -> str:
    """Return text with the signs for which a font gave the codes of TeX, one for one."""
    if not any(map(text.__contains__, _CORK_SIGNS)):
        return text
    return _CORK.sub(lambda code: _CORK_SIGNS[code[0]], text)


def clean_text(text: str) -> str:
    """Return text without ligatures, soft hyphens and control characters."""
    if text.isascii() and text.isprintable():
        return text
    return _ODD.sub(
        lambda odd: unicodedata.normalize("NFKC", odd["forms"] or ""), text.translate(_SYMBOLS)
    )


SMALL = 0.85
RAISED = 0.2
"""How much smaller and higher than the text a superscript is; it is raised by .3 to .5."""
_EXPONENT = re.compile(r"([-+\u2212\u2013]?\d{1,3})(\Z|\W.*)", re.DOTALL)
_POWER = re.compile(r"(?<![\d.,])(?:10|\d)\Z")
_SUPERSCRIPTS = str.maketrans("0123456789-+\u2212\u2013", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺⁻⁻")


def raise_end(base: str, end: str) -> str:
    """Return text with a superscript at its end; at a number only a power of ten or a digit."""
    match = _EXPONENT.fullmatch(end)
    if not match:
        return base + end
    space = " " if base[-1:].isdigit() and not _POWER.search(base) else ""
    return base + space + match[1].translate(_SUPERSCRIPTS) + match[2]
