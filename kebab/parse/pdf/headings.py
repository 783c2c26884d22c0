"""Finds the headings of a PDF by its outline and by the size and weight of its fonts."""

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from kebab.parse.pdf.layout import Row

_LARGER = 1.12
"""How many times larger than the text a heading is at least."""
_CLEARLY_LARGER = 1.5
_MAX_CHARS = 160
_MAX_BOLD_CHARS = 90
_BODY_SHARE = 0.3
"""The share of the characters from which a size is one of the text, not of headings."""
_MAX_STYLES = 5
_MAX_CELLS = 2
_SAME = 0.95
_SIZE_STEP = 0.5
_HAS_LETTER = re.compile(r"[^\W\d_]")
_NO_HEADING = re.compile(
    r"[,;:]$|\.$(?<!\d\.)|^[\u2022\u2023\u25aa\u25cf\u25cb\u25a0\u25a1*\u2013\u2014-]\s|^\W+$"
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
        self.body = _find_body_size(pages)
        self._bookmarks = _index_bookmarks(bookmarks)
        self._levels = self._learn_levels(pages)

    def get_level(self, row: Row, page: int) -> int:
        """Return the level of a heading, 0 for other rows; `page` counts from 1."""
        level = self._bookmarks.get((page, _normalize(row.text)), 0) if self._bookmarks else 0
        if level and len(row.cells) == 1:
            return level
        style = self._classify(row)
        return self._levels.get(style, 0) if style else 0

    def _classify(self, row: Row) -> _Style | None:
        """Return the style of a row that looks like a heading."""
        text = row.text
        if len(row.cells) > _MAX_CELLS or row.turned or len(text) > _MAX_CHARS:
            return None
        if not _HAS_LETTER.search(text) or _NO_HEADING.search(text):
            return None
        if row.size >= _LARGER * self.body:
            return _Style(_round_size(row.size), row.bold)
        is_strong = row.bold and row.size >= _SAME * self.body and len(text) <= _MAX_BOLD_CHARS
        return _Style(self.body, bold=True) if is_strong and _NUMBERED.match(text) else None

    def _learn_levels(self, pages: Sequence[Sequence[Row]]) -> Mapping[_Style, int]:
        """Return the level of each style: larger is higher, and the outline decides if it can."""
        uses: dict[_Style, list[int]] = {}
        known: dict[_Style, Counter[int]] = {}
        for number, rows in enumerate(pages, 1):
            for row in rows:
                style = self._classify(row)
                if style:
                    uses.setdefault(style, []).append(number)
                    level = self._bookmarks.get((number, _normalize(row.text)))
                    if level:
                        known.setdefault(style, Counter())[level] += 1
        levels: dict[_Style, int] = {}
        level = 0
        for style in _choose_styles(uses, known, self.body):
            level = known[style].most_common(1)[0][0] if style in known else level + 1
            levels[style] = level
        return levels


def _choose_styles(
    uses: Mapping[_Style, Sequence[int]], known: Container[_Style], body: float
) -> list[_Style]:
    """Return the styles of headings, the largest first; `uses` lists their pages.

    A style that is a little larger and occurs only on the first page is that of the authors or
    the date.
    """
    largest = max(uses, default=None)
    chosen = [
        style
        for style, pages in uses.items()
        if style == largest
        or style in known
        or style.bold
        or style.size > _CLEARLY_LARGER * body
        or max(pages) > 1
    ]
    return sorted(chosen, reverse=True)[:_MAX_STYLES]


def _find_body_size(pages: Iterable[Sequence[Row]]) -> float:
    """Return the largest size in which much of the text is written."""
    chars: Counter[float] = Counter()
    for rows in pages:
        for row in rows:
            chars[_round_size(row.size)] += len(row.text)
    most = [size for size, _ in chars.most_common(1)]
    much = _BODY_SHARE * chars.total()
    return max([*most, *(size for size, count in chars.items() if count > much)], default=0.0)


def _round_size(size: float) -> float:
    return round(size / _SIZE_STEP) * _SIZE_STEP


def _index_bookmarks(bookmarks: Iterable[Bookmark]) -> dict[tuple[int, str], int]:
    """Return the levels of bookmarks by page and title, without the numbers of sections."""
    index = {}
    for mark in bookmarks:
        title = _normalize(mark.title)
        if title:
            index[mark.page, title] = mark.level
    return index


def _normalize(text: str) -> str:
    """Return the letters of a title, by which an outline and a page agree."""
    text = text.casefold()
    return _NOT_WORD.sub("", re.sub(r"^(?:chapter|part|kapitel|teil)?[\s\d.]*", "", text))
