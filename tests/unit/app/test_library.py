import os

import pytest

from kebab.app.library import inspect_chunk, inspect_doc, list_documents, remove_documents
from kebab.core.documents import Source
from kebab.embed.registry import E5_SMALL
from kebab.errors.catalog import InvalidInput, Locked, NotIndexed, ReadOnly
from kebab.wire.library import (
    ChunkInspection,
    DocInspection,
    InspectChunkRequest,
    InspectDocRequest,
    ListRequest,
    RemoveReport,
    RmRequest,
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


def test_a_filter_that_is_not_utf8_is_refused(three):
    with pytest.raises(InvalidInput):
        _list(three, tag=("caf\udce9",))


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


def test_a_document_is_shown_with_its_passages(three):
    found = _inspected(three, "b.md")

    assert found.file == str(three.notes / "b.md")
    assert found.document.doc_path == "b.md"
    assert [chunk.ordinal for chunk in found.chunks] == list(range(len(found.chunks)))
    assert {chunk.vector for chunk in found.chunks} == {"pending"}
    assert found.chunks[0].citation.line.start == 4
    assert found.parser_version.startswith("markdown")
    assert found.chunker_version


def test_text_from_standard_input_has_no_file(three):
    folder = three.data / "stdin"
    folder.mkdir()
    (folder / "t.md").write_text("kept\n")
    context = three.context()
    with context.open_writer("test") as library:
        library.add_source(Source(name="stdin", root=str(folder), kind="stdin"))
    three.again()

    assert _inspected(three, "t.md").file is None


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


def test_not_found_is_a_reply(three):
    for found in (
        inspect_doc(three.context(), InspectDocRequest(name="no.md")),
        inspect_chunk(three.context(), InspectChunkRequest(name="0" * 32)),
    ):
        assert isinstance(found, NotFound)


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


def test_removing_does_not_wait_for_another_writer(three):
    with three.context().open_writer("test"), pytest.raises(Locked) as caught:
        remove_documents(three.context(), RmRequest(names=["a.md"]))

    assert caught.value.holder_pid == os.getpid()
    assert len(three.documents()) == 3


def test_read_only_refuses_removal_and_allows_reading(three):
    before = three.tree()
    context = three.context(read_only=True)

    with pytest.raises(ReadOnly, match="rm"):
        remove_documents(context, RmRequest(names=["a.md"]))
    assert list_documents(context, ListRequest()).total == 3
    assert isinstance(inspect_doc(context, InspectDocRequest(name="a.md")), DocInspection)
    assert three.tree() == before


@pytest.mark.parametrize(
    "look",
    [
        lambda context: list_documents(context, ListRequest()),
        lambda context: inspect_doc(context, InspectDocRequest(name="a.md")),
        lambda context: inspect_chunk(context, InspectChunkRequest(name="a")),
        lambda context: remove_documents(context, RmRequest(names=["a.md"])),
    ],
    ids=["list", "inspect doc", "inspect chunk", "rm"],
)
def test_listing_needs_a_usable_database(desk, look, request):
    with pytest.raises(NotIndexed) as caught:
        look(desk.context())
    assert caught.value.found is None
    assert not desk.data.exists()

    expected, found = request.getfixturevalue("newer")
    with pytest.raises(NotIndexed) as caught:
        look(desk.context())
    assert (caught.value.expected, caught.value.found) == (expected, found)
