"""Numbers are written as their formats show them, and as they are stored."""

import pytest

from kebab.parse.office.sheets import format_number, show_number


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.125, "0.0%", "12.5% (0.125)"),
        (123.0, "00000", "00123 (123)"),
        (1234.5, "#,##0.00", "1,234.50 (1234.5)"),
        (1234.5, '#,##0.00 "EUR"', "1,234.50 EUR (1234.5)"),
        (-5.0, "#,##0;(#,##0)", "(5) (-5)"),
        (-5.25, "0.00", "-5.25"),
        (1234.0, "#,##0", "1,234"),
        (2.5, "[$€-407] 0.00", "€ 2.50 (2.5)"),
        (1 / 3, "0.0%", "33.3%"),
        (7.0, "[Red]0", "7"),
        (7.0, "yyyy-mm-dd", "7"),
    ],
)
def test_a_number_is_shown(value, code, shown):
    assert show_number(value, format_number(value), code) == shown
