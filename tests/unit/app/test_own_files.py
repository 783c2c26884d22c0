import errno
import os
from pathlib import Path

import pytest

from kebab.app.ingest import ingest_text
from kebab.app.own_files import init, list_own_files, reset
from kebab.config.load import load_settings
from kebab.core.progress import Cancel, ignore_progress
from kebab.errors.catalog import IoError, NotIndexed
from kebab.wire.health import InitRequest, ResetRequest
from kebab.wire.ingest import IngestTextRequest
from tests.fakes.review_store import make_run


def test_the_list_of_sources_is_the_first_own_file_and_the_lock_the_last(desk):
    files = list_own_files(desk.context())

    assert [path.name for path in files] == [
        "sources.json",
        "pictures.jsonl",
        "kebab.sqlite",
        "kebab.sqlite-wal",
        "kebab.sqlite-shm",
        "reviews.sqlite",
        "reviews.sqlite-wal",
        "reviews.sqlite-shm",
        "lance",
        "stdin",
        "import",
        "objects",
        "writer.lock",
    ]
    assert {path.parent for path in files} == {desk.data}


def test_a_full_disk_leaves_the_settings_unchanged(desk, monkeypatch):
    def refuse(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    desk.config.write_text("offline = true\n")
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(IoError, match="No space left"):
        init(desk.context(), InitRequest(workspace=None, force=True))

    assert desk.config.read_text() == "offline = true\n"
    assert [path for path in desk.config.parent.iterdir() if path.name.startswith(".")] == []


def test_a_link_to_the_settings_and_its_permissions_stay(desk):
    kept = desk.folder / "kept.toml"
    kept.write_text("")
    kept.chmod(0o600)
    desk.config.symlink_to(kept)

    init(desk.context(), InitRequest(workspace=None, force=True))

    assert desk.config.is_symlink()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert load_settings(kept, environ={}) == load_settings(environ={})


@pytest.mark.parametrize("name", ["missing", "file.md", "caf\udce9", "a\0b"])
def test_an_unusable_workspace_is_refused(desk, name):
    (desk.folder / "file.md").write_text("")
    (desk.folder / "caf\udce9").mkdir()

    with pytest.raises(IoError):
        init(desk.context(), InitRequest(workspace=str(desk.folder / name), force=False))
    assert not desk.config.exists()
    assert not desk.data.exists()


def test_a_replaced_file_is_kept_beside_the_new_one(desk):
    copies = []
    for text in ("offline = true\n", 'data_dir = "/mine"\n', "not toml at all"):
        desk.config.write_text(text)
        desk.config.chmod(0o600)
        report = init(desk.context(), InitRequest(force=True))
        assert report.backup_path is not None
        copies.append((report.backup_path, text))

    assert [name for name, _ in copies] == [
        f"{desk.config}{end}" for end in (".bak", ".bak.1", ".bak.2")
    ]
    for name, text in copies:
        assert (Path(name).read_text(), Path(name).stat().st_mode & 0o777) == (text, 0o600)


OWN = {
    "kebab.sqlite",
    "kebab.sqlite-wal",
    "kebab.sqlite-shm",
    "lance",
    "reviews.sqlite",
    "reviews.sqlite-wal",
    "reviews.sqlite-shm",
    "sources.json",
    "stdin",
    "writer.lock",
}


@pytest.fixture
def full(lab):
    """A desk with everything that kebab makes."""
    lab.write("a.md", "the cat sleeps\n")
    lab.ingest()
    text = IngestTextRequest(text=b"the dog runs", title="Dog")
    with lab.context().open_review_store() as store:
        store.add_run(make_run())
    ingest_text(lab.context(), text, ignore_progress, Cancel())
    assert {path.name for path in lab.data.iterdir()} == OWN
    return lab


def _names(desk, paths):
    return {os.path.relpath(path, desk.data) for path in paths}


def test_everything_that_kebab_created_is_deleted_and_other_files_stay(full):
    planned = reset(full.context(), ResetRequest(models=False, dry_run=True))
    report = reset(full.context(), ResetRequest(models=False))

    assert _names(full, report.removed) == OWN
    assert (report.kept, report.models_removed) == ([], False)
    assert report.bytes_freed > 10_000
    assert planned.removed == report.removed
    assert not full.data.exists()
    assert (full.notes / "a.md").exists()
    with pytest.raises(NotIndexed):
        full.search("cat")
    assert full.ingest().new == 1


def test_foreign_files_stay_with_their_folder(full):
    (full.data / "diary.txt").write_text("mine")
    (full.data / "photos").mkdir()
    (full.data / "photos" / "cat.jpg").write_text("meow")
    (full.data / "kebab.sqlite.backup").write_text("a copy")
    report = reset(full.context(), ResetRequest(models=False))

    assert _names(full, report.kept) == {"diary.txt", "photos", "kebab.sqlite.backup"}
    assert {path.name for path in full.data.iterdir()} == {
        "diary.txt",
        "photos",
        "kebab.sqlite.backup",
    }
    assert (full.data / "photos" / "cat.jpg").read_text() == "meow"


def test_a_folder_that_was_there_before_kebab_is_never_deleted(desk):
    clone = desk.data / "lance" / "src"
    clone.mkdir(parents=True)
    (clone / "lib.rs").write_text("mine")
    reset(desk.context(), ResetRequest(models=False))

    assert (clone / "lib.rs").read_text() == "mine"


def test_a_data_folder_that_is_a_link_stays_a_link(full):
    real = full.folder / "real"
    full.data.rename(real)
    full.data.symlink_to(real)
    report = reset(full.context(), ResetRequest(models=False))

    assert len(report.removed) == len(OWN)
    assert list(real.iterdir()) == []
    assert full.data.is_symlink()


def test_weights_are_deleted_only_on_request(desk, own_models):
    (own_models / "my-own").mkdir()
    desk.write("a.md", "the cat\n")
    desk.ingest()
    kept = reset(desk.context(), ResetRequest(models=False))
    assert len(list(own_models.iterdir())) == 3

    gone = reset(desk.context(), ResetRequest(models=True))

    assert (kept.models_removed, gone.models_removed) == (False, True)
    assert len(gone.removed) == 2
    assert [path.name for path in own_models.iterdir()] == ["my-own"]
