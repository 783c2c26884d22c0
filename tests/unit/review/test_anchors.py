"""Anchors are found as headings, ids and components declare them."""

import pytest

from kebab.parse.text.markdown_parts import read_markup
from kebab.review.anchors import fold_anchor, has_anchor, is_anchor, list_anchors


def _find(text: str) -> frozenset[str] | None:
    return list_anchors(text, read_markup(text, is_mdx=True))


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


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("## Own {/*the-id*/}\n", "the-id"),
        ("## Own {/* #the-id */}\n", "the-id"),
        ("Own term\n: Its description.\n", "own-term"),
        ("`--flag` value\n\n: Its description.\n", "flag-value"),
        ("## Q & A\n", "q-and-a"),
        ("## C#\n", "c-sharp"),
        ("## Größe über alles\n", "große-uber-alles"),
        ("## Costs <small>new</small>\n", "costs"),
        ("## client.<domain>(callback)\n", "clientdomaincallback"),
        ("## A\n\n### B\n", "a-b"),
        ("## DEP0111: x\n", "DEP0111"),
        ('<Card id={"the-id"}>\n\nx\n\n</Card>\n', "the-id"),
        ("[x](#a){ #+a.b }\n", "+a.b"),
        ("## 설치\n", "_1"),
    ],
)
def test_anchors_are_found_as_generators_write_them(text: str, fragment: str) -> None:
    anchors = _find(f"# T\n\n{text}")
    assert anchors is not None
    assert has_anchor(anchors, fragment)
    assert not has_anchor(anchors, "other")


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: a\n---\n",
        "<ApiTable>\n\n| a | b |\n\n</ApiTable>\n",
        "<!-- md:option config.x -->\n",
        "<!--@include: ./part.md-->\n",
    ],
)
def test_anchors_that_templates_and_components_write_are_not_known(text: str) -> None:
    assert _find(text) is None
    assert _find("<Tabs>\n<TabItem value='a'>\n\nx\n\n</TabItem>\n</Tabs>\n") is not None


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ('<h2 align="center">\n  Big <b>news</b>\n</h2>\n', "big-news"),
        ('<h3 name="complete">\nCompletion\n</h3>\n', "complete"),
        ("## 1. Install\n", "install"),
        ("## :rocket: Features\n", "-features"),
        ("!!! note\n\n    ## Inner part\n", "inner-part"),
        ("## Title :id=custom\n", "custom"),
        ("---\ntitle: My page\n---\n\ntext\n", "my-page"),
        ("## Über uns\n", "ueber-uns"),
        ("```{#code-id .python}\nx\n```\n", "code-id"),
        ("\\anchor label\n", "label"),
        ('<a id="user-content-x" href="#x"></a>\n', "x"),
    ],
)
def test_anchors_of_html_and_generators_are_found(text: str, fragment: str) -> None:
    anchors = list_anchors(text, read_markup(text))
    assert anchors is not None
    assert has_anchor(anchors, fragment)


@pytest.mark.parametrize(
    "text",
    [
        "::: package\n",
        '```python exec="true"\nprint()\n```\n',
        "{% data reusables.x %}\n",
        '[include "part.md"]\n',
        "{{< feature-list >}}\n",
        "<!-- include part.md -->\n",
        "<api-table>\n</api-table>\n",
    ],
)
def test_what_generators_put_into_a_page_may_have_anchors(text: str) -> None:
    assert list_anchors(text, read_markup(text)) is None


@pytest.mark.parametrize("text", ["::: tip\nx\n:::\n", "{% raw %}x{% endraw %}\n", "<!-- x -->\n"])
def test_other_containers_tags_and_comments_have_none(text: str) -> None:
    assert list_anchors(text, read_markup(text)) is not None


@pytest.mark.parametrize("fragment", ["pkg.mod.Class", "tag/pets", "readme", "L12", "cmdoption-x"])
def test_names_of_code_and_places_of_programs_are_no_anchors(fragment: str) -> None:
    assert not is_anchor(fragment)


def test_signs_in_code_put_nothing_into_a_page() -> None:
    text = "# A\n\n```html\n<VirtualHost>\n{{ Math.random() }}\n```\n"
    assert list_anchors(text, read_markup(text)) is not None
