"""Reads workbooks of Excel and LibreOffice: `.xlsx`, `.xlsm`, `.xlsb`, `.xls` and `.ods`.

Each run of rows without an empty row is a place, with one line of text for each row. The comments,
text boxes and charts of a sheet follow, each as a line at its row; only those of XML are read.
"""

import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from xml.etree.ElementTree import Element

from kebab.core.chunks import Place
from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.errors.system import translate_import_errors
from kebab.parse.archive import (
    ENCRYPTED,
    OLE2_MAGIC,
    explain_foreign_file,
    find_all,
    find_child,
    get_attribute,
    get_local_tag,
    list_children,
    read_events,
)
from kebab.parse.blocks import TextBuilder, label_note
from kebab.parse.office.graphics import (
    get_id,
    join_paragraphs,
    read_description,
    read_linked_graphic,
)
from kebab.parse.office.number_formats import (
    Formats,
    count_columns,
    read_formats,
    show_number,
)
from kebab.parse.office.ooxml import Graphic, OpenDocument, Package, choose_alternative

if TYPE_CHECKING:
    from python_calamine import CalamineSheet


_MAX_ROW = 1 << 20
_MAX_DIGITS = 7
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")


class Note(NamedTuple):
    """A line that belongs to a cell: the row from 1, the column from 0."""

    sheet: str
    row: int
    column: int
    text: str


def list_notes(file: Package | OpenDocument) -> Iterator[Note]:
    """Yield the comments, text boxes and charts of all sheets of a workbook.

    Raises:
        ParseFailed: A part is damaged or too large.
    """
    if isinstance(file, OpenDocument):
        yield from _list_notes_of_open_document(file)
    elif file.main.endswith(".xml"):
        relations = file.read_relations(file.main)
        people = {
            person.get("id", ""): person.get("displayName", "")
            for one in relations.values()
            if one.kind == "person"
            for person in list_children(file.find_tree(one.target))
        }
        for sheet in list_children(find_child(file.find_tree(file.main), "sheets")):
            part = relations.get(get_id(sheet))
            for relation in file.read_relations(part.target).values() if part else ():
                notes: Iterator[tuple[int, int, str]] = iter(())
                if relation.kind == "drawing":
                    notes = _list_drawings(file, relation.target)
                elif relation.kind in {"comments", "threadedComment"}:
                    notes = _list_comments(file.find_tree(relation.target), people)
                for row, column, text in notes:
                    yield Note(sheet.get("name", ""), row, column, text)


def _list_comments(root: Element | None, people: dict[str, str]) -> Iterator[tuple[int, int, str]]:
    """Yield the comments of a part; those that copy a thread for older programs are left out."""
    names = [one.text or "" for one in list_children(find_child(root, "authors"))]
    for one in list_children(find_child(root, "commentList")) or list_children(root):
        place = _REFERENCE.match(one.get("ref", ""))
        number = one.get("authorId", "")
        author = people.get(one.get("personId", ""), "")
        if number.isdecimal() and len(number) < _MAX_DIGITS and int(number) < len(names):
            author = names[int(number)].strip()
        text = _join_texts(find_child(one, "text"))
        if place and text and not author.startswith("tc="):
            column = count_columns(place[1].encode())
            label = f"Comment by {author}" if author else "Comment"
            yield int(place[2]), column - 1, f"{label} on {place[0]}: {text}"


def _join_texts(element: Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def _list_drawings(package: Package, part: str) -> Iterator[tuple[int, int, str]]:
    """Yield the charts, diagrams, text boxes and descriptions of a drawing."""
    root = package.find_tree(part)
    for one in list(find_all(root, "AlternateContent")):
        one[:] = choose_alternative(one)
    for anchor in list_children(root):
        corner = {
            get_local_tag(one.tag): one.text for one in list_children(find_child(anchor, "from"))
        }
        row, column = _read_number(corner.get("row")) + 1, _read_number(corner.get("col"))
        texts = [join_paragraphs(anchor)]
        for one in find_all(anchor, "cNvPr", "graphicData"):
            if get_local_tag(one.tag) == "cNvPr":
                texts.append(read_description(one))
            else:
                texts.append(_write_line(read_linked_graphic(package, part, one)))
        for text in filter(None, texts):
            yield row, column, " ".join(text.split())


def _write_line(graphic: Graphic) -> str:
    """Return a chart or a diagram as one line; the values of a chart are those of cells."""
    names = ", ".join(filter(None, graphic.rows[0])) if graphic.rows else ""
    labels = ", ".join(filter(None, (row[0] for row in graphic.rows[1:])))
    items = ", ".join(text for _, text in graphic.items)
    title = graphic.text or ("Chart" if names or labels else "")
    return "; ".join(filter(None, (title, names, labels, items, graphic.description)))


def _read_number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) <= _MAX_DIGITS else 0


def _list_notes_of_open_document(file: OpenDocument) -> Iterator[Note]:
    """Yield the comments, text boxes and the titles of charts of a workbook."""
    content = file.read_content()
    if b"<draw:" not in content and b"<office:annotation" not in content:
        return
    sheet, row, open_shapes = "", 1, 0
    for kind, element in read_events(content, file.content_name, file.refuse):
        tag = get_local_tag(element.tag)
        is_shape = tag in {"annotation", "frame", "custom-shape"}
        open_shapes += is_shape * (1 if kind == "start" else -1)
        if kind == "start":
            if tag == "table" and not open_shapes:
                sheet, row = get_attribute(element, "name"), 1
        elif is_shape and not open_shapes:
            text = _describe_shape(file, element, tag)
            if text:
                yield Note(sheet, row, 0, text)
            element.clear()
        elif tag == "table-row" and not open_shapes:
            row = min(
                row + max(1, _read_number(get_attribute(element, "number-rows-repeated"))), _MAX_ROW
            )
            element.clear()


def _describe_shape(file: OpenDocument, element: Element, tag: str) -> str:
    text = " ".join(filter(None, map(_join_texts, find_all(element, "p"))))
    if tag == "annotation" and text:
        return label_note(text, _join_texts(find_child(element, "creator")))
    objects = (file.find_object(get_attribute(one, "href")) for one in find_all(element, "object"))
    titles = [_join_texts(one) for root in objects for one in find_all(root, "title", "subtitle")]
    return f"Chart: {', '.join(filter(None, titles))}" if any(titles) else text


MAX_CELLS = 200_000
"""The most cells with a value that are read of one file."""

MAX_COLUMNS = 256
"""The most columns of a row that are read."""

_MAX_MERGED_ROWS = 1_000
_LARGEST_WHOLE = 1e21
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


def add_rows(builder: TextBuilder, rows: Iterable[Row], index: int, name: str) -> None:
    """Add the rows of the sheet with an index and a name; a place ends at each empty row."""
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


def _read_rows(
    sheet: "CalamineSheet", budget: CellBudget, formats: Formats = MappingProxyType({})
) -> Iterator[Row]:
    """Yield the rows with a value until the budget of the file is used up."""
    if sheet.start is None:
        return
    offset = sheet.start[1]
    merged = _list_merged_cells(sheet, offset)
    above: dict[int, str] = {}
    cut = False
    for index, raw in enumerate(sheet.iter_rows()):
        values = _show_numbers(raw, index, offset, formats) if formats else raw
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


def _show_numbers(values: Sequence[Value], row: int, offset: int, formats: Formats) -> list[Value]:
    """Return the values of a row with its numbers as their formats show them."""
    return [
        show_number(value, format_value(value), code)
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and (code := formats.get((row, offset + column)))
        else value
        for column, value in enumerate(values)
    ]


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
        seconds = int(value.total_seconds())
        sign, seconds = "-" if seconds < 0 else "", abs(seconds)
        hours, rest = divmod(seconds, _SECONDS_OF_HOUR)
        minutes, seconds = divmod(rest, _SECONDS_OF_MINUTE)
        return f"{sign}{hours}:{minutes:02}:{seconds:02}"
    return value.isoformat("seconds") if isinstance(value, time) else value.isoformat()


def format_number(value: float) -> str:
    """Return a number without what comes of its binary form: 12 digits as sheets show at most.

    Whole numbers have all their digits, because those of cards and accounts have many.
    """
    if value.is_integer() and abs(value) < _LARGEST_WHOLE:
        return f"{Decimal(repr(value or 0.0)):f}".removesuffix(".0")
    return f"{value:.12g}"


def format_column(index: int) -> str:
    """Return the letters of a column from 0, e.g. `AA` for 26."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


_MARKUP = "it is HTML or XML under the name of a workbook; save it as `.xlsx`"

MAX_AREA = 10_000_000
"""The most cells between the first and the last of a sheet; the library keeps 32 bytes of each."""

_CELL = re.compile(
    rb'<(?:\w{1,20}:)?c\s(?:[^<>]*?\s)?r="([A-Za-z]{1,20})(\d{1,9})"(?:[^<>]*[^/<>])?>'
)
"""A cell with a value, and where it is; the library takes any number of letters."""

_SHEET_PART = re.compile(r"(?i)xl/worksheets/[^/]+\.xml")
_PART = re.compile(r"(?i)xl/(?:worksheets/)?[^/]+\.xml")
_COUNT = re.compile(rb'[cC]ount="\d{9,}"')
"""A count for which the library would reserve more memory than there is."""


class SheetParser:
    """Parses workbooks; citations name the cells of rows."""

    version = "sheet-v5"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The file is damaged, encrypted, too large, or no workbook.
            DependencyMissing: The library that reads workbooks is not installed.
        """
        file = self._check_file(data, path)
        with self._translate_errors(path):
            return self._read(data, path, file)

    def _check_file(self, data: bytes, path: str) -> Package | OpenDocument | None:
        """Refuse what the library cannot bear; return the parts of a file that has parts."""
        if data.startswith(OLE2_MAGIC):
            cause = explain_foreign_file(data)
            if cause == ENCRYPTED:
                raise ParseFailed(path=path, parser=self.version, cause=cause)
            return None
        if not data.startswith(b"PK"):
            is_markup = data.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"<")
            cause = _MARKUP if is_markup else "damaged: not a workbook"
            raise ParseFailed(path=path, parser=self.version, cause=cause)
        document = OpenDocument(data, path, self.version)
        if document.archive and document.is_recognized:
            document.archive.check_sizes()
            return document
        package = Package(data, path, self.version, "workbook")
        package.archive.check_sizes()
        for name in package.archive.names:
            if _PART.fullmatch(name):
                part = package.archive.read(name)
                if _COUNT.search(part):
                    raise package.archive.refuse(f"damaged: a count in `{name}` is too large")
                if _SHEET_PART.fullmatch(name):
                    # Cells may be so far apart that the table between them is too large.
                    columns, height = set(), 0
                    for match in _CELL.finditer(part):
                        columns.add(match[1].upper())
                        height = max(height, int(match[2]))
                    area = height * max(map(count_columns, columns), default=0)
                    if area > MAX_AREA:
                        cause = f"`{name}` spans {area:,} cells, more than {MAX_AREA:,}"
                        raise ParseFailed(path=path, parser=self.version, cause=cause)
        return package

    def _read(self, data: bytes, path: str, file: Package | OpenDocument | None) -> ParsedDocument:
        from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

        builder, budget = TextBuilder(), CellBudget()
        metadata = Metadata()
        notes = defaultdict(list)
        formats = read_formats(file) if isinstance(file, Package) else {}
        if file is not None:
            metadata = file.metadata if isinstance(file, OpenDocument) else file.read_metadata()
            try:
                for note in list_notes(file):
                    notes[note.sheet].append(note)
            except ParseFailed as fault:
                budget.warnings.append(
                    f"comments, charts or text boxes are left out: {fault.cause}"
                )
        with CalamineWorkbook.from_filelike(io.BytesIO(data)) as workbook:
            for index, info in enumerate(workbook.sheets_metadata):
                if info.typ == SheetTypeEnum.WorkSheet:
                    if info.visible != SheetVisibleEnum.Visible:
                        budget.warnings.append(f"sheet `{info.name}` is hidden")
                    sheet = workbook.get_sheet_by_index(index)
                    rows = _read_rows(sheet, budget, formats.get(info.name, {}))
                    add_rows(builder, rows, index, info.name)
                for _, row, column, text in notes[info.name]:
                    columns = f"{format_column(column)}:{format_column(column)}"
                    builder.begin_place(Place(0, index, label=info.name, row=row, columns=columns))
                    builder.add_paragraph(text)
        return builder.build(path, metadata, warnings=budget.warnings)

    @contextmanager
    def _translate_errors(self, path: str) -> Iterator[None]:
        with translate_import_errors("reading workbooks", "python-calamine", "office"):
            from python_calamine import CalamineError, PasswordError
        try:
            yield
        except PasswordError as fault:
            raise ParseFailed(path=path, parser=self.version, cause=ENCRYPTED) from fault
        except CalamineError as fault:
            # The library tries each of its formats, and does not say why the right one failed.
            is_vague = "detect file format" in str(fault)
            cause = "encrypted, damaged or of an unknown kind" if is_vague else f"damaged: {fault}"
            raise ParseFailed(path=path, parser=self.version, cause=cause) from fault
        except BaseException as fault:
            # A panic of the library's own language is no `Exception`.
            if type(fault).__name__ != "PanicException":
                raise
            cause = "damaged: the library cannot read it"
            raise ParseFailed(path=path, parser=self.version, cause=cause) from fault
