from tests.unit.parse.office.office_files import parse_odt as parse


def test_blanks_of_the_markup_are_one_and_others_are_kept():
    document = parse('<text:p>a\n  b<text:s text:c="3"/>c<text:tab/>d<text:line-break/>e</text:p>')

    assert document.text == "a b   c\td\ne"


def test_counts_of_blanks_are_limited():
    assert len(parse('<text:p>a<text:s text:c="999999999999"/>b</text:p>').text) == 202


def test_notes_and_comments_follow_their_paragraph():
    document = parse(
        '<text:p>Boil it.<text:note text:note-class="endnote"><text:note-citation>i'
        "</text:note-citation><text:note-body><text:p>At 62 degrees.</text:p></text:note-body>"
        "</text:note><office:annotation><creator>Mira</creator><text:p>Really?</text:p>"
        "</office:annotation> Then wait.</text:p>"
    )

    assert document.text == (
        "Boil it. Then wait.\n\n> Endnote: At 62 degrees.\n\n> Comment by Mira: Really?"
    )


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
