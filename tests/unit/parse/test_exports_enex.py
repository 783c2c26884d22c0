import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.exports import EnexParser

NOTE = """<note><title>{title}</title><content><![CDATA[<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE en-note SYSTEM "http://xml.evernote.com/pub/enml2.dtd"><en-note>{content}</en-note>
]]></content><created>20240305T073000Z</created><tag>oil</tag><tag>lamps</tag>
<note-attributes><author>Nora Lind</author></note-attributes>
<resource><data encoding="base64">AAAA</data><mime>image/png</mime>
<resource-attributes><file-name>lamp.png</file-name></resource-attributes></resource></note>"""
EXPORT = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">
<en-export export-date="20240306T000000Z" application="Evernote">{notes}</en-export>"""


def build(*contents):
    notes = (
        NOTE.format(title=f"Note {number}", content=content)
        for number, content in enumerate(contents, 1)
    )
    return EXPORT.format(notes="".join(notes)).encode()


def parse(data):
    return EnexParser().parse(data, "dir/notes.enex")


def test_a_note_is_a_section_with_its_metadata():
    document = parse(build("<h1>Oil</h1><div>등대</div>"))

    assert [(block.level, block.label) for block in document.blocks if block.level] == [
        (1, "Note 1"),
        (2, "Oil"),
    ]
    found = document.metadata
    assert (found.title, found.tags, found.authors) == ("Note 1", ("oil", "lamps"), ("Nora Lind",))
    assert found.date == "2024-03-05T07:30:00Z"


def test_tasks_and_encrypted_texts_are_shown_as_such():
    content = '<div><en-todo checked="true"/>a</div><div><en-todo/>b</div><en-crypt>Zm9v</en-crypt>'

    assert "[x] a\n\n[ ] b\n\nAttachments" in parse(build(content)).text


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "damaged"),
        (b"<en-export></en-export>", "not an Evernote export"),
        (b"<en-export><note></en-export>", "damaged"),
        (b"<!DOCTYPE x [<!ENTITY a 'b'>]><en-export/>", "declares XML entities"),
    ],
)
def test_what_is_no_export_is_refused(data, cause):
    with pytest.raises(ParseFailed, match=cause):
        parse(data)
