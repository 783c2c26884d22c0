import pytest

from kebab.core.ids import Key
from kebab.search.fusion import compute_lexical_share, fuse, rank_by_score


def _keyed(scores):
    return {Key(key): score for key, score in scores.items()}


def test_the_evidence_of_both_channels_counts():
    scores = fuse(_keyed({1: 0.8, 2: 0.5}), _keyed({2: 0.9, 3: 0.6, 1: 0.1}))

    assert [key for key, _ in rank_by_score(scores)] == [2, 1, 3]


def test_a_chunk_without_a_vector_keeps_its_lexical_evidence():
    scores = fuse(_keyed({1: 0.8, 2: 0.5}), _keyed({}))

    assert scores == pytest.approx({1: 0.8, 2: 0.5})


def test_ties_go_to_the_smaller_key():
    assert [key for key, _ in rank_by_score(_keyed({9: 0.5, 3: 0.5, 5: 0.5}))] == [3, 5, 9]


def test_the_lexical_share_is_higher_for_an_unknown_language():
    assert (
        compute_lexical_share(0.0, 0.0)
        > compute_lexical_share(0.5, 0.0)
        > compute_lexical_share(1.0, 0.0)
    )


def test_the_lexical_share_is_lower_for_a_described_need():
    assert compute_lexical_share(1.0, 1.0) < compute_lexical_share(1.0, 0.0)
    assert compute_lexical_share(0.0, 1.0) == compute_lexical_share(0.0, 0.0)
