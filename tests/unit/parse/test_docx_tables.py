from tests.unit.parse.office.office_files import DOCX_STYLES as STYLES
from tests.unit.parse.office.office_files import build_cell as cell
from tests.unit.parse.office.office_files import build_paragraph as para
from tests.unit.parse.office.office_files import build_style as style
from tests.unit.parse.office.office_files import build_table as table
from tests.unit.parse.office.office_files import parse_docx


def test_merged_cells_stand_in_each_of_their_rows():
    merge = '<w:vMerge w:val="restart"/>'
    document = parse_docx(
        table(
            cell(para("Quarter")) + cell(para("Keeper")) + cell(para("Oil")),
            cell(para("Spring"), properties=merge) + cell(para("Park")) + cell(para("310")),
            cell(para(""), properties="<w:vMerge/>") + cell(para("Sato")) + cell(para("290")),
            cell(para("Closed"), properties='<w:gridSpan w:val="2"/>') + cell(para("0")),
        )
    )

    assert document.text == (
        "| Quarter | Keeper | Oil |\n|---|---|---|\n| Spring | Park | 310 |\n"
        "| Spring | Sato | 290 |\n| Closed |  | 0 |"
    )


def test_a_table_within_a_cell_stays_in_its_row():
    inner = table(cell(para("a")) + cell(para("1")), cell(para("b")) + cell(para("2")))
    document = parse_docx(
        table(cell(para("Parts")) + cell(inner), cell(para("x")) + cell(para("y")))
    )

    assert document.text == "| Parts | a, 1; b, 2 |\n|---|---|\n| x | y |"


def test_a_table_that_places_sections_is_read_as_text():
    document = parse_docx(
        table(cell(para("Left", style("1")), para("text")) + cell(para("Right"))), styles=STYLES
    )

    assert document.text == "# Left\n\ntext\n\nRight"
