from tests.unit.parse.office.office_files import parse_odt as parse

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


def test_lists_are_numbered_as_their_style_says():
    style = (
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1" '
        'style:num-format="A" style:num-suffix=")"/><text:list-level-style-bullet text:level="2"/>'
        "</text:list-style>"
    )
    item = "<text:list-item><text:p>{}</text:p>{}</text:list-item>".format
    inner = f"<text:list>{item('lock', '')}</text:list>"
    document = parse(
        f'<text:list text:style-name="L">{item("Open", inner)}{item("Close", "")}</text:list>',
        styles=style,
    )

    assert document.text == "A) Open\n  - lock\nB) Close"
