import pytest

from kebab.rag.checking.terms import are_compatible_units, find_currency_before, find_unit_after


@pytest.mark.parametrize(
    ("text", "unit", "end"),
    [
        (" minutes ago", "min", 8),
        ("-minute walk", "min", 7),
        ("GB", "GB", 2),
        ("%", "%", 1),
        (" per cent", "%", 9),
        (" \u00b0C", "\u00b0C", 3),
        (" km/h", "km/h", 5),
        ("시간이", "h", 2),
        ("時間かかる", "h", 2),
        ("퍼센트", "%", 3),
        (" people", None, 0),
        (". Minutes", None, 0),
        ("", None, 0),
    ],
)
def test_a_unit_is_found_after_a_number(text, unit, end):
    assert find_unit_after(text, 0) == (unit, end)


@pytest.mark.parametrize(("text", "unit"), [("$", "$"), ("US$", "$"), ("x", None), ("", None)])
def test_a_currency_is_found_before_a_number(text, unit):
    assert find_currency_before(text, len(text)) == unit


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("min", "min", True),
        ("min", "s", False),
        (None, "s", True),
        ("\u00b0", "\u00b0C", True),
        ("\u00b0F", "\u00b0", True),
        ("\u00b0F", "\u00b0C", False),
    ],
)
def test_units_are_compatible_when_one_may_be_the_other(one, other, expected):
    assert are_compatible_units(one, other) is expected
