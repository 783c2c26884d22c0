from tests.unit.parse.office.office_files import parse_odt as parse


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


def test_lists_that_follow_each_other_are_one():
    item = "<text:list><text:list-item><text:p>{}</text:p></text:list-item></text:list>".format
    document = parse(item("one") + item("two") + "<text:p>end</text:p>")

    assert document.text == "- one\n- two\n\nend"


def test_notes_of_items_follow_the_list():
    note = "<text:note><text:note-body><text:p>why</text:p></text:note-body></text:note>"
    document = parse(
        f"<text:list><text:list-item><text:p>one{note}</text:p></text:list-item>"
        "<text:list-item><text:p>two</text:p></text:list-item></text:list>"
    )

    assert document.text == "- one\n- two\n\n> Note: why"
