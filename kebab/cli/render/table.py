"""A table of running text whose columns share the width of a terminal."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.measure import cells
from kebab.cli.render.prose import Prose

_GAP = 2
_LEAST = 6


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in one field, and at which side of it."""

    prose: Prose
    right: bool = False

    @property
    def width(self) -> int:
        """How many cells of a terminal it would like to have."""
        return max(map(cells, self.prose.text.split("\n")))


def laid_out(rows: list[list[Cell]], width: int, canvas: Canvas) -> list[str]:
    """Return rows as lines; the first one is the head, with a rule below it."""
    wanted = [max(cell.width for cell in column) for column in zip(*rows, strict=True)]
    columns = shares(wanted, width)
    head, *body = [list(_row(row, columns, canvas)) for row in rows]
    rule = canvas.faint((" " * _GAP).join("─" * column for column in columns))
    spread = any(len(lines) > 1 for lines in body)
    lines = [*head, rule]
    for number, row in enumerate(body):
        lines += ["", *row] if spread and number else row
    return lines


def shares(wanted: list[int], width: int) -> list[int]:
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
            blank = " " * (column - cells(plain))
            line.append(blank + painted if cell.right else painted + blank)
        yield (" " * _GAP).join(line).rstrip()
