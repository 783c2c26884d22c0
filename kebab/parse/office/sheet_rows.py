"""Writes the rows of sheets as lines, with the cells that each of them comes from."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kebab.core.chunks import Place
from kebab.parse.text_builder import TextBuilder

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

MAX_CELLS = 200_000
"""The most cells with a value that are read of one file."""

MAX_COLUMNS = 256
"""The most columns of a row that are read."""

_MAX_MERGED_ROWS = 1_000
_SECONDS_OF_HOUR, _SECONDS_OF_MINUTE = 3600, 60

Value: TypeAlias = str | int | float | date | time | timedelta
"""A value of a cell."""


class Row(NamedTuple):
    """A row with a value: its number from 1, its first column from 0, and its texts."""

    number: int
    first: int
    cells: Sequence[str]


@dataclass(slots=True)
class CellBudget:
    """Counts the cells of a file, and says which were left out."""

    left: int = field(default_factory=lambda: MAX_CELLS)
    warnings: list[str] = field(default_factory=list)


def add_sheet(
    builder: TextBuilder,
    budget: CellBudget,
    sheet: "CalamineSheet",
    index: int,
    *,
    hidden: bool = False,
) -> None:
    """Add the rows of a sheet; a new place begins behind each empty row."""
    if hidden:
        budget.warnings.append(f"sheet `{sheet.name}` is hidden")
    add_rows(builder, _read_rows(sheet, budget), index, sheet.name)


def add_rows(builder: TextBuilder, rows: Iterable[Row], index: int, name: str) -> None:
    """Add the rows of the sheet with an index and a name."""
    run: list[Row] = []
    for row in rows:
        if run and row.number != run[-1].number + 1:
            _add_run(builder, run, index, name)
            run = []
        run.append(row)
    if run:
        _add_run(builder, run, index, name)


def _add_run(builder: TextBuilder, run: Sequence[Row], index: int, name: str) -> None:
    """Add rows without a gap. Titles above a table are a place of their own.

    The first line of the table is then its header.
    """
    titles = 0
    while titles < len(run) and len(run[titles].cells) == 1:
        titles += 1
    for rows in (run[:titles], run[titles:]) if titles < len(run) else (run,):
        if rows:
            first = min(row.first for row in rows)
            last = max(row.first + len(row.cells) for row in rows) - 1
            columns = f"{format_column(first)}:{format_column(last)}"
            builder.begin_place(Place(0, index, label=name, row=rows[0].number, columns=columns))
            builder.add_rows([[*[""] * (row.first - first), *row.cells] for row in rows])


def _read_rows(sheet: "CalamineSheet", budget: CellBudget) -> Iterator[Row]:
    """Yield the rows with a value until the budget of the file is used up."""
    if sheet.start is None:
        return
    offset = sheet.start[1]
    merged = _list_merged_cells(sheet, offset)
    above: dict[int, str] = {}
    cut = False
    for index, values in enumerate(sheet.iter_rows()):
        row = build_row(index + 1, offset, values, merged.get(index, ()), above)
        if row is None:
            continue
        if budget.left <= 0:
            budget.warnings.append(
                f"sheet `{sheet.name}`: rows from {index + 1} on are left out: "
                f"the file has more than {MAX_CELLS:,} cells"
            )
            return
        cut = cut or len(values) > MAX_COLUMNS
        budget.left -= sum(map(bool, row.cells))
        yield row
    if cut:
        column = format_column(offset + MAX_COLUMNS)
        budget.warnings.append(f"sheet `{sheet.name}`: columns from {column} on are left out")


def build_row(
    number: int,
    offset: int,
    values: Sequence[Value],
    merged: Iterable[int] = (),
    above: dict[int, str] | None = None,
) -> Row | None:
    """Return a row without its outer empty cells; None for an empty one.

    `offset` is the column of the first value. A column of `merged` repeats the text of `above`,
    which is updated.
    """
    texts = [format_value(value) for value in values[:MAX_COLUMNS]]
    if not any(texts):
        return None
    above = {} if above is None else above
    for column in merged:
        if column < len(texts) and not texts[column]:
            texts[column] = above.get(column, "")
    above.clear()
    above.update(enumerate(texts))
    first = next(column for column, text in enumerate(texts) if text)
    while not texts[-1]:
        texts.pop()
    return Row(number, offset + first, texts[first:])


def _list_merged_cells(sheet: "CalamineSheet", offset: int) -> dict[int, list[int]]:
    """Return, by row from 0, the columns whose cell is merged with the one above."""
    merged: dict[int, list[int]] = defaultdict(list)
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
        if left >= offset:
            for row in range(top + 1, min(bottom, top + _MAX_MERGED_ROWS) + 1):
                merged[row].append(left - offset)
    return merged


def format_value(value: Value) -> str:
    """Return the value of a cell as people write it: ISO dates, and `3` instead of `3.0`."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return format_number(value)
    return _format_time(value) if isinstance(value, date | time | timedelta) else str(value)


def _format_time(value: date | time | timedelta) -> str:
    if isinstance(value, datetime):
        midnight = value.time() == time.min
        return value.date().isoformat() if midnight else value.isoformat(" ", "seconds")
    if isinstance(value, timedelta):
        return _format_duration(value)
    return value.isoformat("seconds") if isinstance(value, time) else value.isoformat()


def format_number(value: float) -> str:
    """Return a number without what comes of its binary form: 12 digits as sheets show at most."""
    if value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004 - all digits are exact below it
        return str(int(value))
    return f"{value:.12g}"


def _format_duration(value: timedelta) -> str:
    seconds = int(value.total_seconds())
    sign, seconds = "-" if seconds < 0 else "", abs(seconds)
    hours, rest = divmod(seconds, _SECONDS_OF_HOUR)
    minutes, seconds = divmod(rest, _SECONDS_OF_MINUTE)
    return f"{sign}{hours}:{minutes:02}:{seconds:02}"


def format_column(index: int) -> str:
    """Return the letters of a column from 0, e.g. `AA` for 26."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
