from tests.unit.parse.office.office_files import build_cell as cell
from tests.unit.parse.office.office_files import build_paragraph as para
from tests.unit.parse.office.office_files import parse_docx


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


def test_notes_and_comments_follow_their_paragraph():
    document = parse_docx(
        '<w:p><w:r><w:t>Boil it.</w:t><w:footnoteReference w:id="2"/>'
        '<w:commentReference w:id="0"/></w:r></w:p>' + para("Next."),
        footnotes='<w:footnote w:id="0" w:type="separator"><w:p/></w:footnote>'
        f'<w:footnote w:id="2">{para("At 62 degrees.")}</w:footnote>',
        comments=f'<w:comment w:id="0" w:author="Mira">{para("Really?")}</w:comment>',
    )

    assert document.text == (
        "Boil it.\n\n> Footnote: At 62 degrees.\n\n> Comment by Mira: Really?\n\nNext."
    )


def test_text_boxes_are_read_once():
    box = f"<w:txbxContent>{para('In the box')}</w:txbxContent>"
    document = parse_docx(
        "<w:p><w:r><w:t>Before</w:t></w:r><w:r><AlternateContent>"
        f"<Choice><w:drawing>{box}</w:drawing></Choice>"
        f"<Fallback><w:pict>{box}</w:pict></Fallback></AlternateContent></w:r></w:p>"
    )

    assert document.text == "Before\n\nIn the box"
