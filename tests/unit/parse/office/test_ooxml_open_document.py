import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse.office.ooxml import OpenDocument
from tests.unit.parse.office.office_files import build_zip

META = """<office:document-meta xmlns:office="o" xmlns:meta="m" xmlns:dc="d"><office:meta>
<dc:title>Log</dc:title><meta:initial-creator>Mira</meta:initial-creator><dc:creator>Jun</dc:creator>
<meta:keyword>sea, lamp</meta:keyword><dc:language>ko-KR</dc:language>
<dc:date>2024-05-06T07:08:09.123</dc:date></office:meta></office:document-meta>"""


def open_parts(**parts):
    data = build_zip(
        {name.replace("__", "/").replace("_", "."): text for name, text in parts.items()}
    )
    return OpenDocument(data)


def test_properties_become_metadata():
    metadata = open_parts(content_xml="<a/>", meta_xml=META).metadata

    assert metadata.title == "Log"
    assert metadata.authors == ("Mira",)
    assert metadata.tags == ("sea", "lamp")
    assert (metadata.lang, metadata.date) == ("ko", "2024-05-06")


def test_an_encrypted_file_is_refused():
    with pytest.raises(ParseFailed) as refusal:
        open_parts(content_xml="x", **{"META-INF__manifest_xml": "<m:encryption-data/>"})
    assert refusal.value.cause == "the file is encrypted"
