from kebab.cli.render.canvas import Canvas
from kebab.cli.render.hits import render_snippet

COLORED = Canvas(width=40, color=True)


def test_a_canvas_without_a_width_has_one_line():
    assert list(render_snippet("one\ntwo", [(0, 3)], Canvas())) == ["    one two"]


def test_lines_fit_the_canvas_with_their_indent():
    lines = list(render_snippet("word " * 30, [], Canvas(width=30), indent="  "))

    assert len(lines) > 1
    assert all(len(line) <= 30 and line.startswith("  word") for line in lines)


def test_marks_stay_true_when_blanks_are_squeezed():
    (line,) = render_snippet("a\n\n  b  restore ", [(8, 15)], COLORED)

    assert line == "    a b \x1b[33m\x1b[1mrestore\x1b[0m"


def test_an_empty_range_has_no_runs():
    assert "".join(render_snippet("", [], COLORED)).strip() == ""
