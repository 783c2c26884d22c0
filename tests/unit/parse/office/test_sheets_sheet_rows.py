from datetime import date, datetime, time, timedelta

import openpyxl
import pytest

from kebab.parse.office import sheets
from kebab.parse.office.sheets import SheetParser, format_value
from tests.unit.parse.office.office_files import build_workbook, list_places, save_workbook


def parse(data):
    return SheetParser().parse(data, "dir/a.xlsx")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("two\nlines ", "two lines"),
        ("", ""),
        (3.0, "3"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.3"),
        (1e20, "100000000000000000000"),
        (7, "7"),
        (True, "TRUE"),
        (False, "FALSE"),
        (date(2024, 5, 6), "2024-05-06"),
        (datetime.fromisoformat("2024-05-06"), "2024-05-06"),
        (datetime.fromisoformat("2024-05-06 07:08"), "2024-05-06 07:08:00"),
        (time(7, 8), "07:08:00"),
        (timedelta(hours=30, seconds=5), "30:00:05"),
        (-timedelta(minutes=1), "-0:01:00"),
    ],
)
def test_values_are_written_as_people_write_them(value, text):
    assert format_value(value) == text


def test_an_empty_row_ends_a_place_and_a_title_is_one():
    cells = {"A1": "Oil of 2024", "A2": "Month", "B2": "Litres", "A3": "May", "B3": 3, "B5": "end"}
    document = parse(build_workbook(cells))

    assert document.text == "Oil of 2024\n\nMonth | Litres\nMay | 3\n\nend"
    assert list_places(document) == [("Sheet", 1, "A:A"), ("Sheet", 2, "A:B"), ("Sheet", 5, "B:B")]


def test_cells_merged_downwards_stand_in_each_row():
    workbook = openpyxl.Workbook()
    for row in (["Season", "Keeper"], ["Spring", "Park"], ["", "Sato"], ["Summer", "Holt"]):
        workbook.active.append(row)
    workbook.active.merge_cells("A2:A3")

    assert parse(save_workbook(workbook)).text == (
        "Season | Keeper\nSpring | Park\nSpring | Sato\nSummer | Holt"
    )


def test_cells_beyond_the_limit_are_left_out_and_named(monkeypatch):
    monkeypatch.setattr(sheets, "MAX_CELLS", 4)
    cells = {f"{column}{row}": row for row in range(1, 5) for column in "AB"}
    document = parse(build_workbook(cells))

    assert document.text == "1 | 1\n2 | 2"
    assert document.warnings == (
        "sheet `Sheet`: rows from 3 on are left out: the file has more than 4 cells",
    )


def test_columns_beyond_the_limit_are_left_out_and_named(monkeypatch):
    monkeypatch.setattr(sheets, "MAX_COLUMNS", 2)
    document = parse(build_workbook({"B1": "a", "C1": "b", "D1": "c"}))

    assert document.text == "a | b"
    assert document.warnings == ("sheet `Sheet`: columns from D on are left out",)
