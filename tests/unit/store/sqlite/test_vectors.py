from kebab.core.ids import Key
from kebab.store.sqlite import vectors


def test_only_stored_vectors_become_garbage(stored):
    keys = stored(["one", "two"])
    database = stored.database
    vectors.mark(database, keys[:1], "committed", "v1")
    vectors.discard(database, [*keys, Key(99)])
    assert vectors.garbage(database) == keys[:1]


def test_marking_tells_how_many_changed(stored):
    keys = stored(["one", "two"])
    assert vectors.mark(stored.database, keys, "committed", "v1") == 2
    assert vectors.mark(stored.database, keys, "committed", "v1") == 0
    assert vectors.mark(stored.database, keys, "committed", "v2") == 2


def test_states_are_counted(stored):
    keys = stored(["one", "two", "three"])
    vectors.mark(stored.database, keys[:2], "unsupported", "v1")
    counts = [vectors.count(stored.database, state) for state in ("pending", "unsupported")]
    assert counts == [1, 2]
    assert vectors.committed(stored.database) == set()
