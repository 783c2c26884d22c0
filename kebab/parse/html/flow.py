"""Collects running text, lists, quotations and tables, and writes them into a builder."""

from collections.abc import Sequence

from kebab.parse.html.table import Table
from kebab.parse.html.words import clean_heading, is_prose, split_paragraphs
from kebab.parse.text_builder import MAX_HEADING_LEVEL, TextBuilder

_MAX_LIST_DEPTH = 8
_LONG_HEADING = 300


class Flow:
    """The parts of a document in the order in which their begins and ends are told.

    `inline` collects the serialised text of the open paragraph, heading, item or cell. Most methods
    are actions of tags, and ignore the tag and the text that they are given.
    """

    def __init__(self, builder: TextBuilder, level: int = 0) -> None:
        """Write into a builder, with all headings below this level."""
        self.inline: list[str] = []
        self.first_heading = ""
        self._builder = builder
        self._heading = 0
        self._base = self._level = level
        self._lists: list[int | None] = []
        self._items: list[tuple[int, list[str]]] = []
        self._marker: str | None = None
        self._in_term = False
        self._terms: list[str] = []
        self._definition_depth = 0
        self._quotes: list[bool] = []
        self._quoted: list[str] = []
        self._tables: list[Table] = []

    @property
    def in_list(self) -> bool:
        """Whether a list is open."""
        return bool(self._lists)

    def end_paragraph(self, *_: str) -> None:
        """End the open paragraph; inside a heading this is a space."""
        if not self.inline:
            return
        if self._heading:
            self.inline.append(" ")
            return
        text = "".join(self.inline)
        self.inline.clear()
        for paragraph in split_paragraphs(text):
            self._add_text(paragraph)

    def finish(self) -> None:
        """Write what is still open."""
        self.end_heading()
        self.end_paragraph()
        while self._tables:
            self.end_table()
        self._lists.clear()
        self._write_pending()

    def begin_heading(self, level: int, *_: str) -> None:
        """Begin a heading."""
        self.end_paragraph()
        self._heading = self._base + level

    def end_heading(self, *_: str) -> None:
        """End the open heading."""
        if not self._heading:
            return
        level, self._heading = self._heading, 0
        label = clean_heading("".join(self.inline))
        self.inline.clear()
        if not label:
            return
        if len(label) > _LONG_HEADING:
            self._add_text(label)
            return
        self._leave_table()
        self._write_pending()
        if not self._in_term:
            self._level = level
        self.first_heading = self.first_heading or label
        self._builder.add_heading(level, label)

    def begin_list(self, first: int | None, *_: str) -> None:
        """Begin a list; `first` is the number of the first item of an ordered one."""
        self.end_paragraph()
        self._lists.append(first)

    def end_list(self, *_: str) -> None:
        """End the innermost list."""
        self.end_paragraph()
        if self._lists:
            self._lists.pop()
        self._marker = None
        if not self._lists and self._items:
            self._write_pending()

    def begin_item(self, *_: str) -> None:
        """Begin an item of the innermost list."""
        self.end_paragraph()
        self._marker = ""
        if self._lists and (number := self._lists[-1]) is not None:
            self._marker = f"{number}. "
            self._lists[-1] = number + 1

    def begin_definitions(self, *_: str) -> None:
        """Begin a list of terms."""
        self.end_paragraph()
        self._definition_depth += 1

    def end_definitions(self, *_: str) -> None:
        """End the innermost list of terms."""
        self.end_paragraph()
        self._definition_depth -= 1

    def begin_term(self, *, signature: bool) -> None:
        """Begin a term; the signature of a symbol is a heading below the last heading."""
        self.end_paragraph()
        self._in_term = True
        if signature:
            depth = max(1, self._definition_depth)
            self._heading = min(self._level + depth, MAX_HEADING_LEVEL)

    def end_term(self, *_: str) -> None:
        """End a term."""
        self.end_heading()
        self.end_paragraph()
        self._in_term = False

    def begin_quote(self, *_: str) -> None:
        """Begin a quotation; inside a list it is a part of its item."""
        self.end_paragraph()
        self._quotes.append(not self._lists and not self._get_data_table())
        if self._quotes == [True]:
            self._write_pending()

    def end_quote(self, *_: str) -> None:
        """End the innermost quotation."""
        self.end_paragraph()
        if self._quotes:
            self._quotes.pop()
        if not any(self._quotes):
            self._write_pending()

    def add_code(self, text: str, language: str, *, code: bool) -> None:
        """Add preformatted text; without `code` it may be prose."""
        self.end_paragraph()
        table = self._get_data_table()
        if table and table.open_cell and "\n" not in text.strip():
            table.add_text(f"`{text.strip()}`")
            return
        self._leave_table()
        self._write_pending()
        if not code and is_prose(text):
            for paragraph in text.split("\n\n"):
                self._builder.add_paragraph(paragraph)
        else:
            self._builder.add_code(text, language)

    def begin_table(self, *, layout: bool) -> None:
        """Begin a table; a table around another one arranges the page."""
        self.end_paragraph()
        self._leave_table()
        self._tables.append(Table(layout=layout))

    def begin_row(self, *_: str) -> None:
        """Begin a row of the innermost table."""
        self.end_paragraph()
        table = self._get_data_table()
        if table:
            table.begin_row()

    def begin_cell(self, tag: str) -> None:
        """Begin a cell; in a table that arranges the page it goes on with the line."""
        table = self._get_data_table()
        if table:
            self.end_paragraph()
            table.begin_cell(tag)
        else:
            self.inline.append(" ")

    def end_cell(self, *_: str) -> None:
        """End a cell."""
        table = self._get_data_table()
        if table:
            self.end_paragraph()
            table.end_cell()

    def end_table(self, *_: str) -> None:
        """End the innermost table."""
        self.end_paragraph()
        if not self._tables:
            return
        table = self._tables.pop()
        table.end_cell()
        if table.layout or not table.rows:
            return
        if not table.is_data():
            self._add_texts(list(table.list_texts()))
            return
        self._write_pending()
        self._builder.add_table(table.rows, header=table.has_header())

    def _get_data_table(self) -> Table | None:
        return self._tables[-1] if self._tables and not self._tables[-1].layout else None

    def _leave_table(self) -> None:
        """Turn the open table into one that arranges the page, and write its rows."""
        table = self._get_data_table()
        if table:
            texts = list(table.list_texts())
            table.layout = True
            self._add_texts(texts)

    def _add_texts(self, texts: Sequence[str]) -> None:
        for text in filter(None, texts):
            self._add_text(text)

    def _add_text(self, text: str) -> None:
        """Add a paragraph to the innermost open part."""
        table = self._get_data_table()
        if table and table.open_cell:
            table.add_text(text.replace("\n", " "))
        elif self._lists and self._marker is not None:
            depth = min(len(self._lists) - 1, _MAX_LIST_DEPTH)
            self._items.append((depth, [self._marker + text]))
            self._marker = None
        elif self._lists and self._items:
            self._items[-1][1].append(text)
        elif self._in_term:
            self._terms.append(text)
        elif any(self._quotes):
            self._quoted.append(text)
        elif self._terms:
            text = "\n".join([*self._terms, f": {text}"])
            self._terms.clear()
            self._builder.add_paragraph(text)
        else:
            self._builder.add_paragraph(text)

    def _write_pending(self) -> None:
        """Write the collected terms, items and quotations."""
        if self._terms:
            self._builder.add_paragraph("\n".join(self._terms))
            self._terms.clear()
        if self._items:
            self._builder.add_list((depth, " ".join(parts)) for depth, parts in self._items)
            self._items.clear()
        if self._quoted:
            self._builder.add_quote("\n\n".join(self._quoted))
            self._quoted.clear()
