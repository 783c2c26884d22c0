"""Listing the sources, and removing one with its documents."""

import pytest

from kebab.app.library import (
    find_document_id,
    list_documents,
    list_lost_sources,
    list_sources,
    remove_documents,
    remove_source,
)
from kebab.wire.library import (
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


def test_two_sources_may_hold_one_path(desk):
    for source in ("one", "two"):
        (desk.folder / source).mkdir()
        (desk.folder / source / "a.md").write_text(f"the {source}\n")
    desk.ingest(desk.folder / "one", desk.folder / "two")
    found = _document(desk, "a.md")

    assert isinstance(found, NotFound)
    assert (found.error.kind, len(found.error.candidates)) == ("ambiguous", 2)
    assert isinstance(_document(desk, str(desk.folder / "two" / "a.md")), str)


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


def get(desk, name):
    sources = list_sources(desk.context(), SourceListRequest()).sources
    return [getattr(one, name) for one in sources]


def test_an_ingest_that_changes_nothing_is_the_last_one(two):
    before = get(two, "last_ingest_at")
    two.again()
    assert min(get(two, "last_ingest_at")) > max(before)


def test_a_folder_that_is_gone_or_empty_is_listed_so(two):
    (two.folder / "old" / "c.md").unlink()
    assert get(two, "state") == ["present", "empty"]
    (two.folder / "old").rmdir()
    assert get(two, "state") == ["present", "gone"]
    assert [one.source.name for one in list_lost_sources(two.context())] == [f"{two.folder}/old"]


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


def test_an_end_that_several_folders_have_is_ambiguous(two):
    other = two.folder / "deep" / "old"
    other.mkdir(parents=True)
    (other / "d.md").write_text("the fish\n")
    two.ingest(other)

    reply = remove(two, "old")

    assert isinstance(reply, NotFound)
    assert (reply.error.kind, len(reply.error.candidates)) == ("ambiguous", 2)
    assert len(paths(two)) == 4
