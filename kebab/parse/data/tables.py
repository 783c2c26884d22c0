"""Cuts tables of separated values into blocks, never inside a quoted cell."""

from collections.abc import Iterator, Sequence

from kebab.core.documents import BlockKind
from kebab.parse.blocks import Span

_SEPARATORS = "\t;,|"
_MAX_HEADER_CHARS = 400
_LONGEST_ROW = 200
"""A quote that is open for more lines than this is taken for a stray one."""


def find_table_spans(lines: Sequence[str]) -> list[Span]:
    """Return the rows as blocks: a run of rows of one line, or one row of several.

    The header is the label of each block but the first, which begins with it.
    """
    header = find_header(lines)
    spans: list[Span] = []
    is_run = False
    for first, last in _list_rows(lines):
        is_single = last - first == 1
        if is_run and is_single:
            spans[-1] = spans[-1]._replace(last=last)
        else:
            spans.append(Span(BlockKind.TABLE, first, last, label=header if spans else ""))
        is_run = is_single
    return spans


def find_header(lines: Sequence[str]) -> str:
    """Return the first line when it names the columns, else an empty string."""
    first = lines[0].strip()
    separator = max(_SEPARATORS, key=first.count)
    names = [cell.strip("\"' ") for cell in first.split(separator)]
    is_header = separator in first and not any(_is_number(name) for name in names)
    return first if is_header and len(first) <= _MAX_HEADER_CHARS else ""


def _is_number(cell: str) -> bool:
    digits = sum(char.isdigit() for char in cell)
    return digits > 0 and digits * 2 >= len(cell)


def _list_rows(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the lines of each row; a cell in quotes may have several."""
    number = 0
    while number < len(lines):
        last = number + 1
        if lines[number].count('"') % 2:
            last = _find_closing_quote(lines, number) or last
        yield number, last
        number = last


def _find_closing_quote(lines: Sequence[str], first: int) -> int | None:
    """Return the line behind the one that closes the quote of a row, None when none is near."""
    for number in range(first + 1, min(first + _LONGEST_ROW, len(lines))):
        if lines[number].count('"') % 2:
            return number + 1
    return None
