import pytest

from kebab.core.documents import Source
from kebab.errors.catalog import IoError
from kebab.ingest.job import IngestJob
from kebab.ingest.plan import scan_scopes
from kebab.ingest.scopes import EmptyLibrary, Scope
from kebab.source.walk import FolderScanner


def folder(path):
    return Scope(source=Source(name=str(path), root=str(path), kind="folder"))


def scan(scopes, **options):
    return scan_scopes(scopes, IngestJob(**options), EmptyLibrary(), FolderScanner(), lambda: None)


def test_a_named_root_that_cannot_be_read_ends_the_run(tmp_path):
    with pytest.raises(IoError):
        scan([folder(tmp_path), folder(tmp_path / "missing")], paths=("x",))


def test_when_no_root_can_be_read_the_run_ends(tmp_path):
    with pytest.raises(IoError):
        scan([folder(tmp_path / "one"), folder(tmp_path / "two")])


def test_a_source_about_to_be_registered_claims_its_folder_too(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/a.md").write_text("text", encoding="utf-8")

    summary = scan([folder(tmp_path), folder(tmp_path / "sub")])

    assert [len(one.found.entries) for one in summary.scans] == [0, 1]
