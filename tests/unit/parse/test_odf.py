import re
import zipfile
from xml.etree.ElementTree import fromstring

import pytest

from kebab.core.documents import BlockKind
from kebab.errors.catalog import ParseFailed
from kebab.parse.odf import OdpParser, OdtParser
from tests.shape.tree import ROOT
from tests.unit.parse.office.office_files import build_odf, build_zip, parse_odt

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


def test_a_deck_has_titles_notes_tables_charts_and_hidden_slides():
    path = FORMATS / "tour-libreoffice.odp"
    document = OdpParser().parse(path.read_bytes(), path.name)
    ends = [place.start for place in document.places[1:]] + [len(document.text)]
    slides = [
        document.text[place.start : end] for place, end in zip(document.places, ends, strict=True)
    ]

    assert [place.number for place in document.places] == [1, 2, 3, 4, 5]
    assert document.warnings == ("slide 5 is hidden",)
    assert slides[0].endswith("Spring 2024\n\n> Notes: Welcome the guests at the pier.\n\n")
    assert slides[1] == (
        "# Lamp room\n\n- The lamp turns once in nine seconds\n  - driven by a falling weight\n\n"
    )
    assert slides[2] == (
        "# Oil by season\n\nText box above the table\n\nChart: Oil burnt per season\n\n"
        "|  | Litres burnt |\n|---|---|\n| Spring | 310 |\n| Summer | 180 |\n\nGrouped words\n\n"
        "| Season | Litres |\n|---|---|\n| Spring | 310 |\n| Summer | 180 |\n\n"
    )
    assert "霧の夜は霧笛を鳴らします" in slides[4]


def test_slides_are_read_from_top_to_bottom_without_footers():
    document = parse_odp(
        page(
            frame("low", y=9),
            frame("right", y=3, x=8),
            frame("left", y=3.4, x=1),
            frame("Title", "title"),
            frame("3", "page-number"),
        )
    )

    assert document.text == "# Title\n\nleft\n\nright\n\nlow"


def test_a_slide_without_title_does_not_stand_below_the_one_before():
    document = parse_odp(page(frame("One", "title")), page(), page(frame("text")))

    assert document.text == "# One\n\n# Slide 3\n\ntext"
    assert [place.number for place in document.places] == [1, 3]


def test_hidden_slides_are_marked():
    style = (
        '<style:style style:name="h">'
        '<style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    )

    assert parse_odp(page(frame("a"), style="h"), styles=style).text == (
        "# Slide 1\n\n(hidden slide)\n\na"
    )


def test_one_xml_file_is_read_with_its_properties():
    spaces = 'xmlns:office="o" xmlns:text="t" xmlns:dc="d"'
    document = OdtParser().parse(
        f"<?xml version='1.0'?><office:document {spaces}><office:meta><dc:title>Log</dc:title>"
        "</office:meta><office:body><office:text><text:p>등대</text:p></office:text></office:body>"
        "</office:document>".encode(),
        "a.fodt",
    )

    assert (document.title, document.text) == ("Log", "등대")


def test_indexes_and_deleted_text_are_left_out():
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p>"
        "</text:deletion></text:changed-region></text:tracked-changes>"
        "<text:table-of-content><text:p>Lamp 3</text:p></text:table-of-content>"
        "<text:p>kept</text:p>"
    )

    assert parse_odt(body).text == "kept"


def test_files_of_pictures_alone_are_refused():
    picture = "<text:p><drawing:frame><drawing:image/></drawing:frame></text:p>"

    assert refuse(build_odf(picture)) == "only images, no text"


def test_other_and_damaged_files_are_refused():
    assert refuse(build_odf("", "presentation")) == "it is a presentation, not a text"
    assert refuse(build_odf("", "text"), OdpParser) == "it is a text, not a presentation"
    assert refuse(build_zip({"a": "b"})) == "damaged: `content.xml` is missing"
    assert refuse(b"") == "damaged: not a zip archive"
    assert re.match("damaged: the XML of `the file` is broken", refuse(b"<office"))
    deep = "<text:section>" * 100_000
    assert refuse(build_odf(deep)) == "`content.xml` is nested more than 200 levels deep"
