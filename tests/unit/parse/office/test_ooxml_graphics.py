from xml.etree.ElementTree import fromstring

from kebab.parse.office.ooxml import Graphic, read_chart, read_diagram, read_paragraphs


def points(*values):
    return "".join(f'<pt idx="{at}"><v>{value}</v></pt>' for at, value in enumerate(values))


def test_a_chart_is_its_title_and_a_table():
    chart = fromstring(
        "<chart><title><p><t>Oil</t></p></title>"
        f"<ser><tx>{points('Litres')}</tx><cat>{points('Spring', 'Summer')}</cat>"
        f"<val>{points(310, 180)}</val></ser>"
        f"<ser><tx><v>Cost</v></tx><val>{points(4)}</val></ser></chart>"
    )

    assert read_chart(chart) == Graphic(
        text="Chart: Oil",
        rows=[["", "Litres", "Cost"], ["Spring", "310", "4"], ["Summer", "180", ""]],
    )


def test_points_far_apart_take_no_room():
    far = '<pt idx="99999999"><v>1</v></pt><pt idx="x"><v>2</v></pt>'
    chart = fromstring(f"<chart><ser><val>{points(1)}{far}</val></ser></chart>")

    assert read_chart(chart).rows == [["", ""], ["", "1"]]


def test_further_rows_of_a_long_chart_are_kept_as_left_out():
    found = read_chart(fromstring(f"<chart><ser><val>{points(*range(202))}</val></ser></chart>"))

    assert (len(found.rows), found.rest.split()) == (201, ["200", "201"])


def test_a_diagram_is_a_list_of_its_points():
    diagram = fromstring(
        "<d><pt><p><t>Trim</t></p></pt><pt/><pt><p><t>the </t><t>lens</t></p></pt></d>"
    )

    assert read_diagram(diagram).items == [(0, "Trim"), (0, "the lens")]


def test_what_is_not_there_has_no_text():
    assert not read_chart(None)
    assert not read_diagram(None)


def test_paragraphs_have_levels_and_line_ends():
    frame = fromstring(
        "<f><p><pPr lvl='2'/><r><t>one</t></r><br/><r><t>two</t></r></p><p/>"
        "<p><pPr lvl='99999999999999999'/><fld><t>three</t></fld></p></f>"
    )

    assert read_paragraphs(frame) == [(2, "one\ntwo"), (0, "three")]
