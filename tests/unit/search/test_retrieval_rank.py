from dataclasses import replace

import pytest
from msgspec import UNSET

from kebab.core.ids import Key
from kebab.core.queries import Filters, Mode, Query
from kebab.search.answerability import should_rerank
from kebab.search.lexical import WeightedTerms
from kebab.search.query_parser import parse_query
from kebab.search.retrieval import ChannelResults, RankedCandidates, Ranker, StageTimer
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorRetriever


def _rank(base, text, mode=Mode.HYBRID, **given):
    reader = base.reader()
    retriever = VectorRetriever(
        library=reader,
        vectors=lambda: base.vectors,
        embedder=lambda: base.embedder,
    )
    return Ranker(reader, retriever).rank(
        Query(text=text, mode=mode, **given), StageTimer(lambda: 0.0), PassageCache(reader)
    )


@pytest.mark.parametrize("is_code", [False, True])
def test_a_question_reranks_passages_unless_they_are_code(base, monkeypatch, is_code):
    base.add("a.md", "an oil embargo")
    monkeypatch.setattr("kebab.search.code_order.is_code", lambda media: is_code)
    ranking, passages = _rank(base, "oil embargo"), PassageCache(base.reader())

    question = Query(text="oil embargo", prose=True, rerank=True)

    assert should_rerank(question, ranking, passages) is not is_code
    assert should_rerank(replace(question, prose=False), ranking, passages)
    assert not should_rerank(replace(question, rerank=False), ranking, passages)


@pytest.mark.parametrize(
    ("text", "mode", "reranked"),
    [
        ("where does the oil embargo end?", Mode.HYBRID, True),
        ("where does the oil embargo end?", Mode.LEXICAL, False),
        ("oil embargo", Mode.HYBRID, False),
    ],
)
def test_unless_told_otherwise_a_search_reranks_questions_with_vectors(base, text, mode, reranked):
    base.add("a.md", "the oil embargo does end in March")
    ranking = _rank(base, text, mode)

    assert should_rerank(Query(text=text), ranking, PassageCache(base.reader())) is reranked


def _keys(ranking):
    return [key for key, _ in ranking.ranked]


def test_each_mode_searches_its_channels(base):
    base.add("a.md", "oil embargo")
    base.add("b.md", "the sky")

    assert _rank(base, "oil").method is Mode.HYBRID
    assert _rank(base, "oil", Mode.LEXICAL).method is Mode.LEXICAL
    assert _rank(base, "oil", Mode.VECTOR).method is Mode.VECTOR
    assert _keys(_rank(base, "oil", Mode.LEXICAL)) == [1]
    assert _keys(_rank(base, "oil", Mode.VECTOR)) == [1, 2]


def test_retrieval_names_the_rank_in_each_channel(base):
    base.add("a.md", "oil embargo")
    base.add("b.md", "the sky")
    ranking = _rank(base, "oil")

    first, second = (
        ranking.build_retrieval(key, fused, trace=False) for key, fused in ranking.ranked
    )

    assert (first.lexical_rank, first.vector_rank) == (1, 1)
    assert (second.lexical_rank, second.lexical_score, second.vector_rank) == (None, None, 2)
    assert first.fusion_score > second.fusion_score


@pytest.mark.parametrize("mode", list(Mode))
def test_a_phrase_that_occurs_nowhere_finds_nothing_in_any_mode(base, mode):
    base.add("a.md", "an embargo on oil")

    ranking = _rank(base, '"oil embargo"', mode=mode)

    assert _keys(ranking) == []
    assert ranking.degraded == ()


def test_in_prose_a_phrase_that_occurs_nowhere_is_searched_for_as_words(base):
    base.add("a.md", "an embargo on oil")

    ranking = _rank(base, 'what is an "oil embargo"', prose=True)

    assert _keys(ranking) == [1]
    assert [one.text for one in ranking.dropped] == ["oil embargo"]
    assert [one.channel for one in ranking.degraded] == ["lexical"]


def test_a_phrase_restricts_both_channels(base):
    base.add("a.md", "an embargo on oil")
    base.add("b.md", "the oil embargo")

    assert _keys(_rank(base, '"oil embargo"')) == [2]


def test_an_excluded_word_applies_to_both_channels(base):
    base.add("a.md", "oil and nixon")
    base.add("b.md", "oil and gas")

    assert _keys(_rank(base, "oil -nixon")) == [2]


def test_filters_alone_list_what_passes(base):
    base.add("a.md", "one", tags=["x"])
    base.add("b.md", "two")

    assert _keys(_rank(base, "tag:x")) == [1]
    assert _keys(_rank(base, "*")) == []
    assert _keys(_rank(base, "*", filters=Filters(tag=("x",)))) == [1]


def test_every_boost_has_a_name(base):
    base.add("a.md", "the oil embargo", "oil of the embargo")
    base.add("b.md", "the sky")

    ranking = _rank(base, "oil embargo")

    assert ranking.parsed.plain == "oil embargo"
    for key, score in ranking.ranked:
        lifts = ranking.build_retrieval(key, score, trace=True).lifts
        assert score == ranking.fused[key] + sum(lift.value for lift in lifts)
    assert set(ranking.boosts) == {"context", "spread"}
    assert ranking.build_retrieval(key, score, trace=False).lifts is UNSET


@pytest.mark.parametrize(
    ("lexical", "vector", "method"),
    [
        (ChannelResults([(Key(1), 2.0)]), ChannelResults(), "lexical"),
        (ChannelResults(), ChannelResults([(Key(1), 0.4)]), "vector"),
        (ChannelResults([(Key(2), 2.0), (Key(1), 1.0)]), ChannelResults([(Key(1), 0.4)]), "hybrid"),
        (ChannelResults([(Key(1), 2.0)]), ChannelResults([], {Key(1): 0.4}), "lexical"),
        (ChannelResults(), ChannelResults(), "lexical"),
    ],
)
def test_the_method_names_the_channels_that_listed_it(lexical, vector, method):
    ranking = RankedCandidates(
        ranked=[(Key(1), 0.5)],
        method=Mode.HYBRID,
        parsed=parse_query("oil", Filters()),
        weighted=WeightedTerms(terms=(), weights={}, max_score=0.0, rarities={}),
        lexical=lexical,
        vector=vector,
        degraded=(),
    )

    assert ranking.build_retrieval(Key(1), 0.5, trace=True).method == method
