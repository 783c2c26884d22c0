import re

import pytest

from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.excerpt import clean_markdown, render_excerpt

COLORED = Canvas(width=40, color=True)
PLAIN = Canvas(width=40)
COLOUR = re.compile("\x1b\\[[0-9;]*m")


def drawn(text, canvas=PLAIN, highlights=(), **options):
    return list(render_excerpt(text, highlights, canvas, **options))


@pytest.mark.parametrize(
    "text",
    ["| nib | 4 |\n| ink | 5 |", "x <b>\n```\n\nthen\n\n```sh\ny\n```", "[a](b)\n> [!tip]"],
    ids=["table", "code", "noise"],
)
def test_a_pipe_gets_the_lines_of_the_text(text):
    assert drawn(text, Canvas()) == [f"    {line}" for line in text.split("\n") if line]


def test_matches_stay_true_when_markdown_around_them_is_drawn():
    text = "a [restore point](http://restore.example) and **restore**"
    start = text.rindex("restore")

    (line,) = drawn(text, Canvas(width=60, color=True), [(3, 10), (start, start + 7)])

    assert line == ("    a \x1b[1;33mrestore\x1b[0m point and \x1b[1;33mrestore\x1b[0m")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("---\nrating: 7\ntags:\n  - tea\n", ["    rating: 7", "    tags:", "      - tea"]),
        ("type: []\ntags:\n- tea\n---", ["    type: []", "    tags:", "    - tea"]),
    ],
    ids=["begin", "end"],
)
def test_front_matter_keeps_its_lines(text, lines):
    assert drawn(text) == lines


def test_code_of_a_known_language_has_colours_and_its_lines():
    lines = drawn('```python\ndef f():\n    return "x"\n```', COLORED)

    assert len(lines) == 2
    assert "\x1b[94mdef\x1b[0m" in lines[0]


@pytest.mark.parametrize("language", ["", "nosuchlanguage"])
def test_code_of_an_unknown_language_has_no_colours(language):
    assert drawn(f"```{language}\nx = 1\n```", COLORED) == ["        x = 1"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\n```\nprose", ["        a", "    prose"]),
        ("a\n```\nb\n```sh\nc\n```", ["        a", "    b", "        c"]),
        ("```sh\na", ["        a"]),
        ("| a | b |\n| c | d |", ["    a  b", "    c  d"]),
        ("|---|---|\n| c | d |", ["    c  d"]),
        ("| a | b |\n|---|---|\n| c | d |", ["    a  b", "    ────", "    c  d"]),
    ],
)
def test_a_piece_without_its_beginning_is_drawn_like_the_whole(text, lines):
    assert drawn(text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("## Mounting {#mount}\n\ntext", ["    text"]),
        ("## Mounting", ["    Mounting"]),
        ("# Disk\n\n## Mounting\ntext", ["    text"]),
        ("## Other\n\ntext", ["    Other", "    text"]),
    ],
)
def test_a_heading_that_is_shown_already_is_omitted(text, lines):
    assert drawn(text, headings=["Disk", "Mounting"]) == lines


@pytest.mark.parametrize("canvas", [PLAIN, COLORED], ids=["plain", "coloured"])
@pytest.mark.parametrize(
    ("matches", "shown"),
    [
        ([1], "abcde…"),
        ([2], "abcde…"),
        ([9], "…ghij…"),
        ([19], "…qrst"),
        ([3, 9, 10], "…hijk…"),
    ],
)
def test_the_lines_around_the_matches_are_shown(canvas, matches, shown):
    letters = "abcdefghijklmnopqrst"
    text = "\n".join(letters)
    highlights = [(2 * number, 2 * number + 1) for number in matches]

    lines = drawn(text, canvas, highlights, media="text/plain")

    assert COLOUR.sub("", "".join(line.strip() for line in lines)) == shown


def test_wide_letters_and_long_code_fit():
    text = "스냅샷이 진행 중이면 명령이 멈출 수 있다. " * 3 + "\n\n```\n" + "x" * 90 + "\n```"

    assert all(measure_width(line) <= 40 for line in drawn(text))


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ('[text](https://x.example/a_(b) "title")', "text"),
        ("[`code`](/docs#part) and [a][1]", "`code` and a"),
        ("[two\nlines](/docs)", "two\nlines"),
        ("[cut off](https://x.exam", "cut off"),
        ("[1]: https://x.example\ntext", "text"),
        ("<https://x.example> <name>", "https://x.example <name>"),
        ("![a picture](p.png)", "a picture"),
        ("![ci](https://img.shields.io/x.svg) text", " text"),
        ("[![build](b.svg)](https://ci.example) text", " text"),
        ("a <!-- hidden\ncomment --> b <!-- cut", "a  b "),
        ("{{< note >}}\nx\n{{% /note %}}", "x"),
        ('a {{< glossary_tooltip text="Pod" term_id="pod" >}} runs', "a Pod runs"),
        ("a {{< cut", "a "),
        ("{{ .Values.image }}", "{{ .Values.image }}"),
        ("[[a|b]] [[c]] [[Note#Part]] ![[d.png]]", "b c Note > Part d.png"),
        ("| [[a\\|b]] |", "| b |"),
        ("Click ![[pen.svg#icon]] here", "Click here"),
        ("if [[ -f x ]]; then", "if [[ -f x ]]; then"),
        ("- [x] done\n- [ ] open", "- [x] done\n- [ ] open"),
        ("a<br/>b <b>c</b> <td>d</td>", "a\nb c  d "),
        ("## Head {#id .class}", "## Head"),
        ("> [!note]- Title\n> text", "> **Note: Title**\\\n> text"),
        ("> [!tip]\n> text", "> **Tip**\\\n> text"),
        ("> [!tip] cut", "> **Tip: cut**"),
        ("`[a](b)` and `<!-- c -->`", "`[a](b)` and `<!-- c -->`"),
        ("```\n[a](b)\n<br>\n```", "```\n[a](b)\n<br>\n```"),
        ("```\n[a](b)", "```\n[a](b)"),
        ("plain", "plain"),
    ],
)
def test_noise_is_removed_and_code_stays(text, clean):
    assert clean_markdown(text) == clean


@pytest.mark.parametrize(
    "text", ["[" * 5000, "[![a](" * 2000, "`" * 5001, "{{<" * 3000, "<!--" * 3000, "[[a" * 3000]
)
@pytest.mark.processor_s(2)
def test_hostile_text_takes_no_time(text):
    clean_markdown(text + "[")
