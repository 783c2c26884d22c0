"""Anchors are found as headings and ids declare them."""

import pytest

from kebab.parse.text.markdown_parts import read_markup
from kebab.review.document import fold_anchor, has_anchor, is_anchor, list_anchors


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("# What's new in 2.0?\n", "whats-new-in-20"),
        ("# `kebab review` & more\n", "kebab-review--more"),
        ("# Größe und Maß\n", "größe-und-maß"),
        ("# Über alles\n", "uber-alles"),
        ("# 설치 방법\n", "%EC%84%A4%EC%B9%98-%EB%B0%A9%EB%B2%95"),
        ("# 설치\n", "_1"),
        ("# Own {#the-id}\n", "the-id"),
        ("# Costs <small>new</small>\n", "costs-new"),
        ('# {{% heading "whatsnext" %}}\n', "whats-next"),
        ('<h2 align="center">\n  Big <b>news</b>\n</h2>\n', "big-news"),
        ("!!! note\n\n    ## Inner part\n", "inner-part"),
        ("---\ntitle: My page\n---\n\ntext\n", "my-page"),
        ('<a id="user-content-x" href="#x"></a>\n', "x"),
        ("<a id=opt-key></a>\n", "opt-key"),
    ],
)
def test_anchors_are_found_as_sites_write_them(text: str, fragment: str) -> None:
    anchors = list_anchors(text, read_markup(text))
    assert anchors is not None
    assert has_anchor(anchors, fragment)
    assert not has_anchor(anchors, "other")


@pytest.mark.parametrize(
    "text",
    [
        *("{% include x.md %}\n", "--8<-- 'x.md'\n", "<!-- include part.md -->\n"),
        *("<ApiTable>\n\n| a | b |\n\n</ApiTable>\n", "<api-table>\n</api-table>\n"),
        *("{{ page.body }}\n", '{{< include "part.md" >}}\n', "```{toctree}\nx\n```\n"),
    ],
)
def test_what_puts_text_into_a_page_may_have_anchors(text: str) -> None:
    assert list_anchors(text, read_markup(text)) is None


@pytest.mark.parametrize(
    "fragment",
    [*("", "top", "L1-L9", "{{ x }}", "page=3", "fnref:1", "term-node"), "pkg.mod.Class", "a/pets"],
)
def test_places_of_programs_and_names_of_code_are_no_anchors(fragment: str) -> None:
    assert not is_anchor(fragment)
    assert is_anchor("topic")


def test_an_anchor_is_folded_to_letters_and_digits_in_one_case() -> None:
    assert fold_anchor("A-b_c 1.２") == "abc12"
