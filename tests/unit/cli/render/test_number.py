import pytest

from kebab.cli.render.number import short


@pytest.mark.parametrize(
    ("value", "text"), [(0.01234, "0.012"), (1.234, "1.23"), (12.34, "12.3"), (1234.5, "1234")]
)
def test_numbers_have_three_digits_that_count(value, text):
    assert short(value) == text
