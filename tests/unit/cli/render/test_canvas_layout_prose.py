from kebab.cli.render.canvas import PLAIN, Canvas, Style, StyledText, find_runs

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
