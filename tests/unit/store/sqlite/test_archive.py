from contextlib import closing

import apsw
import pytest

from kebab.errors.catalog import NotIndexed, StoreCorrupt
from kebab.store.sqlite import archive, connection
from kebab.store.sqlite.connection import open_writer


@pytest.fixture
def copy(tmp_path):
    """A copy of an empty index."""
    open_writer(tmp_path / "data").close()
    path = tmp_path / "copy.sqlite"
    archive.copy_index(tmp_path / "data", path, sessions=True)
    return path


def change(path, sql):
    with closing(apsw.Connection(str(path))) as database:
        database.execute(sql)


def test_a_copy_has_no_secrets_and_is_accepted(copy, tmp_path):
    archive.check_copy(copy, tmp_path / "x.zip")
    with closing(apsw.Connection(str(copy))) as database:
        names = {name for (name,) in database.execute("SELECT name FROM kv")}
    assert names == {"corpus_revision"}
    archive.adapt_index(copy, {}, {})
    with closing(apsw.Connection(str(copy))) as database:
        assert connection.get_value(database, "cursor_salt")


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("CREATE VIEW v AS SELECT 1", "do not come from kebab"),
        ("DROP TABLE runs", "missing tables"),
        ("PRAGMA user_version = 0", "do not come from kebab"),
        ("INSERT INTO sources (name, root, kind) VALUES ('x', '../x', 'folder')", "not a source"),
        ("INSERT INTO sources (name, root, kind) VALUES ('x', '/x', 'web')", "not a source"),
    ],
)
def test_what_kebab_did_not_write_is_refused(copy, tmp_path, sql, words):
    change(copy, sql)
    with pytest.raises(StoreCorrupt, match=words) as caught:
        archive.check_copy(copy, tmp_path / "x.zip")
    assert caught.value.path == str(tmp_path / "x.zip")


def test_a_newer_copy_is_refused(copy, tmp_path):
    change(copy, "PRAGMA user_version = 999")
    with pytest.raises(NotIndexed):
        archive.check_copy(copy, tmp_path / "x.zip")


def test_passages_without_a_stored_vector_are_pending(copy):
    change(copy, "PRAGMA foreign_keys = OFF; INSERT INTO vectors VALUES (7, 'committed', 'v')")
    archive.mark_pending(copy, [7])
    assert not archive.read_contents(copy).committed
