import pytest

from kebab.review.segments import keep_harmless, read_structure

PAGE = "# A *b*\n\nSee [x](y.md) and `z`.\n\n| a | b |\n|---|---|\n| c | d |\n"


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("# A", "## A", "blocks"),
        ("c | d", "c d", "inline"),
        ("*b*", "b", "emphasis"),
        ("y.md", "w.md", "links"),
        ("`z`", "`w`", "inline"),
        ("See", "```\nSee", "code"),
    ],
)
def test_what_must_stay_is_told_apart(old, new, field):
    before, after = read_structure(PAGE), read_structure(PAGE.replace(old, new))

    assert getattr(before, field) != getattr(after, field)


def test_the_harmless_parts_are_kept_in_order():
    found = keep_harmless(range(10), lambda some: not {3, 8}.intersection(some))
    assert found == [0, 1, 2, 4, 5, 6, 7, 9]
    assert keep_harmless([], lambda some: False) == []
    assert keep_harmless([1, 2], lambda some: False) == []
