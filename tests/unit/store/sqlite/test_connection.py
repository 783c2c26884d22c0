import apsw
import pytest

from kebab.errors.catalog import IoError, NotIndexed, StoreCorrupt
from kebab.store.sqlite import connection
from kebab.store.sqlite import connection as migrate
from kebab.store.sqlite.connection import get_database_path, open_reader, open_writer


@pytest.fixture
def data_dir(tmp_path):
    """Return a data directory with an empty, closed database."""
    open_writer(tmp_path / "data").close()
    return tmp_path / "data"


def listing(folder):
    return sorted((path.name, path.stat().st_size) for path in folder.rglob("*"))


def test_reading_where_nothing_was_indexed_creates_nothing(tmp_path):
    with pytest.raises(NotIndexed) as caught:
        open_reader(tmp_path / "absent")
    assert (caught.value.found, caught.value.expected) == (
        None,
        str(connection.get_expected_schema_version()),
    )
    assert listing(tmp_path) == []


def test_reading_an_indexed_database_creates_and_changes_nothing(data_dir):
    before = listing(data_dir)
    database = open_reader(data_dir)
    database.execute("SELECT count(*) FROM documents").fetchall()
    assert listing(data_dir) == before
    database.close()
    assert listing(data_dir) == before


def test_a_file_that_is_not_a_database_is_corrupt_for_both(tmp_path):
    get_database_path(tmp_path).write_bytes(b"no database at all, but long enough to look" * 99)
    with pytest.raises(StoreCorrupt):
        open_reader(tmp_path)
    with pytest.raises(StoreCorrupt):
        open_writer(tmp_path)


def without_room_for_shared_memory(data_dir):
    """Make SQLite's shared memory impossible, as a folder without write permission does."""
    shared = data_dir / "kebab.sqlite-shm"
    shared.unlink()
    shared.symlink_to("nowhere")


def test_a_database_without_shared_memory_is_read_as_immutable(data_dir):
    without_room_for_shared_memory(data_dir)
    database = open_reader(data_dir)
    assert database.execute("SELECT value FROM kv WHERE name = 'corpus_revision'").get == "0"
    database.close()


def test_a_log_beside_the_database_is_not_ignored(data_dir):
    without_room_for_shared_memory(data_dir)
    (data_dir / "kebab.sqlite-wal").write_bytes(b"what was committed last")
    with pytest.raises(IoError):
        open_reader(data_dir)


@pytest.fixture
def database():
    connection = apsw.Connection(":memory:")
    yield connection
    connection.close()


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    """Replace the released migrations by two of the test."""
    (tmp_path / "V001__one.sql").write_text("CREATE TABLE one (a) STRICT;".replace("a)", "a INT)"))
    (tmp_path / "V002__two.sql").write_text("CREATE TABLE two (a INT); INSERT INTO one VALUES (1);")
    monkeypatch.setattr(migrate, "find_data_folder", lambda *_: tmp_path)
    return tmp_path


def tables(database):
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    return [name for (name,) in database.execute(sql)]


def test_a_failed_migration_leaves_no_schema_between_two_versions(database, scripts, tmp_path):
    (scripts / "V002__two.sql").write_text("CREATE TABLE two (a INT); CREATE TABLE one (a INT);")
    with pytest.raises(apsw.SQLError):
        migrate.migrate(database, tmp_path)
    assert (tables(database), migrate.read_schema_version(database)) == ([], 0)


def test_a_newer_database_is_refused_on_writing(database, scripts, tmp_path):
    database.execute("PRAGMA user_version = 9")
    with pytest.raises(NotIndexed) as caught:
        migrate.migrate(database, tmp_path)
    assert (caught.value.expected, caught.value.found) == ("2", 9)


@pytest.mark.parametrize("version", [0, 3])
def test_any_other_version_is_refused_on_reading(database, scripts, tmp_path, version):
    database.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(NotIndexed) as caught:
        migrate.check_schema_version(database, tmp_path)
    assert (caught.value.expected, caught.value.found) == ("2", version)
