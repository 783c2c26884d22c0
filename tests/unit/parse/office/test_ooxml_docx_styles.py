from kebab.parse.office.ooxml import format_number
from tests.unit.parse.office.office_files import DOCX_STYLES as STYLES
from tests.unit.parse.office.office_files import build_paragraph as para
from tests.unit.parse.office.office_files import build_style as style
from tests.unit.parse.office.office_files import parse_docx


def test_headings_follow_styles_outlines_and_local_names():
    document = parse_docx(
        para("Name", style("T"))
        + para("One", style("1"))
        + para("Two", style("Chapter"))
        + para("셋", style("K"))
        + para("Four", '<w:outlineLvl w:val="3"/>')
        + para("Text", style("1") + '<w:outlineLvl w:val="9"/>')
        + para("x" * 301, style("1")),
        styles=STYLES,
    )
    headings = [(block.level, block.label) for block in document.blocks if block.level]

    assert headings == [(1, "Name"), (1, "One"), (1, "Two"), (2, "셋"), (4, "Four")]
    assert document.title == "Name"


def test_tables_of_contents_are_left_out():
    assert parse_docx(para("Intro 3", style("C1")) + para("Intro"), styles=STYLES).text == "Intro"


def test_lists_have_levels_and_numbers():
    item = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="{}"/></w:numPr>'.format
    document = parse_docx(
        para("Open", item(0, 1))
        + para("lock", item(1, 1))
        + para("seal", item(1, 1))
        + para("Close", item(0, 1))
        + para("dry", item(1, 1))
        + para("Bullet", item(0, 2))
        + para("Plain", item(0, 0)),
        numbering="""<w:abstractNum w:abstractNumId="7">
        <w:lvl w:ilvl="0"><w:start w:val="3"/><w:lvlText w:val="%1."/></w:lvl>
        <w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%2)"/></w:lvl>
        </w:abstractNum>
        <w:abstractNum w:abstractNumId="8">
        <w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="·"/></w:lvl></w:abstractNum>
        <w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>
        <w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>""",
    )

    assert document.text == "3. Open\n  a) lock\n  b) seal\n4. Close\n  a) dry\n- Bullet\n\nPlain"
    assert [format_number(one, "upperRoman") for one in (0, 1994, 4000)] == ["0", "MCMXCIV", "4000"]


def test_numbered_headings_have_their_numbers():
    number = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    document = parse_docx(
        para("목적", style("1") + number) + para("정의", style("1") + number),
        styles=STYLES,
        numbering="""<w:abstractNum w:abstractNumId="7">
        <w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="제%1조"/></w:lvl>
        </w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>""",
    )

    assert document.text == "# 제1조 목적\n\n# 제2조 정의"


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


def test_the_strict_edition_of_the_format_is_read():
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"

    assert parse_docx(para("text"), namespace=strict).text == "text"
