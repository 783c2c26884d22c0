"""Brings the text of PDF pages into reading order, and into rows and tables."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from kebab.parse.pdf.grids import Grid
from kebab.parse.pdf.pages import RAISED, SMALL, PageText, Segment, Table, raise_end

_HAS_DIGIT = re.compile(r"\d").search
_SAME_LINE = 0.35
"""How far base lines of one line are apart at most, in font sizes."""
_BIN_POINTS = 3.0
_MIN_COLUMN_ROWS = 4
_PROSE_CHARS = 22
"""The mean length of the lines of a column of text; the cells of tables are shorter."""
_MAX_DEPTH = 4
_TOUCHING = 0.15
"""The width of the gap below which two segments are one word, in font sizes."""


class Row(NamedTuple):
    """A line of a page: its cells from left to right, most often one.

    `spans` are the left and right sides of the cells where there are several. `table` are the rows
    of a table whose cells are drawn; it is one row of the page.
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
    table: Table = ()

    @property
    def text(self) -> str:
        """The cells as one line."""
        return " ".join(self.cells)

    @property
    def lines(self) -> tuple[str, ...]:
        """Its text by lines."""
        return list_lines(self.table) if self.table else (self.text,)


def list_lines(table: Table) -> tuple[str, ...]:
    """Return the lines of all cells."""
    return tuple(text for row in table for cell in row for text, _ in cell)


def build_rows(segments: Sequence[Segment]) -> list[Row]:
    """Return the lines of a page in reading order; turned text comes last."""
    straight = [segment for segment in segments if not segment.turned and segment.text.strip()]
    turned = [segment for segment in segments if segment.turned and segment.text.strip()]
    return [*_join_segments(order_segments(straight)), *_join_segments(turned)]


def collect_tables(page: PageText) -> PageText:
    """Return the page with one segment for each table whose cells are drawn."""
    segments = page.segments
    for grid in page.grids:
        fields = [-1 if one.turned else grid.find_field(*one.middle) for one in segments]
        inside = [(field, one) for field, one in zip(fields, segments, strict=True) if field >= 0]
        parted = close = 0  # gaps part the fields of a table, not boxes around words
        for (field, before), (other, after) in pairwise(zip(fields, segments, strict=True)):
            if field != other and _is_same_line(before, after):
                parted += 1
                close += after.left - before.right < 0.35 * before.size
        table = _build_table(grid, inside) if (close <= _MAX_ODD * parted) else None
        if table is not None:
            first = next(number for number, field in enumerate(fields) if field >= 0)
            segments = tuple(
                table if number == first else one
                for number, one in enumerate(segments)
                if fields[number] < 0 or number == first
            )
    return page._replace(segments=segments)


_MAX_CELL_LINES = 15
_MAX_ODD = 0.15
_LARGER = 1.3


def _build_table(grid: Grid, inside: Sequence[tuple[int, Segment]]) -> Segment | None:
    """Return the table of segments in the fields of a grid, None where it divides no cells.

    The lines of a chart, of a form and of a frame around columns make grids as well.
    """
    cells: defaultdict[int, list[Segment]] = defaultdict(list)
    for field, segment in inside:
        cells[grid.homes[field]].append(segment)
    width = len(grid.columns) - 1
    rows = sorted({home // width for home in cells})
    columns = sorted({home % width for home in cells})
    if min(len(rows), len(columns)) <= 1 or len(cells) < 0.2 * len({*grid.homes}):
        return None
    lines = {home: _join_segments(_order_by_position(cell, 0)) for home, cell in cells.items()}
    segments = [one for _, one in inside]
    sizes = Counter[float]()
    for one in segments:
        sizes[one.size] += len(one.text)
    size = max(sizes, key=sizes.__getitem__)
    unlike = sum(
        count for other, count in sizes.items() if not 1 / _LARGER < other / size < _LARGER
    )
    # Some fonts do not say how wide their letters are.
    narrow = sum(one.right - one.left < 0.1 * one.size * len(one.text) for one in segments)
    divided = sum(len(one.cells) for cell in lines.values() for one in cell if len(one.cells) > 1)
    across = sum(
        grid.homes[at] != grid.homes[field]
        for field, one in inside
        for x in (one.left + 1, one.right - 1)
        if (at := grid.find_field(x, one.base)) >= 0
    )
    if (
        max(map(len, lines.values())) > _MAX_CELL_LINES
        or narrow > _MAX_ODD * len(inside)
        or max(sizes) > _LARGER * size
        or unlike > 0.4 * sizes.total()
        or divided > _MAX_ODD * len(inside)
        or across > _MAX_ODD * len(inside)
        or any(one.table for one in segments)
    ):
        return None
    filled = _join_columns(
        [[lines.get(row * width + column, []) for column in columns] for row in rows]
    )
    if len(filled[0]) == 1:
        return None
    table = tuple(
        tuple(tuple((line.text, line.hyphen) for line in cell) for cell in row)
        for whole in filled
        for row in _split_lines(whole)
    )
    return Segment(
        text=" ".join(list_lines(table)),
        left=min(one.left for one in segments),
        right=max(one.right for one in segments),
        base=max(one.base for one in segments),
        size=size,
        table=table,
    )


def _join_columns(rows: Sequence[Sequence[list[Row]]]) -> list[list[list[Row]]]:
    """Return rows with neighbouring columns joined that have no row in which both have text.

    The walls of different rows are often a little apart.
    """
    joined: list[list[list[Row]]] = []
    for column in zip(*rows, strict=True):
        if joined and not any(map(all, zip(joined[-1], column, strict=True))):
            joined[-1] = [one or other for one, other in zip(joined[-1], column, strict=True)]
        else:
            joined.append(list(column))
    return [list(row) for row in zip(*joined, strict=True)]


def _split_lines(cells: list[list[Row]]) -> list[list[list[Row]]]:
    """Return the rows of a table between two drawn lines: one, or one for each line of text.

    Lines are rows where they stand at the same heights in several cells, and most of these hold
    numbers in each line.
    """
    most = max(map(len, cells))
    full = [cell for cell in cells if len(cell) == most]
    shorter = {len(cell) for cell in cells if 0 < len(cell) < most}
    numbers = sum(
        all(_HAS_DIGIT(line.text) and line.text[0] not in "([" for line in cell) for cell in full
    )
    alike = all(
        abs(one.base - other.base) < _SAME_LINE * one.size
        for cell in full
        for one, other in zip(cell, full[0], strict=True)
    )
    is_plain = most == 1 or len(full) == 1 or not alike or shorter - {1}
    # Two lines are more often one value and its unit.
    if is_plain or (most == 2 and not shorter) or 2 * numbers <= len(full):  # noqa: PLR2004
        return [cells]
    return [[cell[at : at + 1] for cell in cells] for at in range(most)]


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
    if has_columns or jumps > max(1, 0.03 * len(segments)):
        return _order_by_position(segments, 0)
    return list(segments)


def _overlap(one: Segment, other: Segment) -> bool:
    common = min(one.right, other.right) - max(one.left, other.left)
    return common > 0.3 * max(min(one.right - one.left, other.right - other.left), 1.0)


def _is_same_line(before: Segment, after: Segment) -> bool:
    if before.table or after.table:
        return False
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
    for number in _list_valleys(crossing, 0.2 * len(segments)):
        gutter = start + (number + 0.5) * _BIN_POINTS
        if _has_text_columns(segments, gutter):
            return gutter
    return None


def _list_valleys(crossing: Sequence[int], limit: float) -> list[int]:
    """Return the middles of the strips that few segments cross, the emptiest and widest first."""
    first, last = (round(share * len(crossing)) for share in (0.15, 0.85))
    valleys = []
    for count, group in groupby(range(first, last), key=crossing.__getitem__):
        strips = list(group)
        if count <= limit:
            valleys.append((count, -len(strips), strips[len(strips) // 2]))
    return [number for _, _, number in sorted(valleys)[:6]]


def _has_text_columns(segments: Sequence[Segment], gutter: float) -> bool:
    """Return whether both sides of a gutter hold lines of text that stand side by side."""
    left = [segment for segment in segments if segment.right <= gutter]
    right = [segment for segment in segments if segment.left >= gutter]
    if min(len(left), len(right)) < _MIN_COLUMN_ROWS:
        return False
    chars = [sum(len(segment.text) for segment in side) for side in (left, right)]
    if min(chars) < 0.15 * sum(len(segment.text) for segment in segments):
        return False
    top = min(max(one.base for one in left), max(one.base for one in right))
    bottom = max(min(one.base for one in left), min(one.base for one in right))
    sides = zip(chars, (left, right), strict=True)
    return top > bottom and all(count >= _PROSE_CHARS * len(side) for count, side in sides)


def _join_segments(segments: Iterable[Segment]) -> list[Row]:
    lines: list[list[Segment]] = []
    for segment in segments:
        if lines and _is_same_line(lines[-1][-1], segment):
            lines[-1].append(segment)
        else:
            lines.append([segment])
    return [_build_row(line) for line in lines]


def _build_row(line: Sequence[Segment]) -> Row:
    if len(line) == 1:
        return Row((line[0].text,), *line[0][1:-1], table=line[0].table)
    cells = [line[0].text]
    spans = [(line[0].left, line[0].right)]
    for before, after in pairwise(line):
        gap = after.left - before.right
        if gap > _SAME_LINE * 2 * before.size:
            cells.append(after.text)
            spans.append((after.left, after.right))
        elif gap < _TOUCHING * before.size and (
            after.size < SMALL * before.size and after.base - before.base > RAISED * after.size
        ):
            cells[-1] = raise_end(cells[-1], after.text)
        else:
            # Text that runs backwards has no width.
            touches = gap < _TOUCHING * before.size and before.left < before.right
            cells[-1] += after.text if touches else f" {after.text}"
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
