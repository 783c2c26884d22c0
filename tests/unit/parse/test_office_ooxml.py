import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.docx import DocxParser
from tests.unit.parse.office.office_files import build_paragraph as para
from tests.unit.parse.office.office_files import build_zip, parse_docx


def refuse(data):
    with pytest.raises(ParseFailed) as refusal:
        DocxParser().parse(data, "dir/a.docx")
    return refusal.value.cause


def test_properties_become_metadata():
    document = parse_docx(
        para("text"),
        properties="<dc:title>Microsoft Word - x.doc</dc:title>"
        "<dc:creator>python-docx;Mira</dc:creator>"
        "<keywords>sea, lamp</keywords><dc:language>ko-KR</dc:language>"
        "<dcterms:created>2023-01-02T00:00:00Z</dcterms:created>"
        "<dcterms:modified>2024-05-06T07:08:09Z</dcterms:modified>",
    )

    assert document.title == "a"
    assert document.metadata.authors == ("Mira",)
    assert document.metadata.tags == ("sea", "lamp")
    assert document.metadata.date == "2024-05-06T07:08:09Z"
    assert document.lang == "ko"


def test_a_workbook_under_a_wrong_name_is_named():
    relation = (
        '<Relationships><Relationship Id="a" Type="x/officeDocument" Target="xl/workbook.xml"/>'
    )
    data = build_zip({"_rels/.rels": relation + "</Relationships>", "xl/workbook.xml": "<a/>"})

    assert refuse(data) == "it is an Excel workbook, not a Word document"


def test_the_strict_edition_of_the_format_is_read():
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"

    assert parse_docx(para("text"), namespace=strict).text == "text"
