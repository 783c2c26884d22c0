import random

import pytest

from kebab.core.ids import Key
from kebab.core.queries import Filters
from kebab.store.sqlite import fts
from kebab.store.sqlite.connection import open_writer
from kebab.store.sqlite.fts import Postings
from tests.fakes.rows import index_words

WEIGHTS = (4.0, 2.5, 1.0)
WORDS = [*"abcdefghijklm", "snake_case", "äöü", "東京", "c++", "v1.2"]


@pytest.fixture
def database(tmp_path):
    connection = open_writer(tmp_path)
    yield connection
    connection.close()


def text(dice, most):
    return " ".join(dice.choices(WORDS, range(len(WORDS), 0, -1), k=dice.randint(0, most)))


def fill(database, dice, keys):
    with database:
        index_words(
            database, [(Key(key), text(dice, 3), text(dice, 5), text(dice, 300)) for key in keys]
        )


def by_fts5(database, terms, limit):
    match = " OR ".join(f'"{term}"' for term in terms)
    return fts.search(database, match, Filters(), WEIGHTS, limit)


@pytest.mark.parametrize("limit", [1, 7, 1_000])
def test_the_best_rows_and_their_scores_are_those_of_fts5_to_the_last_bit(database, limit):
    dice = random.Random(limit)
    fill(database, dice, range(1, 300))
    fts.delete_chunks(database, [Key(key) for key in range(1, 300, 7)])
    fill(database, dice, range(400, 420))
    words = Postings(database, WEIGHTS)
    for _ in range(20):
        terms = dice.sample([*WORDS, "absent"], dice.randint(1, 6))
        assert words.search(terms, limit) == by_fts5(database, terms, limit)


def test_equal_scores_are_ordered_by_key(database):
    index_words(database, [(Key(key), "", "", "rain") for key in (9, 3, 7, 5)])
    assert [key for key, _ in Postings(database, WEIGHTS).search(["rain"], 3)] == [3, 5, 7]


def test_case_folds_as_it_does_in_the_index(database):
    index_words(database, [(Key(1), "", "", "Rain ÄÖ")])
    words = Postings(database, WEIGHTS)
    assert [len(words.search([term], 9)) for term in ("RAIN", "ÄÖ", "äö")] == [1, 1, 0]


def test_an_empty_index_has_no_rows(database):
    assert Postings(database, WEIGHTS).search(["rain"], 9) == []


def test_evicted_words_are_read_again(database, monkeypatch):
    dice = random.Random(0)
    fill(database, dice, range(1, 60))
    monkeypatch.setattr(fts, "MAX_CACHED_ROWS", 80)
    monkeypatch.setattr(fts, "MAX_CACHED_FACTOR", 1)
    words = Postings(database, WEIGHTS)
    for term in (*"abca", *"abc"):
        assert words.search([term], 99) == by_fts5(database, [term], 99)
    assert words.cached_rows <= 80
