from pathlib import Path

import pytest

from kebab.core.documents import FileStamp, KnownDocument, Source
from kebab.core.files import FileEntry, ScanResult
from kebab.core.ids import DocId, hash_content
from kebab.ingest.plan import TIMESTAMP_GRANULARITY_NS, ScopeScan, compare_files
from kebab.ingest.scopes import Scope

SOURCE = Source(name="notes", root="/notes", kind="folder")
RECIPES = {"text/markdown": "recipe"}
LATER = 10**19


@pytest.fixture
def file(tmp_path):
    def make(name, text="text"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        stat = path.stat()
        stamp = (stat.st_size, stat.st_mtime_ns, stat.st_ino)
        return FileEntry(name, str(path), *stamp, "text/markdown")

    return make


def known(entry, text="text", **changes):
    values = {
        "doc_id": DocId(f"id of {entry.path}"),
        "path": entry.path,
        "size": entry.size,
        "mtime_ns": entry.mtime_ns,
        "inode": entry.inode,
        "content_hash": hash_content(text.encode()),
        "recipe": "recipe",
    }
    return KnownDocument(**(values | changes))


def plan(entries, remembered, *, since=LATER, force=False, unreadable=()):
    found = ScanResult(entries=entries, unreadable=list(unreadable))
    scan = ScopeScan(
        scope=Scope(source=SOURCE), found=found, known={one.path: one for one in remembered}
    )
    return compare_files(
        [scan],
        recipes=RECIPES,
        last_scans={SOURCE.name: since},
        force=force,
        should_stop=lambda: False,
    )


def test_the_same_stamp_is_unchanged_without_a_look_at_the_file(file):
    entry = file("a.md")
    Path(entry.absolute).unlink()

    made = plan([entry], [known(entry)])

    assert (made.unchanged, made.tasks, made.missing) == (1, [], [])


def test_an_unknown_path_is_new(file):
    (work,) = plan([file("a.md")], []).tasks

    assert work.kind == "new"


@pytest.mark.parametrize("part", ["mtime_ns", "inode"])
def test_the_same_content_under_another_stamp_is_touched(file, part):
    entry = file("a.md")
    before = known(entry, **{part: 12345})

    made = plan([entry], [before])

    assert made.unchanged == 1
    stamp = FileStamp(size=entry.size, mtime_ns=entry.mtime_ns, inode=entry.inode)
    assert made.touched == [(before, stamp)]


def test_other_content_is_updated(file):
    entry = file("a.md", "next")
    before = known(entry, "text", mtime_ns=1)

    (work,) = plan([entry], [before]).tasks

    assert (work.kind, work.known) == ("updated", before)


def test_a_file_written_around_the_last_run_is_hashed(file):
    entry = file("a.md", "next")
    before = known(entry, "text")

    assert plan([entry], [before], since=entry.mtime_ns + TIMESTAMP_GRANULARITY_NS).tasks
    assert not plan([entry], [before], since=entry.mtime_ns + TIMESTAMP_GRANULARITY_NS + 1).tasks


def test_a_racy_file_with_its_old_content_needs_no_write(file):
    entry = file("a.md")

    made = plan([entry], [known(entry)], since=0)

    assert (made.unchanged, made.touched, made.tasks) == (1, [], [])


def test_another_recipe_is_work(file):
    entry = file("a.md")

    assert plan([entry], [known(entry, recipe="older")]).tasks


def test_force_is_work(file):
    entry = file("a.md")

    assert plan([entry], [known(entry)], force=True).tasks


def test_a_known_path_that_was_not_found_is_gone(file):
    entry = file("a.md")

    (missing,) = plan([], [known(entry)]).missing

    assert missing.known.path == "a.md"


def test_documents_below_an_unreadable_path_are_not_missing(file):
    entry = file("a.md")
    inside = known(entry._replace(path="locked/b.md"))
    beside = known(entry._replace(path="locked.md"))
    alone = known(entry._replace(path="alone.md"))

    made = plan([], [inside, beside, alone], unreadable=["locked/", "alone.md"])

    assert [one.known.path for one in made.missing] == ["locked.md"]


def test_a_file_that_two_scopes_found_is_compared_once(file):
    entry = file("a.md")
    scan = ScopeScan(scope=Scope(source=SOURCE), found=ScanResult(entries=[entry]), known={})
    made = compare_files(
        [scan, scan], recipes=RECIPES, last_scans={}, force=False, should_stop=lambda: False
    )

    assert (made.files, len(made.tasks)) == (1, 1)
