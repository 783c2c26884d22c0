"""Turns the rows of a page into headings, paragraphs, lists and tables.

Headings are found by the outline and by the size and weight of the fonts.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from statistics import median
from typing import NamedTuple

from kebab.parse.blocks import TextBuilder
from kebab.parse.pdf.pages import Cell
from kebab.parse.pdf.rows import Row
from kebab.text.language import is_function_word

_LARGER = 1.12
"""How many times larger than the text a heading is at least."""
_MAX_CHARS = 160
_MAX_BOLD_CHARS = 90
_BODY_SHARE = 0.3
"""The share of the characters from which a size is one of the text, not of headings."""
_MAX_CELLS = 2
_SIZE_STEP = 0.5
_HAS_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"\S+")
_HAS_LETTER = re.compile(r"[^\W\d_]")
_NO_HEADING = re.compile(
    r"[,;:]$|\.$(?<!\d\.)|^[•\u2023\u25aa\u25cf\u25cb\u25a0\u25a1*–—-]\s|^\W+$"
)
_NUMBERED = re.compile(r"(?:\d{1,3}(?:\.\d{1,3})*\.?|[A-Z]\.|[IVX]{1,5}\.)\s+\S")
_NOT_WORD = re.compile(r"[\W_]+")


class Bookmark(NamedTuple):
    """An entry of the outline: its level from 1, its title and its page from 1."""

    level: int
    title: str
    page: int


class _Style(NamedTuple):
    """The size and the weight of a heading; a larger one is higher."""

    size: float
    bold: bool


class HeadingRules:
    """Decides which rows are headings, and their levels."""

    def __init__(self, pages: Iterable[Sequence[Row]], bookmarks: Sequence[Bookmark]) -> None:
        """Learn the size of the text and the sizes of its headings."""
        pages = list(pages)
        # The largest size in which much of the text is written.
        chars: Counter[float] = Counter()
        for rows in pages:
            for row in rows:
                chars[_round_size(row.size)] += len(row.text)
        most = [size for size, _ in chars.most_common(1)]
        much = _BODY_SHARE * chars.total()
        self.body = max(
            [*most, *(size for size, count in chars.items() if count > much)], default=0.0
        )
        self._bookmarks: defaultdict[int, dict[str, int]] = defaultdict(dict)
        for mark in bookmarks:
            title = _normalize(mark.title)
            if title:
                self._bookmarks[mark.page][title] = mark.level
        uses: dict[_Style, list[int]] = {}
        known: dict[_Style, Counter[int]] = {}
        for number, rows in enumerate(pages, 1):
            for row in rows:
                style = self._classify(row)
                if style:
                    uses.setdefault(style, []).append(number)
                    level = self._find_level(row, number)
                    if level:
                        known.setdefault(style, Counter())[level] += 1
        levels: dict[_Style, int] = {}
        level = 0
        largest = max(uses, default=None)
        # A larger style of the first page alone is that of the authors or the date.
        chosen = [
            style
            for style, pages in uses.items()
            if style == largest
            or style in known
            or style.bold
            or style.size > 1.5 * self.body
            or max(pages) > 1
        ]
        for style in sorted(chosen, reverse=True)[:5]:
            level = known[style].most_common(1)[0][0] if style in known else level + 1
            levels[style] = level
        self._levels = levels

    def get_level(self, row: Row, page: int) -> int:
        """Return the level of a heading, 0 for other rows; `page` counts from 1."""
        level = self._find_level(row, page)
        if level and len(row.cells) == 1 and not row.table:
            return level
        style = self._classify(row)
        return self._levels.get(style, 0) if style else 0

    def _find_level(self, row: Row, page: int) -> int:
        """Return the level that the outline gives a row, 0 when it does not name it."""
        titles = self._bookmarks.get(page)
        return titles.get(_normalize(row.text), 0) if titles else 0

    def _classify(self, row: Row) -> _Style | None:
        """Return the style of a row that looks like a heading."""
        is_large = row.size >= _LARGER * self.body
        if not is_large and not (row.bold and row.size >= 0.95 * self.body):
            return None
        text = row.text
        if len(row.cells) > _MAX_CELLS or row.turned or row.table or len(text) > _MAX_CHARS:
            return None
        if not _HAS_LETTER.search(text) or _NO_HEADING.search(text):
            return None
        if is_large:
            return _Style(_round_size(row.size), row.bold)
        is_numbered = len(text) <= _MAX_BOLD_CHARS and _NUMBERED.match(text)
        return _Style(self.body, bold=True) if is_numbered else None


def _round_size(size: float) -> float:
    return round(size / _SIZE_STEP) * _SIZE_STEP


def _normalize(text: str) -> str:
    """Return the letters of a title, by which an outline and a page agree."""
    text = text.casefold()
    return _NOT_WORD.sub("", re.sub(r"^(?:chapter|part|kapitel|teil)?[\s\d.]*", "", text))


_PITCH = 1.35
"""How many times the usual distance of lines ends a paragraph."""
_USUAL_PITCH = 1.25
_PITCH_RANGE = (0.8, 2.3)
_SAME_SIZE = 0.12
_ROOM = 1.0
"""The room beside the next word from which a line ends on purpose, in font sizes."""
_NEAR = 8
_MIN_TABLE_ROWS = 3
_MAX_HEADER_LINES = 3
_MIN_WIDE_ROWS = 2
_WIDE_ROW = 3
_MAX_CELL_CHARS = 70
_MAX_HEADING_CHARS = 120
_EQUAL_SIZE = 0.2
_NEST_POINTS = 4

_MARKER = re.compile(
    r"[•\u2023\u25aa\u25ab\u25cf\u25cb\u25e6\u25a0\u25a1\u2219·*–—\u27a2\u2713\u2714](?:\s+|$)"
    r"|-\s+|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)](?:\s+|$)|\[\d{1,3}\]\s+"
)
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3})*\.?\s")
_BULLET = re.compile(r"\A[^\w\s(\[]\s*")
_SENTENCE_ENDS = tuple(".!?:…。！？")
_LEADERS = re.compile(r"(?<!\s)(?:\s*+[.…·]){5,}\s*")
_HAS_LEADERS = re.compile(r"[.…·](?:\s*+[.…·]){4}")
_DENSE = re.compile("[\u3001-ヿ\u3400-\u9fff\uf900-\ufaff\uff01-\uff5e]")


class PageWriter:
    """Writes the rows of a page, in reading order, with the levels of the headings among them."""

    def __init__(
        self, builder: TextBuilder, rows: Sequence[Row], levels: Sequence[int], joiner: "LineJoiner"
    ) -> None:
        self._builder = builder
        self._joiner = joiner
        self._rows = rows
        self._levels = levels
        self._layout = _PageLayout(rows)
        self._index = 0

    def write(self) -> None:
        """Add all rows."""
        while self._index < len(self._rows):
            end = _find_table_end(self._rows, self._index)
            is_head = end > self._index + 1 and len(self._rows[self._index].cells) > 1
            if self._levels[self._index] and not is_head:
                first, level = self._rows[self._index], self._levels[self._index]
                text = first.text
                while self._continues_heading(first, level, text):
                    before, after = self._rows[self._index], self._rows[self._index + 1]
                    text = self._joiner.join(text, after.text, hyphen=before.hyphen)
                    self._index += 1
                self._index += 1
                self._builder.add_heading(level, _remove_leaders(text))
            elif end > self._index:
                _write_table(self._builder, self._rows[self._index : end], self._joiner)
                self._index = end
            elif _MARKER.match(self._rows[self._index].text):
                self._write_list()
            else:
                self._builder.add_paragraph(self._take_paragraph())

    def _continues_heading(self, first: Row, level: int, text: str) -> bool:
        following = self._index + 1
        if following >= len(self._rows) or self._levels[following] != level:
            return False
        before, after = self._rows[self._index], self._rows[following]
        is_same = abs(after.size - first.size) < _EQUAL_SIZE and after.bold == first.bold
        is_near = 0 < before.base - after.base < _PITCH * _USUAL_PITCH * first.size
        begins = _MARKER.match(after.text) or _NUMBER.match(after.text)
        return is_same and is_near and not begins and len(text) <= _MAX_HEADING_CHARS

    def _write_list(self) -> None:
        items: list[tuple[float, str]] = []
        while self._index < len(self._rows):
            row = self._rows[self._index]
            if self._levels[self._index] or not _MARKER.match(row.text):
                break
            text = self._take_paragraph()
            items.append((row.left, _BULLET.sub("", text, count=1)))
        # The left edges of the items tell their depths.
        edges: list[float] = []
        nested = []
        for left, text in items:
            while edges and left < edges[-1] - _NEST_POINTS:
                edges.pop()
            if not edges or left > edges[-1] + _NEST_POINTS:
                edges.append(left)
            nested.append((len(edges) - 1, text))
        self._builder.add_list(nested)

    def _take_paragraph(self) -> str:
        """Return the text of the paragraph that begins here, and go behind it."""
        rows = self._rows
        parts = [rows[self._index].text]
        self._index += 1
        while self._index < len(rows):
            before, after = rows[self._index - 1], rows[self._index]
            if self._levels[self._index] or _MARKER.match(after.text):
                break
            if self._layout.is_break(self._index):
                break
            if _find_table_end(rows, self._index) > self._index:
                break
            if not before.hyphen and self._layout.is_short(self._index):
                parts += ["\n", after.text]
            else:
                parts[-1:] = self._joiner.join_pair(parts[-1], after.text, hyphen=before.hyphen)
            self._index += 1
        return _remove_leaders("".join(parts))


class _PageLayout:
    """The usual distance of the lines of a page, and the right edges of its columns."""

    def __init__(self, rows: Sequence[Row]) -> None:
        pitches = [
            (before.base - after.base) / before.size
            for before, after in pairwise(rows)
            if before.size > 0 and abs(before.size - after.size) <= _SAME_SIZE * before.size
        ]
        usual = [pitch for pitch in pitches if _PITCH_RANGE[0] < pitch < _PITCH_RANGE[1]]
        self._pitch = median(usual) if usual else _USUAL_PITCH
        self._rows = rows
        self._right = max((row.right for row in rows), default=0.0)

    def is_break(self, index: int) -> bool:
        """Return whether a paragraph ends before a row."""
        before, after = self._rows[index - 1], self._rows[index]
        if abs(before.size - after.size) > _SAME_SIZE * max(before.size, after.size):
            return True
        if before.turned != after.turned:
            return True
        ends = before.text.rstrip("'\")]”’»」").endswith(_SENTENCE_ENDS)
        if after.base > before.base or after.left > before.right or after.right < before.left:
            return ends or not after.text[:1].islower()
        if before.base - after.base > _PITCH * self._pitch * before.size:
            return True
        return ends and (abs(after.left - before.left) > 0.7 * before.size or self.is_short(index))

    def is_short(self, index: int) -> bool:
        """Return whether the line before a row ends although the next word had room in it."""
        before, after = self._rows[index - 1], self._rows[index]
        if len(before.cells) > 1 or len(after.cells) > 1:
            return True
        if after.base > before.base:
            return False
        word = after.text.partition(" ")[0]
        width = (after.right - after.left) * min(len(word), 16) / max(len(after.text), 1)
        needed = width + _ROOM * before.size
        if self._right - before.right <= needed:
            return False
        # The right edge of the column, as the neighbours of the row show it.
        row = self._rows[index]
        near = self._rows[max(index - _NEAR, 0) : index + _NEAR]
        edge = max(
            other.right
            for other in near
            if abs(other.left - row.left) <= 4 * row.size
            and other.size <= row.size
            and not other.table
        )
        return edge - before.right > needed


def _remove_leaders(text: str) -> str:
    return _LEADERS.sub(" ", text) if _HAS_LEADERS.search(text) else text


def _find_table_end(rows: Sequence[Row], index: int) -> int:
    """Return the end of the table that begins at a row, or the row itself when there is none."""
    if rows[index].table:
        return index + 1
    if _heads_table(rows, index):
        return index + 2
    end = index
    while end < len(rows) and _is_table_row(rows[end]):
        end += 1
    count = end - index
    is_wide = count >= _MIN_WIDE_ROWS and len(rows[index].cells) >= _WIDE_ROW
    return end if is_wide or count >= _MIN_TABLE_ROWS else index


def _heads_table(rows: Sequence[Row], index: int) -> bool:
    """Return whether a row stands right above a drawn table, and has a cell for each column."""
    if index + 1 >= len(rows) or not rows[index + 1].table:
        return False
    row, below = rows[index], rows[index + 1]
    is_near = 0 < row.base - below.base < 3.0 * row.size
    return is_near and len(row.cells) == len(below.table[0]) > 1


def _is_table_row(row: Row) -> bool:
    if row.table or len(row.cells) < 2 or _MARKER.fullmatch(row.cells[0]):  # noqa: PLR2004 - two cells
        return False
    return max(map(len, row.cells)) <= _MAX_CELL_CHARS and not _HAS_LEADERS.search(row.text)


def _write_table(builder: TextBuilder, rows: Sequence[Row], joiner: "LineJoiner") -> None:
    """Add a table; rows of different lengths without common columns stay lines."""
    if rows[-1].table:
        drawn = ([joiner.join_cell(cell) for cell in row] for row in rows[-1].table)
        heads = (row.cells for row in rows[:-1])
        builder.add_table([_remove_leaders(cell) for cell in row] for row in (*heads, *drawn))
        return
    columns = _find_columns(rows)
    most = max(len(row.cells) for row in rows)
    table = [_align_cells(row, columns) for row in rows]
    # The first row may lack a cell, above the names of the rows.
    if len(columns) <= most + (most >= _WIDE_ROW) and all(table):
        builder.add_table(_join_header(table))
    elif len({len(row.cells) for row in rows}) == 1:
        builder.add_table([row.cells for row in rows])
    else:
        builder.add_paragraph("\n".join(" | ".join(row.cells) for row in rows))


def _join_header(table: Sequence[list[str]]) -> list[list[str]]:
    """Return a table whose header of several lines is one row: lines without any number.

    All rows below them have numbers.
    """
    numbers = [any(map(_HAS_DIGIT.search, row)) for row in table]
    count = numbers.index(True) if True in numbers else 0
    if not 1 < count <= _MAX_HEADER_LINES or not all(numbers[count:]):
        return list(table)
    header = [" ".join(filter(None, cells)) for cells in zip(*table[:count], strict=True)]
    return [header, *table[count:]]


def _find_columns(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Return the left and right sides of the columns in which the cells of rows stand."""
    columns: list[tuple[float, float]] = []
    spans = [span for row in rows for span in row.spans]
    for span in sorted(spans, key=lambda one: one[1] - one[0]):
        found = [column for column in columns if _overlaps(column, span)]
        # A wider cell widens its column; one above several columns is a heading of them.
        if len(found) <= 1:
            sides = [*found, span]
            columns = [one for one in columns if one not in found]
            columns.append((min(one[0] for one in sides), max(one[1] for one in sides)))
    return sorted(columns)


def _align_cells(row: Row, columns: Sequence[tuple[float, float]]) -> list[str]:
    """Return the cells of a row by columns, nothing when two stand in one column."""
    line = [""] * len(columns)
    for text, span in zip(row.cells, row.spans, strict=True):
        parts = [(text, span)]
        words = text.split()
        if all(map(_HAS_DIGIT.search, words)):
            # Numbers with a narrow gap between them stand about where their characters do.
            width = (span[1] - span[0]) / len(text)
            places = [span[0] + width * word.start() for word in _WORD.finditer(text)]
            numbers = [
                (word, (place, place + width * len(word)))
                for word, place in zip(words, places, strict=True)
            ]
            homes = [_list_columns(columns, place) for _, place in numbers]
            if all(homes) and len({one[0] for one in homes}) == len(words):
                parts = numbers
        for part, place in parts:
            index = _list_columns(columns, place)[0]
            if line[index]:
                return []
            line[index] = part
    return line


def _list_columns(columns: Sequence[tuple[float, float]], span: tuple[float, float]) -> list[int]:
    """Return the numbers of the columns that a cell touches."""
    return [at for at, column in enumerate(columns) if _overlaps(column, span)]


def _overlaps(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return min(one[1], other[1]) - max(one[0], other[0]) > 0 or one == other


_MIN_HALF = 3
"""The letters that each half of a compound has at least where only the halves are known."""
_LAST_PART = re.compile(r"(?<![^\W\d_])[^\W\d_]++(?=-\Z)")
_INNER = re.compile(r"[^\W\d_]-[^\W\d_]+-\Z")
_FIRST_PART = re.compile(r"[^\W\d_]+")
_SUSPENDED = re.compile(r"(?:and|or|und|oder|bzw|och|eller|y|o|e|и|или)\b(?!-)")
"""The words behind a hyphen that ends a word, as in `pre- and postwar`."""


class LineJoiner:
    """Joins the lines of paragraphs; the words of a document say which hyphens divide words.

    A hyphen stays where the document has the compound, or has the halves as words and the joined
    form nowhere, or where no line of it ends within a word that it has elsewhere.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        """Count the words and the compounds of a document."""
        lines = list(lines)
        pairs = [_find_halves(*pair) for pair in pairwise(lines) if pair[0].endswith("-")]
        divided = [halves for halves in pairs if halves]
        tokens = Counter(chain.from_iterable(map(str.split, lines))) if divided else Counter()
        known: Counter[str] = Counter()
        for token, count in tokens.items():
            word = token.strip("-.,;:!?()[]{}\"'`“”‘’«»„…").casefold()
            known[word] += count
            if "-" in word:
                parts = word.split("-")
                for part in {*parts, *map("-".join, pairwise(parts))} - {word}:
                    known[part] += count
        known.subtract(chain.from_iterable(divided))
        self._known = known
        seen = [self._compare(*halves) for halves in divided]
        self._divides_words = max(seen, default=0) <= 0 or min(seen) < 0

    def _compare(self, left: str, right: str) -> int:
        """Return how much more often the halves occur with a hyphen than as one word."""
        return self._known[f"{left}-{right}"] - self._known[left + right]

    def join(self, before: str, after: str, *, hyphen: bool = False) -> str:
        """Return two lines of a paragraph as one; `hyphen` says that a division ends the first."""
        return "".join(self.join_pair(before, after, hyphen=hyphen))

    def join_cell(self, cell: Cell) -> str:
        """Return the lines of a cell as one."""
        text = cell[0][0] if cell else ""
        for (_, hyphen), (after, _) in pairwise(cell):
            text = self.join(text, after, hyphen=hyphen)
        return text

    def join_pair(self, before: str, after: str, *, hyphen: bool) -> tuple[str, str]:
        """Return the parts of the joined line."""
        if hyphen or (before[-1:] == "-" and before[-2:-1].isalnum()):
            return self._join_halves(before, after)
        if _DENSE.match(before[-1:]) and _DENSE.match(after):
            return before, after
        return f"{before} ", after

    def _join_halves(self, before: str, after: str) -> tuple[str, str]:
        halves = _find_halves(before, after)
        more = self._compare(*halves) if halves else 0
        if more < 0:
            return before[:-1], after
        if _SUSPENDED.match(after):
            return f"{before} ", after
        if not halves:
            return before, after
        left, right = halves
        is_one_case = after[0].islower() or (before[-3:-1].isupper() and after[:2].isupper())
        is_known = min(self._known[left], self._known[right]) > 0
        is_compound = is_known and min(len(left), len(right)) >= _MIN_HALF
        # A small word has a hyphen on its other side too, as in `state-of-the-art`.
        is_compound |= after[len(right) :].startswith("-") and is_function_word(right)
        is_compound |= _INNER.search(before) is not None and is_function_word(left)
        if more > 0 or not is_one_case or not self._divides_words or is_compound:
            return before, after
        return before[:-1], after


def _find_halves(before: str, after: str) -> tuple[str, str] | None:
    """Return the letters on both sides of a hyphen that ends a line."""
    left, right = _LAST_PART.search(before.rpartition(" ")[2]), _FIRST_PART.match(after)
    return (left[0].casefold(), right[0].casefold()) if left and right else None
