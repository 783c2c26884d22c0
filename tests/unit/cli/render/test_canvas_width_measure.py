import click
import pytest

from kebab.cli.render.canvas import (
    Canvas,
    Column,
    measure_width,
    render_columns,
    truncate,
    truncate_around,
)


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("백업", 4), ("e\u0301", 1), ("日本go", 6), ("", 0)]
)
def test_wide_letters_take_two_cells_and_marks_none(text, width):
    assert measure_width(text) == width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [("backup", 6, "backup"), ("backups", 6, "backu…"), ("백업하기", 6, "백업…"), ("a b", 2, "a…")],
)
def test_text_is_cut_at_its_end(text, width, shown):
    assert truncate(text, width) == shown


@pytest.mark.parametrize(
    ("position", "shown"), [(0, ("백업abcdef…", 0)), (10, ("…fgh!klmnop", -6))]
)
def test_a_line_is_cut_around_a_position(position, shown):
    assert truncate_around("백업abcdefgh!klmnop", position, 11) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("stop the writer of notes first", ["  stop the writer of", "  notes first"]),
        ("백업을 복원하기 전에 멈추기", ["  백업을 복원하기 전에", "  멈추기"]),
        (
            "a\x1b[1m bold\x1b[0m word that is long",
            ["  a\x1b[1m bold\x1b[0m word that is", "  long"],
        ),
        ("a\n\nb", ["  a", "", "  b"]),
    ],
)
def test_lines_break_at_spaces_and_keep_their_styles(text, shown):
    assert Canvas(width=24, color=True).wrap(text, "  ") == shown


def test_a_command_in_backticks_is_not_wrapped():
    lines = Canvas(width=40).note("words are searched until `kebab model pull` ran")

    assert lines == ["note: words are searched until", "      `kebab model pull` ran"]


def test_a_pipe_gets_tabs_and_so_do_more_rows_than_are_aligned_in_a_moment():
    columns = [Column("name"), Column("size", right=True)]
    heads, *rows = render_columns(columns, [("a b", "1")] * 3000, Canvas(width=40))

    assert (heads, {*rows}) == ("name\tsize", {"a b\t1"})
    assert list(render_columns(columns, [("a b", "1")], Canvas())) == ["name\tsize", "a b\t1"]
    assert list(render_columns(columns, [("a", "1")], Canvas(width=40))) == [
        "name  size",
        "a        1",
    ]


def test_the_last_column_ends_without_blanks():
    columns = [Column("size", right=True), Column("name")]
    heads, _ = render_columns(columns, [("1", "a long")], Canvas(width=40, color=True))

    assert click.unstyle(heads) == "size  name"
