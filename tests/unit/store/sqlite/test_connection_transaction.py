import apsw
import pytest

from kebab.errors.catalog import IoError, StoreCorrupt
from kebab.store.sqlite import connection
from kebab.store.sqlite.connection import Transactions, open_reader, open_writer


@pytest.fixture
def database(tmp_path):
    connection = open_writer(tmp_path)
    yield connection
    connection.close()


@pytest.fixture
def transactions(database):
    return Transactions(database, "path", lambda: 0.0)


def fail(transactions, database, error):
    """Store a value in a unit that does not come to its end."""
    with transactions.unit():
        connection.set_value(database, "a", "2")
        transactions.mark_changed()
        raise error


def fill(database):
    """Leave the database no page to grow."""
    database.execute(f"PRAGMA max_page_count = {database.execute('PRAGMA page_count').get}")


def visible(data_dir, name):
    """Return a value as another connection sees it."""
    reader = open_reader(data_dir)
    try:
        return connection.get_value(reader, name)
    finally:
        reader.close()


def test_a_failing_unit_of_a_batch_rolls_back_to_the_last_commit(transactions, database, tmp_path):
    with transactions.batch():
        with transactions.unit():
            connection.set_value(database, "a", "1")
        with pytest.raises(KeyError):
            fail(transactions, database, KeyError)
        with transactions.unit():
            connection.set_value(database, "b", "3")
    assert (visible(tmp_path, "a"), visible(tmp_path, "b")) == (None, "3")


def test_finished_units_survive_an_interrupted_batch(transactions, database, tmp_path):
    def interrupted():
        with transactions.batch():
            with transactions.unit():
                connection.set_value(database, "a", "1")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert visible(tmp_path, "a") == "1"


def test_a_batch_commits_when_a_second_has_passed(database, tmp_path):
    ticks = iter([0.0, 0.5, 1.5])
    transactions = Transactions(database, "path", lambda: next(ticks))
    with transactions.batch():
        with transactions.unit():
            connection.set_value(database, "a", "1")
        assert visible(tmp_path, "a") is None
        with transactions.unit():
            connection.set_value(database, "a", "2")
        assert visible(tmp_path, "a") == "2"


def test_a_full_disk_is_an_io_error_and_the_next_unit_works(transactions, database):
    fill(database)
    with pytest.raises(IoError) as caught, transactions.unit():
        connection.set_value(database, "a", "x" * 1_000_000)
    assert isinstance(caught.value.__cause__, apsw.FullError)
    database.execute("PRAGMA max_page_count = 1000000")
    with transactions.unit():
        connection.set_value(database, "a", "1")
    assert connection.get_value(database, "a") == "1"


def test_a_full_disk_in_a_batch_rolls_back_to_the_last_commit(transactions, database, tmp_path):
    def overfull():
        with transactions.batch():
            with transactions.unit():
                connection.set_value(database, "a", "1")
            fill(database)
            with transactions.unit():
                connection.set_value(database, "b", "x" * 1_000_000)

    with pytest.raises(IoError):
        overfull()
    assert not database.in_transaction
    assert (visible(tmp_path, "a"), visible(tmp_path, "b")) == (None, None)


def test_a_broken_rule_of_the_schema_is_corruption(transactions, database):
    with pytest.raises(StoreCorrupt), transactions.unit():
        database.execute("INSERT INTO document_tags VALUES (77, 'orphan')")
