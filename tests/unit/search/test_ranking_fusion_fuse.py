from dataclasses import replace

import pytest

from kebab.core.ids import Key
from kebab.search.ranking import (
    VectorTrust,
    compute_lexical_share,
    fuse,
    measure_lexical_strength,
    place_unembedded,
    rank_by_score,
)
from tests.fakes.embedder import PROFILE


def _keyed(scores):
    return {Key(key): score for key, score in scores.items()}


def test_the_evidence_of_both_channels_counts():
    scores = fuse(_keyed({1: 0.8, 2: 0.5}), _keyed({2: 0.9, 3: 0.6, 1: 0.1}), 0.6)

    assert [key for key, _ in rank_by_score(scores)] == [2, 1, 3]


def test_a_chunk_without_a_vector_keeps_its_lexical_evidence():
    scores = fuse(_keyed({1: 0.8, 2: 0.5}), _keyed({}), 0.6)

    assert scores == pytest.approx({1: 0.8, 2: 0.5})


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


def test_without_any_vector_the_words_decide():
    assert _rank_partly(_WORDS, _SCORES, [])[:4] == [5, 1, 2, 3]


def test_ties_go_to_the_smaller_key():
    assert [key for key, _ in rank_by_score(_keyed({9: 0.5, 3: 0.5, 5: 0.5}))] == [3, 5, 9]


def _share(passages=1.0, query=1.0, strength=1.0, need=0.0, model=PROFILE):
    return compute_lexical_share(model, VectorTrust(passages, query), strength, need)


def test_a_known_language_has_the_lexical_share_of_the_model():
    assert _share() == pytest.approx(PROFILE.lexical_share)
    assert _share(model=replace(PROFILE, lexical_share=0.3)) == pytest.approx(0.3)


def test_the_lexical_share_is_higher_for_an_unknown_language():
    assert _share(passages=0.0) > _share(passages=0.5) > _share()


def test_the_lexical_share_is_highest_for_a_query_in_an_unknown_language():
    assert _share(query=0.0) > _share(query=0.5) > _share()
    assert _share(query=0.0) > _share(passages=0.0)


def test_the_lexical_share_is_lower_where_the_words_say_little():
    assert _share() > _share(strength=0.5) > _share(strength=0.1) > _share(strength=0.0) == 0


def test_weak_words_keep_their_share_for_a_query_in_an_unknown_language():
    assert _share(query=0.0, strength=0.1) == pytest.approx(_share(query=0.0))


def test_the_lexical_share_is_lower_for_a_described_need():
    assert _share(need=1.0) < _share()
    assert _share(passages=0.0, need=1.0) == pytest.approx(_share(passages=0.0))


def test_the_best_passage_tells_how_much_the_words_say():
    assert measure_lexical_strength({}) == 0
    weak, good = (measure_lexical_strength(_keyed({1: best, 2: 0.01})) for best in (0.1, 0.45))
    assert 0 < weak < good < 1
    assert measure_lexical_strength(_keyed({1: 0.6})) == measure_lexical_strength(_keyed({1: 1.2}))
