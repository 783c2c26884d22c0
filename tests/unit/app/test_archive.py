import zipfile
from contextlib import closing

import apsw
import pytest

from kebab.app.archive import export
from kebab.core.progress import ignore_progress
from kebab.errors.catalog import InvalidInput, IoError
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
