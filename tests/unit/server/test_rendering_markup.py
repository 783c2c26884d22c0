import pytest

from kebab.server.rendering import (
    Html,
    clean_line,
    escape,
    mark_text,
    show_directions,
)


def test_characters_that_cannot_be_seen_do_no_harm():
    assert escape("a\0b\x1b\u202ec") == "a\ufffdb\ufffd⟦U+202E⟧c"
    assert clean_line("in\u202evoice\n\u2066.exe") == "invoice .exe"
    assert show_directions("if\u2066x") == "if⟦U+2066⟧x"


@pytest.mark.parametrize(
    ("html", "wanted", "expected"),
    [
        ("<p>The oven is hot.</p>", "oven  IS", "<p>The <m>oven is</m> hot.</p>"),
        ("<p>The <b>oven</b> is</p>", "The **oven**", "<p><m>The </m><b><m>oven</m></b> is</p>"),
        ("<p>1 &lt; 2</p>", "1 < 2", "<p><m>1 &lt; 2</m></p>"),
        ('<p class="oven">&lt;amp; Oven</p>', "oven", '<p class="oven">&lt;amp; <m>Oven</m></p>'),
        ("<p>R&amp;D amp</p>", "amp", "<p>R&amp;D <m>amp</m></p>"),
        ("<p>oven</p>", "*", ""),
        ("<p>오븐은 뜨겁다</p>", "오븐은\n뜨겁다", "<p><m>오븐은 뜨겁다</m></p>"),
    ],
)
def test_a_text_is_marked_whatever_its_markup(html, wanted, expected):
    marked = mark_text(Html(html), wanted, "m") or ""

    assert marked.replace('<mark class="m">', "<m>").replace("</mark>", "</m>") == expected


def test_marks_begin_where_told_and_do_not_cross_elements():
    html = Html("<p>hot</p><p>hot</p><p>oven</p>")
    marked = mark_text(html, "hot oven", "m", start=10)

    assert marked == (
        '<p>hot</p><p><mark class="m">hot</mark></p><p><mark class="m">oven</mark></p>'
    )
