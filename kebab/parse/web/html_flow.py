"""Collects running text, lists, quotations and tables, and writes them into a builder."""

import re
from dataclasses import dataclass, field
from html import unescape

from kebab.parse.blocks import MAX_HEADING_LEVEL, TextBuilder
from kebab.parse.formulas import write_scripts

BREAK = "\x01"
"""A line break inside a paragraph, before the text is cleaned."""

CODE = "\x03"
"""The begin and the end of code inside a paragraph, before the text is cleaned."""

_INVISIBLE = re.compile("[\u00ad\u200b\ufeff\u2060]")
_WIDE = "[\u3001-ヿ\u3400-\u9fff\uff00-\uffef]"
_WIDE_BREAK = re.compile(rf"(?<={_WIDE})[ \t]*\n\s*(?={_WIDE})")
_PERMALINK = re.compile("(?: #|[\u00b6\u00a7\U0001f517\u2693 ])+$|^[\u00b6\u00a7\U0001f517 ]+")
_FILE_NAME = re.compile(r"\S+\.[A-Za-z]{3,4}")
_LANGUAGE = re.compile(
    r"\b(?:(?:language|lang|highlight(?:-source)?|src)-|brush: |sourceCode )([A-Za-z][\w+#]{0,19})"
    r"|\b(rust|python|java|javascript|json|bash|shell|sql|xml|yaml|toml|console|haskell)\b"
)
_NO_LANGUAGES = frozenset(
    {"default", "none", "notranslate", "text", "plaintext", "plain", "literal"}
)


def clean_line(text: str) -> str:
    """Return serialised text on one line, with white space as a browser shows it."""
    line = unescape(text)
    if not line.isascii():
        line = _INVISIBLE.sub("", line)
        # A line break between wide characters is no space, as in browsers.
        line = _WIDE_BREAK.sub("", line) if "\n" in line else line
    line = write_scripts(line)
    if CODE in line:
        line = line.replace(CODE + CODE, "").replace(CODE, "`")
    return " ".join(line.split())


def split_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of serialised text; two breaks in a row separate paragraphs."""
    if BREAK not in text:
        line = clean_line(text)
        return [line] if line else []
    paragraphs: list[list[str]] = [[]]
    for line in map(clean_line, text.split(BREAK)):
        if line:
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    return ["\n".join(lines) for lines in paragraphs if lines]


def find_alternative(tag: str) -> str:
    """Return the text of an image, empty where it is missing or the name of a file."""
    found = re.search(' alt="([^"]+)"', tag)
    text = found[1].strip() if found else ""
    return "" if _FILE_NAME.fullmatch(text) else text


def find_code_language(tag: str) -> str:
    """Return the language that the classes of an element name, empty for none."""
    if ' class="' not in tag:
        return ""
    classes = tag.partition(' class="')[2].partition('"')[0]
    found = _LANGUAGE.search(classes)
    language = (found[1] or found[2]).lower() if found else ""
    return "" if language in _NO_LANGUAGES else language


def is_prose(text: str) -> bool:
    """Return whether preformatted text consists of paragraphs of words."""
    if len(text) < 1_000 or text.count("\n\n") < 3:  # noqa: PLR2004 - a few paragraphs
        return False
    words = sum(char.isalpha() or char.isspace() or char in ",.'\"" for char in text[:20_000])
    return words >= 0.93 * min(len(text), 20_000)


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
    cell: list[str] = field(default_factory=list)
    """The paragraphs of the open cell."""
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

    def end_cell(self) -> None:
        """End the open cell."""
        if not self.open_cell:
            return
        self.open_cell = False
        text = " ".join(self.cell)
        self.cell = []
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

    def take_texts(self) -> list[str]:
        """Return the rows with text as texts, and forget them."""
        self.end_cell()
        rows, self.rows = self.rows, []
        return list(filter(None, (" ".join(filter(None, row)) for row in rows)))

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
        self.leave_out = builder.leave_out
        self.heading = 0
        """The level of the open heading, 0 without one."""
        self._base = self._level = level
        self.lists: list[int | None] = []
        """The open lists with the number of their next item; None for bullets."""
        self._items: list[tuple[int, list[str]]] = []
        self._marker: str | None = None
        self._in_term = False
        self._terms: list[str] = []
        self._definition_depth = 0
        self._quotes: list[bool] = []
        self._quoted: list[str] = []
        self._tables: list[Table] = []

    def end_paragraph(self, *_: str) -> None:
        """End the open paragraph; inside a heading this is a space."""
        if not self.inline:
            return
        if self.heading:
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
        self.lists.clear()
        self._write_pending()

    def begin_heading(self, level: int, *_: str) -> None:
        """Begin a heading."""
        self.end_paragraph()
        self.heading = self._base + level

    def end_heading(self, *_: str) -> None:
        """End the open heading."""
        if not self.heading:
            return
        level, self.heading = self.heading, 0
        line = clean_line("".join(self.inline).replace(CODE, "").replace(BREAK, " "))
        label = _PERMALINK.sub("", line) or line
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
        self.lists.append(first)

    def end_list(self, *_: str) -> None:
        """End the innermost list."""
        self.end_paragraph()
        if self.lists:
            self.lists.pop()
        self._marker = None
        if not self.lists and self._items:
            self._write_pending()

    def begin_item(self, *_: str) -> None:
        """Begin an item of the innermost list."""
        self.end_paragraph()
        self._marker = ""
        if self.lists and (number := self.lists[-1]) is not None:
            self._marker = f"{number}. "
            self.lists[-1] = number + 1

    def change_definitions(self, step: int, *_: str) -> None:
        """Begin a list of terms with the step 1, or end the innermost one with -1."""
        self.end_paragraph()
        self._definition_depth += step

    def begin_term(self, *, signature: bool) -> None:
        """Begin a term; the signature of a symbol is a heading below the last heading."""
        self.end_paragraph()
        self._in_term = True
        if signature:
            depth = max(1, self._definition_depth)
            self.heading = min(self._level + depth, MAX_HEADING_LEVEL)

    def end_term(self, *_: str) -> None:
        """End a term."""
        self.end_heading()
        self.end_paragraph()
        self._in_term = False

    def begin_quote(self, *_: str) -> None:
        """Begin a quotation; inside a list it is a part of its item."""
        self.end_paragraph()
        self._quotes.append(not self.lists and not self._get_data_table())
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
            table.cell.append(f"`{text.strip()}`")
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

    def begin_cell(self, tag: str, *_: str) -> None:
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
            for text in table.take_texts():
                self._add_text(text)
            return
        self._write_pending()
        self._builder.add_table(table.rows, header=table.has_header())

    def _get_data_table(self) -> Table | None:
        return self._tables[-1] if self._tables and not self._tables[-1].layout else None

    def _leave_table(self) -> None:
        """Turn the open table into one that arranges the page, and write its rows."""
        table = self._get_data_table()
        if table:
            texts = table.take_texts()
            table.layout = True
            for text in texts:
                self._add_text(text)

    def _add_text(self, text: str) -> None:
        table = self._get_data_table()
        if table and table.open_cell:
            table.cell.append(text.replace("\n", " "))
        elif self.lists and self._marker is not None:
            depth = min(len(self.lists) - 1, 8)
            self._items.append((depth, [self._marker + text]))
            self._marker = None
        elif self.lists and self._items:
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
        if self._terms:
            self._builder.add_paragraph("\n".join(self._terms))
            self._terms.clear()
        if self._items:
            self._builder.add_list((depth, " ".join(parts)) for depth, parts in self._items)
            self._items.clear()
        if self._quoted:
            self._builder.add_quote("\n\n".join(self._quoted))
            self._quoted.clear()
