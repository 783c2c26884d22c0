import os
import shutil

import msgspec
import pytest

from kebab.errors.catalog import InvalidInput, IoError, NotIndexed, StoreCorrupt
from tests.fakes.archives import (
    add_member,
    describe,
    edit_index,
    fill,
    flip,
    load,
    rewrite,
    write_archive,
)
from tests.fakes.review_store import make_run


def test_a_round_trip_keeps_everything_and_embeds_nothing(lab, make_desk, tmp_path):
    fill(lab)
    with lab.context().open_review_store() as reviews:
        reviews.add_run(make_run(files=(str(lab.notes / "a.md"),)))
    before = describe(lab)
    path, report = write_archive(lab)
    assert path.stat().st_mode & 0o777 == 0o600
    assert report.manifest.vectors == report.manifest.chunks > 0

    lab.flags["data_dir"] = str(tmp_path / "other")
    imported = load(lab, path)

    assert [(one.state, one.mapped, one.changed, one.gone) for one in imported.sources] == [
        ("present", "no", 0, 0)
    ] * 2
    assert imported.replaced_documents is None
    assert describe(lab) == before
    with lab.context().open_review_store() as reviews:
        assert len(reviews.list_runs()) == 1
    again = lab.again()
    assert (again.unchanged, again.embedding.embedded, again.embedding.lost) == (3, 0, 0)
    assert describe(lab) == before


def test_a_source_moves_to_the_same_path_below_another_home(desk, monkeypatch, tmp_path):
    old, new = tmp_path / "ada", tmp_path / "bob"
    desk.notes = old / "notes"
    fill(desk)
    ids = {path: one.doc_id for path, one in desk.documents().items()}
    monkeypatch.setenv("HOME", str(old))
    path, _ = write_archive(desk)
    old.rename(new)
    monkeypatch.setenv("HOME", str(new))
    desk.flags["data_dir"] = str(tmp_path / "other")

    report = load(desk, path)

    assert [(one.mapped, one.state, one.same) for one in report.sources] == [
        ("home", "present", 2),
        ("no", "present", 1),
    ]
    assert {path: one.doc_id for path, one in desk.documents().items()} == ids
    assert {one.freshness for one in desk.documents().values()} == {"fresh"}
    assert (again := desk.again()).unchanged == 3, again
    assert desk.search("snapshot").hits[0].file == str(new / "notes" / "a.md")


def test_a_source_is_mapped_as_asked_and_swapped_folders_stay_apart(desk, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "a.md").write_text(f"The word is {folder.name}.\n")
    desk.ingest(one, two)
    path, _ = write_archive(desk)
    one.rename(tmp_path / "three")
    two.rename(one)
    (tmp_path / "three").rename(two)
    desk.flags["data_dir"] = str(tmp_path / "other")

    report = load(desk, path, map=[f"{one}={two}", f"{two}={one}"])

    assert [(one.mapped, one.same) for one in report.sources] == [("asked", 1)] * 2
    assert desk.again().unchanged == 2
    for given in ([f"{tmp_path}/nine=/x"], ["x"], [f"{one}={two}"]):
        with pytest.raises(InvalidInput):
            load(desk, path, map=given, replace=True)


def test_a_source_that_is_not_here_stays_searchable_and_is_not_removed(desk, tmp_path):
    fill(desk)
    path, _ = write_archive(desk)
    shutil.rmtree(desk.notes)
    desk.flags["data_dir"] = str(tmp_path / "other")

    report = load(desk, path)

    assert [(one.state, one.gone) for one in report.sources] == [("gone", 2), ("present", 0)]
    assert desk.again().errors == 1
    assert desk.search("snapshot").hits[0].freshness == "gone"


def test_a_changed_file_is_not_taken_for_the_same(desk, tmp_path):
    file = fill(desk).notes / "a.md"
    path, _ = write_archive(desk)
    status = file.stat()
    file.write_bytes(file.read_bytes().replace(b"snapshot", b"snapshoT"))
    os.utime(file, ns=(status.st_mtime_ns, status.st_mtime_ns))
    desk.flags["data_dir"] = str(tmp_path / "other")

    assert load(desk, path).sources[0].changed == 1
    assert desk.documents()["a.md"].freshness == "changed"
    assert desk.again().updated == 1


def test_a_base_is_replaced_only_if_asked(desk):
    fill(desk)
    path, _ = write_archive(desk)
    (desk.data / "mine.txt").write_text("kept")
    desk.write("new.md", "A later note.\n")
    desk.ingest()
    with pytest.raises(InvalidInput, match="replace"):
        load(desk, path)
    checked = load(desk, path, dry_run=True, replace=True)
    assert checked.replaced_documents == 4
    assert "new.md" in desk.documents()

    report = load(desk, path, replace=True)

    assert msgspec.structs.replace(report, duration_ms=0.0) == msgspec.structs.replace(
        checked, duration_ms=0.0, dry_run=False
    )
    assert "new.md" not in desk.documents()
    assert (desk.data / "mine.txt").read_text() == "kept"
    assert not (desk.data / "import").exists()


def test_settings_that_differ_are_shown(desk, tmp_path):
    path, _ = write_archive(fill(desk))
    desk.flags |= {"data_dir": str(tmp_path / "other"), "ingest.hidden": True}
    (different,) = load(desk, path).settings
    assert (different.name, different.archived, different.here) == (
        "ingest.hidden",
        "false",
        "true",
    )


DAMAGES = {
    "flipped index": flip("kebab.sqlite"),
    "flipped vectors": flip("vectors.f32"),
    "no index": lambda members, _: members.pop("kebab.sqlite"),
    "no vectors": lambda members, manifest: (
        members.pop("vectors.f32"),
        manifest["members"].pop(),
    ),
    "cut vectors": lambda members, _: members.update({"vectors.f32": members["vectors.f32"][:-1]}),
    "vectors of nobody": lambda members, _: members.update(
        {"vectors.f32": b"\xff" + members["vectors.f32"][1:]}
    ),
    "long vectors": lambda members, _: members.update(
        {"vectors.f32": members["vectors.f32"][:8] + b"\x7f" * 4 + members["vectors.f32"][12:]}
    ),
    "swapped": lambda members, _: members.update(
        {"kebab.sqlite": members["vectors.f32"], "vectors.f32": members["kebab.sqlite"]}
    ),
    "unlisted": lambda members, _: members.update({"extra": b"x"}),
    "extra": add_member("extra"),
    "climbing": add_member("stdin/../../evil"),
    "absolute": add_member("/tmp/evil"),
    "text of nobody": add_member("stdin/evil-0123456789ab.md"),
    "small claim": lambda _, manifest: manifest["members"][0].update(bytes=5, kept=True),
    "huge claim": lambda _, manifest: manifest["members"][0].update(bytes=1 << 60, kept=True),
    "trigger": edit_index("CREATE TRIGGER t AFTER INSERT ON kv BEGIN DELETE FROM chunks; END"),
    "view": edit_index("CREATE VIEW v AS SELECT 1"),
    "path": edit_index("UPDATE documents SET path = '../../evil.md' WHERE path = 'a.md'"),
    "root": edit_index("UPDATE sources SET root = '/x/../y'"),
    "no schema": edit_index("PRAGMA user_version = 0"),
    "manifest": lambda _, manifest: manifest.pop("documents"),
}


@pytest.fixture(scope="module")
def archive(make_desk, tiny_models, tmp_path_factory):
    desk = make_desk(tmp_path_factory.mktemp("desk"))
    desk.flags["models_dir"] = str(tiny_models)
    desk.write("a.md", "# Snapshots\n\nHow to restore a snapshot of the database.\n")
    desk.ingest()
    return write_archive(desk)[0]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_archive_changes_nothing(lab, archive, damage):
    path = lab.folder / "copy.zip"
    shutil.copy(archive, path)
    rewrite(path, DAMAGES[damage])
    lab.write("mine.md", "Mine.\n")
    lab.ingest()
    before = lab.tree()

    with pytest.raises(StoreCorrupt) as caught:
        load(lab, path, replace=True)

    assert caught.value.details()["path"] == str(path)
    assert lab.tree().keys() == before.keys()
    assert [*lab.documents()] == ["mine.md"]


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9, 0.999])
def test_a_cut_archive_is_refused(desk, archive, share):
    path = desk.folder / "cut.zip"
    data = archive.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(StoreCorrupt):
        load(desk, path)
    assert not (desk.data / "kebab.sqlite").exists()


@pytest.mark.parametrize("part", ["format", "schema"])
def test_an_archive_of_a_newer_version_is_refused(desk, archive, part):
    path = desk.folder / "copy.zip"
    shutil.copy(archive, path)
    newer = {
        "format": lambda _, manifest: manifest.update(format_version=2),
        "schema": edit_index("PRAGMA user_version = 999"),
    }
    rewrite(path, newer[part])
    with pytest.raises(NotIndexed) as caught:
        load(desk, path)
    assert caught.value.details()["file"] == str(path)


@pytest.mark.parametrize("what", ["missing", "folder", "fifo", "nul"])
def test_what_is_no_file_is_refused(desk, what):
    path = desk.folder / "archive"
    if what == "folder":
        path.mkdir()
    elif what == "fifo":
        os.mkfifo(path)
    with pytest.raises(InvalidInput if what == "nul" else IoError):
        load(desk, "a\0" if what == "nul" else path)


def test_an_import_that_is_interrupted_leaves_nothing(desk, archive, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kebab.store.sqlite.replacement.decide_replacement", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load(desk, archive)
    assert [path.name for path in desk.data.iterdir()] == ["writer.lock"]


def test_passages_whose_vectors_are_lost_are_pending_in_the_archive(lab, tmp_path):
    fill(lab)
    shutil.rmtree(lab.data / "lance")
    path, report = write_archive(lab)
    assert report.manifest.vectors == 0
    lab.flags["data_dir"] = str(tmp_path / "other")
    load(lab, path)
    assert lab.again().embedding.embedded == report.manifest.chunks
