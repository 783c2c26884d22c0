"""Reads workbooks of Excel and LibreOffice: `.xlsx`, `.xlsm`, `.xlsb`, `.xls` and `.ods`.

Each run of rows without an empty row is a place, with one line of text for each row.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.errors.system import translate_import_errors
from kebab.parse.archive import ENCRYPTED, OLE2_MAGIC, Archive, explain_foreign_file
from kebab.parse.office.ooxml import Package
from kebab.parse.office.open_document import OpenDocument
from kebab.parse.office.sheet_rows import CellBudget, add_sheet
from kebab.parse.text_builder import TextBuilder

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

MAX_AREA = 10_000_000
"""The most cells between the first and the last of a sheet; the library keeps 32 bytes of each."""

_CELL = re.compile(rb'<(?:\w{1,20}:)?c\s(?:[^<>]*?\s)?r="([A-Z]{1,3})(\d{1,7})"[^<>]*[^/<>]>')
"""A cell with a value, and where it is."""

_SHEET_PART = re.compile(r"(?i)xl/worksheets/[^/]+\.xml")
_PART = re.compile(r"(?i)xl/(?:worksheets/)?[^/]+\.xml")
_COUNT = re.compile(rb'[cC]ount="\d{9,}"')
"""A count for which the library would reserve more memory than there is."""


class SheetParser:
    """Parses workbooks; citations name the cells of rows."""

    version = "sheet-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The file is damaged, encrypted, too large, or no workbook.
            DependencyMissing: The library that reads workbooks is not installed.
        """
        metadata = self._check_file(data, path)
        with self._translate_errors(path):
            return self._read(data, path, metadata)

    def _check_file(self, data: bytes, path: str) -> Metadata:
        """Refuse what the library cannot bear, and return the properties of the file."""
        if data.startswith(OLE2_MAGIC):
            cause = explain_foreign_file(data)
            if cause == ENCRYPTED:
                raise ParseFailed(path=path, parser=self.version, cause=cause)
            return Metadata()
        if not data.startswith(b"PK"):
            raise ParseFailed(path=path, parser=self.version, cause=_explain_text(data))
        document = OpenDocument(data, path, self.version)
        if document.archive and document.is_recognized:
            document.archive.check_sizes()
            return document.metadata
        package = Package(data, path, self.version, "workbook")
        package.archive.check_sizes()
        self._check_parts(package.archive, path)
        return package.read_metadata()

    def _check_parts(self, archive: Archive, path: str) -> None:
        """Refuse parts for which the library would take too much memory."""
        for name in archive.names:
            if _PART.fullmatch(name):
                part = archive.read(name)
                if _COUNT.search(part):
                    raise archive.refuse(f"damaged: a count in `{name}` is too large")
                if _SHEET_PART.fullmatch(name):
                    self._check_area(part, name, path)

    def _check_area(self, part: bytes, name: str, path: str) -> None:
        """Refuse a sheet with cells so far apart that the table between them is too large."""
        columns, height = set(), 0
        for match in _CELL.finditer(part):
            columns.add(match[1])
            height = max(height, int(match[2]))
        area = height * max(map(_count_columns, columns), default=0)
        if area > MAX_AREA:
            cause = f"`{name}` spans {area:,} cells, more than {MAX_AREA:,}"
            raise ParseFailed(path=path, parser=self.version, cause=cause)

    def _read(self, data: bytes, path: str, metadata: Metadata) -> ParsedDocument:
        from python_calamine import SheetTypeEnum, SheetVisibleEnum

        builder, budget = TextBuilder(), CellBudget()
        with _open_workbook(data) as workbook:
            for index, info in enumerate(workbook.sheets_metadata):
                if info.typ == SheetTypeEnum.WorkSheet:
                    hidden = info.visible != SheetVisibleEnum.Visible
                    sheet = workbook.get_sheet_by_index(index)
                    add_sheet(builder, budget, sheet, index, hidden=hidden)
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
            cause = f"damaged: {fault}"
            raise ParseFailed(path=path, parser=self.version, cause=cause) from fault
        except BaseException as fault:
            # A panic of the library's own language is no `Exception`.
            if type(fault).__name__ != "PanicException":
                raise
            cause = "damaged: the library cannot read it"
            raise ParseFailed(path=path, parser=self.version, cause=cause) from fault


@contextmanager
def _open_workbook(data: bytes) -> Iterator["CalamineWorkbook"]:
    from python_calamine import CalamineWorkbook

    workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
    try:
        yield workbook
    finally:
        workbook.close()


def _count_columns(column: bytes) -> int:
    """Return the number of a column from 1, e.g. 27 for `AA`."""
    number = 0
    for letter in column:
        number = number * 26 + letter - ord("A") + 1
    return number


def _explain_text(data: bytes) -> str:
    if data.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"<"):
        return "it is HTML or XML under the name of a workbook; save it as `.xlsx`"
    return "damaged: not a workbook"
