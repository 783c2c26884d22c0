import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.app.review_text import ItemLocator, Place
from tests.fakes.review_pages import item, page, reviewed

RAW = "# 문\r\n\r\n\tan 👩 emoji worng.\r\nlast line"


@pytest.fixture
def note(tmp_path):
    file = tmp_path / "a.md"
    file.write_bytes(RAW.encode())
    return file


def locate(document, *items):
    return ItemLocator().locate(page(document, *items))


def test_a_place_has_a_line_and_columns_of_three_units(note):
    document = reviewed(note)
    text = RAW.replace("\r\n", "\n")
    start = text.index("worng")
    found = locate(document, item(document, start, start + 5))

    assert (found.state, found.items[0].lines) == ("same", ("\tan 👩 emoji worng.",))
    assert found.items[0].start == Place(3, 13, 16, 14)
    assert found.items[0].end == Place(3, 18, 21, 19)


def test_items_of_several_lines_have_all_of_them(note):
    document = reviewed(note)
    text = RAW.replace("\r\n", "\n")
    found = locate(document, item(document, text.index("emoji"), len(text)))

    assert found.items[0].lines == ("\tan 👩 emoji worng.", "last line")
    assert found.items[0].end == Place(4, 10, 10, 10)


def test_items_are_sorted_by_their_place(note):
    document = reviewed(note)
    later, earlier = item(document, 9, 10), item(document, 2, 3)

    assert [one.item for one in locate(document, later, earlier).items] == [earlier, later]


def test_a_changed_file_has_no_lines(note):
    document = reviewed(note)
    found = item(document, 2, 3)
    note.write_bytes(b"other")
    located = locate(document, found)

    assert (located.state, located.items[0].lines) == ("changed", ())


def test_a_file_that_is_gone_has_no_lines(note):
    document = reviewed(note)
    found = item(document, 2, 3)
    note.unlink()

    assert locate(document, found).state == "unreadable"


def test_a_page_about_nothing_has_no_items():
    assert locate(None).items == ()


def test_pages_of_two_files_are_located_one_after_another(note, tmp_path):
    other = tmp_path / "b.md"
    other.write_bytes(b"one\ntwo\n")
    locator = ItemLocator()
    lines = []
    for file in (note, other, note):
        document = reviewed(file)
        lines.append(locator.locate(page(document, item(document, 2, 3))).items[0].lines)

    assert lines == [("# 문",), ("one",), ("# 문",)]


@given(st.text(alphabet="a\r\n\t👩é문e\u0301"), st.data())
def test_the_columns_of_every_place_name_it(tmp_path_factory, text, data):
    raw = f"x{text}"
    file = tmp_path_factory.mktemp("lines") / "a.md"
    file.write_bytes(raw.encode())
    document = reviewed(file)
    plain = raw.replace("\r\n", "\n").replace("\r", "\n")
    start = data.draw(st.integers(0, len(plain) - 1))
    found = locate(document, item(document, start, start + 1)).items[0]
    line = plain.split("\n")[found.start.line - 1]
    before = line[: found.start.column - 1]

    assert plain[start] == (line + "\n")[found.start.column - 1]
    assert found.start.byte == len(before.encode()) + 1
    assert found.start.utf16 == len(before.encode("utf-16-le")) // 2 + 1
