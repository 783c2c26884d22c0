from dataclasses import replace

from kebab.app.review import find_similar
from kebab.core.chunks import make_doc_id
from tests.fakes.review import make_document

PARAGRAPH = (
    "The backup runs every night at two and copies the notes, the pictures and the settings to"
    " the second disk. It keeps the last seven copies and deletes the older ones."
)


def _source(desk, name, *, indexed=True):
    source = make_document(PARAGRAPH, path=name).source
    doc_id = make_doc_id(str(desk.notes), name) if indexed else None
    return replace(source, file=desk.notes / name, root=desk.notes, doc_id=doc_id)


def test_another_note_of_the_index_is_found_and_the_own_one_is_not(desk):
    desk.write("a.md", f"# A\n\n{PARAGRAPH}\n")
    desk.write("b.md", f"# B\n\nIt is so: {PARAGRAPH}\n")
    desk.ingest()

    found = find_similar(desk.context(), _source(desk, "a.md"), PARAGRAPH)

    assert found is not None
    assert (found.chunk.path, found.similarity) == ("b.md", 1.0)
    source = _source(desk, "a.md", indexed=False)
    assert find_similar(desk.context(), source, PARAGRAPH) == found
    (desk.notes / "b.md").unlink()
    desk.ingest()
    assert find_similar(desk.context(), _source(desk, "a.md"), PARAGRAPH) is None


def test_without_an_index_nothing_is_similar(desk):
    assert find_similar(desk.context(), _source(desk, "a.md"), PARAGRAPH) is None
