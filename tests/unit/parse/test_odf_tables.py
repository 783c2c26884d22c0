from tests.unit.parse.office.office_files import build_cells as cells
from tests.unit.parse.office.office_files import parse_odt as parse


def table(*rows):
    return f"<table:table>{''.join(rows)}</table:table>"


def row(content, attributes=""):
    return f"<table:table-row {attributes}>{content}</table:table-row>"


def test_merged_cells_stand_in_each_of_their_rows():
    covered = "<table:covered-table-cell/>"
    document = parse(
        table(
            f"<table:table-header-rows>{row(cells('Season', 'Oil'))}</table:table-header-rows>",
            row(cells("Spring", attributes='table:number-rows-spanned="2"') + cells("310")),
            row(covered + cells("290")),
            row(cells("none", attributes='table:number-columns-spanned="2"') + covered),
        )
    )

    assert document.text == (
        "| Season | Oil |\n|---|---|\n| Spring | 310 |\n| Spring | 290 |\n| none |  |"
    )


def test_a_merged_cell_reaches_down_in_the_column_where_it_begins():
    covered = "<table:covered-table-cell/>"
    twice = 'table:number-columns-repeated="2"'
    document = parse(
        table(
            row(cells("a", attributes=twice) + cells("b", "c")),
            row(cells("x", attributes='table:number-rows-spanned="3"') + cells("1", "2", "3")),
            row(covered + cells("", attributes=twice) + cells("4", "5")),
            row(covered + cells("6", "7", "8")),
            row(covered + cells("9", "10", "11")),
            row(cells("12", "13", "14", "15")),
        )
    )

    assert document.text.splitlines() == [
        "| a | a | b | c |",
        "|---|---|---|---|",
        "| x | 1 | 2 | 3 |",
        "| x |  | 4 | 5 |",
        "| x | 6 | 7 | 8 |",
        "|  | 9 | 10 | 11 |",
        "| 12 | 13 | 14 | 15 |",
    ]


def test_repetitions_are_limited():
    many = 'table:number-columns-repeated="16384"'
    document = parse(
        table(
            row(cells("a", attributes=many)),
            row("<table:table-cell/>", 'table:number-rows-repeated="1048576"'),
        )
    )

    assert document.text.count("a") == 64
    assert document.text.count("\n") < 3


def test_a_table_of_one_column_is_read_as_text():
    assert parse(table(row(cells("one")), row(cells("two")))).text == "one\n\ntwo"


def test_a_table_within_a_cell_stays_in_its_row():
    inner = table(row(cells("a", "1")), row(cells("b", "2")))
    document = parse(
        table(
            row(cells("x", "y")), row(f"<table:table-cell>{inner}</table:table-cell>{cells('z')}")
        )
    )

    assert document.text == "| x | y |\n|---|---|\n| a, 1; b, 2 | z |"
