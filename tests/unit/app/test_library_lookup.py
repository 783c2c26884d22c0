import pytest

from kebab.app.library import build_not_found, find_chunk_id, find_document_id
from kebab.core.documents import AmbiguousName
from kebab.errors.catalog import NotIndexed
from kebab.wire.record import NotFound


@pytest.fixture
def full(desk):
    """A desk of so many documents that some ids begin alike."""
    for number in range(20):
        desk.write(f"deep/n{number}.md", f"# Note {number}\n\nabout {number}\n")
    desk.ingest()
    return desk


def _document(desk, name):
    with desk.context().open_catalogue() as catalogue:
        return find_document_id(catalogue, name)


def _chunk(desk, name):
    with desk.context().open_catalogue() as catalogue:
        return find_chunk_id(catalogue, name)


def _shared(ids):
    """Return a first character that several ids have."""
    heads = [one[0] for one in ids]
    return next(head for head in heads if heads.count(head) > 1)


def test_a_document_is_found_by_id_prefix_and_path(full, monkeypatch):
    wanted = full.documents()["deep/n7.md"].doc_id
    monkeypatch.chdir(full.notes / "deep")
    names = [
        wanted,
        wanted.upper(),
        wanted[:12],
        "deep/n7.md",
        str(full.notes / "deep" / "n7.md"),
        "n7.md",
        "../deep/n7.md",
        "./n7.md",
    ]

    assert [_document(full, name) for name in names] == [wanted] * len(names)


def test_a_path_is_found_through_a_link_and_below_home(full, monkeypatch):
    wanted = full.documents()["deep/n7.md"].doc_id
    (full.folder / "link").symlink_to(full.notes)
    monkeypatch.setenv("HOME", str(full.folder))

    assert _document(full, str(full.folder / "link" / "deep" / "n7.md")) == wanted
    assert _document(full, "~/notes/deep/n7.md") == wanted


def test_documents_with_a_common_prefix_are_candidates(full):
    ids = [one.doc_id for one in full.documents().values()]
    head = _shared(ids)
    found = _document(full, head)

    assert isinstance(found, NotFound)
    assert found.error.kind == "ambiguous"
    assert found.error.candidates == sorted(one for one in ids if one.startswith(head))


def test_two_sources_may_hold_one_path(desk):
    for source in ("one", "two"):
        (desk.folder / source).mkdir()
        (desk.folder / source / "a.md").write_text(f"the {source}\n")
    desk.ingest(desk.folder / "one", desk.folder / "two")
    found = _document(desk, "a.md")

    assert isinstance(found, NotFound)
    assert (found.error.kind, len(found.error.candidates)) == ("ambiguous", 2)
    assert isinstance(_document(desk, str(desk.folder / "two" / "a.md")), str)


@pytest.mark.parametrize(
    "name", ["nothing.md", "", "g123", "f" * 64, "a\0b", "caf\udce9", "%", "~x"]
)
def test_not_found_is_a_printable_reply(full, name):
    for found in (_document(full, name), _chunk(full, name)):
        assert isinstance(found, NotFound)
        assert (found.found, found.error.kind, found.error.retryable) == (False, "not_found", False)
        assert found.name == name.replace("\udce9", "\\xe9")


def test_a_passage_is_found_by_id_and_prefix(full):
    hits = full.search("about", limit=20).hits
    ids = [hit.chunk_id for hit in hits]
    head = _shared(ids)
    found = _chunk(full, head)

    assert (
        _chunk(full, ids[0]) == _chunk(full, ids[0].upper()) == _chunk(full, ids[0][:12]) == ids[0]
    )
    assert isinstance(found, NotFound)
    assert found.error.candidates == sorted(one for one in ids if one.startswith(head))


def test_lookups_need_a_knowledge_base(desk):
    with pytest.raises(NotIndexed):
        _document(desk, "a.md")


def test_the_message_names_the_kind_of_object():
    missing = build_not_found("x", "passage")
    several = build_not_found("x", "document", AmbiguousName(("xa", "xb")))

    assert missing.error.message == "no such passage: x"
    assert several.error.message == "several documents go by this name"
