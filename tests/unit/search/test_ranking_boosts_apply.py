import numpy as np
import pytest

from kebab.core.chunks import Key, LanguageTrust
from kebab.core.documents import VectorRow
from kebab.core.queries import Filters
from kebab.search import lexical, ranking
from kebab.search.query_parser import classify_intent, parse_query
from kebab.search.ranking import (
    apply_boosts,
    apply_relevance_feedback,
    place_unembedded,
    rank_by_score,
)
from kebab.search.snippet import PassageCache
from tests.fakes.vectors import MemoryVectors


def _boosts(base, text):
    reader = base.reader()
    question = parse_query(text, Filters())
    words = lexical.weigh_terms(reader, question, lexical.TokenCounts(reader))
    found = lexical.search_lexical(reader, question, words, 100)
    shares = {key: score / words.max_score for key, score in found}
    _, boosts = apply_boosts(
        question, classify_intent(question), words, shares, PassageCache(reader)
    )
    return boosts


@pytest.fixture
def notes(base):
    for number in range(8):
        base.add(f"other{number}.md", f"nothing of interest {number}")
    base.add("a.md", "the seal of the pump", "pump seal and rubber")
    return base


def test_a_topic_is_boosted_by_document_context_and_diversity(notes):
    found = _boosts(notes, "pump seal")

    assert found.keys() == {"context", "spread"}
    assert found["context"][Key(9)] == found["context"][Key(10)] > 0


def test_a_question_is_boosted_by_proximity_alone(notes):
    found = _boosts(notes, "where is the pump seal")

    assert found.keys() == {"closeness"}
    assert found["closeness"][Key(10)] > found["closeness"][Key(9)] > 0


def test_a_need_gets_the_diversity_penalty_alone(notes):
    need = "pump seal rubber leaks pressure shaft housing bearing grease"

    assert _boosts(notes, need).keys() == {"spread"}


def test_a_name_in_code_gets_no_diversity_penalty(notes):
    assert _boosts(notes, "pump_seal").keys() == {"context"}


_FIRST, _ALIKE, _OTHER = Key(1), Key(2), Key(3)


def _unit(*values):
    vector = np.array(values, np.float32)
    return vector / np.linalg.norm(vector)


@pytest.fixture
def vectors():
    vectors = MemoryVectors()
    rows = {_FIRST: _unit(1, 1, 0), _ALIKE: _unit(0, 1, 0), _OTHER: _unit(0, 0, 1)}
    vectors.append([VectorRow(key, row) for key, row in rows.items()])
    return vectors


@pytest.fixture
def cosines(vectors):
    return vectors.compute_cosines(_unit(1, 0, 0.2), [_FIRST, _ALIKE, _OTHER])


def test_feedback_raises_passages_similar_to_the_best_one(vectors, cosines):
    assert cosines[_ALIKE] < cosines[_OTHER]

    found = apply_relevance_feedback(cosines, _FIRST, 1.0, vectors)

    assert found[_FIRST] > found[_ALIKE] > found[_OTHER]


@pytest.mark.parametrize(("first", "weight"), [(Key(9), 1.0), (_FIRST, 0.0)])
def test_without_a_passage_or_a_weight_nothing_changes(vectors, cosines, first, weight):
    assert apply_relevance_feedback(cosines, first, weight, vectors) == cosines


def _keyed(scores):
    return {Key(key): score for key, score in scores.items()}


def _rank_partly(words, scores, embedded, strength=1.0):
    """Return the order of the passages, of which some have a vector."""
    words, scores = list(_keyed(words).items()), _keyed(scores)
    placed = place_unembedded(words, scores, set(map(Key, embedded)), strength)
    return [key for key, _ in rank_by_score({**scores, **placed})]


_WORDS = {1: 0.5, 2: 0.4, 3: 0.3, 4: 0.2}
_SCORES = {1: 0.5, 2: 0.7, 3: 0.3, 4: 0.9, 5: 0.8}


@pytest.mark.parametrize(
    ("embedded", "order"),
    [
        ([2, 4, 5], [1, 4, 3, 5, 2]),
        ([1, 2, 3, 4, 5], [4, 5, 2, 1, 3]),
        ([1, 3, 5], [5, 2, 1, 4, 3]),
    ],
    ids=["half", "all", "others"],
)
def test_a_passage_without_a_vector_keeps_its_place_among_the_words(embedded, order):
    assert _rank_partly(_WORDS, _SCORES, embedded) == order


def test_vectors_decide_where_the_words_say_little():
    assert _rank_partly(_WORDS, _SCORES, [2, 4, 5], strength=0.0) == [4, 5, 2, 1, 3]


def test_ties_go_to_the_smaller_key():
    assert [key for key, _ in rank_by_score(_keyed({9: 0.5, 3: 0.5, 5: 0.5}))] == [3, 5, 9]


_OF_ENGLISH = LanguageTrust(english=1.0, other=0.0)


@pytest.mark.parametrize(
    ("languages", "expected"), [(["en", None], 1.0), (["de", "ko"], 0.0), (["en", "de"], 0.5)]
)
def test_a_model_of_english_is_trusted_on_english(languages, expected):
    found = ranking.estimate_trust(_OF_ENGLISH, languages, "how long does it rest?", 1.0)

    assert found[0] == expected


def _trust_query(text, strength, levels=_OF_ENGLISH):
    return ranking.estimate_trust(levels, ["en"], text, strength)[1]


def test_a_question_in_the_language_of_the_model_is_trusted_whatever_its_words_say():
    assert _trust_query("How long does the dough rest?", 0.0) == 1


@pytest.mark.parametrize("text", ["Wie lange ruht der Teig?", "hamur dinlenir", "Teigruhe"])
def test_other_words_are_trusted_as_far_as_the_passages_hold_them(text):
    assert _trust_query(text, 0.0) == 0
    assert _trust_query(text, 0.25) == pytest.approx(0.25)
    assert _trust_query(text, 1.0) == 1
