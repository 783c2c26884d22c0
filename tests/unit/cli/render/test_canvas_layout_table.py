import pytest

from kebab.cli.render.canvas import Canvas, Cell, StyledText, compute_column_widths, lay_out_table


def cell(text, *, right=False):
    prose = StyledText()
    prose.add(text)
    return Cell(prose, right=right)


def test_columns_fit_their_contents():
    rows = [[cell("who"), cell("n", right=True)], [cell("당직자"), cell("10", right=True)]]

    assert lay_out_table(rows, 40, Canvas()) == ["who      n", "──────  ──", "당직자  10"]


def test_long_cells_are_wrapped_and_their_rows_separated():
    rows = [[cell("a"), cell("b")], [cell("one two three"), cell("x")], [cell(""), cell("y")]]

    assert lay_out_table(rows, 10, Canvas()) == [
        "a        b",
        "───────  ─",
        "one two  x",
        "three",
        "",
        "         y",
    ]


@pytest.mark.parametrize(
    ("wanted", "width", "given"),
    [
        ([3, 4], 40, [3, 4]),
        ([30, 4], 20, [14, 4]),
        ([1000, 1000], 22, [10, 10]),
        ([9, 9, 9], 5, [6, 6, 6]),
        ([0], 5, [1]),
    ],
)
def test_the_widest_columns_shrink(wanted, width, given):
    assert compute_column_widths(wanted, width) == given
