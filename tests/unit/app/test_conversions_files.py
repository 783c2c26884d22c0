from kebab.app.conversions import check_freshness
from kebab.core.documents import StoredDocument
from kebab.core.ids import DocId
from kebab.search.citations import build_file_path


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
