"""Reads the tables of Word documents."""

from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

from kebab.parse.office.docx_styles import get_value
from kebab.parse.xml_events import find_child, get_attribute, get_local_tag

_MAX_SPAN = 64
"""Word has at most 63 columns."""

_LONG_CELL_CHARS = 2_000
_WRAPPERS = frozenset({"sdt", "sdtContent", "customXml", "ins", "moveTo"})


class TableReader:
    """Reads tables as rows of texts."""

    def __init__(
        self, read_paragraph: Callable[[Element], str], is_heading: Callable[[Element], bool]
    ) -> None:
        self._read_paragraph = read_paragraph
        self._is_heading = is_heading

    def is_layout(self, table: Element) -> bool:
        """Return whether a table places parts of the page: one column, headings, or long texts."""
        rows = [list(_list_children(row, "tc")) for row in _list_children(table, "tr")]
        if all(len(cells) <= 1 for cells in rows):
            return True
        return any(self._is_section(cell) for cells in rows for cell in cells)

    def list_cells(self, table: Element) -> Iterator[Element]:
        """Yield the cells in reading order, without those that continue one above."""
        for row in _list_children(table, "tr"):
            for cell in _list_children(row, "tc"):
                if not _continues_above(cell):
                    yield cell

    def read(self, table: Element) -> tuple[list[list[str]], bool]:
        """Return the rows, and whether the first one is a header.

        A merged cell stands in each of its rows, and in the first of its columns.
        """
        rows: list[list[str]] = []
        above: list[str] = []
        header = False
        for row in _list_children(table, "tr"):
            properties = find_child(row, "trPr")
            if find_child(properties, "del") is not None:
                continue
            above = self._read_row(row, above)
            header = header or (not rows and find_child(properties, "tblHeader") is not None)
            rows.append(above)
        return rows, header or _may_have_header(table)

    def _read_row(self, row: Element, above: list[str]) -> list[str]:
        texts: list[str] = []
        for cell in _list_children(row, "tc"):
            column = len(texts)
            if _continues_above(cell) and column < len(above):
                texts.append(above[column])
            else:
                texts.append(self._read_cell(cell))
            texts += [""] * (_read_span(cell) - 1)
        return texts

    def _read_cell(self, cell: Element) -> str:
        """Return the text of a cell; a table in it becomes `a, b; c, d`."""
        texts = [self._read_paragraph(one) for one in _list_children(cell, "p")]
        for table in _list_children(cell, "tbl"):
            rows, _ = self.read(table)
            texts.append("; ".join(", ".join(filter(None, row)) for row in rows))
        return "\n".join(filter(None, texts))

    def _is_section(self, cell: Element) -> bool:
        paragraphs = list(_list_children(cell, "p"))
        if any(self._is_heading(one) for one in paragraphs):
            return True
        if len(paragraphs) <= 1:
            return False
        return sum(len(text) for one in paragraphs for text in one.itertext()) > _LONG_CELL_CHARS


def _list_children(element: Element, tag: str) -> Iterator[Element]:
    """Yield the children with a local tag, also those in content controls."""
    for child in element:
        found = get_local_tag(child.tag)
        if found == tag:
            yield child
        elif found in _WRAPPERS:
            yield from _list_children(child, tag)


def _continues_above(cell: Element) -> bool:
    """Return whether a cell is merged with the cell above."""
    merged = find_child(find_child(cell, "tcPr"), "vMerge")
    return merged is not None and get_attribute(merged, "val", "continue") == "continue"


def _read_span(cell: Element) -> int:
    span = get_value(find_child(cell, "tcPr"), "gridSpan")
    return max(1, min(int(span), _MAX_SPAN)) if span.isdecimal() else 1


def _may_have_header(table: Element) -> bool:
    """Return whether the look of a table does not say that the first row is no header."""
    look = find_child(find_child(table, "tblPr"), "tblLook")
    return look is None or get_attribute(look, "firstRow", "1") in {"1", "true", "on"}
