import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.app.review_text import ItemLocator
from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.review import render_excerpt
from kebab.core.review import Fix
from tests.fakes.review_pages import item, page, reviewed


@pytest.fixture
def draw(tmp_path):
    def draw_words(text, words, *, width=80, color=False, start=None, **changes):
        file = tmp_path / "a.md"
        file.write_bytes(text.encode())
        document = reviewed(file)
        first = text.index(words) if start is None else start
        found = item(document, first, first + len(words), **changes)
        located = ItemLocator().locate(page(document, found)).items[0]
        return list(render_excerpt(located, Canvas(width=width, color=color)))

    return draw_words


def test_the_words_are_underlined(draw):
    assert draw("one\na worng word\n", "worng") == ["    2 │ a worng word", "      │   ^^^^^"]


def test_wide_letters_and_tabs_shift_the_marks(draw):
    assert draw("\t한국어 worng\n", "worng") == [
        "    1 │     한국어 worng",
        "      │            ^^^^^",
    ]
    assert draw("a 한국어\n", "한국어")[1] == "      │   ^^^^^^"


def test_a_fix_is_a_difference(draw):
    assert draw("a worng word\n", "worng", edit="replace", fix=Fix("wrong")) == [
        "    1 - a worng word",
        "          ^^^^^",
        "    1 + a wrong word",
    ]


def test_an_insertion_marks_the_new_words(draw):
    assert draw("one two\n", "", start=3, edit="insert", fix=Fix(",")) == [
        "    1 - one two",
        "    1 + one, two",
        "           ^",
    ]


def test_a_deleted_line_has_no_new_one(draw):
    assert draw("worng\n", "worng", edit="delete", fix=Fix("")) == [
        "    1 - worng",
        "        ^^^^^",
    ]


def test_a_fix_may_have_several_lines(draw):
    drawn = draw("one two\n", " ", edit="replace", fix=Fix("\n"))

    assert [line for line in drawn if "^" not in line] == [
        "    1 - one two",
        "    1 + one",
        "    2 + two",
    ]


def test_the_middle_of_many_lines_is_omitted(draw):
    text = "one\ntwo\nthree\nfour\nfive\nsix"
    drawn = [line for line in draw(text, text) if "^" not in line]

    assert drawn == [
        "    1 │ one",
        "    2 │ two",
        "    3 │ three",
        "      │ …",
        "    6 │ six",
    ]


def test_the_line_end_is_no_line_of_its_own(draw):
    assert len(draw("one\ntwo\n", "one\n")) == 2


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_long_line_is_cut_around_the_words(draw, width):
    text = f"{'left ' * 60}worng {'right ' * 60}"
    line, marks = draw(text, "worng", width=width)

    assert measure_width(line) <= width
    assert line[marks.index("^") : marks.index("^") + 5] == "worng"
    assert line.startswith("    1 │ …")
    assert line.endswith("…")


def test_words_longer_than_the_line_are_cut(draw):
    line, marks = draw("x " + "y" * 500, "y" * 500, width=60)

    assert max(map(measure_width, (line, marks))) <= 60


def test_control_characters_do_not_reach_the_terminal(draw):
    assert "\x1b" not in "".join(draw("a \x1b[31mworng\n", "worng"))


def test_color_adds_nothing_but_colour(draw):
    plain = draw("a worng word\n", "worng", edit="replace", fix=Fix("wrong"))
    painted = draw("a worng word\n", "worng", edit="replace", fix=Fix("wrong"), color=True)

    import click

    assert [click.unstyle(line) for line in painted] == plain
    assert painted != plain


@given(
    st.text(alphabet="ab \t한👩e\u0301\n", min_size=1, max_size=200),
    st.integers(20, 60),
    st.data(),
)
def test_no_line_is_wider_than_the_terminal(tmp_path_factory, text, width, data):
    file = tmp_path_factory.mktemp("excerpt") / "a.md"
    file.write_bytes(text.encode())
    document = reviewed(file)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, len(text)))
    fix = data.draw(st.none() | st.builds(Fix, st.text(alphabet="xy \n", max_size=80)))
    found = item(document, start, end, edit="replace" if fix else "note", fix=fix)
    located = ItemLocator().locate(page(document, found)).items[0]
    drawn = list(render_excerpt(located, Canvas(width=width)))

    assert drawn
    assert all(measure_width(line) <= max(width, 30) for line in drawn)
