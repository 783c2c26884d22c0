import pytest

from kebab.core.ids import Key
from kebab.core.queries import Filters
from kebab.store.sqlite import fts
from kebab.store.sqlite.connection import open_writer
from tests.fakes.rows import index_words


@pytest.fixture
def database(tmp_path):
    connection = open_writer(tmp_path)
    yield connection
    connection.close()


def keys(database, match, weights=fts.EQUAL_WEIGHTS):
    return [key for key, _ in fts.search(database, match, Filters(), weights, 9)]


def test_weights_decide_between_title_heading_and_body(database):
    index_words(
        database, [(Key(1), "rain", "", ""), (Key(2), "", "rain", ""), (Key(3), "", "", "rain")]
    )
    assert keys(database, '"rain"', (9.0, 1.0, 0.1)) == [1, 2, 3]
    assert keys(database, '"rain"', (0.1, 1.0, 9.0)) == [3, 2, 1]


def test_a_query_can_name_one_column(database):
    index_words(database, [(Key(1), "rain", "", "sun"), (Key(2), "sun", "", "rain")])
    assert keys(database, 'title : "rain"') == [1]
    assert keys(database, 'body : "rain"') == [2]


def test_phrases_match_adjacent_words(database):
    index_words(database, [(Key(1), "", "", "big red dog"), (Key(2), "", "", "red big dog")])
    assert keys(database, '"big red"') == [1]


def test_rows_are_deleted_without_their_text(database):
    index_words(database, [(Key(1), "", "", "rain"), (Key(2), "", "", "rain")])
    fts.delete_chunks(database, [Key(1)])
    assert keys(database, '"rain"') == [2]
    assert fts.get_document_frequencies(database, ["rain"]) == {"rain": 1}


def test_frequency_folds_ascii_case_as_the_index_does(database):
    index_words(database, [(Key(1), "", "", "Rain ÄÖ")])
    assert fts.get_document_frequencies(database, ["RAIN", "ÄÖ", "äö"]) == {
        "RAIN": 1,
        "ÄÖ": 1,
        "äö": 0,
    }


def test_merging_segments_changes_no_result(database):
    for number in range(40):
        index_words(database, [(Key(number), "", "", f"rain w{number}")])
    fts.merge_segments(database)
    assert fts.get_document_frequencies(database, ["rain", "w7"]) == {"rain": 40, "w7": 1}
    assert keys(database, '"w7"') == [7]
