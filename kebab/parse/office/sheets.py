"""Reads workbooks of Excel and LibreOffice: `.xlsx`, `.xlsm`, `.xlsb`, `.xls` and `.ods`.

Numbers of workbooks in XML and of OpenDocument are written as they are shown: `12.5%`, `00123`,
`1,234.50`.

Each run of rows without an empty row is a place, with one line of text for each row. The comments,
text boxes and charts of a sheet of `.xlsx` follow, each as a line at its row.
"""

import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache, lru_cache, partial
from html import unescape
from itertools import groupby, repeat
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from xml.etree.ElementTree import Element

from kebab.core.chunks import Place
from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.errors.system import translate_import_errors
from kebab.limits.deadline import build_refusal
from kebab.parse.archive import (
    ENCRYPTED,
    OLE2_MAGIC,
    explain_foreign_file,
    find_all,
    find_child,
    get_local_tag,
    join_text,
    list_children,
)
from kebab.parse.blocks import TextBuilder
from kebab.parse.office.odf import MAX_AREA, MAX_COLUMNS, CellNote, Formats, read_sheets
from kebab.parse.office.old_office import list_drawn_texts
from kebab.parse.office.ooxml import (
    ADDRESSES,
    CONTENT,
    OpenDocument,
    Package,
    choose_alternative,
    get_id,
    join_paragraphs,
    read_description,
    read_linked_graphic,
)

if TYPE_CHECKING:
    from python_calamine import CalamineSheet


_INDEX = re.compile("[0-9]{1,7}")
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")


def _list_comments(root: Element | None, people: dict[str, str]) -> Iterator[CellNote]:
    """Yield the comments of a part; those that copy a thread for older programs are left out."""
    names = [one.text or "" for one in list_children(find_child(root, "authors"))]
    for one in list_children(find_child(root, "commentList")) or list_children(root):
        place = _REFERENCE.match(one.get("ref", ""))
        number = one.get("authorId", "")
        author = people.get(one.get("personId", ""), "")
        if _INDEX.fullmatch(number) and int(number) < len(names):
            author = names[int(number)].strip()
        text = join_text(find_child(one, "text"))
        if place and text and not author.startswith("tc="):
            column = _count_columns(place[1].encode())
            label = f"Comment by {author}" if author else "Comment"
            yield int(place[2]), column - 1, f"{label} on {place[0]}: {text}"


def _list_drawings(package: Package, part: str) -> Iterator[CellNote]:
    """Yield the charts, diagrams, text boxes and descriptions of a drawing."""
    root = package.find_tree(part)
    for one in list(find_all(root, "AlternateContent")):
        one[:] = choose_alternative(one)
    for anchor in list_children(root):
        corner = list_children(find_child(anchor, "from"), "row", "col")
        found = {get_local_tag(one.tag): one.text or "" for one in corner}
        row, column = (
            int(text) if _INDEX.fullmatch(text := found.get(name, "")) else 0
            for name in ("row", "col")
        )
        texts = [join_paragraphs(anchor)]
        for one in find_all(anchor, "cNvPr", "graphicData"):
            if get_local_tag(one.tag) == "cNvPr":
                texts.append(read_description(one))
            else:
                graphic = read_linked_graphic(package, part, one)
                names = ", ".join(filter(None, graphic.rows[0])) if graphic.rows else ""
                labels = ", ".join(filter(None, (row[0] for row in graphic.rows[1:])))
                items = ", ".join(text for _, text in graphic.items)
                title = graphic.text or ("Chart" if names or labels else "")
                texts.append(
                    "; ".join(filter(None, (title, names, labels, items, graphic.description)))
                )
        for text in filter(None, texts):
            yield row + 1, column, " ".join(text.split())


_UNREAD = re.compile(
    rb"<(?:\w+:)?(?:(?:odd|even|first)(?:Header|Footer)|formula[12])\b[^<>]*>([^<]*)<"
    rb'|\b(?:prompt|promptTitle|error|errorTitle|tooltip)="([^"]*)"'
    rb"|(?:(?<=<f>)|<f [^<>]*>)([^<\"&]*+[\"&][^<]*+)</f>"
)
_MARGIN_CODE = re.compile(r'&(?:"[^"]*"|\d+|K[\dA-Fa-f+-]{5,6}|[A-Z])')
_LITERAL = re.compile(r'"([^"]{2,})"')


def _list_unread(package: Package, part: str) -> Iterator[str]:
    """Yield what a sheet has beside its cells: headers, choices, hints, and texts of formulas."""
    for found in dict.fromkeys(_UNREAD.findall(package.read(part))):
        *beside, formula = (unescape(one.decode("utf-8", "replace")) for one in found)
        yield from (_MARGIN_CODE.sub(" ", one) for one in beside if one)
        yield from _LITERAL.findall(formula)


MAX_CELLS = 200_000
"""The most cells with a value that are read of one file."""

_LARGEST_WHOLE = 1e21
_SECONDS_OF_HOUR, _SECONDS_OF_MINUTE = 3600, 60

Value: TypeAlias = str | int | float | date | time | timedelta
"""A value of a cell."""


class Row(NamedTuple):
    """A row with a value: its number from 1, its first column from 0, and its texts."""

    number: int
    first: int
    cells: Sequence[str]


class _SheetWriter:
    """Writes the sheets of a workbook into a builder, and says which cells are left out."""

    def __init__(self, builder: TextBuilder, *, is_shown: bool) -> None:
        """With `is_shown` formats are what cells show."""
        self.warnings: list[str] = []
        self._builder = builder
        self._show_value = partial(_show_value, is_shown=is_shown)
        self._left = MAX_CELLS

    def add(self, sheet: "CalamineSheet", index: int, formats: Formats) -> None:
        """Add the rows of a sheet; a place ends at each empty row."""
        rows = enumerate(self._read_rows(sheet, formats))
        for _, run in groupby(rows, key=lambda one: one[1].number - one[0]):
            self._add_run([row for _, row in run], index, sheet.name)

    def _add_run(self, run: Sequence[Row], index: int, name: str) -> None:
        """Add rows without a gap. Titles above a table are a place of their own.

        The first line of the table is then its header.
        """
        titles = 0
        while titles < len(run) and len(run[titles].cells) == 1:
            titles += 1
        for rows in filter(None, (run[:titles], run[titles:]) if titles < len(run) else (run,)):
            first = min(row.first for row in rows)
            last = max(row.first + len(row.cells) for row in rows) - 1
            columns = f"{format_column(first)}:{format_column(last)}"
            place = Place(0, index, label=name, row=rows[0].number, columns=columns)
            self._builder.begin_place(place)
            self._builder.add_rows([[*[""] * (row.first - first), *row.cells] for row in rows])

    def _read_rows(self, sheet: "CalamineSheet", formats: Formats) -> Iterator[Row]:
        """Yield the rows with a value until the cells of the file are used up."""
        if sheet.start is None:
            return
        offset = sheet.start[1]
        merged: dict[int, list[int]] = defaultdict(list)
        for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
            if left >= offset:
                for row in range(top + 1, min(bottom, top + 1_000) + 1):
                    merged[row].append(left - offset)
        above: list[str] = []
        cut = False
        for index, values in enumerate(sheet.iter_rows()):
            codes = (formats.get((index, offset + at), "") for at in range(MAX_COLUMNS))
            shown = values[:MAX_COLUMNS]
            texts = list(map(self._show_value, shown, codes if formats else repeat("")))
            if not any(texts):
                continue
            for column in merged.get(index, ()):
                if column < len(texts) and not texts[column]:
                    texts[column] = above[column] if column < len(above) else ""
            above = texts
            if self._left <= 0:
                self.warnings.append(
                    f"sheet `{sheet.name}`: rows from {index + 1} on are left out: "
                    f"the file has more than {MAX_CELLS:,} cells"
                )
                return
            cut = cut or len(values) > MAX_COLUMNS
            self._left -= sum(map(bool, texts))
            filled = [column for column, text in enumerate(texts) if text]
            first, last = filled[0], filled[-1]
            yield Row(index + 1, offset + first, texts[first : last + 1])
        if cut:
            beyond = format_column(offset + MAX_COLUMNS)
            self.warnings.append(f"sheet `{sheet.name}`: columns from {beyond} on are left out")


def _show_value(value: Value, code: str, *, is_shown: bool) -> str:
    """Return the value of a cell, a number as its format shows it, which may be given itself."""
    text = format_value(value)
    if not code or not isinstance(value, int | float) or isinstance(value, bool):
        return text
    return _add_stored(code, text) if is_shown else show_number(value, text, code)


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


_STYLED_CELL = re.compile(
    rb'<(?:\w{1,20}:)?c\s(?=[^<>]*?\bs="(\d{1,6})")[^<>]*?\br="([A-Z]{1,3})(\d{1,7})"'
)
_SHOWS_NUMBER = re.compile('[#0?"]')
_NUMBER = re.compile(r"-?\d[\d.]*")
_LONGEST_TYPED = 10
"""A stored number with more characters was computed, and nobody searches for it."""


def _read_formats(package: Package) -> dict[str, Formats]:
    """Return the formats of the cells of each sheet, without those that show numbers as stored."""
    codes = {} if _read_workbook(package) is None else _read_codes(package)
    return {
        name: {
            (int(row) - 1, _count_columns(column) - 1): code
            for style, column, row in _STYLED_CELL.findall(package.read(part))
            if (code := codes.get(int(style)))
        }
        for name, part in (_list_sheets(package) if codes else ())
    }


def _read_workbook(package: Package) -> Element | None:
    """Return the part that names the sheets; None of a binary workbook."""
    return package.find_tree(package.main) if package.main.endswith(".xml") else None


def _list_sheets(package: Package) -> Iterator[tuple[str, str]]:
    relations = package.read_relations(package.main)
    root = _read_workbook(package)
    for sheet in list_children(find_child(root, "sheets")):
        part = relations.get(get_id(sheet))
        if part is not None and part.target in package.names:
            yield sheet.get("name", ""), part.target


def _count_columns(column: bytes) -> int:
    """Return the number of a column from 1, e.g. 27 for `AA`."""
    number = 0
    for letter in column:
        number = number * 26 + letter - ord("A") + 1
    return number


def _read_codes(package: Package) -> dict[int, str]:
    """Return the formats by the number of the style of a cell."""
    root = package.find_tree(package.find_related(package.main, "styles"))
    own = {
        one.get("numFmtId", ""): one.get("formatCode", "")
        for one in list_children(find_child(root, "numFmts"))
    }
    styles = enumerate(list_children(find_child(root, "cellXfs")))
    codes = {}
    for number, style in styles:
        key = style.get("numFmtId", "0")
        code = own.get(key, "")
        if not code and key.isdecimal() and key not in {"0", "14", "49"}:  # those of most cells
            code = _load_formats()[0].get(int(key), "")
        if _SHOWS_NUMBER.search(code) and "general" not in code.lower():
            codes[number] = code
    return codes


@lru_cache(maxsize=10_000)
def show_number(value: float, stored: str, code: str) -> str:
    """Return a number as a format shows it, and as it is stored where that is another number."""
    shown = _load_formats()[1](repr(value), code) if abs(value) < _LARGEST_WHOLE else ""
    return _add_stored(" ".join(shown.split()), stored) if shown.strip() else stored


@cache
def _load_formats() -> tuple[Mapping[int, str], Callable[[str, str], str]]:
    """Return the built-in formats by number, and what shows a number by a format."""
    with translate_import_errors("reading workbooks", "dochan", "office"):
        from dochan.spreadsheet_format import BUILTIN_NUM_FORMATS, SpreadsheetNumberFormatter

    class Formatter(SpreadsheetNumberFormatter):  # type: ignore[misc]
        """The base of the workbooks of the library."""

        def show(self, value: str, code: str) -> str:
            return str(self._format_cell_value(value, code))

    return BUILTIN_NUM_FORMATS, Formatter().show


def _add_stored(shown: str, stored: str) -> str:
    is_stored = stored in _NUMBER.findall(shown.replace(",", ""))
    is_computed = "." in stored and len(stored) > _LONGEST_TYPED
    return shown if is_stored or is_computed else f"{shown} ({stored})".lstrip()


_BESIDE = "names, headers, choices, drawings and formulas of sheets"
_DRAWN = re.compile("(?i)xl/(?:comments|drawings/)")


def _read_notes(
    file: Package, builder: TextBuilder, unread: defaultdict[str, list[str]]
) -> dict[str, list[CellNote]]:
    """Return the comments and drawings of each sheet.

    What else is beside cells is added to `unread` by its kind; a builder is told of embedded files.
    """
    notes: defaultdict[str, list[CellNote]] = defaultdict(list)
    people = {
        person.get("id", ""): person.get("displayName", "")
        for one in file.read_relations(file.main).values()
        if one.kind == "person"
        for person in list_children(file.find_tree(one.target))
    }
    for one in find_all(_read_workbook(file), "definedName"):
        if not one.get("name", "").startswith("_xlnm."):  # Excel has named it
            unread[_BESIDE].append(one.get("name", ""))
    if not file.main.endswith(".xml") and any(map(_DRAWN.match, file.names)):
        builder.leave_out_unread("comments, text boxes and charts of binary workbooks")
    for name, part in _list_sheets(file):
        unread[_BESIDE] += _list_unread(file, part)
        unread[ADDRESSES] += file.list_addresses(part, builder)
        for relation in file.read_relations(part).values():
            if relation.kind == "table" and (table := file.find_tree(relation.target)) is not None:
                unread[_BESIDE].append(table.get("displayName", ""))
            elif relation.kind == "drawing":
                notes[name] += _list_drawings(file, relation.target)
            elif relation.kind in {"comments", "threadedComment"}:
                notes[name] += _list_comments(file.find_tree(relation.target), people)
    return notes


_MARKUP = "it is HTML or XML under the name of a workbook; save it as `.xlsx`"
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument."

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

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document."""
        file = self._check_file(data)
        with translate_import_errors("reading workbooks", "python-calamine", "office"):
            from python_calamine import CalamineError, PasswordError
        try:
            return self._read(data, path, file)
        except PasswordError as fault:
            raise build_refusal(ENCRYPTED) from fault
        except CalamineError as fault:
            # The library tries each of its formats, and does not say why the right one failed.
            is_vague = "detect file format" in str(fault)
            cause = "encrypted, damaged or of an unknown kind" if is_vague else f"damaged: {fault}"
            raise build_refusal(cause) from fault
        except BaseException as fault:
            # A panic of the library's own language is no `Exception`.
            if type(fault).__name__ != "PanicException":
                raise
            raise build_refusal("damaged: the library cannot read it") from fault

    def _check_file(self, data: bytes) -> Package | OpenDocument | None:
        """Refuse what the library cannot bear; return the parts of a file that has parts."""
        if data.startswith(OLE2_MAGIC):
            cause = explain_foreign_file(data)
            if cause == ENCRYPTED:
                raise build_refusal(cause)
            return None
        if not data.startswith(b"PK"):
            is_markup = data.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"<")
            cause = _MARKUP if is_markup else "damaged: not a workbook"
            raise build_refusal(cause)
        document = OpenDocument(data)
        is_open_document = (document.find("mimetype") or b"").startswith(_OPEN_DOCUMENT)
        if is_open_document or document.find_name(CONTENT) is not None:
            document.check_sizes()
            return document
        package = Package(data, "workbook")
        package.check_sizes()
        for name in package.names:
            if _PART.fullmatch(name):
                part = package.read(name)
                if _COUNT.search(part):
                    raise build_refusal(f"damaged: a count in `{name}` is too large")
                if _SHEET_PART.fullmatch(name):
                    # Cells may be so far apart that the table between them is too large.
                    columns, height = set(), 0
                    for match in _CELL.finditer(part):
                        columns.add(match[1].upper())
                        height = max(height, int(match[2]))
                    area = height * max(map(_count_columns, columns), default=0)
                    if area > MAX_AREA:
                        cause = f"`{name}` spans {area:,} cells, more than {MAX_AREA:,}"
                        raise build_refusal(cause)
        return package

    def _read(self, data: bytes, path: str, file: Package | OpenDocument | None) -> ParsedDocument:
        from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

        builder = TextBuilder()
        writer = _SheetWriter(builder, is_shown=isinstance(file, OpenDocument))
        metadata = Metadata()
        notes: Mapping[str, list[CellNote]] = {}
        unread: defaultdict[str, list[str]] = defaultdict(list)
        formats: Mapping[str, Formats] = {}
        if file is not None:
            metadata = file.metadata if isinstance(file, OpenDocument) else file.read_metadata()
            try:
                if isinstance(file, OpenDocument):
                    formats, notes = read_sheets(file, unread[_BESIDE])
                else:
                    formats = _read_formats(file)
                    notes = _read_notes(file, builder, unread)
            except ParseFailed as fault:
                writer.warnings.append(
                    f"comments, charts or text boxes are left out: {fault.cause}"
                )
        else:
            unread[_BESIDE] += list_drawn_texts(data)
        with CalamineWorkbook.from_filelike(io.BytesIO(data)) as workbook:
            for index, info in enumerate(workbook.sheets_metadata):
                if info.typ == SheetTypeEnum.WorkSheet:
                    if info.visible != SheetVisibleEnum.Visible:
                        writer.warnings.append(f"sheet `{info.name}` is hidden")
                    sheet = workbook.get_sheet_by_index(index)
                    writer.add(sheet, index, formats.get(info.name, {}))
                for row, column, text in notes.get(info.name, ()):
                    columns = f"{format_column(column)}:{format_column(column)}"
                    builder.begin_place(Place(0, index, label=info.name, row=row, columns=columns))
                    builder.add_paragraph(text)
        for reason, texts in unread.items():
            builder.leave_out_unknown(reason, texts)
        return builder.build(path, metadata, warnings=writer.warnings)
