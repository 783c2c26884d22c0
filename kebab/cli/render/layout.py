"""Wraps styled text and lays out tables."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.width import clean, measure_character, measure_width, wrap_text

MATCH_START, MATCH_END = "\ufdd0", "\ufdd1"
"""Surround a match of the query in a text; Unicode gives these two no other meaning."""

_LINE = "\n"
_MATCH_SIGNS = re.compile(f"([{MATCH_START}{MATCH_END}])")
_GLUE = "\u00a0"
_MARKERS = re.compile(r"\[\d{1,3}\]|\[unsupported\]")
_BEFORE_A_MARKER = re.compile(r" (?=\[(?:\d{1,3}|unsupported)\])")


@dataclass(frozen=True, slots=True)
class Style:
    """The style of a letter; `literal` text is code and contains no citation markers."""

    fg: str | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    literal: bool = False


PLAIN = Style()
MATCH_COLOR = "yellow"
_CITED = Style(fg="cyan")
_UNSUPPORTED = Style(fg="yellow")


@dataclass(slots=True)
class StyledText:
    """Text with a style for each letter; it contains no control characters but line ends."""

    text: str = ""
    styles: list[Style] = field(default_factory=list)
    in_match: bool = False

    def add(self, text: str, style: Style = PLAIN) -> None:
        """Append text of one style; matches of the query in it are emphasised."""
        for part in _MATCH_SIGNS.split(clean(text)):
            if part in (MATCH_START, MATCH_END):
                self.in_match = part == MATCH_START
            elif part:
                look = replace(style, fg=MATCH_COLOR, bold=True) if self.in_match else style
                self.text += part
                self.styles += [look] * len(part)

    def join(self, other: "StyledText") -> None:
        """Append other text with its styles."""
        self.text += other.text
        self.styles += other.styles

    def end_line(self) -> None:
        """Begin a new line."""
        self.text += _LINE
        self.styles.append(PLAIN)

    def lines(self, width: int, canvas: Canvas) -> Iterator[str]:
        """Yield the text as painted lines of at most `width` cells, with coloured markers."""
        styles = self._with_markers()
        # A marker stays on the line of the word before it.
        glued = _BEFORE_A_MARKER.sub(_GLUE, self.text)
        start = 0
        for line in glued.split(_LINE):
            for first, last in wrap_text(line, width):
                yield self._paint(start + first, start + last, styles, canvas)
            start += len(line) + 1

    def fold(self, width: int, canvas: Canvas) -> Iterator[str]:
        """Yield one line of code in painted parts of `width` cells.

        A part ends after a space if one is in its second half; otherwise a word is split.
        """
        start = used = space = 0
        for position, character in enumerate(self.text):
            used += measure_character(character)
            if used > width:
                end = space if space > start + width // 2 else position
                yield self._paint(start, end, self.styles, canvas)
                start, used = end, measure_width(self.text[end : position + 1])
            if character == " ":
                space = position + 1
        yield self._paint(start, len(self.text), self.styles, canvas)

    def _with_markers(self) -> list[Style]:
        styles = list(self.styles)
        for match in _MARKERS.finditer(self.text):
            start, end = match.span()
            if not styles[start].literal:
                cited = match[0][1].isdecimal()
                styles[start:end] = [_CITED if cited else _UNSUPPORTED] * (end - start)
        return styles

    def _paint(self, start: int, end: int, styles: list[Style], canvas: Canvas) -> str:
        return "".join(
            canvas.paint(
                self.text[first:last], fg=look.fg, bold=look.bold, dim=look.dim, italic=look.italic
            )
            for first, last in find_runs(styles, start, end)
            for look in [styles[first]]
        )


def find_runs(values: Sequence[object], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield each [first, last) between two positions in which the value stays the same."""
    first = start
    for position in range(start + 1, end + 1):
        if position == end or values[position] != values[first]:
            yield first, position
            first = position


_GAP = 2
_MIN_WIDTH = 6


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of one field and its alignment."""

    content: StyledText
    right: bool = False

    @property
    def width(self) -> int:
        """The number of terminal cells of its longest line."""
        return max(map(measure_width, self.content.text.split("\n")))


def lay_out_table(rows: list[list[Cell]], width: int, canvas: Canvas) -> list[str]:
    """Return rows as lines; the first row is the head, with a rule below it unless it is empty."""
    wanted = [max(cell.width for cell in column) for column in zip(*rows, strict=True)]
    columns = compute_column_widths(wanted, width)
    head, *body = [list(_render_row(row, columns, canvas)) for row in rows]
    rule = canvas.dim((" " * _GAP).join("─" * column for column in columns))
    is_spaced = any(len(lines) > 1 for lines in body)
    lines = [*head, rule] if any(cell.content.text for cell in rows[0]) else []
    for number, row in enumerate(body):
        lines += ["", *row] if is_spaced and number else row
    return lines


def compute_column_widths(wanted: list[int], width: int) -> list[int]:
    """Return the width of each column; the widest ones shrink until all fit or are minimal."""
    room = width - _GAP * (len(wanted) - 1)
    widths = [min(column, max(room, _MIN_WIDTH)) for column in wanted]
    while sum(widths) > room and max(widths) > _MIN_WIDTH:
        widths[widths.index(max(widths))] -= 1
    return [max(1, column) for column in widths]


def _render_row(row: list[Cell], columns: list[int], canvas: Canvas) -> Iterator[str]:
    """Yield the lines of one row."""
    bare = Canvas()
    fields = [
        list(zip(cell.content.lines(column, canvas), cell.content.lines(column, bare), strict=True))
        for cell, column in zip(row, columns, strict=True)
    ]
    for parts in zip_longest(*fields, fillvalue=("", "")):
        line = []
        for (painted, plain), cell, column in zip(parts, row, columns, strict=True):
            blank = " " * (column - measure_width(plain))
            line.append(blank + painted if cell.right else painted + blank)
        yield (" " * _GAP).join(line).rstrip()
