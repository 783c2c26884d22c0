from kebab.parse.pdf import remove_running_heads
from kebab.parse.pdf_pages import PageText, Segment


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


def test_lines_that_repeat_elsewhere_stay():
    body = [line(f"words {letter}", 700 - 20 * row) for row, letter in enumerate("abcdefgh")]
    pages = [build_page(number, *body[:4], line("Note", 500), *body[4:]) for number in (1, 2)]

    assert "Note" in get_texts(pages)[0]


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
