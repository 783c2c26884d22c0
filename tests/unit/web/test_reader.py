import pytest

from kebab.web.reader import MOST_CHARS, MOST_LINES, Missing, choose_window, read_picture
from tests.unit.web.conftest import PNG


def test_a_short_document_is_one_part():
    assert choose_window(["a"] * MOST_LINES, 500) == (0, MOST_LINES)


@pytest.mark.parametrize(
    ("lines", "wanted", "begin"),
    [
        (["a", ""] * 1_000, 1_002, 1_000),
        (["a", ""] * 1_000, 0, 0),
        (["a", ""] * 1_000, 9_999, 1_998),
        (["a"] * 2_000, 1_500, 1_499),
        (["a", "", "```", *["x", ""] * 50, "```", *["b"] * 2_000], 60, 2),
        (["a", "", "```", *["x", ""] * 500, "```", *["b"] * 2_000], 900, 899),
    ],
)
def test_a_part_begins_at_a_blank_line_that_is_no_code(lines, wanted, begin):
    assert choose_window(lines, wanted)[0] == begin


def test_a_part_is_bounded_in_lines_and_letters():
    assert choose_window(["a"] * 5_000, 1) == (0, MOST_LINES)
    assert choose_window(["a" * MOST_CHARS] * 3, 1) == (0, 1)


def test_a_picture_is_known_by_its_content_and_size(tmp_path, monkeypatch):
    picture, other = tmp_path / "x.png", tmp_path / "x.jpg"
    picture.write_bytes(PNG)
    other.write_bytes(b"<svg onload=alert(1)>")

    assert read_picture(picture) == (PNG, "image/png")
    for missing in (other, tmp_path / "gone.png", tmp_path):
        with pytest.raises(Missing):
            read_picture(missing)
    monkeypatch.setattr("kebab.web.reader.MOST_PICTURE_BYTES", 4)
    with pytest.raises(Missing):
        read_picture(picture)
