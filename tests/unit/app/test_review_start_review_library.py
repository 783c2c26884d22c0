import pytest

from kebab.app import review_start
from kebab.app.review_start import ReviewLibrary


def test_without_an_index_nothing_is_known(desk):
    library = ReviewLibrary(desk.context())

    assert library.find_document(str(desk.notes / "a.md")) is None
    assert library.find_root(str(desk.notes)) is None
    with library.open() as catalogue:
        assert catalogue is None


@pytest.mark.parametrize("few", [0, 20])
def test_a_document_is_found_by_its_path_on_disk(lab, monkeypatch, few):
    monkeypatch.setattr(review_start, "_FEW_FILES", few)
    path = lab.write("sub/a.md", "the cat sleeps\n")
    lab.ingest()
    library = ReviewLibrary(lab.context())

    document = library.find_document(str(path))
    assert document is not None
    assert document.path == "sub/a.md"
    assert library.find_document(str(lab.notes / "b.md")) is None


def test_the_root_is_the_nearest_source(lab):
    lab.write("sub/a.md", "the cat sleeps\n")
    lab.ingest()
    library = ReviewLibrary(lab.context())

    assert library.find_root(str(lab.notes / "sub" / "a.md")) == str(lab.notes)
    assert library.find_root(str(lab.notes)) == str(lab.notes)
    assert library.find_root(str(lab.folder)) is None


def test_a_damaged_index_knows_nothing(desk):
    desk.data.mkdir()
    desk.context().database.write_bytes(b"no database at all, but long enough to look" * 99)
    library = ReviewLibrary(desk.context())

    assert library.find_document(str(desk.notes / "a.md")) is None
    assert library.find_root(str(desk.notes)) is None
