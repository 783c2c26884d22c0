import pytest

from kebab.cli.render.canvas import (
    measure_width,
    truncate,
    truncate_left,
    truncate_path,
    wrap_text,
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


def test_paths_are_cut_at_their_beginning():
    assert truncate_left("notes/ops/backup.md", 10) == "…backup.md"
    assert truncate_left("백업.md", 5) == "….md"


def lines(text, width):
    return [text[start:end] for start, end in wrap_text(text, width)]


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("stop the writer first", 10, ["stop the", "writer", "first"]),
        ("short", 10, ["short"]),
        ("", 10, []),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("백업을 복원하기", 6, ["백업을", "복원하", "기"]),
        ("日本語日本語", 4, ["日本", "語日", "本語"]),
        ("日本語。日本", 6, ["日本", "語。日", "本"]),
        ("a日백백", 5, ["a", "日백", "백"]),
    ],
)
def test_lines_break_at_spaces_and_where_a_script_has_none(text, width, shown):
    assert lines(text, width) == shown


@pytest.mark.parametrize(
    ("path", "width", "shown"),
    [
        ("a/b/c.md", 8, "a/b/c.md"),
        ("alpha/beta/gamma/c.md", 15, "alpha/…/c.md"),
        ("프로젝트/계획/기록.md", 16, "프로젝…/기록.md"),
        ("alpha/a-very-long-name.md", 12, "a-very…me.md"),
        ("a-very-long-name.md", 2, "a…"),
    ],
)
def test_a_path_loses_folders_in_its_middle(path, width, shown):
    assert truncate_path(path, width) == shown
    assert measure_width(shown) <= width
