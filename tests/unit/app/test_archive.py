import zipfile
from contextlib import closing

import apsw
import numpy as np
import pytest
from pyarrow import parquet

from kebab.app.archive import export
from kebab.core.progress import ignore_progress
from kebab.errors.catalog import InvalidInput, IoError
from kebab.store.lance import archive as writer
from kebab.wire.archive import ExportRequest
from tests.fakes.archives import fill, read_members, write_archive


def test_the_archive_holds_no_secrets_and_no_sessions_if_not_wanted(desk):
    fill(desk)
    desk.search("snapshot")
    (desk.data / "http.token").write_text("hush")
    path, report = write_archive(desk, without_sessions=True)

    assert {*read_members(path)} == {
        "kebab.sqlite",
        f"stdin/{next((desk.data / 'stdin').iterdir()).name}",
        "manifest.json",
    }
    assert report.manifest.sessions == 0
    copy = desk.folder / "copy.sqlite"
    copy.write_bytes(read_members(path)["kebab.sqlite"])
    with closing(apsw.Connection(str(copy))) as database:
        counts = "SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM query_cache)"
        assert database.execute(counts).get == 0
        assert database.execute("SELECT 1 FROM kv WHERE name = 'cursor_salt'").fetchone() is None
    assert b"cats?" not in copy.read_bytes()


def test_equal_contents_give_equal_members(desk):
    fill(desk)
    first, second = (read_members(write_archive(desk, name)[0]) for name in ("1.zip", "2.zip"))
    del first["manifest.json"], second["manifest.json"]
    assert first == second


@pytest.mark.parametrize("kind", ["file", "folder", "inside", "nowhere", "nul"])
def test_an_export_refuses_a_target_and_leaves_nothing(desk, kind):
    fill(desk)
    target = {
        "file": desk.notes / "a.md",
        "folder": desk.notes,
        "inside": desk.data / "x.zip",
        "nowhere": desk.folder / "no" / "x.zip",
        "nul": "a\0b",
    }[kind]
    before = desk.tree()
    with pytest.raises(InvalidInput if kind in ("file", "inside", "nul") else IoError):
        export(desk.context(), ExportRequest(path=str(target)), ignore_progress)
    assert desk.tree().keys() == before.keys()


def test_an_existing_file_is_replaced_by_force(desk):
    fill(desk)
    (desk.folder / "base.zip").write_text("mine")
    path, _ = write_archive(desk, force=True)
    assert zipfile.is_zipfile(path)


def test_a_text_that_is_not_the_indexed_one_is_not_exported(desk):
    (text,) = (fill(desk).data / "stdin").iterdir()
    text.write_text(text.read_text()[:-5])
    with pytest.raises(IoError, match="not the text that was indexed"):
        write_archive(desk)
    assert not [path for path in desk.folder.iterdir() if "zip" in path.name]


def test_what_is_exported_is_what_is_indexed(lab, tmp_path):
    for number, word in enumerate(("bread", "dog", "sky", "apple", "park")):
        lab.write(f"deep/n{number}.md", f"# Note\n\n## Part\n\nThe cat and the {word}.\n")
    lab.ingest()
    target = tmp_path / "passages.parquet"
    report = export(
        lab.context(), ExportRequest(path=str(target), format="parquet"), ignore_progress
    )

    rows = parquet.read_table(target).to_pylist()
    assert (report.manifest.chunks, report.manifest.vectors) == (len(rows), len(rows))
    assert {row["path"] for row in rows} == {f"deep/n{number}.md" for number in range(5)}
    hits = lab.search("cat").hits
    by_id = {row["id"]: row for row in rows}
    for hit in hits:
        row = by_id[hit.chunk_id]
        assert (row["doc_id"], row["heading_path"]) == (hit.doc_id, hit.heading_path)
        assert (row["start_line"], row["model"]) == (hit.citation.line.start, hit.embedding_version)
        assert np.linalg.norm(row["vector"]) == pytest.approx(1, abs=1e-5)
    assert len({tuple(row["vector"]) for row in rows}) == len({row["text"] for row in rows})


def test_a_full_disk_leaves_the_old_file(lab, tmp_path, monkeypatch):
    lab.write("a.md", "# A\n\nThe cat.\n")
    lab.ingest()
    target = tmp_path / "passages.parquet"
    target.write_text("mine")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "write_passages", refuse)
    request = ExportRequest(path=str(target), format="parquet", force=True)
    with pytest.raises(IoError, match="No space left"):
        export(lab.context(), request, ignore_progress)
    assert target.read_text() == "mine"
    assert [path.name for path in tmp_path.glob(".passages*")] == []
