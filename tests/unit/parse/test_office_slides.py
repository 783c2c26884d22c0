import pytest

from kebab.parse.blocks import TextBuilder
from kebab.parse.office import add_slide_heading, describe_hidden_slides


@pytest.mark.parametrize(
    ("title", "hidden", "has_text", "text"),
    [
        ("Lamp", False, False, "# Lamp"),
        ("Lamp", True, True, "# Lamp\n\n(hidden slide)"),
        (" ", False, True, "# Slide 7"),
        ("", True, False, ""),
    ],
)
def test_the_heading_of_a_slide_is_its_title_or_its_number(title, hidden, has_text, text):
    builder = TextBuilder()
    add_slide_heading(builder, title, 7, hidden=hidden, has_text=has_text)

    assert builder.build("a.pptx").text == text


@pytest.mark.parametrize(
    ("numbers", "warnings"),
    [
        ([], []),
        ([2], ["slide 2 is hidden"]),
        ([2, 4, 5], ["slides 2, 4 and 5 are hidden"]),
    ],
)
def test_hidden_slides_are_named(numbers, warnings):
    assert describe_hidden_slides(numbers) == warnings
