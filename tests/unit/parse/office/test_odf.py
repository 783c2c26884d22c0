import zipfile
from xml.etree.ElementTree import fromstring

import pytest

from kebab.core.documents import BlockKind
from kebab.errors.catalog import ParseFailed
from kebab.parse.office.odf import OdpParser, OdtParser
from tests.shape.tree import ROOT
from tests.unit.parse.office.office_files import build_cells as cells
from tests.unit.parse.office.office_files import build_odf, build_zip, parse_odt
from tests.unit.parse.office.office_files import parse_odt as parse

FORMATS = ROOT / "samples" / "formats"
TEXTS = sorted(FORMATS.glob("*.odt"))


def refuse(data, parser=OdtParser):
    with pytest.raises(ParseFailed) as refusal:
        parser().parse(data, "dir/a.odt")
    return refusal.value.cause


def frame(text, kind="", y=0, x=0):
    return (
        f'<drawing:frame presentation:class="{kind}" svg:x="{x}cm" svg:y="{y}cm">'
        f"<drawing:text-box><text:p>{text}</text:p></drawing:text-box></drawing:frame>"
    )


def page(*shapes, style=""):
    return f'<drawing:page drawing:style-name="{style}">{"".join(shapes)}</drawing:page>'


def parse_odp(*pages, styles=""):
    return OdpParser().parse(build_odf("".join(pages), "presentation", styles=styles), "a.odp")


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_samples_have_their_headings_lists_and_tables(path):
    document = OdtParser().parse(path.read_bytes(), path.name)
    kinds = {block.kind for block in document.blocks}

    assert {BlockKind.HEADING, BlockKind.LIST, BlockKind.TABLE, BlockKind.QUOTE} <= kinds
    assert document.title in {"Greenhouse handbook", "Lighthouse log"}
    assert document.metadata.authors in {("Mira Holt", "김하늘"), ("Jun Park", "Aiko Sato")}
    assert "is broken" not in document.text


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_word_of_a_sample_stands_under_its_heading(path):
    """The paragraphs of the file are read here in another way than by the parser."""
    with zipfile.ZipFile(path) as file:
        root = fromstring(file.read("content.xml"))
    document = OdtParser().parse(path.read_bytes(), path.name)
    sections: dict[str, str] = {}
    heading = current = ""
    for block in document.blocks:
        heading = block.label or heading
        sections[heading] = sections.get(heading, "") + document.text[block.start : block.end]
    checked = 0
    for element in root.iter():
        tag = element.tag.rpartition("}")[2]
        style = next((value for key, value in element.items() if key.endswith("}style-name")), "")
        text = "".join(element.itertext())
        if tag == "h" or (tag == "p" and style == "Title"):
            current = text.strip()
        if tag == "h" or (tag == "p" and len(element) == 0 and text != "is broken"):
            checked += 1
            assert all(word in sections[current] for word in text.split())
    assert checked > 10


def test_a_deck_has_titles_notes_tables_and_charts():
    path = FORMATS / "tour-libreoffice.odp"
    document = OdpParser().parse(path.read_bytes(), path.name)
    ends = [place.start for place in document.places[1:]] + [len(document.text)]
    slides = [
        document.text[place.start : end] for place, end in zip(document.places, ends, strict=True)
    ]

    assert [place.number for place in document.places] == [1, 2, 3, 4, 5]
    assert slides[0].endswith("Spring 2024\n\n> Notes: Welcome the guests at the pier.\n\n")
    assert slides[1] == (
        "# Lamp room\n\n- The lamp turns once in nine seconds\n  - driven by a falling weight\n\n"
    )
    assert slides[2] == (
        "# Oil by season\n\n| Season | Litres |\n|---|---|\n| Spring | 310 |\n| Summer | 180 |\n\n"
        "Chart: Oil burnt per season\n\n|  | Litres burnt |\n|---|---|\n| Spring | 310 |\n"
        "| Summer | 180 |\n\nText box above the table\n\nGrouped words\n\n"
    )
    assert "霧の夜は霧笛を鳴らします" in slides[4]


def test_a_slide_without_title_does_not_stand_below_the_one_before():
    document = parse_odp(page(frame("One", "title")), page(), page(frame("text")))

    assert document.text == "# One\n\n# Slide 3\n\ntext"
    assert [place.number for place in document.places] == [1, 3]


def test_indexes_and_deleted_text_are_left_out():
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p>"
        "</text:deletion></text:changed-region></text:tracked-changes>"
        "<text:table-of-content><text:p>Lamp 3</text:p></text:table-of-content>"
        "<text:p>kept</text:p>"
    )

    assert parse_odt(body).text == "kept"


def test_other_and_damaged_files_are_refused():
    assert refuse(build_odf("", "presentation")) == "it is a presentation, not a text"
    assert refuse(build_odf("", "text"), OdpParser) == "it is a text, not a presentation"
    assert refuse(build_zip({"a": "b"})) == "damaged: `content.xml` is missing"
    assert refuse(b"") == "damaged: not a zip archive"
    deep = "<text:section>" * 100_000
    assert refuse(build_odf(deep)) == "`content.xml` is nested more than 200 levels deep"


def test_blanks_of_the_markup_are_one_and_others_are_kept():
    document = parse('<text:p>a\n  b<text:s text:c="3"/>c<text:tab/>d<text:line-break/>e</text:p>')

    assert document.text == "a b   c\td\ne"


def test_links_to_files_are_kept_and_readings_are_left_out():
    document = parse(
        '<text:p><text:a xlink:href="plan.odt">plan</text:a> '
        '<text:a xlink:href="https://example.org">site</text:a> '
        "<text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text>"
        "</text:ruby></text:p>"
    )

    assert document.text == "plan site 漢字"
    assert document.links == ("plan.odt",)


def test_text_boxes_and_descriptions_follow_their_paragraph():
    document = parse(
        "<text:p>Before<drawing:frame><drawing:text-box><text:p>In the box</text:p>"
        "</drawing:text-box></drawing:frame><drawing:frame><drawing:image/>"
        "<svg:desc>The lamp</svg:desc></drawing:frame></text:p>"
    )

    assert document.text == "Before\n\nIn the box\n\n> Picture: The lamp"


BASES = (
    '<style:style style:name="Preformatted_20_Text"/>'
    '<style:style style:name="q" style:display-name="Quotations"/>'
)


def test_code_and_quotes_follow_the_bases_of_styles():
    document = parse(
        '<text:p text:style-name="P1">x = 1</text:p><text:p text:style-name="P1">y</text:p>'
        '<text:p text:style-name="P2">said</text:p><text:p text:style-name="Title">Name</text:p>',
        styles='<style:style style:name="P1" style:parent-style-name="Preformatted_20_Text"/>'
        '<style:style style:name="P2" style:parent-style-name="q"/>',
        extra=BASES,
    )

    assert document.text == "```\nx = 1\ny\n```\n\n> said\n\n# Name"
    assert document.title == "Name"


def test_a_circle_of_styles_ends():
    circle = '<style:style style:name="P1" style:parent-style-name="P1"/>'

    assert parse('<text:p text:style-name="P1">a</text:p>', styles=circle).text == "a"


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


def test_headings_have_levels_and_sections_are_entered():
    document = parse(
        '<text:h text:outline-level="2">Lamp</text:h><text:section><text:p>In it</text:p>'
        "</text:section><text:h>Top</text:h>"
    )

    assert document.text == "## Lamp\n\nIn it\n\n# Top"


def test_numbered_headings_are_headings_and_no_lists():
    document = parse(
        "<text:list><text:list-item><text:list><text:list-item>"
        '<text:h text:outline-level="2">Lamp</text:h></text:list-item></text:list>'
        "</text:list-item></text:list>"
    )

    assert document.text == "## Lamp"


def test_raised_text_and_equations_keep_their_meaning():
    shift = '<style:style style:name="{}"><style:text-properties style:text-position="{} 58%"/>'
    styles = "".join(
        shift.format(name, position) + "</style:style>"
        for name, position in (("up", "super"), ("down", "-33%"), ("none", "0%"))
    )
    span = '<text:span text:style-name="{}">{}</text:span>'
    equation = (
        "<drawing:frame><drawing:object><math><msup><mi>x</mi><mn>2</mn></msup></math>"
        "</drawing:object></drawing:frame>"
    )
    body = (
        f"<text:p>10{span.format('up', '5')} H{span.format('down', '2')}O"
        f"{span.format('none', '7')} is {equation}.</text:p>"
    )
    header = "<style:header><text:p>ACME</text:p></style:header>"
    pages = f"<style:master-page>{header}</style:master-page>" * 2

    text = parse_odt(body, styles=styles, extra=pages).text

    assert text == "10⁵ H₂O7 is $x^{2}$.\n\n> Header: ACME"
