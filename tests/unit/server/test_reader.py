import pytest

from kebab.server.reader import MOST_CHARS, MOST_LINES, choose_window


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
