"""A file is read for a review as it is, or refused with the error that says why."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.app.review_files import build_review_text
from kebab.core.chunks import hash_content
from kebab.errors.catalog import IoError, ParseFailed, TooLarge, UnsupportedMedia
from kebab.review.document import ReviewDocument, ReviewText
from kebab.review.items import ItemLocator, Place
from tests.fakes.review_pages import item, page, reviewed

LIMIT = 10_000


def find_language(text: ReviewText) -> str | None:
    return ReviewDocument(text).lang


def read(folder: Path, data: bytes, name: str = "a.md") -> ReviewText:
    path = folder / name
    path.write_bytes(data)
    return build_review_text(path, folder, max_bytes=LIMIT)


@pytest.mark.parametrize(
    ("data", "raw"),
    [
        (b"", ""),
        (b"\xef\xbb\xbfa\r\nb", "a\r\nb"),
        ("\ufeffa\u00e9\r\n".encode("utf-16-le"), "a\u00e9\r\n"),
        ("\ufeff\U0001f600\n".encode("utf-16-be"), "\U0001f600\n"),
        (
            "가나다라마바사아 한국어 문서입니다.\r\n".encode("cp949"),
            "가나다라마바사아 한국어 문서입니다.\r\n",
        ),
        ("これはひらがなの文です。\n".encode("shift_jis"), "これはひらがなの文です。\n"),
        ("e\u0301 \u1112\u1161\u11ab".encode(), "e\u0301 \u1112\u1161\u11ab"),
        (b"a\rb\r\nc\nd\r", "a\rb\r\nc\nd\r"),
        (b"a\0b\n", "a\0b\n"),
        (
            b"good words here \xff\n\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
            "good words here \ufffd\n\xe9\xe9\xe9\xe9",
        ),
    ],
)
def test_the_characters_and_line_ends_of_the_file_stay(
    tmp_path: Path, data: bytes, raw: str
) -> None:
    found = read(tmp_path, data)
    assert found.raw == raw
    assert found.text == raw.replace("\r\n", "\n").replace("\r", "\n")
    assert found.content_hash == hash_content(data)


def test_half_a_pair_of_surrogates_is_one_replacement(tmp_path: Path) -> None:
    data = b"\xff\xfe" + b"a\0" + b"\x00\xd8" + b"b\0"
    assert read(tmp_path, data).raw == "a\ufffdb"


def test_names_formats_and_languages_are_those_of_the_file(tmp_path: Path) -> None:
    text = "This is the text of a note that is written in English for a test.\n"
    (tmp_path / "sub").mkdir()
    found = read(tmp_path, text.encode(), "sub/README")
    assert (found.doc_path, found.media, find_language(found)) == ("sub/README", "text/plain", "en")
    assert (found.file, found.root) == (tmp_path / "sub/README", tmp_path)
    assert find_language(read(tmp_path, "이것은 한국어로 쓴 글입니다.\n".encode(), "b.rst")) == "ko"


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.pdf", "a.docx", "a.xyz", "a.html"])
def test_what_is_no_prose_in_lines_is_unsupported(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsupportedMedia):
        read(tmp_path, b"\x00\x01\x02" if name == "a.xyz" else b"a: 1\n", name)


def test_source_code_has_no_prose(tmp_path: Path) -> None:
    found = read(tmp_path, b"x = 1  # the the\n", "a.py")
    assert found.markup.code_blocks == ((0, len(found.text)),)
    assert not ReviewDocument(found).prose.strip()


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    with pytest.raises(UnsupportedMedia):
        build_review_text(tmp_path / "a.md", tmp_path, max_bytes=LIMIT)


def test_a_file_that_is_not_there_and_a_folder_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.md", tmp_path):
        with pytest.raises(IoError):
            build_review_text(path, tmp_path, max_bytes=LIMIT)


def test_the_limit_is_that_of_the_bytes(tmp_path: Path) -> None:
    assert len(read(tmp_path, b"a" * LIMIT).raw) == LIMIT
    with pytest.raises(TooLarge) as caught:
        read(tmp_path, b"a" * (LIMIT + 1))
    assert caught.value.size == LIMIT + 1


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", bytes(range(32)) * 9, b"PK\x03\x04 word/ x"])
def test_a_binary_file_with_the_name_of_a_text_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ParseFailed):
        read(tmp_path, data)


def test_the_parts_of_markdown_are_read_and_those_of_other_formats_are_addresses(
    tmp_path: Path,
) -> None:
    lines = "---|lang: fr-CA|---|# One||```|code|```|https://example.com/a|"
    text = lines.replace("|", "\r\n").encode()
    found = read(tmp_path, text)
    assert found.lang == find_language(found) == "fr"
    assert [found.text[one.start : one.end].strip() for one in found.markup.headings] == ["# One"]
    assert len(found.markup.code_blocks) == 1
    plain = read(tmp_path, text, "a.txt")
    assert plain.markup.headings == ()
    assert [plain.text[start:end] for start, end in plain.markup.code] == ["https://example.com/a"]


def test_code_does_not_decide_about_the_language(tmp_path: Path) -> None:
    code = "```\nthe of and to in is that for it with\n```\n" * 150
    prose = "Das ist nicht der Text, und die Sprache ist auch nicht die von dem Code."
    assert find_language(read(tmp_path, f"{code}\n{prose}\n".encode())) == "de"


RAW = "# 문\r\n\r\n\tan 👩 emoji worng.\r\nlast line"


@pytest.fixture
def note(tmp_path):
    file = tmp_path / "a.md"
    file.write_bytes(RAW.encode())
    return file


def locate(document, *items):
    return ItemLocator().locate(page(document, *items))


def test_a_place_has_a_line_and_columns_of_two_units(note):
    document = reviewed(note)
    text = RAW.replace("\r\n", "\n")
    start = text.index("worng")
    found = locate(document, item(document, start, start + 5))

    assert (found.state, found.items[0].lines) == ("same", ("\tan 👩 emoji worng.",))
    assert found.items[0].start == Place(3, 13, 14)
    assert found.items[0].end == Place(3, 18, 19)


def test_items_of_several_lines_have_all_of_them(note):
    document = reviewed(note)
    text = RAW.replace("\r\n", "\n")
    found = locate(document, item(document, text.index("emoji"), len(text)))

    assert found.items[0].lines == ("\tan 👩 emoji worng.", "last line")
    assert found.items[0].end == Place(4, 10, 10)


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
    assert found.start.utf16 == len(before.encode("utf-16-le")) // 2 + 1
