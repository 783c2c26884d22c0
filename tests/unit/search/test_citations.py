import pytest

from kebab.core.chunks import Place
from kebab.core.files import decode_percent, quote_path
from kebab.search.citations import cite_chunk, cite_lines, cite_section
from kebab.wire.record import CodeCitation, CodeSpan, SectionCitation
from tests.fakes.evidence import stored
from tests.fakes.placed import register_formats


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("notes/a.md", "notes/a.md"),
        ("한글/각주.md", "한글/각주.md"),
        ("hash#and?query%20.md", "hash%23and%3Fquery%2520.md"),
        ("new\nline.md", "new%0Aline.md"),
        ("rtl-\u202egpj.md", "rtl-%E2%80%AEgpj.md"),
        ("[a](b) c.md", "%5Ba%5D%28b%29%20c.md"),
        ("😀.md", "😀.md"),
        ("caf\udce9.md", "caf%E9.md"),
    ],
)
def test_reserved_characters_are_escaped_and_letters_stay(path, uri):
    assert quote_path(path) == uri


def test_a_citation_names_its_lines():
    assert cite_lines("a.md", 12, 34).uri == "a.md#L12-L34"
    assert cite_lines("a.md", 7, 7).uri == "a.md#L7"


def test_a_chunk_with_a_place_is_cited_by_lines_where_its_format_is():
    chunk = stored("text", place=Place(0, 3, of=12))
    assert cite_chunk(chunk).uri == "note-1.md#L1"


@pytest.mark.parametrize(
    ("headings", "uri", "title"),
    [
        (("Guide",), "a%20b.html#Guide", "Guide"),
        (("Note 1", "Set up"), "a%20b.html#Set%20up", "Set up"),
        (("Guide", "한글"), "a%20b.html#Guide/한글", "한글"),
        ((), "a%20b.html#L4-L5", "Note 1"),
    ],
)
def test_a_section_is_cited_by_the_headings_below_the_title(headings, uri, title):
    found = cite_section("a b.html", headings, "Note 1", 4, 5)

    assert isinstance(found, SectionCitation)
    assert (found.uri, found.section.title) == (uri, title)


def test_a_citation_can_be_narrowed_to_lines(monkeypatch):
    register_formats(monkeypatch)
    rows = Place(0, 0, label="Prices", row=7, columns="A:C")
    sheet = stored(
        "a\nb\nc", media="test/sheet", place=rows, start_line=11, end_line=13, path="b.sheets"
    )
    code = stored("a\nb\nc", media="test/code", heading_path=("Box", "add"), path="b.code")

    assert cite_chunk(sheet).uri == "b.sheets#Prices!A7:C9"
    assert cite_chunk(sheet, 12, 12).uri == "b.sheets#Prices!A8:C8"
    assert cite_chunk(code, 2, 3) == CodeCitation(
        path="b.code",
        uri="b.code#L2-L3",
        code=CodeSpan(start=2, end=3, symbol="Box.add", language="test"),
    )


@pytest.mark.parametrize(
    ("text", "decoded"), [("a%20b", "a b"), ("a%ffb", "a%ffb"), ("%ED%95%9C", "한"), ("a", "a")]
)
def test_escapes_are_decoded_as_utf8(text, decoded):
    assert decode_percent(text) == decoded
