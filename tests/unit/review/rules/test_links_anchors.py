"""Fragments are compared with anchors by their letters and digits."""

import pytest

from kebab.parse.markdown_parts import read_markup
from kebab.review.rules.links import fold_anchor, has_anchor, is_anchor, list_anchors


@pytest.mark.parametrize(
    ("heading", "fragment"),
    [
        ("What's new in 2.0?", "whats-new-in-20"),
        ("`kebab review` & more", "kebab-review--more"),
        ("Größe und Maß", "größe-und-maß"),
        ("설치 방법", "%EC%84%A4%EC%B9%98-%EB%B0%A9%EB%B2%95"),
        ("🚀 Start", "-start"),
        ("snake_case", "snake_case"),
    ],
)
def test_slugs_of_sites_are_found(heading: str, fragment: str) -> None:
    text = f"# {heading}\n"
    anchors = list_anchors(text, read_markup(text))
    assert anchors is not None
    assert has_anchor(anchors, fragment)
    assert not has_anchor(anchors, "other")


def test_tabs_and_translated_headings_have_generated_anchors() -> None:
    text = '## {{% heading "prerequisites" %}}\n\n{{< tabs name="k8s_install" >}}\n'
    anchors = list_anchors(text, read_markup(text))
    assert anchors is not None
    assert all(has_anchor(anchors, one) for one in ("before-you-begin", "k8s-install-2"))
    assert not has_anchor(anchors, "other")
    assert has_anchor(anchors, "다음-내용")


def test_other_fragments_are_no_anchors() -> None:
    assert not any(
        map(is_anchor, ("", "top", "L1-L9", "{{ x }}", "page=3", "fnref:1", "term-node"))
    )
    assert is_anchor("topic")


def test_an_anchor_is_folded_to_letters_and_digits_in_one_case() -> None:
    assert fold_anchor("A-b_c 1.２") == "abc12"
