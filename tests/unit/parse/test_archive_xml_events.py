import pytest

from kebab.errors.catalog import ParseFailed
from kebab.parse import archive
from kebab.parse.archive import MAX_DEPTH, read_children, read_tree

LAUGHS = """<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>"""
EXTERNAL = """<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>"""
PARAMETER = """<!DOCTYPE x [<!ENTITY % e SYSTEM "http://localhost/x.dtd"> %e;]><x/>"""


def get_cause(data):
    with pytest.raises(ParseFailed) as refusal:
        read_tree(data, "a.xml")
    return refusal.value.cause


@pytest.mark.parametrize("text", [LAUGHS, EXTERNAL, PARAMETER])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
def test_declared_entities_are_refused_in_every_encoding(text, encoding):
    assert get_cause(text.encode(encoding)) == "`a.xml` declares XML entities"


@pytest.mark.parametrize(
    "data",
    [
        b"<!DOCTYPE ncx PUBLIC '-//NISO//DTD ncx 2005-1//EN' 'http://localhost/ncx.dtd'><ncx/>",
        b"<?xml version='1.0'?><!-- <!ENTITY --><x><![CDATA[<!ENTITY]]></x>",
    ],
)
def test_a_document_type_without_entities_is_read(data):
    assert read_tree(data, "a.xml").tag in {"ncx", "html", "x"}


@pytest.mark.parametrize(
    "data", [b"", b"  ", b"<a>", b"<a></b>", b"text", b"<a>&nbsp;</a>", b"<a/>x", b"<a>\xff</a>"]
)
def test_broken_xml_is_refused(data):
    assert get_cause(data).startswith("damaged: the XML of `a.xml` is broken: ")


def test_deep_nesting_is_refused():
    levels = MAX_DEPTH + 1

    assert (
        get_cause(b"<a>" * levels + b"</a>" * levels)
        == "`a.xml` is nested more than 200 levels deep"
    )
    assert get_cause(b"<a>" * 100_000) == "`a.xml` is nested more than 200 levels deep"


def test_the_elements_of_a_tree_are_limited(monkeypatch):
    monkeypatch.setattr(archive, "MAX_TREE_ELEMENTS", 10)

    assert get_cause(b"<a>" + b"<b/>" * 20 + b"</a>") == "`a.xml` has more than 10 elements"


def test_children_are_read_one_by_one_from_their_containers():
    data = b"<d><b><p>1</p><s><x/><b><p>2</p></b></s><t><b><p>3</p></b></t></b></d>"
    found = [
        (element.tag, "".join(element.itertext()))
        for element in read_children(data, "a.xml", {"d", "b", "s"})
    ]

    assert found == [("p", "1"), ("x", ""), ("p", "2"), ("t", "3")]
