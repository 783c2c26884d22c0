from kebab.cli.render.canvas import Canvas, Column, render_columns, truncate_path


def test_columns_are_as_wide_as_their_widest_cell_or_as_they_are_told():
    columns = (
        Column("path", width=8, cut=truncate_path),
        Column("size", right=True),
        Column("note"),
    )
    rows = [("notes/backup.md", "7", ""), ("백업.md", "12,000", "a note that is longer")]

    assert list(render_columns(columns, rows, Canvas(), "  ")) == [
        "  path        size  note",
        "  back….md       7",
        "  백업.md   12,000  a note that is longer",
    ]


def test_a_table_without_heads_has_only_its_rows():
    assert list(render_columns((Column(), Column()), [("a", "b")], Canvas())) == ["a  b"]
    assert list(render_columns((Column(), Column()), [], Canvas())) == []


def test_cells_are_painted_with_their_blanks():
    canvas = Canvas(color=True)
    columns = (Column(paint=canvas.location), Column())

    lines = list(render_columns(columns, [("a", "b"), ("long", "c")], canvas))

    assert lines[0] == f"{canvas.location('a   ')}  b"
