import pytest

from kebab.core.ids import Key, sort_keys
from kebab.store.sqlite import chunks, connection


def test_only_chunks_with_stored_vectors_leave_deleted_keys(stored):
    keys = stored(["one", "two"])
    database = stored.database
    chunks.set_vector_state(database, keys[:1], "committed", "v1")
    chunks.record_deleted_keys(database, [*keys, Key(99)])
    assert chunks.list_deleted_keys(database) == keys[:1]


def test_setting_a_state_returns_how_many_chunks_changed(stored):
    keys = stored(["one", "two"])
    assert chunks.set_vector_state(stored.database, keys, "committed", "v1") == 2
    assert chunks.set_vector_state(stored.database, keys, "committed", "v1") == 0
    assert chunks.set_vector_state(stored.database, keys, "committed", "v2") == 2


def test_states_are_counted(stored):
    keys = stored(["one", "two", "three"])
    chunks.set_vector_state(stored.database, keys[:2], "unsupported", "v1")
    counts = [
        chunks.count_chunks_in_state(stored.database, state) for state in ("pending", "unsupported")
    ]
    assert counts == [1, 2]
    assert chunks.list_committed_keys(stored.database) == sort_keys([])
    chunks.set_vector_state(stored.database, keys[1:], "committed", "v1")
    assert chunks.count_chunks_in_state(stored.database, "committed") == 2


@pytest.mark.parametrize(
    "look",
    [
        lambda database: chunks.count_chunks_in_state(database, "pending"),
        lambda database: chunks.list_pending(database, 9),
    ],
)
def test_pending_chunks_are_found_without_scanning_committed_ones(stored, look):
    keys = stored(["one", "two"])
    chunks.set_vector_state(stored.database, keys[:1], "committed", "v1")
    asked = []

    def note(_, sql, values):
        asked.append((sql, values))
        return True

    stored.database.exec_trace = note
    look(stored.database)
    stored.database.exec_trace = None

    ((sql, values),) = asked
    plan = [row[3] for row in stored.database.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
    first = next(step for step in plan if step.startswith(("SCAN", "SEARCH")))
    assert "vectors_open" in first


def test_the_stored_count_of_pending_chunks_serves_its_revision_only(stored):
    keys = stored(["one", "two", "three"])
    database = stored.database
    chunks.store_pending_count(database)
    revision = connection.get_revision(database)
    chunks.set_vector_state(database, keys[:1], "committed", "v1")

    counts = [chunks.count_pending(database, one) for one in (revision, revision + 1)]

    assert counts == [3, 2]
