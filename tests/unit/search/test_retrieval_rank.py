import pytest
from msgspec import UNSET

from kebab.core.ids import Key
from kebab.core.queries import Filters, Mode, Query
from kebab.search.lexical import WeightedTerms
from kebab.search.query_parser import parse_query
from kebab.search.ranking import ChannelResults, StageTimer
from kebab.search.retrieval import RankedCandidates, Ranker
from kebab.search.snippet import PassageCache
from kebab.search.vector import QueryVectorCache, VectorRetriever


def _rank(base, text, mode=Mode.HYBRID, **given):
    reader = base.reader()
    channel = VectorRetriever(
        library=reader,
        vectors=lambda: base.vectors,
        embedder=lambda: base.embedder,
        memory=QueryVectorCache(None),
    )
    return Ranker(reader, channel).rank(
        Query(text=text, mode=mode, **given), StageTimer(lambda: 0.0), PassageCache(reader)
    )


def _keys(ranking):
    return [key for key, _ in ranking.order]


def test_each_mode_asks_its_channels(base):
    base.add("a.md", "oil embargo")
    base.add("b.md", "the sky")

    assert _rank(base, "oil").method is Mode.HYBRID
    assert _rank(base, "oil", Mode.LEXICAL).method is Mode.LEXICAL
    assert _rank(base, "oil", Mode.VECTOR).method is Mode.VECTOR
    assert _keys(_rank(base, "oil", Mode.LEXICAL)) == [1]
    assert _keys(_rank(base, "oil", Mode.VECTOR)) == [1, 2]


def test_evidence_names_the_place_in_each_channel(base):
    base.add("a.md", "oil embargo")
    base.add("b.md", "the sky")
    ranking = _rank(base, "oil")

    first, second = (ranking.retrieval(key, fused, trace=False) for key, fused in ranking.order)

    assert (first.lexical_rank, first.vector_rank) == (1, 1)
    assert (second.lexical_rank, second.lexical_score, second.vector_rank) == (None, None, 2)
    assert first.fusion_score > second.fusion_score


def test_a_phrase_that_stands_nowhere_is_asked_for_as_words(base):
    base.add("a.md", "an embargo on oil")

    ranking = _rank(base, '"oil embargo"')

    assert _keys(ranking) == [1]
    assert [one.channel for one in ranking.degraded] == ["lexical"]


def test_a_phrase_bounds_both_channels(base):
    base.add("a.md", "an embargo on oil")
    base.add("b.md", "the oil embargo")

    assert _keys(_rank(base, '"oil embargo"')) == [2]


def test_an_excluded_word_is_out_of_both_channels(base):
    base.add("a.md", "oil and nixon")
    base.add("b.md", "oil and gas")

    assert _keys(_rank(base, "oil -nixon")) == [2]


def test_filters_alone_list_what_passes(base):
    base.add("a.md", "one", tags=["x"])
    base.add("b.md", "two")

    assert _keys(_rank(base, "tag:x")) == [1]
    assert _keys(_rank(base, "*")) == []
    assert _keys(_rank(base, "*", filters=Filters(tag=("x",)))) == [1]


def test_what_was_added_to_the_evidence_has_a_name(base):
    base.add("a.md", "the oil embargo", "oil of the embargo")
    base.add("b.md", "the sky")

    ranking = _rank(base, "oil embargo")

    assert ranking.question.plain == "oil embargo"
    for key, score in ranking.order:
        lifts = ranking.retrieval(key, score, trace=True).lifts
        assert score == ranking.fused[key] + sum(lift.value for lift in lifts)
    assert set(ranking.lifts) == {"context", "spread"}
    assert ranking.retrieval(key, score, trace=False).lifts is UNSET


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
        order=[(Key(1), 0.5)],
        method=Mode.HYBRID,
        question=parse_query("oil", Filters()),
        words=WeightedTerms(terms=(), weights={}, best=0.0, asked={}),
        lexical=lexical,
        vector=vector,
        degraded=(),
    )

    assert ranking.retrieval(Key(1), 0.5, trace=True).method == method
