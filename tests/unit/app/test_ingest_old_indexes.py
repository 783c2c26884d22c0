"""What earlier versions of kebab wrote goes on working."""

import shutil
from contextlib import closing

import apsw
import pytest

from kebab.app.ingest import ingest
from kebab.core.progress import Cancel, ignore_progress
from kebab.errors.catalog import NotIndexed
from kebab.store.sqlite.connection import get_expected_schema_version, open_writer
from kebab.wire.ingest import IngestRequest
from tests.fakes.old_indexes import FOLDER, unpack, write_notes

CURRENT = get_expected_schema_version()
SCHEMAS = {path.stem: int(path.stem.split("-")[1]) for path in sorted(FOLDER.iterdir())}


def read_schema(path):
    with closing(apsw.Connection(str(path))) as database:
        return database.execute("PRAGMA user_version").get


@pytest.fixture
def old(lab):
    """Unpack an index into the data folder of the desk, over the notes that it has read."""

    def install(name):
        write_notes(lab.notes)
        lab.data.mkdir()
        unpack(name, lab.data, lab.notes)
        return lab

    return install


def find(desk):
    """Return what a search by words says, without ids, which depend on the folder."""
    reply = desk.search("restore snapshot garden night", mode="lexical")
    return [
        (hit.doc_path, hit.title, hit.heading_path, hit.citation.uri, hit.tags, hit.score)
        for hit in reply.hits
    ]


@pytest.mark.parametrize("name", SCHEMAS)
def test_an_old_index_is_migrated_and_nothing_is_embedded_again(old, name, tmp_path):
    desk = old(name)
    with pytest.raises(NotIndexed) as caught:
        desk.search("snapshot")
    assert caught.value.found == SCHEMAS[name]
    with closing(apsw.Connection(str(desk.data / "kebab.sqlite"))) as database:
        rows = database.execute("SELECT path, doc_id FROM documents")
        ids = {str(path): str(doc_id) for path, doc_id in rows}
        vectors = database.execute("SELECT count(*) FROM vectors WHERE state = 'committed'").get

    report = ingest(desk.context(), IngestRequest(), ignore_progress, Cancel())

    assert (report.errors, report.removed, report.new, report.embedding.lost) == (0, 0, 0, 0)
    # The front matter of `a.md` is a passage that they do not have.
    assert report.embedding.embedded == (1 if vectors else 5)
    assert {path: one.doc_id for path, one in desk.documents().items()} == ids
    turns = desk.context().session_store.list_turns("talk")
    assert [turn.question for turn in turns] == ["How do I restore a snapshot?"] * (
        SCHEMAS[name] > 3
    )
    migrated = find(desk)
    assert desk.again().unchanged == 3
    desk.flags["data_dir"] = str(tmp_path / "fresh")
    desk.ingest()
    assert find(desk) == migrated != []


class StopError(Exception):
    """The process ended here."""


def test_a_migration_that_ends_at_any_statement_leaves_the_old_schema(tmp_path, monkeypatch):
    seen, first, data = [], tmp_path / "first", tmp_path
    first.mkdir()
    unpack("schema-3", first, tmp_path)

    def trace(_cursor, sql, _bindings):
        seen.append(sql)
        if len(seen) > limit:
            raise StopError
        return True

    def hook(database):
        database.exec_trace = trace

    schemas = []
    for limit in range(1000):
        data = tmp_path / str(limit)
        data.mkdir()
        shutil.copy(first / "kebab.sqlite", data)
        seen.clear()
        monkeypatch.setattr(apsw, "connection_hooks", [hook])
        try:
            open_writer(data).close()
        except StopError:
            monkeypatch.undo()
            schemas.append(read_schema(data / "kebab.sqlite"))
            continue
        monkeypatch.undo()
        break
    open_writer(tmp_path / str(len(schemas) // 2)).close()
    assert read_schema(tmp_path / str(len(schemas) // 2) / "kebab.sqlite") == CURRENT
    assert read_schema(data / "kebab.sqlite") == CURRENT
    assert {*schemas} <= {3, CURRENT}
    assert schemas.count(3) > CURRENT - 3
