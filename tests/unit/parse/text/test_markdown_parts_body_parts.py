"""Tests for the parts of a body in bytes."""

from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.review import Heading, LinkUse, Markup
from kebab.parse.text.markdown_parts import (
    SpanSet,
    find_addresses,
    read_body_parts,
    read_markup,
    read_plain_markup,
)

_Placed: TypeAlias = Heading | LinkUse
_PIECES = st.sampled_from(
    [
        *(
            "# ",
            "## x {#y}",
            "\n",
            "\n\n",
            "[a](b.md)",
            "[[w|z]]",
            "![](i.png)",
            "`c`",
            "<a id='q'>",
        ),
        *(
            "[^1]",
            "\n[^1]: n\n",
            "\n[r]: t.md\n",
            "[r]",
            "[s][r]",
            "```\n",
            "é",
            "한글",
            "🙂",
            "| a |\n",
        ),
        *(
            "|---|\n",
            "- ",
            "    ",
            "\t",
            "$x$",
            "<!-- ",
            "-->",
            "{{< s >}}",
            "http://a.b/c",
            "a@b.cd",
        ),
        *(
            "[[1]](t)",
            "](",
            "[",
            ")",
            "<x y.md>",
            "\\",
            "---\n",
            "t: 1\n",
            "^b\n",
            "(l)=\n",
            "\ud800",
            "\0",
        ),
    ]
)


def _read_link(text: str) -> LinkUse:
    (link,) = read_markup(text).links
    return link


@pytest.mark.parametrize(
    ("text", "kind", "target"),
    [
        ("é [t](b.md#f)", "inline", "b.md#f"),
        ("[t]( <a b.md> 'T')", "inline", "a b.md"),
        ('[t](b%20c.md "T")', "inline", "b%20c.md"),
        ("[](e.md)", "inline", "e.md"),
        ("[a\\]](e.md)", "inline", "e.md"),
        ("[`](x`](e.md)", "inline", "e.md"),
        ("[t](a(b).md)", "inline", "a(b).md"),
        ("[[1]](t.md)", "inline", "t.md"),
        ("[t][l]\n\n[L]: <b c.md> 'T'\n", "reference", "b c.md"),
        ("[l][]\n\n[l]:\n  b.md\n", "reference", "b.md"),
        ("한 [l]\n\n[l]: b.md", "reference", "b.md"),
        ("[[W#H|alias]]", "wiki", "W#H"),
        ("| a |\n|---|\n| [[W\\|al]] |\n", "wiki", "W"),
        ("<https://a.b/c>", "auto", "https://a.b/c"),
        ('<a class="x" href="b.md">t</a>', "inline", "b.md"),
    ],
)
def test_a_link_has_its_target_and_where_it_stands(text: str, kind: str, target: str) -> None:
    link = _read_link(text)
    assert (link.kind, link.target, link.is_image) == (kind, target, False)
    assert text[slice(*link.target_span)] == target


@pytest.mark.parametrize("text", ["`[a](b)`", "```\n[a](b)\n```", "<!-- [a](b) -->", "    [a](b)"])
def test_code_and_comments_have_no_links(text: str) -> None:
    assert read_markup(text).links == ()


def test_anchors_outside_headings_are_found_where_they_are_declared() -> None:
    text = "# H {#h}\n\n<a name='a'></a> <span id=\"b\">x</span>\n\np ^c\n\n(d)=\n\n`<a id='no'>`\n"
    assert read_markup(text).anchors == ("a", "b", "^c", "d")


def test_front_matter_has_its_fields_in_order() -> None:
    text = "---\ntitle: A\ntags: [x]\nempty:\n---\n\nText\n"
    front = read_markup(text).front_matter
    assert front is not None
    assert front.fields == (("title", "A"), ("tags", "['x']"), ("empty", ""))
    assert text[front.start : front.end].endswith("---\n")


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a `b c` d", ["`b c`"]),
        ("a $b+c$ d", ["$b+c$"]),
        ("a <b>c</b>", ["<b>", "</b>"]),
        ("a <!-- b --> c", ["<!-- b -->"]),
        ("<div>\nword\n</div>\n", ["<div>", "</div>"]),
        ("a [b](c.md) d", ["c.md"]),
        ("[b][c]\n\n[c]: d.md\n", ["[c]", "[c]: d.md"]),
        ("[[a|b]]", ["a|"]),
        ("see https://a.b/c.", ["https://a.b/c"]),
        ("to a.b@c.de.", ["a.b@c.de"]),
        ('a {{< ref "x" >}} b {% if %}', ['{{< ref "x" >}}', "{% if %}"]),
        ("> [!NOTE] x", ["> [!NOTE]"]),
        ("a %%b%% c", ["%%b%%"]),
        ("```py\nx\n```", ["```py\nx\n```"]),
    ],
)
def test_what_is_no_prose_is_hidden(text: str, hidden: list[str]) -> None:
    assert [text[start:end] for start, end in read_markup(text).code] == hidden


def test_plain_text_hides_its_addresses_only() -> None:
    text = "# a [b](c) http://d.e"
    assert read_plain_markup(text) == Markup(code=((11, 21),))


@given(st.lists(_PIECES, max_size=14).map("".join))
def test_every_span_is_in_order_and_within_the_text(text: str) -> None:
    markup = read_markup(text)
    uses: list[_Placed] = [*markup.headings, *markup.links]
    spans = [(one.start, one.end) for one in uses]
    spans += [one.target_span for one in markup.links]
    spans += [*markup.code, *markup.code_blocks]
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert list(markup.code) == sorted(markup.code)
    assert all(
        first[1] < second[0] for first, second in zip(markup.code, markup.code[1:], strict=False)
    )


@given(st.lists(_PIECES, max_size=14).map("".join))
def test_wide_characters_before_a_text_shift_it_only(text: str) -> None:
    plain, wide = read_markup(f"xx\n\n{text}"), read_markup(f"é🙂\n\n{text}")
    assert plain == wide


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(see http://a.b/c?d=e).", ["http://a.b/c?d=e"]),
        ("mail a.b+c@d.ef, or not@here", ["a.b+c@d.ef"]),
        ("www.a.b and notascheme://x", ["www.a.b"]),
        ("@decorator and a @ b", []),
        ("https://u@h.com/p and mailto:x@y.zz", ["https://u@h.com/p", "mailto:x@y.zz"]),
    ],
)
def test_addresses_end_before_punctuation(text: str, found: list[str]) -> None:
    assert [text[slice(*span)] for span in SpanSet(find_addresses(text)).spans] == found


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("```\n{{< note >}}\n```\n", ["```\n{{< note >}}\n```"]),
        ("{{< note >}}\n\n```\n{{< x >}}\n```\n", ["```\n{{< x >}}\n```"]),
        ("<!--\n```\n-->\n\ntext\n", []),  # a comment hides its fence
        ("```\n<!--\n```\n-->\n\ntext\n", ["```\n<!--\n```"]),  # it begins in code
        ("- a\n\n      <!-- b -->\n", ["<!-- b -->\n"]),
        ("<Note>\n```\n<Bar>\n```\n</Note>\n", ["```\n<Bar>\n```"]),
    ],
)
def test_noise_in_code_is_code(text: str, blocks: list[str]) -> None:
    found = read_markup(text)
    assert [text[start:end] for start, end in found.code_blocks] == blocks
    assert "text" not in [text[start:end].strip() for start, end in found.code]


def test_offsets_far_behind_wide_characters_are_code_points() -> None:
    text = "é한🙂" * 500 + " [a](b.md)"
    (link,) = read_body_parts(text).links
    assert text[slice(*link.target_span)] == "b.md"
