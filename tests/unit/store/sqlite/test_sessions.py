import threading
import time
from contextlib import closing

import apsw
import pytest

from kebab.errors.catalog import NotIndexed, ReadOnly
from kebab.store.sqlite.connection import get_database_path, open_writer
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.sqlite.sessions import SqliteSessionStore
from kebab.store.sqlite.writer import SqliteWriter
from tests.fakes.rows import NOTES, document
from tests.fakes.session_store import turn

CALLS = {
    "turns": lambda kept: kept.list_turns("talk"),
    "sessions": lambda kept: kept.list_sessions(),
    "add": lambda kept: kept.add_turn(turn()),
    "forget": lambda kept: kept.delete_session("talk"),
}
WRITES = ("add", "forget")
FULL = 2
every = pytest.mark.parametrize("call", CALLS)
writing = pytest.mark.parametrize("call", WRITES)


@pytest.fixture
def data_dir(tmp_path):
    open_writer(tmp_path / "data").close()
    return tmp_path / "data"


@pytest.fixture
def kept(data_dir):
    return SqliteSessionStore(data_dir, 9)


@every
@pytest.mark.parametrize("version", [0, 3, 999])
def test_a_database_of_another_schema_is_left_as_it_is(data_dir, call, version):
    with closing(open_writer(data_dir)) as database:
        database.execute(f"DROP TABLE turns; PRAGMA user_version = {version}")

    with pytest.raises(NotIndexed) as caught:
        CALLS[call](SqliteSessionStore(data_dir, 9))

    assert caught.value.found == version
    with closing(apsw.Connection(str(get_database_path(data_dir)))) as database:
        assert database.execute("PRAGMA user_version").get == version
        assert "turns" not in [
            name for (name,) in database.execute("SELECT name FROM sqlite_master")
        ]


@writing
def test_writing_can_be_switched_off(data_dir, kept, call):
    kept.add_turn(turn())
    before = get_database_path(data_dir).read_bytes(), kept.list_turns("talk")

    with pytest.raises(ReadOnly) as caught:
        CALLS[call](SqliteSessionStore(data_dir, 9, read_only=True))

    assert caught.value.operation == {"add": "ask --session", "forget": "session rm"}[call]
    assert (get_database_path(data_dir).read_bytes(), kept.list_turns("talk")) == before


def test_a_stored_turn_survives_a_power_cut(kept):
    with kept._open_for_writing("ask --session") as database:
        assert database.execute("PRAGMA synchronous").get == FULL


def test_the_revision_stays(data_dir, kept):
    with SqliteWriter(data_dir, str) as writer:
        writer.add_source(NOTES)
        writer.put_document(document("a.md"))
    kept.add_turn(turn())
    kept.delete_session("talk")

    with SqliteReader(data_dir) as reader:
        assert reader.get_revision() == 1


def test_the_gap_between_two_transactions_of_an_ingest_is_found(data_dir, kept):
    stop = threading.Event()

    def ingest(database):
        while not stop.is_set():
            database.execute("BEGIN IMMEDIATE")
            time.sleep(0.05)
            database.execute("COMMIT")
            time.sleep(0.005)

    with closing(open_writer(data_dir)) as other:
        thread = threading.Thread(target=ingest, args=(other,))
        thread.start()
        indexes = [kept.add_turn(turn()) for _ in range(5)]
        stop.set()
        thread.join()
    assert indexes == [0, 1, 2, 3, 4]


def test_two_concurrent_turns_get_different_indexes(data_dir):
    found: list[int] = []

    def ask():
        kept = SqliteSessionStore(data_dir, 99)
        found.extend(kept.add_turn(turn()) for _ in range(10))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(found) == list(range(30))
