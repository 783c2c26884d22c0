import pytest

from kebab.core.chunks import Key
from kebab.core.queries import Filters
from kebab.store.sqlite import fts
from kebab.store.sqlite.connection import open_writer
from kebab.store.sqlite.fts import build_chunk_key_query, build_condition
from kebab.store.sqlite.writer import SqliteWriter
from tests.fakes.rows import document, index_words


@pytest.fixture
def database(tmp_path):
    connection = open_writer(tmp_path)
    yield connection
    connection.close()


def test_frequency_folds_ascii_case_as_the_index_does(database):
    index_words(database, [(Key(1), "", "", "Rain ÄÖ")])
    assert fts.get_document_frequencies(database, ["RAIN", "ÄÖ", "äö"]) == {
        "RAIN": 1,
        "ÄÖ": 1,
        "äö": 0,
    }


def test_values_are_bound_and_never_part_of_the_sql():
    hostile = "'); DROP TABLE documents; --"
    filters = Filters(
        tag=(hostile,),
        lang=(hostile,),
        media=(hostile,),
        path_glob=hostile,
        source=(hostile,),
        doc_id=hostile,
    )
    sql, values = build_chunk_key_query(filters)
    assert "DROP" not in sql.upper()
    assert sql.count("?") == len(values)


def test_times_are_compared_in_nanoseconds():
    assert build_condition(Filters(since=1.5, until=2)) == (
        "(coalesce(d.date_ns, d.mtime_ns) >= ?) AND (coalesce(d.date_ns, d.mtime_ns) < ?)",
        [1_500_000_000, 2_000_000_000],
    )


def found(database, word):
    return [key for key, _ in fts.search(database, word, Filters(), 9)]


@pytest.mark.parametrize("together", [False, True])
def test_a_row_is_replaced_within_a_transaction_and_after_it(database, together):
    if together:
        database.execute("BEGIN")
    for word in ("snow", "hail", "fog"):
        fts.delete_words(database, [Key(1)])
        fts.write_words(database, [(Key(1), "", "", word)])
    if together:
        database.execute("COMMIT")

    assert [found(database, word) for word in ("snow", "hail", "fog")] == [[], [], [1]]


def find_named(database, *tokens, filters=Filters(), limit=9):  # noqa: B008 - immutable
    found = fts.find_named_documents(database, tokens, filters, limit)
    return [one.path for one in found]


def test_documents_are_found_by_the_rarest_words_first(stored):
    plan = document("tides/plan.md", title="Plan")
    stored.put_document(plan)
    stored.put_document(document("tides/boats.md", title="Boats", aliases=("Ships",)))

    assert find_named(stored.database, "tide", "boat") == ["tides/boats.md", "tides/plan.md"]
    assert find_named(stored.database, "ship") == ["tides/boats.md"]
    assert find_named(stored.database, "tide", filters=Filters(doc_id=plan.doc_id)) == [
        "tides/plan.md"
    ]
    assert find_named(stored.database, "rain") == []


def test_words_that_differ_in_one_place_are_among_the_similar(stored):
    stored.put_document(document("quarterly.md", title="Plan"))

    for mistyped in ("quaterly", "quartrely", "quarterlyy", "xuarterly"):
        assert fts.list_similar_words(stored.database, mistyped) == ["quarterly"]
    assert fts.list_similar_words(stored.database, "boats") == []


def test_the_names_that_an_earlier_version_lacks_are_added(writer, tmp_path):
    with writer:
        writer.database.execute("DELETE FROM document_names")
        writer.set_value("word_rule", None)

    with SqliteWriter(tmp_path, str) as again:
        assert find_named(again.database, "titl") == ["a.md"]
