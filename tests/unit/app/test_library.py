"""Listing the sources, and removing one with its documents."""

import pytest

from kebab.app.library import (
    build_not_found,
    find_chunk_id,
    find_document_id,
    inspect_chunk,
    inspect_doc,
    list_documents,
    list_lost_sources,
    list_sources,
    remove_documents,
    remove_source,
)
from kebab.core.documents import AmbiguousName
from kebab.embed.registry import E5_SMALL
from kebab.errors.catalog import IoError
from kebab.wire.library import (
    ChunkInspection,
    DocInspection,
    InspectChunkRequest,
    InspectDocRequest,
    ListRequest,
    RemoveReport,
    RmRequest,
    SourceListRequest,
    SourceRemoved,
    SourceRmRequest,
)
from kebab.wire.record import NotFound


@pytest.fixture
def three(desk):
    """Three documents, one of them in Korean."""
    desk.write("b.md", "---\ntags: [ops]\n---\n# Beta\n\nthe cat\n\n## More\n\nthe dog\n")
    desk.write("a.md", "# Alpha\n\nthe bird\n")
    desk.write("deep/c.txt", "각주는 문서의 끝에 있는 설명이다. 본문을 보충한다.\n")
    desk.ingest()
    return desk


def _list(desk, *, limit=100, offset=0, **filters):
    options = ListRequest(**filters, limit=limit, offset=offset)
    return list_documents(desk.context(), options)


def _inspected(desk, name):
    found = inspect_doc(desk.context(), InspectDocRequest(name=name))
    assert isinstance(found, DocInspection)
    return found


def test_documents_are_listed_by_path_with_their_metadata(three):
    found = _list(three)
    alpha, beta, korean = found.documents

    assert [one.doc_path for one in found.documents] == ["a.md", "b.md", "deep/c.txt"]
    assert (alpha.title, alpha.media, alpha.chunk_count) == ("Alpha", "text/markdown", 1)
    assert (beta.tags, beta.freshness) == (["ops"], "fresh")
    assert (korean.lang, korean.media, korean.size) == (
        "ko",
        "text/plain",
        (three.notes / "deep" / "c.txt").stat().st_size,
    )
    assert (found.total, found.has_more) == (3, False)


def test_a_list_has_pages(three):
    parts = [_list(three, limit=2, offset=offset) for offset in (0, 2, 4)]

    assert [[one.doc_path for one in part.documents] for part in parts] == [
        ["a.md", "b.md"],
        ["deep/c.txt"],
        [],
    ]
    assert [(part.total, part.has_more) for part in parts] == [(3, True), (3, False), (3, False)]


def test_filters_hold_for_lists(three):
    assert [one.doc_path for one in _list(three, tag=("OPS",)).documents] == ["b.md"]
    assert _list(three, path_glob="deep/**", media=("markdown",)).total == 0


def test_a_list_reports_the_freshness_of_files(three):
    three.write("a.md", "# Alpha\n\nsomething else\n")
    (three.notes / "b.md").unlink()

    assert [one.freshness for one in _list(three).documents] == ["changed", "gone", "fresh"]


def test_every_change_increments_the_revision(three):
    before = _list(three).corpus_revision
    three.ingest()
    unchanged = _list(three).corpus_revision
    three.write("d.md", "new\n")
    three.ingest()

    assert before == unchanged < _list(three).corpus_revision


def test_warnings_of_a_document_are_shown(three):
    three.write("w.md", "---\ntags: [unclosed\n---\nbody\n")
    three.ingest()

    assert _inspected(three, "w.md").warnings


def test_a_passage_is_shown_with_its_neighbours_and_its_vector(lab):
    lab.write(
        "a.md", "# Cat\n\n" + "\n\n".join(f"## Part {n}\n\n{'sleeps ' * 90}" for n in range(3))
    )
    lab.ingest()
    chunks = _inspected(lab, "a.md").chunks
    ids = [chunk.chunk_id for chunk in chunks]
    shown = [inspect_chunk(lab.context(), InspectChunkRequest(name=one)) for one in ids]
    found = [one for one in shown if isinstance(one, ChunkInspection)]

    assert [one.previous_chunk_id for one in found] == [None, *ids[:-1]]
    assert [one.next_chunk_id for one in found] == [*ids[1:], None]
    assert {one.embedding_version for one in found} == {E5_SMALL.version}
    assert {one.chunk.vector for one in found} == {"committed"}
    assert found[-1].embed_text.startswith("Cat")
    assert found[-1].embed_text.endswith(found[-1].text)
    assert found[0].document.doc_path == "a.md"


def test_a_passage_without_a_vector_names_no_model(three):
    (chunk, *_) = _inspected(three, "a.md").chunks
    found = inspect_chunk(three.context(), InspectChunkRequest(name=chunk.chunk_id))

    assert isinstance(found, ChunkInspection)
    assert (found.embedding_version, found.text) == (None, "# Alpha\n\nthe bird")


def test_removing_leaves_the_file_and_reports_that_it_returns(three):
    report = remove_documents(three.context(), RmRequest(names=["b.md", "b.md", "deep/c.txt"]))

    assert isinstance(report, RemoveReport)
    assert [one.doc_path for one in report.removed] == ["b.md", "deep/c.txt"]
    assert (report.returns, report.chunks >= 2) == (True, True)
    assert (three.notes / "b.md").exists()
    assert list(three.documents()) == ["a.md"]
    assert not three.search("dog").hits
    assert three.again().new == 2
    assert three.search("dog").hits


def test_a_document_whose_file_is_gone_does_not_return(three):
    (three.notes / "b.md").unlink()
    report = remove_documents(three.context(), RmRequest(names=["b.md"]))

    assert isinstance(report, RemoveReport)
    assert not report.returns


def test_nothing_is_removed_when_one_name_is_not_found(three):
    report = remove_documents(three.context(), RmRequest(names=["a.md", "missing.md"]))

    assert isinstance(report, NotFound)
    assert report.name == "missing.md"
    assert len(three.documents()) == 3


def test_vectors_of_removed_documents_find_nothing(lab):
    for name in ("cat", "dog"):
        lab.write(f"{name}.md", f"the {name} sleeps\n")
    lab.ingest()
    remove_documents(lab.context(), RmRequest(names=["cat.md"]))

    assert [hit.doc_path for hit in lab.search("cat", mode="vector").hits] == ["dog.md"]


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


def test_the_message_names_the_kind_of_object():
    missing = build_not_found("x", "passage")
    several = build_not_found("x", "document", AmbiguousName(("xa", "xb")))

    assert missing.error.message == "no such passage: x"
    assert several.error.message == "several documents go by this name"


@pytest.fixture
def two(desk):
    """Two sources: `notes` with two documents, and `old` with one."""
    desk.write("a.md", "# A\n\nthe cat\n")
    desk.write("b.md", "# B\n\nthe dog\n")
    old = desk.folder / "old"
    old.mkdir()
    (old / "c.md").write_text("# C\n\nthe bird\n")
    desk.ingest(desk.notes, old)
    return desk


def remove(desk, name, *, dry_run=False, **options):
    return remove_source(desk.context(**options), SourceRmRequest(name=name, dry_run=dry_run))


def paths(desk):
    return [one.doc_path for one in list_documents(desk.context(), ListRequest()).documents]


def lose(desk):
    (desk.folder / "old" / "c.md").unlink()
    (desk.folder / "old").rmdir()


def test_sources_are_listed_with_their_contents(two):
    notes, old = list_sources(two.context(), SourceListRequest()).sources

    assert (notes.name, notes.folder, notes.kind) == (str(two.notes), str(two.notes), "folder")
    assert (notes.documents, notes.chunks, notes.state) == (2, 2, "present")
    assert (old.documents, old.state) == (1, "present")
    assert notes.last_ingest_at is not None


def test_a_folder_that_is_gone_or_empty_is_listed_so(two):
    (two.folder / "old" / "c.md").unlink()
    assert [one.state for one in list_sources(two.context(), SourceListRequest()).sources] == [
        "present",
        "empty",
    ]
    (two.folder / "old").rmdir()
    assert [one.state for one in list_sources(two.context(), SourceListRequest()).sources] == [
        "present",
        "gone",
    ]
    assert [one.source.name for one in list_lost_sources(two.context())] == [f"{two.folder}/old"]


def test_the_workspace_is_named(two):
    context = two.context(workspace=f"{two.folder}/./notes")

    assert list_sources(context, SourceListRequest()).workspace == str(two.notes)


@pytest.mark.parametrize("name", ["old", "{folder}/old", "{folder}/old/", "OLD"])
def test_a_source_is_removed_by_name_path_or_end_of_path(two, name):
    done = remove(two, name.format(folder=two.folder))

    assert isinstance(done, SourceRemoved)
    assert (done.source.name, done.source.chunks) == (f"{two.folder}/old", 1)
    assert paths(two) == ["a.md", "b.md"]
    assert not two.search("bird", mode="lexical").hits
    assert (two.folder / "old" / "c.md").exists()


def test_a_removed_source_is_not_read_again_until_it_is_named(two):
    remove(two, "old")

    assert two.again().new == 0
    assert two.ingest(two.folder / "old").new == 1


def test_a_deleted_folder_is_no_error_after_its_source_is_removed(two):
    lose(two)
    report = two.again()
    (item,) = report.items
    assert f"kebab source rm {two.folder}/old" in item.error.message
    assert item.error.hint == "kebab source list"
    assert (report.errors, report.unchanged) == (1, 2)

    assert isinstance(remove(two, f"{two.folder}/old"), SourceRemoved)

    assert (two.again().errors, list_lost_sources(two.context())) == (0, [])


def test_an_ingest_of_the_only_folder_names_the_command(desk):
    desk.write("a.md", "the cat\n").unlink()
    desk.write("a.md", "the cat\n")
    desk.ingest()
    (desk.notes / "a.md").unlink()

    for _ in ("empty", "gone"):
        with pytest.raises(IoError) as caught:
            desk.again()
        assert caught.value.format_hint() == "kebab source list"
        assert f"`kebab source rm {desk.notes}`" in caught.value.format_message()
        if desk.notes.exists():
            desk.notes.rmdir()


def test_a_dry_run_changes_nothing(two):
    plan = remove(two, "old", dry_run=True, read_only=True)

    assert isinstance(plan, SourceRemoved)
    assert plan.dry_run
    assert len(paths(two)) == 3


def test_the_workspace_comes_back(two):
    done = remove(two, "notes", workspace=str(two.notes))

    assert isinstance(done, SourceRemoved)
    assert done.returns


def test_an_unknown_source_is_a_reply_with_candidates(two):
    reply = remove(two, "odl")

    assert isinstance(reply, NotFound)
    assert (reply.error.kind, reply.error.candidates) == ("not_found", [f"{two.folder}/old"])


def test_an_end_that_several_folders_have_is_ambiguous(two):
    other = two.folder / "deep" / "old"
    other.mkdir(parents=True)
    (other / "d.md").write_text("the fish\n")
    two.ingest(other)

    reply = remove(two, "old")

    assert isinstance(reply, NotFound)
    assert (reply.error.kind, len(reply.error.candidates)) == ("ambiguous", 2)
    assert len(paths(two)) == 4
