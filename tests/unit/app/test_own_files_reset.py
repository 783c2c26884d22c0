import os
import shutil

import pytest

from kebab.app.context import AppContext
from kebab.app.ingest import ingest_text
from kebab.app.own_files import measure_size, reset
from kebab.config.load import load_settings
from kebab.core.progress import Cancel, ignore_progress
from kebab.errors.catalog import Locked, NotIndexed, ReadOnly
from kebab.wire.health import ResetRequest
from kebab.wire.ingest import IngestTextRequest
from tests.fakes.review_store import make_run

OWN = {
    "kebab.sqlite",
    "kebab.sqlite-wal",
    "kebab.sqlite-shm",
    "lance",
    "reviews.sqlite",
    "reviews.sqlite-wal",
    "reviews.sqlite-shm",
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


def test_a_plan_deletes_nothing(full):
    before = full.tree()
    reset(full.context(), ResetRequest(models=True, dry_run=True))

    assert full.tree() == before


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


def test_foreign_files_stay_in_folders_with_the_names_of_kebab(full):
    others = [full.data / "lance" / "README.md", full.data / "stdin" / "notes.md"]
    for other in others:
        other.write_text("mine")
    report = reset(full.context(), ResetRequest(models=False))

    assert _names(full, report.kept) == {"lance", "stdin"}
    left = [path for path in full.data.rglob("*") if path.is_file()]
    assert sorted(left) == others


def test_a_folder_that_was_there_before_kebab_is_never_deleted(desk):
    clone = desk.data / "lance" / "src"
    clone.mkdir(parents=True)
    (clone / "lib.rs").write_text("mine")
    reset(desk.context(), ResetRequest(models=False))

    assert (clone / "lib.rs").read_text() == "mine"


def test_drafts_of_a_killed_run_are_deleted(full):
    (full.data / "lance" / ".fastembed-mle5small-384-v1.f32.4711").write_text("half")
    (full.data / "stdin" / ".abcd_123").write_text("half")
    reset(full.context(), ResetRequest(models=False))

    assert not full.data.exists()


def test_a_data_folder_that_is_a_link_stays_a_link(full):
    real = full.folder / "real"
    full.data.rename(real)
    full.data.symlink_to(real)
    report = reset(full.context(), ResetRequest(models=False))

    assert len(report.removed) == len(OWN)
    assert list(real.iterdir()) == []
    assert full.data.is_symlink()


def test_a_link_instead_of_an_own_file_is_deleted_and_not_followed(full):
    treasure = full.folder / "treasure"
    (full.data / "stdin").rename(treasure)
    (full.data / "stdin").symlink_to(treasure)
    reset(full.context(), ResetRequest(models=False))

    assert len(list(treasure.iterdir())) == 1
    assert not full.data.exists()


def test_a_dangling_link_instead_of_an_own_file_is_deleted(full):
    shutil.rmtree(full.data / "stdin")
    (full.data / "stdin").symlink_to(full.folder / "missing")
    report = reset(full.context(), ResetRequest(models=False))

    assert "stdin" in _names(full, report.removed)
    assert not full.data.exists()


def test_the_notes_may_surround_the_knowledge_base(desk):
    desk.flags["data_dir"] = str(desk.notes)
    desk.data = desk.notes
    desk.write("a.md", "the cat\n")
    desk.ingest()
    report = reset(desk.context(), ResetRequest(models=False))

    assert _names(desk, report.kept) == {"a.md"}
    assert [path.name for path in desk.notes.iterdir()] == ["a.md"]


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


def test_nothing_to_delete_creates_nothing(desk):
    before = desk.tree()
    report = reset(desk.context(), ResetRequest(models=False))

    assert (report.removed, report.kept, report.bytes_freed) == ([], [], 0)
    assert desk.tree() == before


def test_a_broken_database_can_be_deleted(full):
    (full.data / "kebab.sqlite").write_bytes(b"not a database at all" * 100)
    reset(full.context(), ResetRequest(models=False))

    assert full.ingest().new == 1


def test_nothing_is_deleted_while_another_process_writes(full):
    with full.context().open_writer("test"), pytest.raises(Locked):
        reset(full.context(), ResetRequest(models=False))

    assert full.search("cat").hits


def test_read_only_refuses(full):
    before = full.tree()
    with pytest.raises(ReadOnly, match="reset"):
        reset(full.context(read_only=True), ResetRequest(models=False))

    assert full.tree() == before


def test_a_relative_data_folder_is_below_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    context = AppContext(
        load_settings(environ={}, flags={"data_dir": "kb"}), config_path=tmp_path / "c.toml"
    )

    assert reset(context, ResetRequest(models=False, dry_run=True)).data_dir == str(tmp_path / "kb")


def test_sizes_are_those_of_files_without_following_links(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_bytes(b"12345")
    (tmp_path / "b").write_bytes(b"123")
    (tmp_path / "a" / "link").symlink_to("/")

    assert measure_size(tmp_path / "b") == 3
    assert measure_size(tmp_path / "a") == 5 + len("/")
    assert measure_size(tmp_path / "missing") == 0
