import re
import zipfile
from xml.etree.ElementTree import fromstring

import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.office.ooxml import read_paragraphs
from kebab.parse.office.pptx import (
    PptxParser,
    list_shapes,
    read_table,
)
from tests.shape.tree import ROOT
from tests.unit.parse.office.office_files import (
    build_docx,
    build_pptx,
    build_relations,
    build_shape,
)
from tests.unit.parse.office.office_files import build_shape as shape

SAMPLES = sorted((ROOT / "samples" / "formats").glob("*.pptx"))


def parse(*slides, **options):
    return PptxParser().parse(build_pptx(*slides, **options), "dir/a.pptx")


def refuse(data):
    with pytest.raises(ParseFailed) as refusal:
        PptxParser().parse(data, "dir/a.pptx")
    return refusal.value.cause


def cut_places(document):
    """Return the text of each place by its number."""
    ends = [place.start for place in document.places[1:]] + [len(document.text)]
    return {
        place.number: document.text[place.start : end]
        for place, end in zip(document.places, ends, strict=True)
    }


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_every_word_of_a_slide_of_a_sample_is_in_its_place(path):
    """The slides are read here by patterns, apart from the parser."""
    document = PptxParser().parse(path.read_bytes(), path.name)
    places = cut_places(document)
    with zipfile.ZipFile(path) as file:
        slides = [name for name in file.namelist() if re.fullmatch(r"ppt/slides/[^/]+\.xml", name)]
        assert len(slides) == len(places)
        for name in slides:
            number = int(re.sub(r"\D", "", name))
            for text in re.findall(r"<a:t>([^<]*)</a:t>", file.read(name).decode()):
                for word in text.split():
                    assert word in places[number]


def test_a_deck_has_titles_notes_tables_and_charts():
    path = ROOT / "samples" / "formats" / "tour.pptx"
    document = PptxParser().parse(path.read_bytes(), path.name)

    assert document.title == "Lighthouse tour"
    assert document.metadata.authors == ("Aiko Sato",)
    assert cut_places(document)[2] == (
        "# Lamp room\n\n- The lamp turns once in nine seconds\n  - driven by a falling weight\n\n"
    )
    assert cut_places(document)[3] == (
        "# Oil by season\n\nText box above the table\n\nChart: Oil burnt per season\n\n"
        "|  | Litres burnt |\n|---|---|\n| Spring | 310 |\n| Summer | 180 |\n\nGrouped words\n\n"
        "| Season | Litres |\n|---|---|\n| Spring | 310 |\n| Summer | 180 |\n\n"
    )
    assert cut_places(document)[4] == (
        "# 등대 안전\n\n안개가 끼면 경적을 울립니다\n\n> Notes: 관람객에게 귀마개를 나눠 주세요\n\n"
    )
    assert [place.of for place in document.places] == [5] * 5


def test_slides_are_in_the_order_in_which_they_are_shown():
    document = parse(build_shape("first"), build_shape("second"), order=[2, 1])

    assert cut_places(document) == {1: "# Slide 1\n\nsecond\n\n", 2: "# Slide 2\n\nfirst"}


def test_a_footer_stands_once_and_numbers_of_slides_are_left_out():
    slide = build_shape("text") + build_shape("7", "sldNum") + build_shape("ACME", "ftr")

    assert parse(slide, slide).text == ("# Slide 1\n\ntext\n\n> Footer: ACME\n\n# Slide 2\n\ntext")


def test_raised_text_and_equations_of_slides_keep_their_meaning():
    power = "10</t></r><r><rPr baseline='30000'/><t>-6</t></r><r><rPr baseline='-25000'/><t>n"
    equation = "</t></r><oMath><f><num><r><t>a</t></r></num><den><r><t>b</t></r></den></f></oMath>"

    document = parse(build_shape(power), build_shape(f"{equation}<r><t>"))

    assert document.text == "# Slide 1\n\n10⁻⁶ₙ\n\n# Slide 2\n\n$\\frac{a}{b}$"


def test_comments_name_their_authors():
    relations = {"c": ("comments", "../c.xml")}
    parts = {
        "ppt/c.xml": "<cmLst><cm authorId='3'><text>why?</text></cm></cmLst>",
        "ppt/a.xml": "<authors><author id='3' name='Ada'/></authors>",
        "ppt/_rels/presentation.xml.rels": build_relations(
            {"r1": ("slide", "slides/s1.xml"), "a": ("authors", "a.xml")}
        ),
    }

    document = parse(build_shape("text"), relations=relations, parts=parts)

    assert document.text.endswith("> Comment by Ada: why?")


def test_a_deck_of_pictures_alone_has_no_text():
    assert parse("<pic/>").text == ""


def test_other_and_damaged_files_are_refused():
    assert refuse(build_docx("")) == "it is a Word document, not a PowerPoint presentation"
    assert refuse(build_pptx("<a>")).startswith("damaged: the XML of `ppt/slides/s1.xml` is broken")
    deep = "<grpSp>" * 100_000
    assert refuse(build_pptx(deep)) == "`ppt/slides/s1.xml` is nested more than 200 levels deep"


def read_order(shapes):
    slide = fromstring(f"<sld><spTree>{shapes}</spTree></sld>")
    return [read_paragraphs(one.element)[0][1] for one in list_shapes(slide)]


def at(top, left):
    return (top * 360_000, left * 360_000)


def test_shapes_are_read_from_top_to_bottom_and_from_left_to_right():
    shapes = (
        shape("right", position=at(5, 9))
        + shape("bottom", position=at(9, 1))
        + shape("left", position=(at(5, 0)[0] + 100_000, 0))
        + shape("top", position=at(1, 5))
    )

    assert read_order(shapes) == ["top", "left", "right", "bottom"]


def test_the_first_of_two_alternatives_is_read():
    alternatives = (
        f"<AlternateContent><Choice>{shape('new')}</Choice>"
        f"<Fallback>{shape('old')}</Fallback></AlternateContent>"
    )

    assert read_order(alternatives) == ["new"]


def test_cells_merged_downwards_stand_in_each_row():
    merged = 'vMerge="1"'
    cell = "<tc {}><txBody><p><r><t>{}</t></r></p></txBody></tc>".format
    table = fromstring(
        f"<tbl><tr>{cell('', 'Spring')}{cell('', '1')}</tr>"
        f"<tr>{cell(merged, '')}{cell('', '2')}</tr></tbl>"
    )

    assert read_table(table) == [["Spring", "1"], ["Spring", "2"]]
