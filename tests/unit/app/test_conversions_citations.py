import pytest

from kebab.app.conversions import build_file_path, check_freshness, cite_lines, quote_path
from kebab.core.documents import StoredDocument
from kebab.core.ids import DocId


def _document(source, root, path, size=0, mtime_ns=0):
    return StoredDocument(
        doc_id=DocId("d"),
        source=source,
        root=root,
        path=path,
        title="",
        media="text/markdown",
        lang=None,
        tags=(),
        size=size,
        mtime_ns=mtime_ns,
        indexed_at=0.0,
        chunks=1,
        warnings=(),
    )


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


def test_freshness_changes_with_the_file(tmp_path):
    file = tmp_path / "a.md"
    file.write_text("x")
    seen = file.stat()

    def now():
        return check_freshness(
            _document("work", str(tmp_path), "a.md", seen.st_size, seen.st_mtime_ns)
        )

    assert now() == "fresh"
    file.write_text("longer")
    assert now() == "changed"
    file.unlink()
    assert now() == "gone"


def test_text_from_standard_input_has_no_path_of_a_file():
    own = _document("work", "/home/me/notes", "a/b.md")

    assert build_file_path(own) == "/home/me/notes/a/b.md"
    assert build_file_path(_document("stdin", "/data/stdin", "call.md")) is None
