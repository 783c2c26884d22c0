import sys

from kebab.core.ids import Key
from kebab.store.sqlite import chunks, vector_state
from kebab.store.sqlite.fts import EQUAL_WEIGHTS
from kebab.store.sqlite.revision_cache import CommittedKeys, DocumentNumbers, RevisionCache
from tests.fakes.rows import document


def test_documents_and_states_in_memory_are_those_of_the_tables(stored):
    keys = stored(["one", "two", "three"])
    stored.put_document(document("b.md", ["four"]))
    asked = [*reversed(keys), Key(999), Key(4)]
    vector_state.set_state(stored.database, keys[:2], "committed", "v1")

    assert DocumentNumbers(stored.database).find(asked) == chunks.find_doc_numbers(
        stored.database, asked
    )
    assert CommittedKeys(stored.database).find(asked) == set(keys[:2])
    assert DocumentNumbers(stored.database).find([]) == {}


def test_an_empty_library_owns_nothing(stored):
    assert DocumentNumbers(stored.database).find([Key(1)]) == {}
    assert CommittedKeys(stored.database).find([Key(1)]) == set()


def test_terms_are_counted_once(stored):
    stored(["rain sun", "rain"])
    memory = RevisionCache(stored.database, EQUAL_WEIGHTS, revision=1)

    assert memory.frequency(["rain", "snow"]) == {"rain": 2, "snow": 0}
    stored.put_document(document("b.md", ["rain"]))
    assert memory.frequency(["rain", "sun"]) == {"rain": 2, "sun": 1}


def test_tables_are_made_for_who_asks_again(stored):
    stored(["rain"])
    memory = RevisionCache(stored.database, EQUAL_WEIGHTS, revision=1)
    for table in (memory.words, memory.owners, memory.committed):
        assert table.get() is None
        with table._measure():
            sum(range(100_000))
        assert table.get() is not None


def test_without_numpy_tables_are_looked_up_forever(stored, monkeypatch):
    stored(["rain"])
    memory = RevisionCache(stored.database, EQUAL_WEIGHTS, revision=1)
    monkeypatch.delitem(sys.modules, "numpy")
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    with memory.owners._measure():
        sum(range(1_000_000))

    assert memory.owners.get() is None
