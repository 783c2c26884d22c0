"""Loads PDFium, and finds the fields between the lines that are drawn on PDF pages."""

import ctypes
import logging
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from kebab.errors.system import translate_import_errors

if TYPE_CHECKING:
    from types import ModuleType


def load_pdfium() -> "ModuleType":
    """Return the bindings of PDFium."""
    with translate_import_errors("reading PDF files", "pypdfium2", "pdf"):
        import pypdfium2

    # Its warnings about odd outlines would go to the terminal.
    logging.getLogger("pypdfium2").setLevel(logging.CRITICAL)
    module: ModuleType = pypdfium2
    return module


@cache
def get_function(name: str, result: Any = None) -> Callable[..., Any]:
    """Return a function of PDFium without the types of its arguments.

    The conversions of the bindings take three times as long as the functions themselves.
    """
    address = ctypes.cast(getattr(load_pdfium().raw, name), ctypes.c_void_p).value
    return ctypes.PYFUNCTYPE(result)(address or 0)


_PATH = 2
_TURNS: Sequence[Callable[[float, float], tuple[float, float]]] = (
    lambda x, y: (x, y),
    lambda x, y: (y, -x),
    lambda x, y: (-x, -y),
    lambda x, y: (-y, x),
)
"""By quarter, where a point stands in the direction of the text."""
_CURVE, _MOVE = 1, 2
_MAX_PATHS = 3_000
"""The paths that are read of one page; a page with more is a drawing."""
_MAX_CROSSINGS = 100_000
_MAX_FIELDS = 10_000
_MAX_GRIDS = 50
_MIN_RULE = 4.0
_SNAP = 2.0
"""How far lines are apart at most that are one line, and how far lines that cross may end short."""


class Rule(NamedTuple):
    """A drawn line: its place across its direction, and where it starts and ends along it."""

    place: float
    start: float
    end: float


class Grid(NamedTuple):
    """Drawn lines that cross.

    `columns` and `rows` are the places of the vertical lines, from the left, and of the horizontal
    ones, from the top. `walls` are the vertical lines. `homes` gives for each field, numbered from
    the top left row by row, the first field of the cell that it is part of.
    """

    columns: Sequence[float]
    rows: Sequence[float]
    walls: Sequence[Rule]
    homes: Sequence[int]

    def find_field(self, x: float, y: float) -> int:
        """Return the number of the field at a point, -1 outside of the grid."""
        column = bisect_right(self.columns, x) - 1
        row = bisect_right(self.rows, -y, key=lambda place: -place) - 1
        width, height = len(self.columns) - 1, len(self.rows) - 1
        return row * width + column if 0 <= column < width and 0 <= row < height else -1

    def list_walls(self, y: float) -> list[float]:
        """Return where the walls of the cells at a height stand."""
        if not self.rows[-1] < y < self.rows[0]:
            return []
        return [wall.place for wall in self.walls if wall.start < y < wall.end]


def read_grids(page: object, quarter: int) -> tuple[Grid, ...]:
    """Return the grids of a page whose text runs in this quarter of a turn."""
    across, down = _read_rules(page, quarter)
    across, down = _join_rules(across), _join_rules(down)
    if len(across) * len(down) > _MAX_CROSSINGS:
        return ()
    grids = [grid for group in _group_crossing(across, down) if (grid := _build_grid(*group))]
    return tuple(grids) if len(grids) <= _MAX_GRIDS else ()


def _read_rules(page: object, quarter: int) -> tuple[list[Rule], list[Rule]]:
    """Return the lines along the text and those across it."""
    across: list[Rule] = []
    down: list[Rule] = []
    turn = _TURNS[quarter]
    for points in _read_paths(page):
        for before, after in pairwise(points):
            x, y = turn(*before)
            other_x, other_y = turn(*after)
            if abs(y - other_y) <= 1 and abs(x - other_x) >= _MIN_RULE:
                across.append(Rule((y + other_y) / 2, min(x, other_x), max(x, other_x)))
            elif abs(x - other_x) <= 1 and abs(y - other_y) >= _MIN_RULE:
                down.append(Rule((x + other_x) / 2, min(y, other_y), max(y, other_y)))
    return across, down


class _Handle(ctypes.c_void_p):
    """An address that ctypes does not turn into a number."""


def _read_paths(page: object) -> Iterator[list[tuple[float, float]]]:
    """Yield the points of each run of straight lines on a page."""
    raw, handle = load_pdfium().raw, ctypes.cast(page, ctypes.c_void_p)  # type: ignore[arg-type]
    get_object = get_function("FPDFPage_GetObject", _Handle)
    get_type = get_function("FPDFPageObj_GetType", ctypes.c_int)
    things = [*map(get_object, repeat(handle), range(raw.FPDFPage_CountObjects(page)))]
    paths = [thing for thing in things if get_type(thing) == _PATH]
    if len(paths) > _MAX_PATHS:
        return
    count_points = get_function("FPDFPath_CountSegments", ctypes.c_int)
    get_point = get_function("FPDFPath_GetPathSegment", ctypes.c_void_p)
    get_place = get_function("FPDFPathSegment_GetPoint", ctypes.c_int)
    get_kind = get_function("FPDFPathSegment_GetType", ctypes.c_int)
    get_matrix = get_function("FPDFPageObj_GetMatrix", ctypes.c_int)
    x, y, matrix = ctypes.c_float(), ctypes.c_float(), raw.FS_MATRIX()
    for path in paths:
        points: list[tuple[float, float]] = []
        get_matrix(path, ctypes.byref(matrix))
        a, b, c, d, e, f = matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f
        for index in range(min(count_points(path), 400)):
            point = ctypes.c_void_p(get_point(path, index))
            kind = get_kind(point)
            if kind == _CURVE:
                break
            if kind == _MOVE:
                yield points
                points = []
            get_place(point, ctypes.byref(x), ctypes.byref(y))
            points.append((a * x.value + c * y.value + e, b * x.value + d * y.value + f))
        yield points


def _join_rules(rules: Sequence[Rule]) -> list[Rule]:
    """Return the lines with those joined that touch each other and stand at about one place."""
    places: dict[float, float] = {}
    before = place = float("-inf")
    for now in sorted(rule.place for rule in rules):
        place = now if now - before > _SNAP else place
        places[now] = place
        before = now
    joined: list[Rule] = []
    for rule in sorted(rule._replace(place=places[rule.place]) for rule in rules):
        last = joined[-1] if joined else None
        if last and last.place == rule.place and rule.start <= last.end + _SNAP:
            joined[-1] = last._replace(end=max(last.end, rule.end))
        else:
            joined.append(rule)
    return joined


def _group_crossing(
    across: Sequence[Rule], down: Sequence[Rule]
) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Yield the lines that hang together by crossing or touching."""
    left = set(across)
    waiting = set(down)
    while waiting:
        rows: list[Rule] = []
        columns = [waiting.pop()]
        for column in columns:  # it grows
            met = [row for row in left if _crosses(row, column)]
            left.difference_update(met)
            rows += met
            found = [one for one in waiting if any(_crosses(row, one) for row in met)]
            waiting.difference_update(found)
            columns += found
        if rows:
            yield rows, columns


def _crosses(row: Rule, column: Rule) -> bool:
    return (
        row.start - _SNAP <= column.place <= row.end + _SNAP
        and column.start - _SNAP <= row.place <= column.end + _SNAP
    )


def _build_grid(across: Sequence[Rule], down: Sequence[Rule]) -> Grid | None:
    """Return the grid of lines that cross, None for fewer than two columns or rows.

    The outer lines are often not drawn: the ends of the others stand for them.
    """
    columns = _list_places(down, across)
    rows = _list_places(across, down)[::-1]
    width, height = len(columns) - 1, len(rows) - 1
    if min(width, height) <= 1 or width * height > _MAX_FIELDS:
        return None
    homes = list(range(width * height))
    for row, (top, bottom) in enumerate(pairwise(rows)):
        middle = (top + bottom) / 2
        walls = {rule.place for rule in down if rule.start < middle < rule.end}
        for column, (left, right) in enumerate(pairwise(columns)):
            here = row * width + column
            centre = (left + right) / 2
            if column and left not in walls:
                homes[here] = homes[here - 1]
            elif row and not any(
                rule.place == top and rule.start < centre < rule.end for rule in across
            ):
                homes[here] = homes[here - width]
    return Grid(columns, rows, down, homes)


def _list_places(rules: Sequence[Rule], others: Sequence[Rule]) -> list[float]:
    """Return where lines stand, and where those that cross them begin and end."""
    places = sorted({rule.place for rule in rules})
    first, last = min(rule.start for rule in others), max(rule.end for rule in others)
    before = [first] if first < places[0] - 2 * _SNAP else []
    return [*before, *places, *([last] if last > places[-1] + 2 * _SNAP else [])]
