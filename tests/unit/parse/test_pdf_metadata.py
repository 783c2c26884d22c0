import pypdfium2
import pytest

from kebab.parse.pdf import read_bookmarks, read_metadata
from kebab.parse.pdf_paragraphs import Bookmark
from tests.shape.tree import ROOT

SAMPLES = ROOT / "samples" / "formats"


@pytest.mark.parametrize(
    "title",
    [
        "",
        "  ",
        "untitled",
        "Microsoft Word - report.doc",
        "thesis.tex",
        "Document1",
        "\ue000\ue001",
        "PowerPoint Presentation",
        "file:///tmp/x.html",
        "12/2024",
    ],
)
def test_titles_that_programs_fill_in_are_left_out(title):
    assert read_metadata({"Title": title}).title is None


def test_a_title_of_a_person_is_kept_on_one_line():
    assert read_metadata({"Title": "Soil\n  moisture"}).title == "Soil moisture"


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ("Ann Example and Bo Sample", ("Ann Example", "Bo Sample")),
        ("Ann Example, Bo Sample", ("Ann Example", "Bo Sample")),
        ("Example, Ann; Sample, Bo", ("Example, Ann", "Sample, Bo")),
        ("unknown", ()),
        ("", ()),
        ("PÃ©ter Minta", ("Péter Minta",)),
        ("김보기", ("김보기",)),
    ],
)
def test_authors_are_separated(author, names):
    assert read_metadata({"Author": author}).authors == names


@pytest.mark.parametrize(
    ("stamp", "day"),
    [
        ("D:20240229120000+01'00'", "2024-02-29"),
        ("D:2024", "2024-01-01"),
        ("D:20240231", None),
        ("D:00010101", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_the_date_is_that_of_the_creation(stamp, day):
    assert read_metadata({"CreationDate": stamp}).date == day


def test_the_outline_names_pages():
    with pypdfium2.PdfDocument(SAMPLES / "columns.pdf") as document:
        marks = read_bookmarks(document)

    assert marks == [
        Bookmark(1, "Introduction", 1),
        Bookmark(2, "Materials", 2),
        Bookmark(1, "Results", 2),
        Bookmark(1, "Conclusion", 4),
    ]


def test_a_long_outline_is_bounded(monkeypatch):
    monkeypatch.setattr("kebab.parse.pdf.MAX_BOOKMARKS", 2)

    with pypdfium2.PdfDocument(SAMPLES / "columns.pdf") as document:
        assert len(read_bookmarks(document)) == 2
