from kebab.parse.web.html_flow import Table


def build(*rows):
    table = Table()
    for row in rows:
        table.begin_row()
        for tag, text in row:
            table.begin_cell(tag)
            if text:
                table.cell.append(text)
            table.end_cell()
    return table


def test_a_cell_over_rows_is_repeated_in_each():
    table = build([('td rowspan="2"', "a"), ("td", "b")], [("td", "c")], [("td", "d"), ("td", "e")])

    assert table.rows == [["a", "b"], ["a", "c"], ["d", "e"]]


def test_the_header_is_marked_or_looks_like_one():
    marked = build([("th", "a"), ("th", "1")], [("td", "x"), ("td", "2")])
    rows_named = build([("th", "a"), ("td", "1")], [("th", "b"), ("td", "2")])
    names = build(*[[("td", "a"), ("td", "b")]] * 3)
    numbers = build(*[[("td", "a"), ("td", "1")]] * 3)

    assert marked.has_header()
    assert not rows_named.has_header()
    assert names.has_header()
    assert not numbers.has_header()


def test_a_table_is_bounded_however_far_its_cells_reach():
    row = [('td colspan="99999" rowspan="99999"', "x" * 100)]
    table = build(*[row] * 2_000)

    assert max(map(len, table.rows)) <= 401
    assert sum(len(cell) for row in table.rows for cell in row) < 1_000_000


def test_texts_of_rows_are_taken_out():
    table = build([("td", "a"), ("td", "b")], [("td", ""), ("td", "c")])

    assert table.take_texts() == ["a b", "c"]
    assert table.rows == []
