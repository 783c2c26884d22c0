import apsw
import pytest

from kebab.errors.catalog import NotIndexed
from kebab.store.sqlite import connection as migrate


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
    monkeypatch.setattr(migrate, "get_migrations_folder", lambda: tmp_path)
    return tmp_path


def tables(database):
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    return [name for (name,) in database.execute(sql)]


def test_migrations_are_numbered_without_gaps():
    numbers = [migrate.parse_schema_version(script) for script in migrate.read_migrations()]
    assert numbers == list(range(1, migrate.get_expected_schema_version() + 1))


def test_an_empty_database_gets_every_migration(database, scripts, tmp_path):
    migrate.migrate(database, tmp_path)
    assert (tables(database), migrate.read_schema_version(database)) == (["one", "two"], 2)


def test_only_missing_migrations_are_applied(database, scripts, tmp_path):
    database.execute("CREATE TABLE one (a INT); PRAGMA user_version = 1")
    migrate.migrate(database, tmp_path)
    migrate.migrate(database, tmp_path)
    assert database.execute("SELECT count(*) FROM one").get == 1


def test_a_failed_migration_leaves_no_schema_between_two_versions(database, scripts, tmp_path):
    (scripts / "V002__two.sql").write_text("CREATE TABLE two (a INT); CREATE TABLE one (a INT);")
    with pytest.raises(apsw.SQLError):
        migrate.migrate(database, tmp_path)
    assert (tables(database), migrate.read_schema_version(database)) == ([], 0)


def test_a_newer_database_is_refused_on_writing(database, scripts, tmp_path):
    database.execute("PRAGMA user_version = 9")
    with pytest.raises(NotIndexed) as caught:
        migrate.migrate(database, tmp_path)
    assert (caught.value.expected, caught.value.found) == (2, 9)


@pytest.mark.parametrize("version", [0, 1, 3])
def test_any_other_version_is_refused_on_reading(database, scripts, tmp_path, version):
    database.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(NotIndexed) as caught:
        migrate.check_schema_version(database, tmp_path)
    assert (caught.value.expected, caught.value.found) == (2, version)


def test_the_wheel_and_the_checkout_agree_on_the_folder(monkeypatch, tmp_path):
    assert migrate.get_migrations_folder().name == "migrations"
    monkeypatch.setattr(migrate, "_WHEEL", tmp_path)
    assert migrate.get_migrations_folder() == tmp_path
