from contextlib import closing

import apsw
import pytest

from kebab.errors.catalog import StoreCorrupt
from kebab.platform import close_locked
from kebab.store.published.mirror import Snapshot, build_snapshot, hold_snapshot
from kebab.store.published.packs import Contents, PackReader, PackWriter, PublishedFile
from kebab.store.sqlite import connection
from kebab.store.sqlite.published import read_pages
from kebab.wire.published import PublishedManifest, PublishedObject

ROOT = "/.kebab-published/"


def _build(tmp_path, sources, files=(), change=""):
    """Build the snapshot of an index with these sources, as a stranger may have published it."""
    data = tmp_path / "data"
    with closing(connection.open_writer(data)) as database:
        for name, root, kind in sources:
            database.execute(
                "INSERT INTO sources (name, root, kind) VALUES (?, ?, ?)", (name, root, kind)
            )
        database.execute(change or "SELECT 1")
        database.execute("PRAGMA journal_mode = DELETE").fetchall()
    packs: dict[str, bytes] = {}
    writer = PackWriter(None, lambda _: [], packs.__setitem__)
    pages = writer.add(read_pages(data / "kebab.sqlite"))
    listed = [
        PublishedFile(source, path, 5_000_000_000, writer.add([text]))
        for source, path, text in files
    ]
    contents: Contents = writer.finish(4096, pages, [], listed)
    manifest = PublishedManifest(
        format_version=1,
        kebab_version="0",
        created_at="now",
        sequence=1,
        previous=None,
        index_schema=1,
        embedding_version=None,
        dimension=None,
        chunker_version="x",
        documents=0,
        chunks=0,
        vectors=0,
        with_texts=bool(files),
        sources=[],
        contents=PublishedObject(sha256="00", bytes=1),
        packs=[],
    )
    draft = tmp_path / "draft"
    draft.mkdir()
    reader = PackReader(contents, packs.__getitem__)
    build_snapshot(draft, tmp_path / "snapshot", Snapshot(manifest, contents, "s"), reader)
    return draft


def test_the_files_of_a_source_are_below_the_snapshot(tmp_path):
    sources = [("notes", f"{ROOT}notes", "files")]
    draft = _build(tmp_path, sources, [("notes", "deep/a.md", b"text")])

    path = draft / "files" / "notes" / "deep" / "a.md"
    assert path.read_bytes() == b"text"
    assert path.stat().st_mtime == 5
    with closing(apsw.Connection(str(draft / "kebab.sqlite"))) as database:
        root = database.execute("SELECT root FROM sources").get
    assert root == str(tmp_path / "snapshot" / "files" / "notes")


@pytest.mark.parametrize(
    "source",
    [
        ("notes", "/etc", "files"),
        ("..", f"{ROOT}..", "files"),
        ("a/b", f"{ROOT}a/b", "files"),
        ("notes", f"{ROOT}other", "files"),
        ("notes", f"{ROOT}notes", "program"),
    ],
)
def test_a_source_that_reaches_other_folders_is_refused(tmp_path, source):
    with pytest.raises(StoreCorrupt):
        _build(tmp_path, [source])


@pytest.mark.parametrize(
    "file", [("notes", "../a"), ("notes", "/a"), ("other", "a"), ("notes", "a\0b"), ("..", "a")]
)
def test_a_file_that_leaves_its_source_is_refused(tmp_path, file):
    with pytest.raises(StoreCorrupt):
        _build(tmp_path, [("notes", f"{ROOT}notes", "files")], [(*file, b"text")])
    assert not (tmp_path / "a").exists()


def test_tables_and_triggers_of_a_stranger_are_refused(tmp_path):
    trigger = "CREATE TRIGGER t AFTER UPDATE ON sources BEGIN DELETE FROM sources; END"
    with pytest.raises(StoreCorrupt):
        _build(tmp_path, [], change=trigger)


def test_a_snapshot_is_held_by_several_readers(tmp_path):
    first, second = hold_snapshot(tmp_path), hold_snapshot(tmp_path)

    assert first is not None
    assert second is not None
    close_locked(first)
    close_locked(second)
    assert hold_snapshot(tmp_path / "gone") is None
