import os
import zipfile
from contextlib import closing

import apsw
import pytest

from kebab.app.archive import export, import_archive
from kebab.app.ingest import ingest_text
from kebab.core.progress import Cancel, ignore_progress
from kebab.errors.catalog import InvalidInput, IoError, NotIndexed, StoreCorrupt
from kebab.store.sqlite import lock
from kebab.store.sqlite.reviews import SqliteReviewStore
from kebab.wire.ingest import IngestTextRequest
from kebab.wire.published import ExportRequest, ImportRequest
from tests.fakes.review_store import make_run


@pytest.fixture
def filled(lab):
    """Two notes with vectors, and a text from standard input."""
    lab.write("a.md", "# Snapshots\n\nHow to restore a snapshot of the database.\n")
    lab.write("b.md", "# Garden\n\nPlants want water.\n")
    lab.ingest()
    text = IngestTextRequest(text=b"The dentist moved to Friday.", title="Dentist")
    ingest_text(lab.context(), text, ignore_progress, Cancel())
    return lab


@pytest.fixture
def archive(filled):
    path = filled.folder / "base.zip"
    write(filled, path)
    return path


@pytest.fixture
def other(filled, make_desk):
    """Another knowledge base on the same machine, which has another note."""
    made = make_desk(filled.folder / "other")
    made.flags["models_dir"] = filled.flags["models_dir"]
    made.write("z.md", "zebras\n")
    made.ingest()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _folder(tmp_path):
    (tmp_path / "other").mkdir()


def write(desk, path, **fields):
    return export(desk.context(), ExportRequest(path=str(path), **fields), ignore_progress)


def load(desk, path, **fields):
    return import_archive(desk.context(), ImportRequest(path=str(path), **fields), ignore_progress)


def change(path, target, replace=None, add=None):
    """Write an archive again with other members."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, (replace or {}).get(name, old.read(name)))
        for name, data in (add or {}).items():
            new.writestr(name, data)
    return target


def describe(desk):
    found = desk.search("restore snapshot plants dentist", mode="hybrid")
    return [(hit.chunk_id, hit.score, hit.retrieval.vector_score) for hit in found.hits]


def test_an_import_is_the_same_index_and_embeds_nothing(filled, archive, other):
    planned, report = load(other, archive, dry_run=True), load(other, archive)

    assert (planned.replaced_documents, report.replaced_documents) == (1, 1)
    assert report.manifest.documents == 3
    assert describe(other) == describe(filled)
    assert other.again().embedding.embedded == 0
    assert set(other.documents()) == set(filled.documents())
    assert not (other.data / lock.FOLDER).exists()


def test_an_export_without_a_snapshot_saves_one_first(filled):
    for file in (filled.data / "lance").glob("*.npy"):
        file.unlink()

    assert write(filled, filled.folder / "base.zip").manifest.vectors == 3


def test_only_a_regular_file_is_replaced_and_only_with_force(filled, archive):
    folder = filled.folder
    (folder / "link.zip").symlink_to(archive)
    (folder / "folder.zip").mkdir()
    os.mkfifo(folder / "pipe.zip")
    before = archive.read_bytes()

    for path in ("/dev/full", *(folder / f"{name}.zip" for name in ("link", "folder", "pipe"))):
        with pytest.raises(InvalidInput, match="regular file"):
            write(filled, path, force=True)
    with pytest.raises(InvalidInput, match="--force"):
        write(filled, archive)
    assert archive.read_bytes() == before
    write(filled, archive, force=True)

    names = {path.name for path in folder.iterdir()}
    assert names >= {"link.zip", "pipe.zip", "folder.zip"}
    assert not [name for name in names if name.startswith(".")]


def test_an_archive_is_outside_of_the_index_and_private(filled, archive):
    assert archive.stat().st_mode & 0o077 == 0
    with pytest.raises(InvalidInput):
        write(filled, filled.data / "base.zip")
    with pytest.raises(IoError):
        write(filled, filled.folder / "nowhere" / "base.zip")


def test_what_a_newer_kebab_wrote_is_refused(filled, archive, other):
    with zipfile.ZipFile(archive) as opened:
        manifest = opened.read("manifest.json")
        opened.extract("kebab.sqlite", filled.folder)
    with closing(apsw.Connection(str(filled.folder / "kebab.sqlite"))) as database:
        database.execute("PRAGMA user_version = 999")
    newer = (
        {"manifest.json": manifest.replace(b'"format_version": 2', b'"format_version": 3')},
        {"manifest.json": manifest.replace(b'"index_schema": ', b'"index_schema": 9')},
        {"kebab.sqlite": (filled.folder / "kebab.sqlite").read_bytes()},
    )

    for number, members in enumerate(newer):
        with pytest.raises(NotIndexed) as refused:
            load(other, change(archive, filled.folder / f"{number}.zip", members))
        assert refused.value.format_hint() == "pip install --upgrade kebab"
    assert other.search("zebras").hits


def test_damage_is_found_before_anything_changes(archive, other):
    raw, cut = archive.read_bytes(), archive.with_name("cut.zip")
    no_index = change(archive, archive.with_name("none.zip"), {"kebab.sqlite": b"no database"})
    half = len(raw) // 3

    for data in (raw[:half], raw[:half] + bytes(64) + raw[half + 64 :], b"no zip"):
        cut.write_bytes(data)
        with pytest.raises(StoreCorrupt):
            load(other, cut)
    with pytest.raises(StoreCorrupt):
        load(other, no_index)
    assert other.search("zebras").hits
    assert not (other.data / lock.FOLDER).exists()


@pytest.mark.parametrize(
    "name", ["../x", "/x", "stdin/../x-0123456789ab.md", "lance/../../x.npy", "lance/x.lance", "x"]
)
def test_a_member_of_another_name_is_refused_before_anything_is_unpacked(archive, other, name):
    odd = change(archive, archive.with_name("odd.zip"), add={name: b"x"})

    with pytest.raises(StoreCorrupt, match=r"odd\.zip"):
        load(other, odd)
    assert other.search("zebras").hits


def test_a_base_without_vectors_and_reviews_takes_the_place_of_one_with_them(filled, other):
    with SqliteReviewStore(filled.data) as store:
        store.add_run(make_run())
    write(other, other.folder / "words.zip")

    load(filled, other.folder / "words.zip")

    assert filled.search("zebras", mode="lexical").hits
    assert filled.search("restore", mode="lexical").hits == []
    with SqliteReviewStore(filled.data) as store:
        assert store.load_run(make_run().run_id) is None
