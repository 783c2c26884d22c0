"""Reads documents of Pages, Keynote and Numbers of 2013 and later, and the preview of older ones.

The text of a document is in storages: that of a text box, of a cell, or of the whole body. What is
anchored in a text follows the paragraph that it belongs to; what has no place in it, at the end.
"""

import re
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from kebab.core.chunks import Place
from kebab.core.documents import ParsedDocument
from kebab.parse.archive import Archive
from kebab.parse.blocks import TextBuilder
from kebab.parse.office.iwa import IworkPackage, Message, list_references
from kebab.parse.office.ooxml import add_slide_heading, describe_hidden_slides
from kebab.parse.office.sheets import (
    MAX_CELLS,
    MAX_COLUMNS,
    Row,
    Value,
    add_rows,
    build_row,
    format_value,
)
from kebab.parse.pdf.document import PdfParser

_DOCUMENT, _PAGES_DOCUMENT = 1, 10000
_SHOW, _SHEET, _SLIDE_NODE = 2, 2, 4
_STORAGE, _SHAPE, _INNER_SHAPES = (2001, 2005), 2011, (7, 12, 633)
_ATTACHMENT, _FOOTNOTE, _HIGHLIGHT, _COMMENT = 2003, 2008, 2013, 3056
_IMAGE, _MOVIE, _GROUP, _CHART, _TABLE = 3005, 3007, 3008, 5021, 6000
"""Kinds of objects. A placeholder, or a caption, holds a shape."""

_STYLES, _DELETED = 5, 22
_ANCHORED = (9, 16, 23)
"""The fields of a storage with attributes of its text: what is anchored are objects, notes, and
comments."""

_MAX_PARENTS = 10
_PARAGRAPH_END = re.compile("[\n\r\x04\x05\x06\x0c\u2029]")
_HIDDEN_CHARACTERS = str.maketrans({"\ufffc": None, "\x0e": None, "\u2028": "\n", "\x0b": "\n"})
_HEADING = re.compile(r"(?:.*paragraphstyle-)?(?:(Title)|Heading)(?: ([1-9]))?", re.IGNORECASE)


class _Paragraph(NamedTuple):
    """A paragraph with the level of a heading or 0, and the objects that are anchored in it.

    `deleted` is its text that was deleted.
    """

    text: str
    level: int
    anchored: list[int]
    deleted: str


class _Attributes:
    """What a storage says of its text from some offsets on, which count units of UTF-16."""

    def __init__(self, storage: Message, field: int) -> None:
        entries = sorted(
            (one.get_number(1), one.get_message(2).get_number(1) if one.get_bytes(2) else 0)
            for one in storage.get_message(field).list_messages(1)
        )
        self._starts = [start for start, _ in entries]
        self._values = [value for _, value in entries]

    def find(self, offset: int) -> int:
        """Return the value at an offset; 0 for none."""
        index = bisect_right(self._starts, offset) - 1
        return self._values[index] if index >= 0 else 0

    def list_within(self, first: int, last: int) -> list[int]:
        """Return the values that begin between two offsets, also at the second one."""
        return self._values[bisect_left(self._starts, first) : bisect_right(self._starts, last)]

    def divide(self, wide: bytes, start: int) -> tuple[bytes, bytes]:
        """Return the text at an offset, in UTF-16, that has no value, and that which has one."""
        end = start + len(wide) // 2
        inner = range(bisect_right(self._starts, start), bisect_left(self._starts, end))
        bounds = [start, *(self._starts[index] for index in inner), end]
        parts = [b"", b""]
        for first, last in pairwise(bounds):
            parts[bool(self.find(first))] += wide[2 * (first - start) : 2 * (last - start)]
        return parts[0], parts[1]


class _Writer:
    """Writes the objects of a document into a builder, each object once."""

    def __init__(self, package: IworkPackage) -> None:
        self.package = package
        self.builder = TextBuilder()
        self.warnings = package.warnings
        self._seen: set[int] = set()
        self._read: set[str] = set()
        """The texts of the storages that are read."""
        self._cells = MAX_CELLS
        self._entries: dict[int, dict[int, Message]] = {}
        self._rich_texts: dict[int, str] = {}

    def add_objects(self, numbers: Iterable[int]) -> None:
        """Add text boxes, tables, charts, descriptions of pictures, and groups of them."""
        for number in numbers:
            if number in self._seen:
                continue
            self._seen.add(number)
            kind, message = self.package.get(number)
            self._add_object(number, kind, message)
            if kind in {_IMAGE, _MOVIE, _TABLE, _CHART, _GROUP}:
                for caption in (10, 11):
                    self.add_objects(list_references(message.get_message(1), caption))

    def _add_object(self, number: int, kind: int, message: Message) -> None:
        if kind in _STORAGE:
            self._add_text(message)
        elif kind == _SHAPE or kind in _INNER_SHAPES:
            self._add_text(self.find_storage(number))
        elif kind == _GROUP:
            self.add_objects(list_references(message, 2))
        elif kind == _TABLE:
            self._add_table(message)
        elif kind == _CHART:
            self.builder.add_table(_read_chart(message.get_message(10000, 7)))
        elif kind in {_IMAGE, _MOVIE}:
            self.add_quote("Picture", message.get_message(1).get_text(8))
        elif kind in {_ATTACHMENT, _HIGHLIGHT}:
            self.add_objects(list_references(message, 1))
        elif kind == _FOOTNOTE:
            self.add_quote("Note", self.read_text(self.package.follow(message, 2).message))
        elif kind == _COMMENT:
            author = self.package.follow(message, 3).message.get_text(1)
            self.add_quote(f"Comment by {author}" if author else "Comment", message.get_text(1))
            self.add_objects(list_references(message, 4))

    def find_storage(self, number: int) -> Message:
        """Return the storage of a shape."""
        kind, message = self.package.get(number)
        shape = message.get_message(1) if kind in _INNER_SHAPES else message
        return self.package.follow(shape, 4 if shape.get_bytes(4) else 2).message

    def leave_out_rest(self) -> None:
        """Keep the texts that no part of the document shows: headers, footers, templates."""
        for number in self.package.list_numbers(*_STORAGE):
            text = _get_text(self.package.get(number).message)
            if text not in self._read:
                self.builder.leave_out("headers, footers and templates", text)

    def add_quote(self, label: str, text: str) -> None:
        """Add a text with what it is; nothing without a text."""
        if text.strip():
            self.builder.add_quote(f"{label}: {text.strip()}")

    def read_text(self, storage: Message) -> str:
        """Return the text of a storage."""
        return "\n".join(one.text for one in self._list_paragraphs(storage)).strip()

    def _add_text(self, storage: Message) -> None:
        """Add the paragraphs of a storage, and behind each what is anchored in it."""
        for text, level, anchored, deleted in self._list_paragraphs(storage):
            if level:
                self.builder.add_heading(level, text)
            else:
                self.builder.add_paragraph(text)
            self.builder.leave_out("deleted text", deleted)
            self.add_objects(anchored)

    def _list_paragraphs(self, storage: Message) -> Iterator[_Paragraph]:
        """Yield the paragraphs of a storage."""
        text = _get_text(storage)
        self._read.add(text)
        styles, deleted = (_Attributes(storage, field) for field in (_STYLES, _DELETED))
        anchored = [_Attributes(storage, field) for field in _ANCHORED]
        start = 0
        for line in _PARAGRAPH_END.split(text):
            wide = line.encode("utf-16-le", "replace")
            end = start + len(wide) // 2
            kept, gone = (
                part.decode("utf-16-le", "replace").translate(_HIDDEN_CHARACTERS).strip()
                for part in deleted.divide(wide, start)
            )
            level = self._find_level(styles.find(start))
            numbers = [one for table in anchored for one in table.list_within(start, end)]
            yield _Paragraph(kept, level, numbers, gone)
            start = end + 1

    def _list_styles(self, number: int) -> Iterator[tuple[Message, Message]]:
        """Yield a style and those that it is derived from, each with what all styles have."""
        for _ in range(_MAX_PARENTS):
            style = self.package.get(number).message
            common = style.get_message(1)
            yield style, common
            number = common.get_message(3).get_number(1)

    def _find_level(self, number: int) -> int:
        """Return the level of the heading that a style of paragraphs is for; 0 for none."""
        for _, common in self._list_styles(number):
            for name in (common.get_text(2), common.get_text(1)):
                if match := _HEADING.fullmatch(name):
                    return 1 if match[1] else int(match[2] or 1)
            if common.get_bytes(1):  # a style with a name, so the ones above say nothing
                break
        return 0

    def _add_table(self, table: Message) -> None:
        """Add a table between paragraphs."""
        name, rows = self.read_table(table)
        is_named = self.package.follow(table, 2).message.get_number(22)
        self.builder.add_paragraph(name if is_named else "")
        width = max((row.first + len(row.cells) for row in rows), default=0)
        self.builder.add_table(
            [*[""] * row.first, *row.cells, *[""] * (width - row.first - len(row.cells))]
            for row in rows
        )

    def read_table(self, table: Message) -> tuple[str, list[Row]]:
        """Return the name of a table, and its rows with a value."""
        model = self.package.follow(table, 2).message
        store, name = model.get_message(4), model.get_text(8)
        texts = [self._read_entries(store, field) for field in (_STRINGS, _RICH_TEXTS)]
        rows, unread, tiles = list[Row](), 0, store.get_message(3)
        height = tiles.get_number(2) or _TILE_ROWS
        for tile in tiles.list_messages(1):
            for info in self.package.follow(tile, 2).message.list_messages(5):
                number = tile.get_number(1) * height + info.get_number(1) + 1
                if self._cells <= 0 or number > _MAX_ROWS:
                    unread += 1
                    continue
                try:
                    values = [self._read_value(cell, texts) for cell in _list_cells(info)]
                except (LookupError, OverflowError, ValueError, struct.error):
                    unread += 1
                    continue
                if row := build_row(number, 0, values):
                    rows.append(row)
                    self._cells -= sum(
                        1 + len(text) // _CELL_CHARACTERS for text in row.cells if text
                    )
        if unread:
            cause = f"of a form that is not read, or beyond the {MAX_CELLS:,} cells of a file"
            self.warnings.append(f"table `{name}`: {unread:,} rows are left out: {cause}")
        return name, sorted(rows)

    def _read_entries(self, store: Message, field: int) -> dict[int, Message]:
        """Return the texts of the cells of a table by their numbers."""
        number = store.get_message(field).get_number(1)
        if number not in self._entries:
            entries = self.package.get(number).message
            parts = [entries]
            parts += [self.package.get(one).message for one in list_references(entries, 4)]
            found = [one for part in parts for one in part.list_messages(3)]
            self._entries[number] = {one.get_number(1): one for one in found}
        return self._entries[number]

    def _read_value(self, cell: bytes, texts: list[dict[int, Message]]) -> Value:
        """Return the value of a cell; empty for none, and for the error of a formula.

        Raises:
            LookupError: The cell has no value of its kind.
            ValueError: The cell is in an unknown form.
        """
        kind, found = _unpack_cell(cell)
        value: Value = ""
        if kind in _NUMBER_KINDS:
            value = _read_decimal(found[_DECIMAL]) if _DECIMAL in found else found[_DOUBLE]
        elif kind == _TEXT_KIND:
            value = texts[0][found[_STRING]].get_text(3)
        elif kind == _RICH_TEXT_KIND:
            number = texts[1][found[_RICH_TEXT]].get_message(9).get_number(1)
            if number not in self._rich_texts:
                storage = self.package.follow(self.package.get(number).message, 1).message
                self._rich_texts[number] = self.read_text(storage)
            value = self._rich_texts[number]
        elif kind == _DATE_KIND:
            value = _FIRST_MOMENT + timedelta(seconds=found[_SECONDS])
        elif kind == _DURATION_KIND:
            value = timedelta(seconds=found[_DOUBLE])
        elif kind == _BOOL_KIND:
            value = bool(found[_DOUBLE])
        return value


def _get_text(storage: Message) -> str:
    return b"".join(storage.list_bytes(3)).decode("utf-8", "replace")


_CELL_CHARACTERS = 100
"""A longer text counts as several cells, because many cells may refer to one."""

_STRINGS, _RICH_TEXTS = 4, 17
_TILE_ROWS = 256
_MAX_ROWS = 1_000_000
"""The rows that the programs allow in a table."""

_CELL = struct.Struct("<BB6xI")
_CELL_VERSION = 5
_NUMBER_KINDS, _TEXT_KIND, _DATE_KIND, _BOOL_KIND = (2, 10), 3, 5, 6
_DURATION_KIND, _RICH_TEXT_KIND = 7, 9
_DECIMAL, _DOUBLE, _SECONDS, _STRING, _RICH_TEXT = 1, 2, 4, 8, 16
_CELL_FIELDS = tuple(
    (1 << bit, struct.Struct(form)) for bit, form in enumerate(("<16s", "<d", "<d", "<I", "<I"))
)
"""The fields of a cell that hold its value, each with the flag that says that it is there."""

_FIRST_MOMENT = datetime(2001, 1, 1)  # noqa: DTZ001 - cells have no time zone
_EXPONENT_BIT, _EXPONENT_BIAS = 113, 6176
_NO_CELL = 0xFFFF


def _unpack_cell(cell: bytes) -> tuple[int, dict[int, Any]]:
    """Return the kind of a cell, 0 for none, and the fields with its value by their flags.

    Raises:
        ValueError: The cell is in an unknown form.
    """
    if not cell:
        return 0, {}
    version, kind, flags = _CELL.unpack_from(cell)
    if version != _CELL_VERSION:
        raise ValueError("unknown version")
    found, at = {}, _CELL.size
    for flag, form in _CELL_FIELDS:
        if flags & flag:
            (found[flag],) = form.unpack_from(cell, at)
            at += form.size
    return kind, found


def _read_decimal(data: bytes) -> float:
    """Return a decimal number of 128 bits."""
    bits = int.from_bytes(data, "little")
    sign, exponent = bits >> 127, (bits >> _EXPONENT_BIT) & 0x3FFF
    digits = bits & ((1 << _EXPONENT_BIT) - 1)
    return float(f"{'-' * sign}{digits}e{exponent - _EXPONENT_BIAS}")


def _list_cells(row: Message) -> Iterator[bytes]:
    """Yield the bytes of the cells of a row, empty for those without a value.

    Raises:
        ValueError: The row has cells in the form of 2013 only.
    """
    data, unit = row.get_bytes(6), 4 if row.get_number(8) else 1
    if not data and row.get_number(2):
        raise ValueError("unknown form")
    offsets = row.get_bytes(7)[: 2 * MAX_COLUMNS + 2]
    for (offset,) in struct.iter_unpack("<H", offsets[: len(offsets) // 2 * 2]):
        yield b"" if offset == _NO_CELL else data[offset * unit :]


def _read_chart(grid: Message) -> list[list[str]]:
    """Return the rows of the data of a chart, with their names."""
    names = [name.decode("utf-8", "replace") for name in grid.list_bytes(1)]
    columns = [name.decode("utf-8", "replace") for name in grid.list_bytes(2)]
    rows = []
    for name, row in zip(names, grid.list_messages(3), strict=False):
        values = [one.get_bytes(1) for one in row.list_messages(1)]
        numbers = [format_value(struct.unpack("<d", one)[0]) if one else "" for one in values]
        rows.append([name, *numbers])
    return [["", *columns], *rows]


class PagesParser:
    """Parses documents of Pages; citations name their sections."""

    version = "pages-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document. Headers, footers and deleted text are left out.

        Raises:
            ParseFailed: The file is damaged, encrypted, or no document of Pages.
        """
        package = IworkPackage(data, path, self.version)
        writer = _Writer(package)
        for number in package.list_numbers(_PAGES_DOCUMENT):
            writer.add_objects(list_references(package.get(number).message, 4))
            writer.add_objects(package.list_numbers(_SHAPE, _TABLE, _CHART, _IMAGE, _MOVIE))
            writer.leave_out_rest()
            return writer.builder.build(path, warnings=writer.warnings)
        raise package.refuse("damaged: no document of Pages")


class KeynoteParser:
    """Parses presentations of Keynote: each slide is a place, its title a heading."""

    version = "keynote-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The file is damaged, encrypted, or no presentation of Keynote.
        """
        package = IworkPackage(data, path, self.version)
        writer, hidden = _Writer(package), []
        for number, node in enumerate(_list_slides(package), 1):
            writer.builder.begin_place(Place(0, number))
            if is_hidden := bool(node.get_number(4)):
                hidden.append(number)
            self._add_slide(writer, package.follow(node, 2).message, number, hidden=is_hidden)
        writer.leave_out_rest()
        writer.warnings += describe_hidden_slides(hidden)
        return writer.builder.build(path, warnings=writer.warnings)

    def _add_slide(self, writer: _Writer, slide: Message, number: int, *, hidden: bool) -> None:
        """Add the title of a slide, its text, its objects and the notes of the speaker."""
        storages = [writer.find_storage(one) for one in list_references(slide, 5)]
        title = " ".join(map(writer.read_text, storages))
        page = list_references(slide, 20)  # its number
        document, writer.builder = writer.builder, TextBuilder()
        others = [one for field in (6, 30, 42, 7) for one in list_references(slide, field)]
        left_out = {*list_references(slide, 5), *page}
        writer.add_objects(one for one in others if one not in left_out)
        note = writer.package.follow(slide, 27).message
        writer.add_quote("Notes", writer.read_text(writer.package.follow(note, 1).message))
        found, writer.builder = writer.builder.build(""), document
        add_slide_heading(document, title, number, hidden=hidden, has_text=bool(found.text))
        document.add_blocks(found)


def _list_slides(package: IworkPackage) -> list[Message]:
    """Return the nodes of the slides in their order.

    Raises:
        ParseFailed: There are none.
    """
    shows = [package.follow(package.get(one).message, 2) for one in package.list_numbers(_DOCUMENT)]
    tree = next((show.message.get_message(3) for show in shows if show.kind == _SHOW), Message(b""))
    waiting = [*list_references(tree, 2)[::-1], *list_references(tree, 1)]
    nodes: dict[int, Message] = {}
    while waiting:
        number = waiting.pop()
        kind, node = package.get(number)
        if kind == _SLIDE_NODE and number not in nodes:
            nodes[number] = node
            waiting += list_references(node, 1)[::-1]
    slides = [node for node in nodes.values() if node.get_bytes(2)]
    if not slides:
        raise package.refuse("damaged: no presentation of Keynote")
    return slides


class NumbersParser:
    """Parses workbooks of Numbers; citations name the cells of the rows of a table."""

    version = "numbers-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document. A table is named as in a formula: `Sheet::Table`.

        Raises:
            ParseFailed: The file is damaged, encrypted, or no workbook of Numbers.
        """
        package = IworkPackage(data, path, self.version)
        writer, index = _Writer(package), 0
        documents = [package.get(one).message for one in package.list_numbers(_DOCUMENT)]
        sheets = [one for document in documents for one in list_references(document, 1)]
        found = [package.get(one) for one in sheets]
        if not any(one.kind == _SHEET for one in found):
            raise package.refuse("damaged: no workbook of Numbers")
        for _, sheet in found:
            name, others = sheet.get_text(1), []
            if sheet.get_number(25):
                writer.warnings.append(f"sheet `{name}` is hidden")
            for number in list_references(sheet, 2):
                kind, message = package.get(number)
                if kind == _TABLE:
                    table, rows = writer.read_table(message)
                    add_rows(writer.builder, rows, index, f"{name}::{table}")
                    index += 1
                else:
                    others.append(number)
            writer.builder.begin_place(Place(0, index, label=name))
            writer.add_objects(others)
            index += 1
        return writer.builder.build(path, warnings=writer.warnings)


class PreviewParser(PdfParser):
    """Parses the preview in documents of Pages, Keynote and Numbers before 2013, a PDF."""

    version = "iwork-preview-v3"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; citations name the pages of the preview.

        Raises:
            ParseFailed: The file is damaged, or has no preview with text.
            DependencyMissing: PDFium is not installed.
        """
        archive = Archive(data, path, self.version)
        if (preview := archive.find("QuickLook/Preview.pdf")) is None:
            cause = "it is from before 2013, without a preview; save it with a newer version"
            raise archive.refuse(cause)
        document = super().parse(preview, path)
        warning = "read from the preview in the file: later changes may be missing"
        return document._replace(warnings=(warning, *document.warnings))
