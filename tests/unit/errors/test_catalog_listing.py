from kebab.errors.catalog import Generic, IoError, build_catalog


def test_rows_come_by_code_in_order_of_declaration():
    rows = build_catalog()

    assert rows["io_error"] is IoError
    assert list(rows)[-1] == Generic.code
    assert all(row.code == code for code, row in rows.items())
