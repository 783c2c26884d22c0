"""Reads the tables of texts and slides of OpenDocument files."""

from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

from kebab.parse.office.odf_inline import Inline, InlineReader, read_count
from kebab.parse.xml_events import get_local_tag

_ROW_GROUPS = frozenset({"table-header-rows", "table-rows", "table-row-group"})
_MAX_REPEATED = 64
"""Further repetitions of a row or a cell in a text or a slide fill a page, and mean nothing."""


class TableReader:
    """Reads tables as rows of texts."""

    def __init__(
        self, inline: InlineReader, list_items: Callable[[Element, Inline], Iterator[str]]
    ) -> None:
        self._inline = inline
        self._list_items = list_items

    def read(self, table: Element, rest: Inline) -> list[list[str]]:
        """Return the rows of a table; a merged cell stands in each of its rows."""
        rows: list[list[str]] = []
        spans: dict[int, tuple[int, str]] = {}
        for row in list_rows(table):
            texts = list(self._read_row(row, spans, rest))
            times = read_count(row, "number-rows-repeated", _MAX_REPEATED) if any(texts) else 1
            rows += [texts] * times
        return rows

    def _read_row(
        self, row: Element, spans: dict[int, tuple[int, str]], rest: Inline
    ) -> Iterator[str]:
        """Yield the texts of a row; `spans` has the cells that reach down, by column."""
        column = 0
        for cell in row:
            tag = get_local_tag(cell.tag)
            if tag not in {"table-cell", "covered-table-cell"}:
                continue
            left, above = spans.pop(column, (0, ""))
            text = above if tag == "covered-table-cell" else self._read_cell(cell, rest)
            down = read_count(cell, "number-rows-spanned", _MAX_REPEATED) - 1
            left = left - 1 if tag == "covered-table-cell" else down
            if left > 0:
                spans[column] = (left, text)
            times = read_count(cell, "number-columns-repeated", _MAX_REPEATED) if text else 1
            column += times
            yield from [text] * times

    def _read_cell(self, cell: Element, rest: Inline) -> str:
        """Return the text of a cell; a table in it becomes `a, b; c, d`."""
        texts = []
        for child in cell:
            tag = get_local_tag(child.tag)
            if tag in {"p", "h"}:
                inline = self._inline.read_paragraph(child)
                texts.append(inline.text)
                rest.notes += inline.notes
                rest.shapes += inline.shapes
            elif tag == "list":
                texts += self._list_items(child, rest)
            elif tag == "table":
                rows = self.read(child, rest)
                texts.append("; ".join(", ".join(filter(None, row)) for row in rows))
        return "\n".join(filter(None, map(str.strip, texts)))


def list_rows(table: Element) -> Iterator[Element]:
    """Yield the rows of a table, also those in groups."""
    for child in table:
        tag = get_local_tag(child.tag)
        if tag == "table-row":
            yield child
        elif tag in _ROW_GROUPS:
            yield from list_rows(child)
