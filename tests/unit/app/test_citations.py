import pytest

from kebab.app.citations import cite_chunk, cite_lines, quote_path
from kebab.core.chunks import Place
from tests.fakes.evidence import stored


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
