"""Wraps styled text and lays out tables."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.width import clean, measure_width, wrap_text

_LINE = "\n"
_GLUE = "\u00a0"
_MARKERS = re.compile(r"\[\d{1,3}\]|\[unsupported\]")
_BEFORE_A_MARKER = re.compile(r" (?=\[(?:\d{1,3}|unsupported)\])")


@dataclass(frozen=True, slots=True)
class Style:
    """How a letter looks; `literal` ones are code, in which nothing is a marker."""

    fg: str | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    literal: bool = False


PLAIN = Style()
_CITED = Style(fg="cyan")
_UNSUPPORTED = Style(fg="yellow")


@dataclass(slots=True)
class StyledText:
    """Text with a style for each letter; apart from ends of lines nothing in it can steer."""

    text: str = ""
    styles: list[Style] = field(default_factory=list)

    def add(self, text: str, style: Style = PLAIN) -> None:
        """Append text of one style."""
        self.text += clean(text)
        self.styles += [style] * len(text)

    def join(self, other: "StyledText") -> None:
        """Append other text as it is."""
        self.text += other.text
        self.styles += other.styles

    def end_line(self) -> None:
        """Begin a new line."""
        self.text += _LINE
        self.styles.append(PLAIN)

    def lines(self, width: int, canvas: Canvas) -> Iterator[str]:
        """Yield the text as painted lines of at most `width` cells, with markers standing out."""
        styles = self._with_markers()
        # A marker stays with the word that it follows.
        glued = _BEFORE_A_MARKER.sub(_GLUE, self.text)
        start = 0
        for line in glued.split(_LINE):
            for first, last in wrap_text(line, width):
                yield self._painted(start + first, start + last, styles, canvas)
            start += len(line) + 1

    def _with_markers(self) -> list[Style]:
        styles = list(self.styles)
        for found in _MARKERS.finditer(self.text):
            start, end = found.span()
            if not styles[start].literal:
                cited = found[0][1].isdecimal()
                styles[start:end] = [_CITED if cited else _UNSUPPORTED] * (end - start)
        return styles

    def _painted(self, start: int, end: int, styles: list[Style], canvas: Canvas) -> str:
        parts = []
        for first, last in find_runs(styles, start, end):
            look = styles[first]
            parts.append(
                canvas.paint(
                    self.text[first:last],
                    fg=look.fg,
                    bold=look.bold,
                    dim=look.dim,
                    italic=look.italic,
                )
            )
        return "".join(parts)


def find_runs(styles: list[Style], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield each [first, last) between two places in which the style stays the same."""
    first = start
    for place in range(start + 1, end + 1):
        if place == end or styles[place] != styles[first]:
            yield first, place
            first = place


_GAP = 2
_LEAST = 6


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in one field, and at which side of it."""

    prose: StyledText
    right: bool = False

    @property
    def width(self) -> int:
        """How many cells of a terminal it would like to have."""
        return max(map(measure_width, self.prose.text.split("\n")))


def lay_out_table(rows: list[list[Cell]], width: int, canvas: Canvas) -> list[str]:
    """Return rows as lines; the first one is the head, with a rule below it."""
    wanted = [max(cell.width for cell in column) for column in zip(*rows, strict=True)]
    columns = compute_column_widths(wanted, width)
    head, *body = [list(_row(row, columns, canvas)) for row in rows]
    rule = canvas.dim((" " * _GAP).join("─" * column for column in columns))
    spread = any(len(lines) > 1 for lines in body)
    lines = [*head, rule]
    for number, row in enumerate(body):
        lines += ["", *row] if spread and number else row
    return lines


def compute_column_widths(wanted: list[int], width: int) -> list[int]:
    """Return how wide each column may be: the widest ones give way until all fit, or are slim."""
    room = width - _GAP * (len(wanted) - 1)
    given = [min(one, max(room, _LEAST)) for one in wanted]
    while sum(given) > room and max(given) > _LEAST:
        given[given.index(max(given))] -= 1
    return [max(1, one) for one in given]


def _row(row: list[Cell], columns: list[int], canvas: Canvas) -> Iterator[str]:
    """Yield the lines of one row."""
    bare = Canvas()
    fields = [
        list(zip(cell.prose.lines(column, canvas), cell.prose.lines(column, bare), strict=True))
        for cell, column in zip(row, columns, strict=True)
    ]
    for parts in zip_longest(*fields, fillvalue=("", "")):
        line = []
        for (painted, plain), cell, column in zip(parts, row, columns, strict=True):
            blank = " " * (column - measure_width(plain))
            line.append(blank + painted if cell.right else painted + blank)
        yield (" " * _GAP).join(line).rstrip()
