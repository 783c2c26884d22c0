import pypdfium2
import pytest

from kebab.parse.pdf.document import read_bookmarks, read_metadata, remove_running_heads
from kebab.parse.pdf.pages import PageText, Segment
from kebab.parse.pdf.paragraphs import Bookmark
from tests.shape.tree import ROOT

SAMPLES = ROOT / "samples" / "formats"


@pytest.mark.parametrize(
    "title",
    [
        "",
        "\ue000\ue001",
        "12/2024",
    ],
)
def test_titles_that_programs_fill_in_are_left_out(title):
    assert read_metadata({"Title": title}).title is None


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ("Ann Example and Bo Sample", ("Ann Example", "Bo Sample")),
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
    monkeypatch.setattr("kebab.parse.pdf.document.MAX_BOOKMARKS", 2)

    with pypdfium2.PdfDocument(SAMPLES / "columns.pdf") as document:
        assert len(read_bookmarks(document)) == 2


def line(text, base, size=10.0):
    return Segment(text, 72, 300, base, size)


def build_page(number, *lines):
    return PageText(number, tuple(lines))


def get_texts(pages):
    return [[segment.text for segment in page.segments] for page in remove_running_heads(pages)]


def test_lines_that_repeat_at_their_place_are_removed():
    pages = [
        build_page(
            number,
            line("Journal of Probes", 800),
            line(f"Chapter {word}", 700),
            line(f"text {word}", 600),
            line(f"page {number} of 4", 30),
        )
        for number, word in enumerate(["one", "two", "three", "four"], 1)
    ]

    assert get_texts(pages)[0] == ["Chapter one", "text one"]
    assert get_texts(pages)[3] == ["Chapter four", "text four"]


def test_a_running_head_with_another_number_than_that_of_the_page_is_kept():
    pages = [
        build_page(number, line(f"Invoice {bill}, page {number}", 800), line("text" * number, 600))
        for number, bill in enumerate([4711, 4720, 4733], 1)
    ]

    heads = [page.heads for page in remove_running_heads(pages)]
    assert [len(one) for one in heads] == [1, 1, 1]


def test_roman_numbers_of_pages_are_removed():
    pages = [
        build_page(number, line(f"text {roman}x", 700), line(roman, 30))
        for number, roman in enumerate(["i", "ii", "iii"], 1)
    ]

    assert get_texts(pages) == [["text ix"], ["text iix"], ["text iiix"]]


def test_the_number_of_a_single_page_is_removed_but_no_other_number():
    assert get_texts([build_page(1, line("text", 700), line("- 1 -", 30))]) == [["text"]]
    assert get_texts([build_page(1, line("text", 700), line("7", 30))]) == [["text", "7"]]
    assert get_texts([build_page(1, line("1", 700))]) == [["1"]]


def test_numbered_titles_of_pages_stay():
    pages = [
        build_page(
            number,
            line("Course of tides", 800, 16.0),
            line(f"Exercise {number}", 770, 18.0),
            line(f"words {chr(96 + number)} of an exercise " * 9, 700),
            line(f"sheet {number}", 30),
        )
        for number in range(1, 6)
    ]

    assert [texts[0] for texts in get_texts(pages)] == [f"Exercise {one}" for one in range(1, 6)]
    assert {len(texts) for texts in get_texts(pages)} == {2}
