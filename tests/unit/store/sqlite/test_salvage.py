from contextlib import closing
from pathlib import Path

import apsw
import pytest

from kebab.core.documents import Source
from kebab.store.sqlite import catalogue, salvage
from kebab.store.sqlite.connection import get_database_path, open_reader
from kebab.store.sqlite.reviews import SqliteReviewStore, get_reviews_path
from kebab.store.sqlite.writer import SqliteWriter
from tests.fakes.review_store import make_run
from tests.fakes.rows import document


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a.md", "b.md"):
        (folder / name).write_text("text\n")
    return Source(name=str(folder), root=str(folder), kind="folder")


@pytest.fixture
def path(tmp_path, notes):
    with SqliteWriter(tmp_path, str) as writer:
        writer.add_source(notes)
        for name in ("a.md", "b.md"):
            texts = [f"{name} one", f"{name} two", f"{name} three"]
            writer.put_document(document(name, texts, source=notes.name))
        writer.record_run(notes.name, 1.0, 2.0, 2)
    return get_database_path(tmp_path)


def execute(path, sql):
    with closing(apsw.Connection(str(path))) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        return database.execute(sql).fetchall()


def rebuild(path, **options):
    draft = path.with_name(f"{path.name}{salvage.DRAFT_SUFFIX}")
    done = salvage.rebuild_database(path, draft, str, **options)
    assert not draft.exists()
    return done


def find_faults(path):
    with closing(open_reader(path.parent)) as database:
        return list(catalogue.find_faults(database))


def test_a_sound_database_keeps_every_row_and_every_word(path):
    before = execute(path, "SELECT * FROM chunks")
    revision = execute(path, "SELECT value FROM kv WHERE name = 'corpus_revision'")

    done = rebuild(path)

    assert (done.again, done.partial, done.unplaced, done.rescan) == ([], [], 0, False)
    assert execute(path, "SELECT * FROM chunks") == before
    assert execute(path, "SELECT value FROM kv WHERE name = 'corpus_revision'") > revision
    assert find_faults(path) == []
    assert len(execute(path, "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH 'two'")) == 2


def test_without_keep_nothing_is_changed(path):
    before = path.read_bytes()

    salvage.rebuild_database(path, path.with_name("draft"), str, keep=False)

    assert path.read_bytes() == before
    assert not path.with_name("draft").exists()


def test_a_document_with_a_file_is_read_again_and_another_keeps_what_is_left(path, notes):
    execute(path, "UPDATE chunks SET text = 'x' WHERE ordinal = 1")
    Path(notes.root, "b.md").unlink()

    done = rebuild(path)

    assert done.again == [f"{notes.root}/a.md"]
    assert done.partial == [(f"{notes.root}/b.md", 2)]
    assert execute(path, "SELECT path FROM documents WHERE recipe = ''") == [("a.md",)]
    warned = execute(path, "SELECT warnings FROM documents WHERE partial")
    assert warned == [(f'["{salvage.LOST_TEXT}"]',)]
    # Only the document that is to be read again is still damaged.
    assert [fault for fault in find_faults(path) if not fault.endswith(": 1")] == []


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM sources",
        "UPDATE sources SET root = root || '-gone'",
        "DELETE FROM documents WHERE path = 'a.md'",
    ],
)
def test_lost_sources_are_restored_and_lost_documents_searched_for(path, notes, sql):
    execute(path, sql)

    done = rebuild(path)

    stored = execute(path, "SELECT name, root, kind FROM sources")
    assert stored == [(notes.name, notes.root, "folder")]
    assert done.sources == 1
    assert done.rescan is ("UPDATE" not in sql)
    assert done.unplaced == (3 if "documents" in sql else 0)


def test_a_damaged_id_becomes_that_of_the_path(path):
    ids = execute(path, "SELECT doc_id FROM documents ORDER BY path")
    execute(path, "UPDATE documents SET doc_id = 'zz' || substr(doc_id, 3) WHERE path = 'a.md'")

    rebuild(path)

    assert execute(path, "SELECT doc_id FROM documents ORDER BY path") == ids


def test_keys_that_were_given_are_not_given_again(path):
    execute(path, "DELETE FROM sqlite_sequence")
    rebuild(path)

    assert execute(path, "SELECT seq FROM sqlite_sequence WHERE name = 'chunks'")[0][0] > 100_000


def test_the_log_of_the_old_file_is_not_applied_to_the_new_one(path):
    with closing(apsw.Connection(str(path))) as other:
        other.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        other.execute("INSERT INTO kv VALUES ('late', 'yes')")
        rebuild(path)

    assert execute(path, "SELECT value FROM kv WHERE name = 'late'") == [("yes",)]
    assert find_faults(path) == []


def test_reviews_keep_the_runs_whose_inputs_are_left(tmp_path):
    with SqliteReviewStore(tmp_path, 30, now=lambda: 1000.0) as store:
        for name in ("kept", "lost"):
            store.add_run(make_run(name))
    path = get_reviews_path(tmp_path)
    execute(path, "DELETE FROM run_inputs WHERE run = 2")

    salvage.rebuild_reviews(path, path.with_name("draft"))

    assert execute(path, "SELECT run_id FROM runs") == [("kept",)]
