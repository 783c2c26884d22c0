import io
import sys
import zipfile
from datetime import date

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.chunk.budget import Budget
from kebab.chunk.split import split_document
from kebab.core.media import XLSX
from kebab.errors.catalog import DependencyMissing, ParseFailed
from kebab.parse.archive import OLE2_MAGIC
from kebab.parse.office import sheets
from kebab.parse.office.ooxml import Package
from kebab.parse.office.sheets import SheetParser, _read_formats, format_number, show_number
from kebab.search.citations import cite_chunk
from kebab.wire.record import CellCitation
from tests.fakes.evidence import stored
from tests.shape.libraries import list_own_exceptions
from tests.shape.tree import ROOT
from tests.unit.parse.office.office_files import (
    build_docx,
    build_workbook,
    build_zip,
    list_places,
)

SAMPLES = sorted(
    path for path in (ROOT / "samples" / "formats").iterdir() if path.stem.startswith("accounts")
)


def parse(data, path="dir/a.xlsx"):
    return SheetParser().parse(data, path)


def refuse(data):
    with pytest.raises(ParseFailed) as refusal:
        parse(data)
    return refusal.value.cause


def cite(document, limit=200):
    """Return the text of each passage with the cells that its citation names."""
    for chunk in split_document(document, Budget(limit)):
        citation = cite_chunk(
            stored(
                chunk.text,
                media=XLSX,
                place=chunk.place,
                start_line=chunk.start_line,
                end_line=chunk.end_line,
            )
        )
        assert isinstance(citation, CellCitation)
        yield chunk.text, citation.cell


def read_words(workbook, span):
    """Return the words of the cells that a citation names, read without the parser."""
    cells = workbook[span.sheet][span.range]
    rows = cells if isinstance(cells, tuple) else ((cells,),)
    values = [cell.value for row in rows for cell in row if cell.value is not None]
    return sorted(word for value in values for word in format_plainly(value).split())


def format_plainly(value):
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, bool):
        return str(value).upper()
    return str(value).removesuffix(" 00:00:00")


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_samples_have_their_rows_in_places(path):
    document = parse(path.read_bytes(), path.name)
    share = "0.397435897436" if path.suffix == ".xls" else "39.7%"

    assert document.text.startswith(
        "Month | Keeper | Litres | Cost | Paid on | Share\n"
        f"January | Park | 310 | 412.5 | 2024-01-31 | {share}\n"
    )
    places = list_places(document)
    if path.suffix in {".xlsx", ".ods"}:
        places.remove(("Oil", 2, "B:B"))
        assert ": left in May" in document.text
    assert places == [
        ("Oil", 1, "A:F"),
        ("Oil", 8, "A:A"),
        ("Oil", 9, "A:B"),
        ("난방 기록", 3, "B:C"),
        ("灯台", 1, "A:B"),
        ("Secret", 1, "A:A"),
    ]
    assert document.warnings == ("sheet `Secret` is hidden",)


@pytest.mark.parametrize("path", [path for path in SAMPLES if path.suffix == ".xlsx"])
def test_the_words_of_a_passage_of_a_sample_are_in_the_cited_cells(path):
    workbook = openpyxl.load_workbook(path, data_only=True)
    passages = list(cite(parse(path.read_bytes())))

    assert len(passages) >= 6
    for text, span in passages:
        words = sorted(text.replace("|", " ").split())
        stored = read_words(workbook, span)
        unlike = {*words} ^ {*stored}
        assert text.startswith("Comment ") or len(words) == len(stored)
        assert text.startswith("Comment ") or all(
            one.endswith("%") or one[:2] == "0." for one in unlike
        )


VALUES = st.one_of(
    st.text("abc한글xyz ", min_size=1, max_size=12).filter(str.strip),
    st.integers(-(10**6), 10**6),
    st.floats(0, 1e6).map(lambda value: round(value, 3) + 0.0),
    st.booleans(),
    st.dates(date(1901, 1, 1)),
)


@given(
    cells=st.dictionaries(
        st.tuples(st.sampled_from("ABCZ"), st.integers(1, 40)).map(lambda at: f"{at[0]}{at[1]}"),
        VALUES,
        min_size=1,
        max_size=40,
    ),
    limit=st.integers(40, 80),
)
def test_the_words_of_any_passage_are_in_the_cited_cells(cells, limit):
    data = build_workbook(cells)
    workbook = openpyxl.load_workbook(io.BytesIO(data))
    found = list(cite(parse(data), limit))

    assert sorted(word for text, _ in found for word in text.replace("|", " ").split()) == sorted(
        word for value in cells.values() for word in format_plainly(value).split()
    )
    for text, span in found:
        assert set(text.replace("|", " ").split()) <= set(read_words(workbook, span))


def test_encrypted_workbooks_are_named():
    encrypted = OLE2_MAGIC + bytes(600) + "EncryptedPackage".encode("utf-16-le")

    assert refuse(encrypted) == "the file is encrypted"


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "damaged: not a workbook"),
        (b"a,b\n1,2\n", "damaged: not a workbook"),
        (
            b"\xef\xbb\xbf\r\n<html><table></table></html>",
            "it is HTML or XML under the name of a workbook; save it as `.xlsx`",
        ),
        (b"PK\x03\x04", "damaged: the zip archive is cut off or broken"),
        (build_docx(""), "it is a Word document, not an Excel workbook"),
        (build_zip({"a.txt": "x"}), "damaged: it has no main part"),
    ],
    ids=["empty", "csv", "html", "cut", "docx", "zip"],
)
def test_files_that_are_no_workbooks_say_what_they_are(data, cause):
    assert refuse(data) == cause


def test_a_cut_workbook_is_refused():
    data = build_workbook({"A1": "text"})

    for end in range(0, len(data) - 1, 97):
        assert refuse(data[:end]).startswith("damaged: ")


def test_an_old_workbook_that_is_damaged_is_refused():
    data = (ROOT / "samples/formats/accounts-libreoffice.xls").read_bytes()

    assert refuse(data[:512]) == "encrypted, damaged or of an unknown kind"
    assert refuse(OLE2_MAGIC + bytes(512)) == "encrypted, damaged or of an unknown kind"


def test_cells_far_apart_are_refused_before_a_table_of_them_is_made():
    assert refuse(build_workbook({"A1": "a", "XFD1048576": "z"})) == (
        "`xl/worksheets/sheet1.xml` spans 17,179,869,184 cells, more than 10,000,000"
    )


@pytest.mark.parametrize("place", [b"XFD1048576", b"HEADING1"])
def test_a_cell_far_away_is_refused_without_other_attributes(place):
    with zipfile.ZipFile(io.BytesIO(build_workbook({"A1": "a"}))) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    cells = b'<row><c r="A1"><v>1</v></c><c r="%s"><v>1</v></c></row>' % place
    sheet = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    sheet += b"<sheetData>%s</sheetData></worksheet>" % cells
    parts["xl/worksheets/sheet1.xml"] = sheet

    assert "spans" in refuse(build_zip(parts))


def test_a_count_that_would_exhaust_memory_is_refused():
    with zipfile.ZipFile(io.BytesIO(build_workbook({"A1": "a"}))) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    parts["xl/sharedStrings.xml"] = b'<sst uniqueCount="99999999999"><si><t>a</t></si></sst>'

    assert refuse(build_zip(parts)) == "damaged: a count in `xl/sharedStrings.xml` is too large"


def test_a_tag_without_end_takes_linear_time():
    assert sheets._CELL.search(b"<c " * 200_000 + b"a " * 200_000) is None


def test_a_missing_library_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)

    with pytest.raises(DependencyMissing) as missing:
        parse(build_workbook({"A1": "a"}))
    assert "kebab[office]" in missing.value.install


def test_every_exception_of_the_library_is_one_that_is_translated():
    from python_calamine import CalamineError

    own = list_own_exceptions("python_calamine")

    assert {kind for kind in own if not issubclass(kind, CalamineError)} == set()
    assert CalamineError in own


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.125, "0.0%", "12.5% (0.125)"),
        (1234567890123456.0, "#,##0", "1,234,567,890,123,460 (1234567890123456)"),
        (123.0, "00000", "00123 (123)"),
        (1234.5, '#,##0.00 "EUR"', "1,234.50 EUR (1234.5)"),
        (-5.0, "#,##0;(#,##0)", "(5) (-5)"),
        (5551234567.0, "(000) 000-0000", "(555) 123-4567 (5551234567)"),
        (2.75, "# ??/??", "2 3/4 (2.75)"),
        (95.0, '[>=90]"Pass";"Fail"', "Pass (95)"),
        (0.0, '0;-0;"none"', "none (0)"),
    ],
)
def test_a_number_is_shown(value, code, shown):
    assert show_number(value, format_number(value), code) == shown


def test_the_styles_of_a_binary_workbook_are_no_xml():
    relations = '<Relationships><Relationship Type="x/{}" Target="{}" Id="a"/></Relationships>'
    parts = {
        "_rels/.rels": relations.format("officeDocument", "xl/workbook.bin"),
        "xl/_rels/workbook.bin.rels": relations.format("styles", "styles.bin"),
        "xl/styles.bin": "\x96\x02",
    }

    assert _read_formats(Package(build_zip(parts), "workbook")) == {}
