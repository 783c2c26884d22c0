import os
import pty

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.cli.channels import OutputChannel
from kebab.cli.render.canvas import (
    PLAIN,
    Canvas,
    Cell,
    Column,
    Style,
    StyledText,
    build_link,
    clean,
    clean_lines,
    compute_column_widths,
    create_canvas,
    find_runs,
    format_bytes,
    format_duration,
    format_number,
    lay_out_table,
    pluralize,
    render_columns,
    render_fields,
    truncate_path,
    uses_color,
)
from kebab.config.settings import Output

BOTH = {"NO_COLOR": "1", "FORCE_COLOR": "1"}


@pytest.fixture
def terminal():
    """A channel that is a terminal."""
    near, far = pty.openpty()
    yield OutputChannel(far, "<stdout>")
    os.close(near)
    os.close(far)


@pytest.mark.parametrize(
    ("choice", "environ", "terminal", "wanted"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", BOTH, False, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_the_flag_decides_then_no_color_then_force_color(choice, environ, terminal, wanted):
    assert uses_color(choice, environ, is_terminal=terminal) is wanted


def test_a_pipe_is_never_decorated_or_broken():
    reader, writer = os.pipe()
    try:
        assert create_canvas(OutputChannel(writer, "<stdout>"), "auto") == Canvas()
    finally:
        os.close(reader)
        os.close(writer)


def test_a_terminal_takes_colour_links_and_changing_lines(terminal, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "72")

    assert create_canvas(terminal, "auto") == Canvas(
        width=72, color=True, links=True, live=True, height=24
    )


def test_a_dumb_terminal_takes_none_of_that(terminal, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "300")

    assert create_canvas(terminal, "auto") == Canvas(width=100)


def test_links_are_escape_sequences_only_where_they_work():
    assert Canvas().link("a", "/a") == "a"
    assert Canvas(links=True).link("a", None) == "a"
    assert Canvas(links=True).link("a", "/a") == "\x1b]8;;file:///a\x1b\\a\x1b]8;;\x1b\\"


def test_paint_changes_nothing_without_colour():
    canvas = Canvas()
    looks = (
        canvas.strong,
        canvas.dim,
        canvas.match,
        canvas.success,
        canvas.warning,
        canvas.error,
        canvas.location,
    )

    assert {look("x") for look in looks} == {"x"}
    assert Canvas(color=True).error("x").endswith("x\x1b[0m")


def test_a_paragraph_fits_a_terminal_and_is_one_line_in_a_pipe():
    assert Canvas().wrap("word " * 40) == ["word " * 40]
    assert all(len(line) <= 40 for line in Canvas(width=40).wrap("word " * 40, "  "))


def test_a_note_is_wrapped_with_an_indent():
    words = "no search by meaning: cannot find the embedding model"

    assert Canvas(width=30).note(words) == [
        "note: no search by meaning:",
        "      cannot find the",
        "      embedding model",
    ]
    assert Canvas().note(words) == [f"note: {words}"]
    assert Canvas(width=30, color=True).note("") == ["\x1b[33mnote:\x1b[0m "]


def test_text_in_backticks_is_not_wrapped():
    assert Canvas(width=30).hint("start it, or say `kebab ask --extractive`") == [
        "hint: start it, or say",
        "      `kebab ask --extractive`",
    ]
    command = "kebab search 'what there is to be known of it'"
    assert Canvas(width=30).hint(command) == [f"hint: {command}"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.038, "38 ms"),
        (1.24, "1.2 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 0 s"),
        (200.4, "3 min 20 s"),
        (3900, "1 h 5 min"),
    ],
)
def test_a_duration_is_readable(seconds, text):
    assert format_duration(seconds) == text


def test_long_values_and_texts_have_a_hanging_indent():
    canvas = Canvas(width=29)

    assert list(render_fields([("label", "one two three four five")], canvas)) == [
        "label  one two three four",
        "       five",
    ]
    assert canvas.hang("path: a message that is long", "  ", 4) == [
        "  path: a message that is",
        "    long",
    ]


def test_columns_are_as_wide_as_their_widest_cell_or_as_they_are_told():
    columns = (
        Column("path", width=8, cut=truncate_path),
        Column("size", right=True),
        Column("note"),
    )
    rows = [("notes/backup.md", "7", ""), ("백업.md", "12,000", "a note that is longer")]

    assert list(render_columns(columns, rows, Canvas(), "  ")) == [
        "  path        size  note",
        "  back….md       7",
        "  백업.md   12,000  a note that is longer",
    ]


def test_a_table_without_heads_has_only_its_rows():
    assert list(render_columns((Column(), Column()), [("a", "b")], Canvas())) == ["a  b"]
    assert list(render_columns((Column(), Column()), [], Canvas())) == []


def test_cells_are_painted_with_their_blanks():
    canvas = Canvas(color=True)
    columns = (Column(paint=canvas.location), Column())

    lines = list(render_columns(columns, [("a", "b"), ("long", "c")], canvas))

    assert lines[0] == f"{canvas.location('a   ')}  b"


COLOR = Canvas(width=40, color=True)
CITED = "\x1b[36m{}\x1b[0m"


def prose(*pieces):
    made = StyledText()
    for text, style in pieces:
        made.add(text, style)
    return made


def lines(made, width=40, canvas=None):
    return list(made.lines(width, canvas or Canvas()))


def test_citation_markers_and_unsupported_marks_are_coloured():
    (line,) = lines(prose(("so [1][12] it is [unsupported]", PLAIN)), canvas=COLOR)

    assert line == f"so {CITED.format('[1][12]')} it is \x1b[33m[unsupported]\x1b[0m"


def test_code_contains_no_marker():
    assert lines(prose(("a[1]", Style(literal=True))), canvas=COLOR) == ["a[1]"]


def test_a_marker_is_found_across_styles():
    made = prose(("so [", Style(bold=True)), ("1]", PLAIN))

    assert lines(made, canvas=COLOR) == ["\x1b[1mso \x1b[0m" + CITED.format("[1]")]


def test_a_marker_stays_with_the_word_before_it():
    assert lines(prose(("one two three [1].", PLAIN)), 15) == ["one two", "three [1]."]


def test_line_ends_stay_and_control_characters_are_removed():
    made = prose(("a\x1b\nb", PLAIN))
    made.end_line()
    made.join(prose(("c", PLAIN)))

    assert lines(made) == ["a\ufffd b", "c"]


def test_runs_end_where_the_style_changes():
    bold = Style(bold=True)

    assert list(find_runs([PLAIN, PLAIN, bold, PLAIN], 1, 4)) == [(1, 2), (2, 3), (3, 4)]
    assert list(find_runs([], 0, 0)) == []


def cell(text, *, right=False):
    prose = StyledText()
    prose.add(text)
    return Cell(prose, right=right)


def test_columns_fit_their_contents():
    rows = [[cell("who"), cell("n", right=True)], [cell("당직자"), cell("10", right=True)]]

    assert lay_out_table(rows, 40, Canvas()) == ["who      n", "──────  ──", "당직자  10"]


def test_long_cells_are_wrapped_and_their_rows_separated():
    rows = [[cell("a"), cell("b")], [cell("one two three"), cell("x")], [cell(""), cell("y")]]

    assert lay_out_table(rows, 10, Canvas()) == [
        "a        b",
        "───────  ─",
        "one two  x",
        "three",
        "",
        "         y",
    ]


@pytest.mark.parametrize(
    ("wanted", "width", "given"),
    [
        ([3, 4], 40, [3, 4]),
        ([30, 4], 20, [14, 4]),
        ([1000, 1000], 22, [10, 10]),
        ([9, 9, 9], 5, [6, 6, 6]),
        ([0], 5, [1]),
    ],
)
def test_the_widest_columns_shrink(wanted, width, given):
    assert compute_column_widths(wanted, width) == given


FILE = "/a b/백업.md"
PATH = "/a%20b/%EB%B0%B1%EC%97%85.md"


@pytest.mark.parametrize(
    ("form", "link"),
    [
        ("default", f"file://{PATH}"),
        ("none", ""),
        ("kitty", f"file://{PATH}#12"),
        ("vscode", f"vscode://file{PATH}:12:1"),
        ("textmate", f"txmt://open?url=file://{PATH}&line=12&column=1"),
        ("editor://{path}?at={line}", f"editor://{PATH}?at=12"),
        ("file://{host}{path}", f"file://{os.uname().nodename}{PATH}"),
    ],
)
def test_each_format_has_its_address(form, link):
    assert build_link(FILE, 12, form) == link


@pytest.mark.parametrize("file", [None, "relative.md"])
def test_links_are_made_of_absolute_paths_only(file):
    assert build_link(file, 1, "default") == ""


def test_a_place_without_a_line_is_the_first_one():
    assert build_link("/a.pdf", None, "vscode") == "vscode://file/a.pdf:1:1"


def test_bytes_that_are_no_text_are_encoded():
    assert build_link("/bad\udcff", None, "default") == "file:///bad%FF"


@pytest.mark.parametrize("form", ["default", "none", "vscode", "my://{path}#{line}"])
def test_the_setting_takes_names_and_formats(form):
    assert msgspec.convert({"hyperlink_format": form}, Output).hyperlink_format == form


@pytest.mark.parametrize("form", ["", "nonsense", "file://{line}"])
def test_the_setting_refuses_other_texts(form):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"hyperlink_format": form}, Output)


@pytest.mark.parametrize(
    ("form", "link"),
    [("default", "file:///a.pdf#page=3"), ("file", "file:///a.pdf#page=3"), ("none", ""),
     ("vscode", "vscode://file/a.pdf:1:1"), ("kitty", "file:///a.pdf#1")],
)  # fmt: skip
def test_a_link_to_the_file_itself_names_the_page(form, link):
    assert build_link("/a.pdf", None, form, page=3) == link


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.01234, "0.012"),
        (0.5, "0.500"),
        (1.0, "1.00"),
        (1.234, "1.23"),
        (9.5, "9.50"),
        (10.0, "10.0"),
        (12.34, "12.3"),
        (99.5, "99.5"),
        (100.0, "100"),
        (100.7, "101"),
        (1234.5, "1234"),
    ],
)
def test_numbers_have_three_significant_digits(value, text):
    assert format_number(value) == text


def test_values_are_in_one_column_and_empty_ones_are_omitted():
    rows = render_fields([("a", "1"), ("longer", "2"), ("none", "")], Canvas(), "  ")

    assert list(rows) == ["  a       1", "  longer  2"]


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (23_400_000, "23.4 MB"), (10**16, "10000.0 TB")],
)
def test_sizes_are_short(count, text):
    assert format_bytes(count) == text


def test_a_count_of_one_has_a_singular_noun():
    assert (pluralize(1, "file"), pluralize(0, "file")) == ("1 file", "0 files")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 백업 👩‍🚀 é", "plain 백업 👩‍🚀 é"),
        ("\x1b[31mred\x1b]8;;http://x\x07", "\ufffd[31mred\ufffd]8;;http://x\ufffd"),
        ("a\rb\nc\td", "a b c d"),
        ("gpj\u202eexe.", "gpj\ufffdexe."),
        ("\u2066x\u2069\u200f", "\ufffdx\ufffd\ufffd"),
        ("\x9b2J", "\ufffd2J"),
        ("bad \udcff name", "bad \ufffd name"),
    ],
)
def test_control_characters_cannot_control_the_terminal(text, shown):
    assert clean(text) == shown


@given(st.text())
def test_every_code_point_keeps_its_place(text):
    assert len(clean(text)) == len(text)
    assert "\x1b" not in clean(text)
    assert "\n" not in clean(text)


def test_lines_and_tabs_of_a_file_stay():
    assert clean_lines("a\tb\n\x1b[2Jc\n") == "a\tb\n\ufffd[2Jc\n"
