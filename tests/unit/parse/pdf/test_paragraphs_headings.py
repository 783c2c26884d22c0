from kebab.parse.pdf.paragraphs import Bookmark, HeadingRules
from kebab.parse.pdf.rows import Row

BODY = "a sentence of the text that is as long as such sentences are"


def row(text, size=10.0, *, bold=False, cells=None):
    return Row(cells or (text,), 72, 300, 700, size, bold, hyphen=False, turned=False)


def get_levels(pages, bookmarks=()):
    rules = HeadingRules(pages, bookmarks)
    return [
        (rules.get_level(one, number), one.text)
        for number, rows in enumerate(pages, 1)
        for one in rows
        if rules.get_level(one, number)
    ]


def test_larger_text_is_a_heading_and_the_largest_is_the_highest():
    pages = [[row("Title", 20), row(BODY)], [row("Section", 14), row(BODY), row(BODY)]]

    assert get_levels(pages) == [(1, "Title"), (2, "Section")]


def test_bold_text_is_a_heading_only_with_a_number():
    pages = [[row("2.1 Probes", bold=True), row("Warning", bold=True), row(BODY), row(BODY)]]

    assert get_levels(pages) == [(1, "2.1 Probes")]


def test_the_outline_decides_the_level_of_what_it_names():
    pages = [[row("1. Probes"), row("Copper"), row(BODY)]]

    assert get_levels(pages, [Bookmark(1, "Probes", 1), Bookmark(3, "Copper", 1)]) == [
        (1, "1. Probes"),
        (3, "Copper"),
    ]
    assert get_levels(pages, [Bookmark(1, "Probes", 2)]) == []


def test_sentences_rows_of_tables_and_signs_are_no_headings():
    pages = [
        [
            row("This is said in large letters.", 20),
            row("", 20, cells=("a", "b", "c")),
            row("***", 20),
            row("x" * 400, 20),
        ],
        [row(BODY)] * 20,
    ]

    assert get_levels(pages) == []
