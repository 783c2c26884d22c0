from xml.etree.ElementTree import fromstring

from kebab.parse.pptx import (
    Position,
    list_shapes,
    read_paragraphs,
    read_placeholder_positions,
    read_table,
)
from tests.unit.parse.office.office_files import build_shape as shape


def read_order(shapes, layout=None):
    slide = fromstring(f"<sld><spTree>{shapes}</spTree></sld>")
    return [read_paragraphs(one.element)[0][1] for one in list_shapes(slide, layout or {})]


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


def test_a_placeholder_stands_where_its_layout_says():
    layout = fromstring(f"<l>{shape('', 'body', position=at(8, 1))}</l>")

    assert read_placeholder_positions(layout) == {"body": Position(*at(8, 1))}
    assert read_order(
        shape("body", "body") + shape("box", position=at(2, 1)), {"body": Position(*at(8, 1))}
    ) == ["box", "body"]


def test_shapes_without_a_position_stay_where_they_are():
    assert read_order(shape("one") + shape("two") + shape("three", position=at(0, 0))) == [
        "one",
        "two",
        "three",
    ]


def test_groups_are_read_as_one_shape():
    group = (
        '<grpSp><grpSpPr><xfrm><off x="0" y="1"/></xfrm></grpSpPr>'
        f"{shape('low', position=at(99, 0))}{shape('high', position=at(98, 0))}</grpSp>"
    )

    assert read_order(shape("last", position=at(5, 0)) + group) == ["high", "low", "last"]


def test_the_first_of_two_alternatives_is_read():
    alternatives = (
        f"<AlternateContent><Choice>{shape('new')}</Choice>"
        f"<Fallback>{shape('old')}</Fallback></AlternateContent>"
    )

    assert read_order(alternatives) == ["new"]


def test_paragraphs_have_levels_and_line_ends():
    frame = fromstring(
        "<f><p><pPr lvl='2'/><r><t>one</t></r><br/><r><t>two</t></r></p><p/>"
        "<p><pPr lvl='99999999999999999'/><fld><t>three</t></fld></p></f>"
    )

    assert read_paragraphs(frame) == [(2, "one\ntwo"), (0, "three")]


def test_cells_merged_downwards_stand_in_each_row():
    merged = 'vMerge="1"'
    cell = "<tc {}><txBody><p><r><t>{}</t></r></p></txBody></tc>".format
    table = fromstring(
        f"<tbl><tr>{cell('', 'Spring')}{cell('', '1')}</tr>"
        f"<tr>{cell(merged, '')}{cell('', '2')}</tr></tbl>"
    )

    assert read_table(table) == [["Spring", "1"], ["Spring", "2"]]
