from kebab.core.ids import Key
from kebab.search.retrieval import ChannelResults


def test_candidates_beyond_the_list_have_a_score_and_no_rank():
    results = ChannelResults(
        [(Key(7), 0.9), (Key(3), 0.5)], {Key(7): 0.9, Key(3): 0.5, Key(4): 0.1}
    )
    assert [results.ranks.get(Key(key)) for key in (7, 3, 4, 5)] == [1, 2, None, None]
    assert [results.scores.get(Key(key)) for key in (3, 4, 5)] == [0.5, 0.1, None]


def test_scores_default_to_those_of_the_listed_candidates():
    assert ChannelResults([(Key(7), 0.9)]).scores == {7: 0.9}
    assert ChannelResults().scores == {}
