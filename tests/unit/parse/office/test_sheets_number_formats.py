"""Numbers are written as their formats show them, and as they are stored."""

import pytest

from kebab.parse.office.ooxml import Package
from kebab.parse.office.sheets import _read_formats, format_number, show_number
from tests.unit.parse.office.office_files import build_zip


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.125, "0.0%", "12.5% (0.125)"),
        (1234567890123456.0, "#,##0", "1,234,567,890,123,460 (1234567890123456)"),
        (123.0, "00000", "00123 (123)"),
        (1234.5, '#,##0.00 "EUR"', "1,234.50 EUR (1234.5)"),
        (-5.0, "#,##0;(#,##0)", "(5) (-5)"),
        (5551234567.0, "(000) 000-0000", "(555) 123-4567 (5551234567)"),
        (2.75, "# ??/??", "2 3/4 (2.75)"),
        (95.0, '[>=90]"Pass";"Fail"', "Pass (95)"),
        (0.0, '0;-0;"none"', "none (0)"),
    ],
)
def test_a_number_is_shown(value, code, shown):
    assert show_number(value, format_number(value), code) == shown


def test_the_styles_of_a_binary_workbook_are_no_xml():
    relations = '<Relationships><Relationship Type="x/{}" Target="{}" Id="a"/></Relationships>'
    parts = {
        "_rels/.rels": relations.format("officeDocument", "xl/workbook.bin"),
        "xl/_rels/workbook.bin.rels": relations.format("styles", "styles.bin"),
        "xl/styles.bin": "\x96\x02",
    }

    assert _read_formats(Package(build_zip(parts), "workbook")) == {}
