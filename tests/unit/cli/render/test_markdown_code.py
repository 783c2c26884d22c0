from kebab.cli.render.canvas import MATCH_END, MATCH_START, Style
from kebab.cli.render.markdown import split_code


def test_lines_keep_their_text_and_tokens_get_styles():
    first, second = split_code("def f():\n    pass", "python")

    assert (first.text, second.text) == ("def f():", "    pass")
    assert first.styles[0] == Style(fg="magenta", literal=True)
    assert first.styles[3] == Style(literal=True)


def test_code_without_a_language_is_literal():
    (line,) = split_code("x [1]", "")

    assert set(line.styles) == {Style(literal=True)}


def test_a_match_is_no_part_of_the_code():
    (line,) = split_code(f"def {MATCH_START}f{MATCH_END}(): 1", "python")

    assert line.text == "def f(): 1"
    assert line.styles[4].bold
    assert not line.styles[5].bold


def test_a_match_goes_on_in_the_next_line():
    _, second = split_code(f"{MATCH_START}a\nb{MATCH_END}c", "")

    assert [style.bold for style in second.styles] == [True, False]


def test_very_long_code_is_not_highlighted():
    (line,) = split_code("def " * 6000, "python")

    assert set(line.styles) == {Style(literal=True)}
