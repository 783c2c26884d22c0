"""Collects the cells of a table in HTML."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_SPAN = re.compile(r'(col|row)span="(\d{1,5})')
_MAX_COLUMNS = 200
_MAX_REPEATED_CHARS = 100
_MAX_REPEATED = 200_000
_LONG_CELL = 1_500
_ENOUGH_ROWS = 3


@dataclass(slots=True)
class Table:
    """The rows of a table while it is read.

    The text of a cell that spans columns of the header or rows is repeated, so that each row
    can be understood alone. `layout` says that it arranges a page and is no table of data.
    """

    layout: bool = False
    rows: list[list[str]] = field(default_factory=list)
    open_cell: bool = False
    _cell: list[str] = field(default_factory=list)
    _tag: str = ""
    _carried: dict[int, tuple[int, str]] = field(default_factory=dict)
    _repeated: int = 0
    _header_cells: list[bool] = field(default_factory=list)

    def begin_row(self) -> None:
        """Begin a row, with the texts of cells above that span it."""
        self.end_cell()
        self.rows.append([])
        self._fill_carried()

    def begin_cell(self, tag: str) -> None:
        """Begin a cell."""
        self.end_cell()
        if not self.rows:
            self.begin_row()
        self._tag, self.open_cell = tag, True
        if len(self.rows) == 1:
            self._header_cells.append(tag.startswith("th"))

    def add_text(self, text: str) -> None:
        """Add text to the open cell."""
        self._cell.append(text)

    def end_cell(self) -> None:
        """End the open cell."""
        if not self.open_cell:
            return
        self.open_cell = False
        text = " ".join(self._cell)
        self._cell = []
        spans = dict(_SPAN.findall(self._tag)) if "span=" in self._tag else {}
        columns = min(int(spans.get("col", 1)) or 1, _MAX_COLUMNS)
        rows = int(spans.get("row", 1))
        row = self.rows[-1]
        for number in range(columns):
            if len(row) >= _MAX_COLUMNS and number:
                break
            shown = text if not number or self._tag.startswith("th") else ""
            if rows > 1 and len(row) < _MAX_COLUMNS:
                self._carried[len(row)] = (rows - 1, shown)
            row.append(shown)
        self._fill_carried()

    def list_texts(self) -> Iterator[str]:
        """Yield the rows as texts and forget them."""
        self.end_cell()
        rows, self.rows = self.rows, []
        for row in rows:
            yield " ".join(filter(None, row))

    def is_data(self) -> bool:
        """Return whether rows and columns are there, with cells that are no columns of prose."""
        width = max(map(len, self.rows), default=0)
        longest = max((len(cell) for row in self.rows for cell in row), default=0)
        return width > 1 and longest <= _LONG_CELL

    def has_header(self) -> bool:
        """Return whether the first row names the columns."""
        first = self.rows[0] if self.rows else []
        if any(self._header_cells):
            return sum(self._header_cells) > 1 or len(first) == 1
        names = len(self.rows) >= _ENOUGH_ROWS and all(first)
        return names and not any(char.isdigit() for cell in first for char in cell)

    def _fill_carried(self) -> None:
        """Add the texts of cells above that span this row, as far as its cells reach."""
        row = self.rows[-1]
        while len(row) in self._carried:
            left, text = self._carried.pop(len(row))
            if left > 1:
                self._carried[len(row)] = (left - 1, text)
            self._repeated += len(text)
            shown = len(text) <= _MAX_REPEATED_CHARS and self._repeated <= _MAX_REPEATED
            row.append(text if shown else "")
