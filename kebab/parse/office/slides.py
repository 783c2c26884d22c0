"""Writes what the slides of every kind of presentation have in common."""

from collections.abc import Sequence

from kebab.parse.text_builder import TextBuilder


def add_slide_heading(
    builder: TextBuilder, title: str, number: int, *, hidden: bool, has_text: bool
) -> None:
    """Add the heading of a slide; without a title it is its number, so that no other one holds."""
    if title.strip() or has_text:
        builder.add_heading(1, title if title.strip() else f"Slide {number}")
        if hidden:
            builder.add_paragraph("(hidden slide)")


def describe_hidden_slides(numbers: Sequence[int]) -> list[str]:
    """Return the warning about hidden slides, none without them."""
    if not numbers:
        return []
    if len(numbers) == 1:
        return [f"slide {numbers[0]} is hidden"]
    *others, last = map(str, numbers)
    return [f"slides {', '.join(others)} and {last} are hidden"]
