import pytest

from kebab.core.ids import Key
from kebab.core.queries import Mode, Query
from kebab.search import retrieval
from kebab.search.ranking import StageTimer
from kebab.search.retrieval import DeepRanks, Ranker
from kebab.search.snippet import PassageCache
from kebab.search.vector import QueryVectorCache, VectorRetriever
from kebab.wire.why import Standing


@pytest.fixture
def small(monkeypatch):
    """Lists of two candidates."""
    monkeypatch.setattr(retrieval, "CANDIDATE_LIMIT", 2)
    monkeypatch.setattr(retrieval, "CANDIDATE_LIMIT", 2)


def _standings(base, text, keys, mode=Mode.HYBRID):
    reader = base.reader()
    channel = VectorRetriever(
        library=reader,
        vectors=lambda: base.vectors,
        embedder=lambda: base.embedder,
        memory=QueryVectorCache(None),
    )
    query = Query(text=text, mode=mode)
    ranking = Ranker(reader, channel).rank(query, StageTimer(lambda: 0.0), PassageCache(reader))
    found = DeepRanks(reader, channel)
    return found.words(ranking, keys), found.meaning(ranking, keys, mode)


def _fill(base):
    base.add("a.md", "oil " * 4, "oil oil oil sky", "oil oil sky blue", "oil sky blue and red")
    base.add("b.md", *["grass and trees"] * 9)


def test_what_a_channel_listed_stands_as_it_was_listed(base):
    _fill(base)

    words, meaning = _standings(base, "oil", [1, 2])

    assert [(one.rank, one.candidate) for one in words.values()] == [(1, True), (2, True)]
    assert (meaning[1].rank, meaning[1].candidate) == (1, True)
    assert meaning[1].score > meaning[2].score


@pytest.mark.usefixtures("small")
def test_what_is_beyond_the_candidates_has_a_rank_too(base):
    _fill(base)

    words, meaning = _standings(base, "oil", [1, 4])

    assert (words[1].rank, words[1].candidate) == (1, True)
    assert (words[4].rank, words[4].candidate) == (4, False)
    assert (meaning[4].rank, meaning[4].candidate) == (4, False)


@pytest.mark.usefixtures("small")
def test_what_a_channel_does_not_have_stands_nowhere_in_it(base):
    _fill(base)
    base.add("c.md", "no vector and no word of it", embed=False)

    words, meaning = _standings(base, "oil", [14])

    assert (words, meaning) == ({}, {})


def test_a_channel_that_was_not_asked_says_nothing(base):
    _fill(base)

    assert _standings(base, "oil", [1], Mode.LEXICAL)[1] == {}
    assert _standings(base, "oil", [1], Mode.VECTOR)[0] == {}


def test_ranks_count_from_one():
    assert retrieval.find_standings([(Key(7), 0.5), (Key(3), 0.25)], [Key(3)]) == {
        Key(3): Standing(rank=2, score=0.25, candidate=True)
    }
