"""Listing the sources, and removing one with its documents."""

import pytest

from kebab.app.library import list_documents, list_lost_sources, list_sources, remove_source
from kebab.errors.catalog import IoError, Locked, NotIndexed, ReadOnly
from kebab.wire.library import ListRequest, SourceListRequest, SourceRemoved, SourceRmRequest
from kebab.wire.record import NotFound


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


def test_read_only_and_a_writer_refuse(two):
    with pytest.raises(ReadOnly):
        remove(two, "old", read_only=True)
    with two.context().acquire_writer_lock(), pytest.raises(Locked):
        remove(two, "old")


def test_without_an_index_there_are_no_sources(desk):
    with pytest.raises(NotIndexed):
        list_sources(desk.context(), SourceListRequest())
