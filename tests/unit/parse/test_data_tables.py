import pytest

from kebab.parse.data import find_header, find_table_spans


def list_rows(text):
    return [(span.first, span.last, span.label) for span in find_table_spans(text.split("\n"))]


def test_rows_of_one_line_are_one_block():
    assert list_rows("a,b\n1,2\n3,4") == [(0, 3, "")]


def test_a_row_of_several_lines_is_a_block_that_knows_its_header():
    assert list_rows('a,b\n1,"x\ny"\n3,4\n5,6') == [(0, 1, ""), (1, 3, "a,b"), (3, 5, "a,b")]


def test_a_stray_quote_is_no_row_of_many_lines():
    assert list_rows('a,b\n1,5"\n' + "2,3\n" * 300) == [(0, 303, "")]


@pytest.mark.parametrize(
    ("line", "header"),
    [
        ("name,city", "name,city"),
        ('"Name";"Size 2"', '"Name";"Size 2"'),
        ("name\tcity", "name\tcity"),
        ("Ada,42", ""),
        ("one column", ""),
        (",".join(["name"] * 200), ""),
    ],
)
def test_a_header_names_columns(line, header):
    assert find_header([line]) == header
