import pytest

from kebab.core.documents import Source
from kebab.core.files import ScanRules
from kebab.errors.catalog import IoError
from kebab.ingest.job import IngestJob
from kebab.ingest.plan import (
    ScopeScanner,
    find_claimed_paths,
    load_exempt_files,
    store_exempt_files,
)
from kebab.ingest.scopes import Scope
from kebab.source.walk import FolderScanner


def folder(path):
    return Source(name=str(path), root=str(path), kind="folder")


def scan_scope(desk, scope, **options):
    job = IngestJob(**options)
    return ScopeScanner(job, desk.library, FolderScanner(), lambda: None).scan(
        scope, desk.library.list_sources()
    )


def test_a_scan_holds_the_files_and_the_known_documents_of_its_scope(desk):
    desk.write("a.md", "one")
    desk.write("sub/b.md", "two")
    desk.ingest()

    scan = scan_scope(desk, Scope(source=folder(desk.root), below="sub"))

    assert [entry.path for entry in scan.found.entries] == ["sub/b.md"]
    assert list(scan.known) == ["sub/b.md"]


def test_named_files_are_looked_up_one_by_one(desk):
    desk.write("a.md", "one")
    desk.write("big.md", "x" * 100)
    desk.write("photo.mp3", "")
    (desk.root / "dir.md").mkdir()
    files = ("a.md", "big.md", "photo.mp3", "dir.md", "missing.md")

    rules = ScanRules(max_file_bytes=50)
    scan = scan_scope(desk, Scope(source=folder(desk.root), files=files, named=True), rules=rules)

    assert [entry.path for entry in scan.found.entries] == ["a.md"]
    reasons = {"over_limit": 1, "unsupported": 1, "special_file": 1}
    assert scan.found.skips.by_reason == reasons


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


def test_a_root_with_nothing_but_hidden_files_counts_as_empty(desk):
    desk.write("a.md", "one").unlink()
    desk.write("b.md", "one")
    desk.ingest()
    (desk.root / "b.md").rename(desk.root / ".DS_Store")

    with pytest.raises(IoError, match="empty or missing"):
        scan_scope(desk, Scope(source=folder(desk.root)))


def test_a_root_with_other_files_left_is_not_empty(desk):
    desk.write("a.md", "one")
    desk.ingest()
    (desk.root / "a.md").rename(desk.root / "a.mp3")

    assert scan_scope(desk, Scope(source=folder(desk.root))).found.entries == []


def test_named_files_whose_folder_is_gone_are_not_deleted(desk):
    desk.write("sub/a.md", "one")
    desk.ingest("sub/a.md")
    (desk.root / "sub/a.md").unlink()
    (desk.root / "sub").rmdir()
    source = Source(name=str(desk.root / "sub"), root=str(desk.root / "sub"), kind="files")

    with pytest.raises(IoError):
        scan_scope(desk, Scope(source=source, files=("a.md",)))

    assert scan_scope(desk, Scope(source=source, files=("a.md",)), force=True).known


def test_private_folders_are_found_behind_links_too(desk, tmp_path):
    desk.write("data/b.md", "two")
    (tmp_path / "link").symlink_to(desk.root / "data")

    scan = scan_scope(desk, Scope(source=folder(desk.root)), private=(str(tmp_path / "link"),))

    assert scan.found.entries == []


def test_other_sources_claim_their_folders_and_their_files(desk):
    desk.write("in/a.md", "one")
    desk.write("in/b.md", "two")
    desk.ingest("in/a.md")
    inner = Source(name=f"{desk.root}/other", root=f"{desk.root}/other", kind="folder")
    desk.library.add_source(inner)

    list_paths, sources = desk.library.load_known_documents, desk.library.list_sources()
    claimed = find_claimed_paths(folder(desk.root), sources, list_paths, private=())

    assert claimed == {f"{desk.root}/other": "other_source", f"{desk.root}/in/a.md": "other_source"}
