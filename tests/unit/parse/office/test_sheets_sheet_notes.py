import io
import zipfile

import openpyxl
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.drawing.image import Image as Picture
from PIL import Image

from kebab.parse.office.sheets import SheetParser
from tests.unit.parse.office.office_files import build_odf, build_zip, save_workbook


def parse(data):
    return SheetParser().parse(data, "dir/a.xlsx")


def read_parts(workbook):
    with zipfile.ZipFile(io.BytesIO(save_workbook(workbook))) as file:
        return {name: file.read(name) for name in file.namelist()}


def test_comments_name_their_cell_and_charts_follow():
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet["B2"] = "lamps"
    sheet["B3"] = "105"
    sheet["B3"].comment = Comment("checked\ntwice", "Ada")
    chart = BarChart()
    chart.title, chart.x_axis.title = "Oil", "Month"
    chart.add_data(Reference(sheet, min_col=2, min_row=2, max_row=3))
    sheet.add_chart(chart, "D9")

    document = parse(save_workbook(workbook))

    assert [(text, place.row, place.columns) for text, place in list_notes(document)] == [
        ("lamps\n105", 2, "B:B"),
        ("Chart: Oil, Month", 9, "D:D"),
        ("Comment by Ada on B3: checked twice", 3, "B:B"),
    ]


def test_the_description_of_a_picture_is_text():
    workbook = openpyxl.Workbook()
    workbook.active["A1"] = "text"
    picture = io.BytesIO()
    Image.new("RGB", (4, 4)).save(picture, "PNG")
    workbook.active.add_image(Picture(picture), "F12")
    parts = read_parts(workbook)
    drawing = "xl/drawings/drawing1.xml"
    described = parts[drawing].replace(b'descr="Picture"', b'descr="a lamp of brass"')

    document = parse(build_zip(parts | {drawing: described}))

    text, place = list_notes(document)[-1]
    assert (text, place.row, place.columns) == ("Picture: a lamp of brass", 12, "F:F")


def test_notes_of_an_open_document_sheet_stand_at_their_cells():
    cell = "<table:table-cell {}><text:p>{}</text:p>{}</table:table-cell>"
    kind = 'office:value-type="string"'
    note = "<office:annotation><creator>Ada</creator><text:p>why?</text:p></office:annotation>"
    row = "<table:table-row {}>{}</table:table-row>"
    power = cell.format(kind, "lamp", note)
    share = cell.format('office:value-type="percentage" office:value="0.335"', "33.50 %", "")
    empty = row.format("table:number-rows-repeated='3'", cell.format("", "", ""))
    content = f'<table:table table:name="Oil">{empty}{row.format("", power + share)}</table:table>'
    with zipfile.ZipFile(io.BytesIO(build_odf(content, "spreadsheet"))) as file:
        parts = {name: file.read(name) for name in file.namelist()}

    document = parse(build_zip(parts | {"META-INF/manifest.xml": "<manifest/>"}))

    found, note = list_notes(document)
    assert (found[0], found[1].row) == ("lamp | 33.50 % (0.335)", 4)
    assert (note[0], note[1].row, note[1].columns) == ("Comment by Ada: why?", 4, "A:A")


def test_a_damaged_drawing_costs_itself():
    workbook = openpyxl.Workbook()
    workbook.active["A1"] = "text"
    workbook.active["A1"].comment = Comment("lost", "Ada")
    parts = read_parts(workbook)
    comments = next(name for name in parts if "comments" in name and name.endswith(".xml"))

    document = parse(build_zip(parts | {comments: b"<comments>"}))

    assert document.text == "text"
    assert document.warnings[0].startswith("comments, charts or text boxes are left out: damaged")


def list_notes(document):
    """Return the text of each place with the place."""
    ends = [place.start for place in document.places[1:]] + [len(document.text)]
    return [
        (document.text[place.start : end].strip(), place)
        for place, end in zip(document.places, ends, strict=True)
    ]
