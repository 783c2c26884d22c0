import sys

from kebab.core.ids import Key
from kebab.store.sqlite import chunks
from kebab.store.sqlite.fts import EQUAL_WEIGHTS
from kebab.store.sqlite.reader import CommittedKeys, DocumentNumbers, RevisionCache
from tests.fakes.rows import document


def test_tables_in_memory_equal_the_database(stored):
    keys = stored(["one", "two", "three"])
    stored.put_document(document("b.md", ["four"]))
    asked = [*reversed(keys), Key(999), Key(4)]
    chunks.set_vector_state(stored.database, keys[:2], "committed", "v1")

    assert DocumentNumbers(stored.database).find(asked) == chunks.find_doc_numbers(
        stored.database, asked
    )
    assert CommittedKeys(stored.database).find(asked) == set(keys[:2])
    assert DocumentNumbers(stored.database).find([]) == {}


def test_tables_of_an_empty_library_are_empty(stored):
    assert DocumentNumbers(stored.database).find([Key(1)]) == {}
    assert CommittedKeys(stored.database).find([Key(1)]) == set()


def test_terms_are_counted_once(stored):
    stored(["rain sun", "rain"])
    cache = RevisionCache(stored.database, EQUAL_WEIGHTS, revision=1)

    assert cache.get_document_frequencies(["rain", "snow"]) == {"rain": 2, "snow": 0}
    stored.put_document(document("b.md", ["rain"]))
    assert cache.get_document_frequencies(["rain", "sun"]) == {"rain": 2, "sun": 1}


def is_built(table):
    """Return whether a slow query is followed by one that the table answers."""
    table.query(lambda _: True, lambda: sum(range(1_000_000)))
    return table.query(lambda _: True, lambda: False)


def test_tables_are_built_for_repeated_queries(stored):
    stored(["rain"])
    cache = RevisionCache(stored.database, EQUAL_WEIGHTS, revision=1)
    assert all(map(is_built, (cache.postings, cache.document_numbers, cache.committed_keys)))


def test_without_numpy_no_table_is_ever_built(stored, monkeypatch):
    stored(["rain"])
    cache = RevisionCache(stored.database, EQUAL_WEIGHTS, revision=1)
    monkeypatch.delitem(sys.modules, "numpy")
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})

    assert not is_built(cache.document_numbers)
