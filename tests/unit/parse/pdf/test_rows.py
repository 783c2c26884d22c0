from kebab.parse.pdf.pages import Segment
from kebab.parse.pdf.rows import build_rows, order_segments

LINE = "a line of text in its column"


def place(text, left, base, width=None, **changes):
    return Segment(text, left, left + (width or 5 * len(text)), base, 10.0, **changes)


def build_column(name, left, rows, top=700):
    return [place(f"{name}{row} {LINE}", left, top - 12 * row, width=160) for row in range(rows)]


def get_texts(segments):
    return [segment.text.partition(" ")[0] for segment in segments]


def test_a_line_across_all_columns_divides_them():
    top, below = build_column("a", 72, 6), build_column("b", 300, 6)
    middle = place("across", 72, 600, width=388)
    left, right = build_column("c", 72, 6, top=580), build_column("d", 300, 6, top=580)
    mixed = [
        *(one for pair in zip(top, below, strict=True) for one in pair),
        middle,
        *(one for pair in zip(left, right, strict=True) for one in pair),
    ]

    assert order_segments(mixed) == [*top, *below, middle, *left, *right]


def test_the_cells_of_a_table_stay_in_their_rows():
    rows = [
        [place(f"item {row}", 72, 700 - 12 * row), place(str(row), 300, 700 - 12 * row)]
        for row in range(10)
    ]

    assert [row.cells for row in build_rows([cell for row in rows for cell in row])][:2] == [
        ("item 0", "0"),
        ("item 1", "1"),
    ]


def test_any_positions_give_every_segment_once():
    segments = [
        place(f"s{number}", (number * 7919) % 500, (number * 104729) % 700, width=number % 90)
        for number in range(300)
    ]

    assert sorted(get_texts(order_segments(segments))) == sorted(get_texts(segments))


def test_texts_without_a_width_are_not_joined():
    (row,) = build_rows([Segment(text, 72, 72, 700, 10.0) for text in ("M32x1.5", "15")])

    assert row.text == "M32x1.5 15"


def test_a_row_has_the_place_and_the_size_of_its_longest_text():
    (row,) = build_rows([place(LINE, 72, 700), place("x", 214, 702)._replace(size=6.0)])

    assert (row.base, row.size) == (700, 10.0)
