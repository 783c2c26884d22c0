import re
import zipfile

import pytest

from kebab.core.documents import BlockKind
from kebab.errors.catalog import ParseFailed
from kebab.parse.office.docx import DocxParser
from tests.shape.tree import ROOT
from tests.unit.parse.office.office_files import DOCX_STYLES as STYLES
from tests.unit.parse.office.office_files import build_cell as cell
from tests.unit.parse.office.office_files import build_paragraph as para
from tests.unit.parse.office.office_files import build_style as style
from tests.unit.parse.office.office_files import build_table as table
from tests.unit.parse.office.office_files import parse_docx

SAMPLES = sorted((ROOT / "samples" / "formats").glob("*.docx"))


def refuse(data):
    with pytest.raises(ParseFailed) as refusal:
        DocxParser().parse(data, "dir/a.docx")
    return refusal.value.cause


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_samples_have_their_headings_lists_and_tables(path):
    document = DocxParser().parse(path.read_bytes(), path.name)
    kinds = {block.kind for block in document.blocks}

    assert {BlockKind.HEADING, BlockKind.LIST, BlockKind.TABLE, BlockKind.QUOTE} <= kinds
    assert document.title in {"Greenhouse handbook", "Lighthouse log"}
    assert document.metadata.authors in {("Mira Holt", "김하늘"), ("Jun Park", "Aiko Sato")}
    assert any("가" <= char <= "힣" for char in document.text)
    assert any("ぁ" <= char <= "ゖ" for char in document.text)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_every_word_of_a_sample_stands_under_its_heading(path):
    """The paragraphs of the file are read here by patterns, apart from the parser."""
    with zipfile.ZipFile(path) as file:
        body = file.read("word/document.xml").decode()
    document = DocxParser().parse(path.read_bytes(), path.name)
    sections: dict[str, str] = {}
    heading = current = ""
    for block in document.blocks:
        if block.kind is BlockKind.HEADING:
            heading = block.label
        sections[heading] = sections.get(heading, "") + document.text[block.start : block.end]
    for paragraph in re.findall(r"<w:p[ >].*?</w:p>", body, re.DOTALL):
        plain = re.sub(r"<w:del .*?</w:del>", "", paragraph)
        text = "".join(re.findall(r"<w:t(?: [^>]*)?>([^<]*)</w:t>", plain)).strip()
        if re.search(r'<w:pStyle w:val="(?:Heading\d|Title)"', paragraph):
            current = text
        for word in text.split():
            assert word in sections[current]


def test_insertions_are_in_and_deletions_out():
    document = parse_docx(
        "<w:p><w:r><w:t>The horn </w:t></w:r>"
        "<w:del><w:r><w:delText>broke</w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom>"
        "<w:ins><w:r><w:t>was repaired</w:t></w:r></w:ins></w:p>"
        "<w:tbl><w:tr><w:trPr><w:del/></w:trPr>"
        + cell(para("old"))
        + cell(para("row"))
        + "</w:tr><w:tr>"
        + cell(para("new"))
        + cell(para("line"))
        + "</w:tr></w:tbl>"
    )

    assert document.text == "The horn was repaired\n\n| new | line |"


def test_hidden_text_fields_and_readings_are_left_out():
    document = parse_docx(
        "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
        "<w:r><w:rPr><w:vanish w:val='0'/></w:rPr><w:t>seen</w:t></w:r>"
        '<w:r><w:instrText>HYPERLINK "plan.docx"</w:instrText></w:r>'
        "<w:r><w:tab/><w:t>plan</w:t></w:r>"
        "<w:r><w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt>"
        "<w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>"
    )

    assert document.text == "seen\tplan漢字"
    assert document.links == ("plan.docx",)


def test_links_to_files_are_kept_and_others_are_not():
    document = parse_docx(
        '<w:p><w:hyperlink r:id="a"><w:r><w:t>plan</w:t></w:r></w:hyperlink>'
        '<w:hyperlink r:id="b"><w:r><w:t> site</w:t></w:r></w:hyperlink></w:p>',
        relations={
            "a": ("hyperlink", "-> my%20plan.docx"),
            "b": ("hyperlink", "-> https://example.org"),
        },
    )

    assert document.text == "plan site"
    assert document.links == ("my plan.docx",)


def test_text_boxes_are_read_once():
    box = f"<w:txbxContent>{para('In the box')}</w:txbxContent>"
    document = parse_docx(
        "<w:p><w:r><w:t>Before</w:t></w:r><w:r><AlternateContent>"
        f"<Choice><w:drawing>{box}</w:drawing></Choice>"
        f"<Fallback><w:pict>{box}</w:pict></Fallback></AlternateContent></w:r></w:p>"
    )

    assert document.text == "Before\n\nIn the box"


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


M = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def run(text, properties):
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def test_raised_text_and_equations_keep_their_meaning():
    raised, lowered = ('<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>')
    linked = '<w:rStyle w:val="{}"/>'
    styles = (
        f'<w:style w:styleId="Up"><w:name w:val="Up"/><w:rPr>{raised}</w:rPr></w:style>'
        '<w:style w:styleId="Mark"><w:basedOn w:val="Up"/><w:name w:val="footnote reference"/>'
        "</w:style>"
    )
    fraction = "<m:f><m:num><m:r><m:t>mλ</m:t></m:r></m:num><m:den><m:r><m:t>a</m:t></m:r></m:den>"
    body = (
        f"<w:p>{run('10', '')}{run('-', raised)}{run('6', raised)}{run(' H', '')}"
        f"{run('2', lowered)}{run('O', '')}{run('a, b', raised)}</w:p>"
        f'<w:p><m:oMath xmlns:m="{M}">{fraction}</m:f></m:oMath></w:p>'
        f"<w:p>{run('x', '')}{run('2', linked.format('Up'))}{run(' word', '')}"
        f"{run('2', linked.format('Mark'))}</w:p>"
    )

    text = parse_docx(body, styles=styles).text

    assert text == "10⁻⁶ H₂O^(a, b)\n\n$\\frac{mλ}{a}$\n\nx² word^2"


def test_charts_and_headers_follow_and_alternatives_are_read_once():
    box = "<w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent>"
    chart = '<w:drawing><w:chart r:id="c"/></w:drawing>'
    other = "<AlternateContent><Choice>{}</Choice><Choice>{}</Choice><Fallback>{}</Fallback>"
    page = para("Page 3 of 7")
    relations = {
        "c": ("chart", "chart.xml"),
        "h1": ("header", "one.xml"),
        "h2": ("header", "two.xml"),
    }
    body = f"<w:p><w:r>{other.format(box, box, box)}</AlternateContent>{chart}</w:r></w:p>"

    text = parse_docx(
        body,
        relations=relations,
        chart="<title><p><t>Oil</t></p></title><ser><cat><pt idx='0'><v>May</v></pt></cat></ser>",
        one=para("ACME") + page,
        two=para("ACME"),
    ).text

    assert text == "Chart: Oil\n\n| May |  |\n\nbox\n\n> Header: ACME"


def test_an_unreadable_chart_costs_itself():
    body = para("text") + '<w:p><w:r><w:drawing><w:chart r:id="c"/></w:drawing></w:r></w:p>'
    relations = {"c": ("chart", "chart.xml")}

    document = parse_docx(body, relations=relations, chart="<title>")

    assert document.text == "text\n\n> A chart or a diagram is unreadable"
