import pytest

from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.review import render_excerpt
from kebab.review.document import Fix
from kebab.review.items import ItemLocator
from tests.fakes.review_pages import item, page, reviewed

WIDE = Canvas(width=80)


@pytest.fixture
def draw(tmp_path):
    """Return a function that draws the excerpt of words of a text."""

    def draw_words(text, words, canvas=WIDE, **changes):
        file = tmp_path / "a.md"
        file.write_text(text, encoding="utf-8")
        document, start = reviewed(file), text.index(words)
        found = page(document, item(document, start, start + len(words), **changes))
        (located,) = ItemLocator().locate(found).items
        return list(render_excerpt(located, canvas))

    return draw_words


def test_the_words_are_underlined_in_their_line(draw):
    assert draw("# A\n\nOpen the worng door.\n", "worng") == [
        "    3 │ Open the worng door.",
        "      │          ^^^^^",
    ]


def test_wide_characters_and_tabs_keep_the_place(draw):
    line, arrows = draw("문\t열린다 worng", "worng")

    assert measure_width(line.partition("worng")[0]) == arrows.index("^")


def test_control_characters_do_not_reach_the_terminal(draw):
    assert "\x1b" not in "".join(
        draw("a \x1b[31m worng", "worng", fix=Fix("\x1b[2J"), edit="replace")
    )
