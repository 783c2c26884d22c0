import pytest

from kebab.core.chunks import DocId, hash_content
from kebab.core.documents import FileStamp, KnownDocument, Source
from kebab.core.files import FileEntry, ScanResult
from kebab.errors.catalog import IoError
from kebab.ingest.job import IngestJob, Scope
from kebab.ingest.plan import (
    FileTask,
    MissingDocument,
    ScopeScan,
    ScopeScanner,
    compare_files,
    find_claimed_paths,
    load_exempt_files,
    match_moved_files,
    store_exempt_files,
)
from kebab.source.walk import FolderScanner

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


@pytest.mark.parametrize("part", ["mtime_ns", "inode"])
def test_the_same_content_under_another_stamp_is_touched(file, part):
    entry = file("a.md")
    before = known(entry, **{part: 12345})

    made = plan([entry], [before])

    assert made.unchanged == 1
    stamp = FileStamp(size=entry.size, mtime_ns=entry.mtime_ns, inode=entry.inode)
    assert made.touched == [(before, stamp)]


def test_documents_below_an_unreadable_path_are_not_missing(file):
    entry = file("a.md")
    inside = known(entry._replace(path="locked/b.md"))
    beside = known(entry._replace(path="locked.md"))
    alone = known(entry._replace(path="alone.md"))

    member = known(entry._replace(path="box!/1.eml!/a.md"))

    made = plan([], [inside, beside, alone, member], unreadable=["locked/", "alone.md", "box"])

    assert [one.known.path for one in made.missing] == ["locked.md"]


def test_a_file_that_two_scopes_found_is_compared_once(file):
    entry = file("a.md")
    scan = ScopeScan(scope=Scope(source=SOURCE), found=ScanResult(entries=[entry]), known={})
    made = compare_files(
        [scan, scan], recipes=RECIPES, last_scans={}, force=False, should_stop=lambda: False
    )

    assert (made.files, len(made.tasks)) == (1, 1)


@pytest.fixture
def arrived(tmp_path):
    def make(path, text, inode=0):
        file = tmp_path / path.replace("/", "_")
        file.write_text(text, encoding="utf-8")
        entry = FileEntry(path, str(file), len(text), 1, inode, "text/markdown")
        return FileTask(kind="new", source=SOURCE, entry=entry)

    return make


def lost(path, text, inode=0, title=""):
    known = KnownDocument(
        doc_id=DocId(f"id of {path}"),
        path=path,
        size=len(text),
        mtime_ns=1,
        inode=inode,
        content_hash=hash_content(text.encode()),
        recipe="",
        title=title,
    )
    return MissingDocument(source=SOURCE, known=known)


def pairs(work):
    return {one.entry.path: one.known.path for one in work if one.kind == "moved"}


def never():
    return False


def test_the_same_inode_goes_before_the_same_name(arrived):
    work = [arrived("x/a.md", "text", inode=9), arrived("y/b.md", "text", inode=7)]
    missing = [lost("a.md", "text", inode=7), lost("b.md", "text", inode=9)]

    match_moved_files(work, missing, {}, never)

    assert pairs(work) == {"x/a.md": "b.md", "y/b.md": "a.md"}


def test_the_same_name_goes_before_the_order_of_paths(arrived):
    work = [arrived("new/b.md", "text", inode=1), arrived("new/a.md", "text", inode=2)]
    missing = [lost("old/a.md", "text", inode=3), lost("old/b.md", "text", inode=4)]

    match_moved_files(work, missing, {}, never)

    assert pairs(work) == {"new/b.md": "old/b.md", "new/a.md": "old/a.md"}
    assert missing == []


@pytest.mark.parametrize(
    ("before", "after", "title", "is_same"),
    [
        ("old/a.md", "new/a.md", "A heading", True),
        ("a.md", "a.markdown", "A heading", False),
        ("kettle.md", "teapot.md", "A heading", False),
        ("a.md", "2024-05-06 a.md", "A heading", False),
        ("2024/05/06/a.md", "2024/05/07/a.md", "A heading", False),
        ("--.md", "b.md", "A heading", False),
        ("Gemfile", "install", "A heading", False),
        ("a.md", "b.md", "", False),
    ],
)
def test_a_moved_file_is_read_when_its_path_may_be_part_of_the_document(
    arrived, before, after, title, is_same
):
    work = [arrived(after, "text")]

    match_moved_files(work, [lost(before, "text", title=title)], {"text/markdown": ""}, never)

    assert [(task.kind, task.is_same_document) for task in work] == [("moved", is_same)]


def test_a_stopped_comparison_claims_nothing(arrived):
    work, missing = [arrived("b.md", "text")], [lost("a.md", "text")]

    match_moved_files(work, missing, {}, lambda: True)

    assert pairs(work) == {}
    assert len(missing) == 1


def folder(path):
    return Source(name=str(path), root=str(path), kind="folder")


def scan_scope(desk, scope, **options):
    job = IngestJob(**options)
    return ScopeScanner(job, desk.library, FolderScanner(), lambda: None).scan(
        scope, desk.library.list_sources()
    )


def test_an_exempt_file_stays_exempt_until_it_is_deleted(desk):
    desk.write("a.md", "one")
    path = desk.write(".b.md", "two")
    source = folder(desk.root)

    scan = scan_scope(desk, Scope(source=source, files=("a.md", ".b.md"), named=True))
    store_exempt_files(desk.library, scan)
    assert load_exempt_files(desk.library, source) == {".b.md"}

    scan = scan_scope(desk, Scope(source=source))
    assert sorted(entry.path for entry in scan.found.entries) == [".b.md", "a.md"]

    path.unlink()
    store_exempt_files(desk.library, scan_scope(desk, Scope(source=source)))
    assert load_exempt_files(desk.library, source) == set()


def test_named_files_whose_folder_is_gone_are_not_deleted(desk):
    desk.write("sub/a.md", "one")
    desk.ingest("sub/a.md")
    (desk.root / "sub/a.md").unlink()
    (desk.root / "sub").rmdir()
    source = Source(name=str(desk.root / "sub"), root=str(desk.root / "sub"), kind="files")

    with pytest.raises(IoError):
        scan_scope(desk, Scope(source=source, files=("a.md",)))

    assert scan_scope(desk, Scope(source=source, files=("a.md",)), force=True).known


def test_other_sources_claim_their_folders_and_their_files(desk):
    desk.write("in/a.md", "one")
    desk.write("in/b.md", "two")
    desk.ingest("in/a.md")
    inner = Source(name=f"{desk.root}/other", root=f"{desk.root}/other", kind="folder")
    desk.library.add_source(inner)

    list_paths, sources = desk.library.load_known_documents, desk.library.list_sources()
    claimed = find_claimed_paths(folder(desk.root), sources, list_paths, private=())

    assert claimed == {f"{desk.root}/other": "other_source", f"{desk.root}/in/a.md": "other_source"}
