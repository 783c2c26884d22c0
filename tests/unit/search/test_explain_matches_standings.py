import pytest

from kebab.core.ids import Key
from kebab.core.queries import Mode, Query
from kebab.search import retrieval
from kebab.search.explain import find_lexical_standings, find_standings, find_vector_standings
from kebab.search.retrieval import Ranker, StageTimer
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorRetriever
from kebab.wire.related import Standing


@pytest.fixture
def small(monkeypatch):
    """Lists of two candidates."""
    monkeypatch.setattr(retrieval, "CANDIDATE_LIMIT", 2)


def _standings(base, text, keys, mode=Mode.HYBRID):
    reader = base.reader()
    retriever = VectorRetriever(
        library=reader,
        vectors=lambda: base.vectors,
        embedder=lambda: base.embedder,
    )
    query = Query(text=text, mode=mode)
    ranker, timer = Ranker(reader, retriever), StageTimer(lambda: 0.0)
    candidates = ranker.rank(query, timer, PassageCache(reader))
    lexical = find_lexical_standings(reader, candidates, keys)
    return lexical, find_vector_standings(retriever, candidates, keys, mode)


def _fill(base):
    base.add("a.md", "oil " * 4, "oil oil oil sky", "oil oil sky blue", "oil sky blue and red")
    base.add("b.md", *["grass and trees"] * 9)


def test_a_candidate_has_its_rank_in_each_channel(base):
    _fill(base)

    lexical, semantic = _standings(base, "oil", [1, 2])

    assert [(one.rank, one.candidate) for one in lexical.values()] == [(1, True), (2, True)]
    assert (semantic[1].rank, semantic[1].candidate) == (1, True)
    assert semantic[1].score > semantic[2].score


@pytest.mark.usefixtures("small")
def test_a_passage_beyond_the_candidates_has_a_rank_too(base):
    _fill(base)

    lexical, semantic = _standings(base, "oil", [1, 4])

    assert (lexical[1].rank, lexical[1].candidate) == (1, True)
    assert (lexical[4].rank, lexical[4].candidate) == (4, False)
    assert (semantic[4].rank, semantic[4].candidate) == (4, False)


@pytest.mark.usefixtures("small")
def test_a_passage_that_a_channel_does_not_find_has_no_rank(base):
    _fill(base)
    base.add("c.md", "no vector and no word of it", embed=False)

    lexical, semantic = _standings(base, "oil", [14])

    assert (lexical, semantic) == ({}, {})


def test_a_channel_that_was_not_searched_gives_no_ranks(base):
    _fill(base)

    assert _standings(base, "oil", [1], Mode.LEXICAL)[1] == {}
    assert _standings(base, "oil", [1], Mode.VECTOR)[0] == {}


def test_ranks_count_from_one():
    assert find_standings([(Key(7), 0.5), (Key(3), 0.25)], [Key(3)]) == {
        Key(3): Standing(rank=2, score=0.25, candidate=True)
    }
