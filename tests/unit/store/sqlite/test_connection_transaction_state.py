import pytest

from kebab.store.sqlite import connection
from kebab.store.sqlite.connection import open_writer


@pytest.fixture
def database(tmp_path):
    connection = open_writer(tmp_path)
    yield connection
    connection.close()


def test_a_new_knowledge_base_has_revision_zero(database):
    assert connection.get_revision(database) == 0
    connection.advance_revision(database)
    assert connection.get_revision(database) == 1


def test_the_last_change_is_that_of_the_last_run_that_changed_anything(database):
    assert connection.read_last_change(database) is None
    connection.record_run(database, "all", 1.0, 2.0, 3)
    connection.record_run(database, "all", 4.0, 5.0, 0)
    assert connection.read_last_change(database) == 2.0


def test_old_runs_are_deleted_but_not_the_last_change(database):
    connection.record_run(database, "all", 1.0, 2.0, 3)
    for _ in range(300):
        connection.record_run(database, "all", 4.0, 5.0, 0)
    assert connection.read_last_change(database) == 2.0
    assert database.execute("SELECT count(*) FROM runs").get == 257
