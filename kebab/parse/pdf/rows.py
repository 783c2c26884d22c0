"""Brings the text of PDF pages into reading order, and into rows."""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from kebab.parse.pdf.pages import Segment
from kebab.parse.pdf.text import RAISED, SMALL, raise_end

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
    if min(len(left), len(right)) < _MIN_COLUMN_ROWS:
        return False
    chars = [sum(len(segment.text) for segment in side) for side in (left, right)]
    if min(chars) < _MIN_COLUMN_SHARE * sum(len(segment.text) for segment in segments):
        return False
    top = min(max(one.base for one in left), max(one.base for one in right))
    bottom = max(min(one.base for one in left), min(one.base for one in right))
    is_prose = [
        count >= _PROSE_CHARS * len(side) for count, side in zip(chars, (left, right), strict=True)
    ]
    return top > bottom and all(is_prose)


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
    return after.size < SMALL * before.size and after.base - before.base > RAISED * after.size


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
