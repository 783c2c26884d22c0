import pytest

from kebab.cli.render.canvas import MATCH_END, MATCH_START, Canvas
from kebab.cli.render.markdown import render_markdown

PLAIN = Canvas(width=30)


def drawn(text, width=30):
    return render_markdown(text, PLAIN, width)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one\ntwo", ["one two"]),
        ("one  \ntwo\n\nthree", ["one", "two", "", "three"]),
        ("# Title\ntext", ["Title", "", "text"]),
        ("**a** *b* ~~c~~ `d`", ["a b c `d`"]),
        ("- a\n- b\n  - c", [" • a", " • b", "    • c"]),
        ("- a\n\n- b", [" • a", " • b"]),
        ("9. a\n10. b", ["  9 a", " 10 b"]),
        ("1. a\n\n   b", [" 1 a", "   b"]),
        ("> a\n>\n> b", ["▌ a", "▌ b"]),
        ("```sh\na\n\tb\n```", ["    a", "        b"]),
        ("    code", ["    code"]),
        ("```\n" + "x" * 30 + "\n```", ["    " + "x" * 26, "    " + "x" * 4]),
        ("a | b\n-|-\n1 | 2", ["a  b", "────", "1  2"]),
        ("***", ["-" * 30]),
        ("", []),
    ],
)
def test_each_block_has_its_form(text, lines):
    assert drawn(text) == lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[here](http://x.example/a_b_c)", "here (http://x.example/a_b_c)"),
        ("![pic](http://x.example/p.png)", "pic (http://x.example/p.png)"),
        ("<http://x.example>", "http://x.example"),
        ("[백업](work/백업.md)", "백업 (work/백업.md)"),
        ("[empty]()", "empty"),
        ("<b>bold</b> &lt;", "<b>bold</b> <"),
        ("<div>\nx\n</div>", "<div> x </div>"),
    ],
)
def test_addresses_and_html_are_shown_as_they_are(text, shown):
    assert render_markdown(text, Canvas(width=80, color=False, links=True)) == [shown]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[1]: http://evil.example\n\nso [1]", "[1]: http://evil.example||so [1]"),
        ("so [1](http://evil.example)", "so [1] (http://evil.example)"),
    ],
)
def test_a_marker_stays_a_marker_in_every_markdown_form(text, shown):
    assert "|".join(render_markdown(text, Canvas(width=80))) == shown


@pytest.mark.parametrize(
    "text", ["\x1b[2Ja", "&#x1b;[2Ja", "&#x202e;a", "\u202ea", "`\x9b2J`", "```\n\x1b]8;;x\n```"]
)
def test_control_characters_cannot_control_the_terminal(text):
    joined = "".join(drawn(text))

    assert "\ufffd" in joined
    assert not {"\x1b", "\x9b", "\u202e"} & set(joined)


def test_citation_markers_and_matches_are_coloured_but_not_those_in_code():
    text = f"so [1][unsupported] `[2]`\n\n```\n{MATCH_START}a\nb{MATCH_END} [3]\n```"

    assert render_markdown(text, Canvas(width=40, color=True)) == [
        "so \x1b[36m[1]\x1b[0m\x1b[33m[unsupported]\x1b[0m `[2]`",
        "",
        "    \x1b[1;33ma\x1b[0m",
        "    \x1b[1;33mb\x1b[0m [3]",
    ]


def test_a_marker_stays_on_the_line_of_its_word():
    assert drawn("the words of the sentence [1]", 27) == ["the words of the", "sentence [1]"]


def test_no_text_is_lost_where_there_is_little_room():
    wide = "|".join("abcdefgh") + "\n" + "|".join(["-"] * 8) + "\n" + "|".join("ijklmnop")

    assert set("abcdefghijklmnop") <= set("".join(drawn(wide, 30)))
