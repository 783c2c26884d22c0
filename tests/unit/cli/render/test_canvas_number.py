import pytest

from kebab.cli.render.canvas import format_number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.01234, "0.012"),
        (0.5, "0.500"),
        (1.0, "1.00"),
        (1.234, "1.23"),
        (9.5, "9.50"),
        (10.0, "10.0"),
        (12.34, "12.3"),
        (99.5, "99.5"),
        (100.0, "100"),
        (100.7, "101"),
        (1234.5, "1234"),
    ],
)
def test_numbers_have_three_significant_digits(value, text):
    assert format_number(value) == text
