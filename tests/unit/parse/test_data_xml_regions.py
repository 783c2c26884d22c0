import pytest

from kebab.parse.data import scan_xml

BODY = "<p>x</p>\n" * 8


def list_regions(text):
    return [(region.label, region.first, region.last) for region in scan_xml(text).regions]


def test_a_long_element_is_a_region_below_the_root():
    text = f'<r>\n<a id="1" name="n">\n{BODY}</a>\n<b/>\n</r>\n'
    assert list_regions(text) == [("a n", 1, 11)]


def test_the_declared_encoding_does_not_matter_for_decoded_text():
    text = f'<?xml version="1.0" encoding="EUC-KR"?>\n<r><가>\n{BODY}</가></r>'
    assert list_regions(text) == [("가", 1, 11)]


@pytest.mark.parametrize("text", ["<a>\n</b>", "", "plain", "<a>" * 10])
def test_a_broken_file_is_text(text):
    found = scan_xml(text)
    assert found.regions == ()
    assert "read as text" in found.warnings[0]


def test_entities_are_refused():
    bomb = '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><a>&d;</a>'
    assert scan_xml(bomb).warnings == ("the file declares entities: read as text",)
