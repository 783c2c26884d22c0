import pytest

from kebab.core.documents import KnownDocument, Source
from kebab.core.files import FileEntry
from kebab.core.ids import DocId, hash_content
from kebab.ingest.plan import FileTask, MissingDocument, match_moved_files

SOURCE = Source(name="notes", root="/notes", kind="folder")


@pytest.fixture
def arrived(tmp_path):
    def make(path, text, inode=0):
        file = tmp_path / path.replace("/", "_")
        file.write_text(text, encoding="utf-8")
        entry = FileEntry(path, str(file), len(text), 1, inode, "text/markdown")
        return FileTask(kind="new", source=SOURCE, entry=entry)

    return make


def lost(path, text, inode=0):
    known = KnownDocument(
        doc_id=DocId(f"id of {path}"),
        path=path,
        size=len(text),
        mtime_ns=1,
        inode=inode,
        content_hash=hash_content(text.encode()),
        recipe="",
    )
    return MissingDocument(source=SOURCE, known=known)


def pairs(work):
    return {one.entry.path: one.known.path for one in work if one.kind == "moved"}


def never():
    return False


def test_equal_content_at_a_new_path_is_a_move(arrived):
    work, missing = [arrived("b.md", "text")], [lost("a.md", "text"), lost("c.md", "other")]

    match_moved_files(work, missing, never)

    assert pairs(work) == {"b.md": "a.md"}
    assert [one.known.path for one in missing] == ["c.md"]


def test_other_content_of_the_same_size_is_no_move(arrived):
    work, missing = [arrived("b.md", "text")], [lost("a.md", "tixt")]

    match_moved_files(work, missing, never)

    assert pairs(work) == {}
    assert len(missing) == 1


def test_the_same_inode_goes_before_the_same_name(arrived):
    work = [arrived("x/a.md", "text", inode=9), arrived("y/b.md", "text", inode=7)]
    missing = [lost("a.md", "text", inode=7), lost("b.md", "text", inode=9)]

    match_moved_files(work, missing, never)

    assert pairs(work) == {"x/a.md": "b.md", "y/b.md": "a.md"}


def test_the_same_name_goes_before_the_order_of_paths(arrived):
    work = [arrived("new/b.md", "text", inode=1), arrived("new/a.md", "text", inode=2)]
    missing = [lost("old/a.md", "text", inode=3), lost("old/b.md", "text", inode=4)]

    match_moved_files(work, missing, never)

    assert pairs(work) == {"new/b.md": "old/b.md", "new/a.md": "old/a.md"}
    assert missing == []


def test_files_of_a_size_that_is_not_missing_are_not_read(arrived):
    work = [arrived("b.md", "longer text")]

    def refuse():
        raise AssertionError("a file is about to be read")

    match_moved_files(work, [lost("a.md", "text")], refuse)

    assert pairs(work) == {}


def test_a_file_that_vanished_again_is_no_move(arrived):
    work = [arrived("b.md", "text")]
    (one,) = work
    one.entry = one.entry._replace(absolute="/nowhere/at/all.md")

    match_moved_files(work, [lost("a.md", "text")], never)

    assert pairs(work) == {}


def test_a_stopped_comparison_claims_nothing(arrived):
    work, missing = [arrived("b.md", "text")], [lost("a.md", "text")]

    match_moved_files(work, missing, lambda: True)

    assert pairs(work) == {}
    assert len(missing) == 1
