from dataclasses import replace

import pytest

from kebab.core.ids import Key
from kebab.core.queries import Detail, Filters, Mode, Query, QueryInterpretation
from kebab.search.answerability import Calibration
from kebab.search.engine import MergedRanking, QueryResult
from kebab.search.lexical import WeightedTerms
from kebab.search.query_parser import parse_query
from kebab.search.retrieval import ChannelResults, RankedCandidates

ONE, TWO = Key(1), Key(2)


def result(best=0.9, weights=None, **evidence):
    """Return the ranking of a query: chunks by falling evidence, named like `k7`."""
    ranked = [(Key(int(name[1:])), value) for name, value in evidence.items()]
    candidates = RankedCandidates(
        ranked=ranked,
        method=Mode.LEXICAL,
        parsed=parse_query("oil", Filters()),
        weighted=WeightedTerms(terms=(), weights=weights or {}, max_score=1.0, rarities={}),
        lexical=ChannelResults(ranked),
    )
    return QueryResult(candidates=candidates, calibration=Calibration(best, 1.0))


def test_one_query_keeps_its_order():
    assert MergedRanking([result(k7=1.0, k3=0.5, k9=0.1)]).keys == [7, 3, 9]


def test_queries_take_turns_with_their_convincing_chunks():
    one = result(best=0.95, k1=1.0, k2=0.99, k3=0.98, k4=0.1)
    other = result(best=0.5, k11=1.0, k12=0.95, k13=0.2)

    assert MergedRanking([other, one]).keys == [1, 11, 2, 12, 3, 13, 4]


def test_a_weak_query_has_its_first_chunk_in_the_first_turn():
    strong, weak = result(k1=1.0, k2=0.9), result(best=0.2, k11=1.0, k12=0.9, k2=0.5)

    assert MergedRanking([weak, strong]).keys == [1, 11, 2, 12]


def test_a_chunk_appears_once_with_all_queries_that_found_it():
    one, other = result(best=0.9, k1=1.0, k2=0.95), result(best=0.6, k2=1.0, k1=0.1)
    ranking = MergedRanking([one, other])

    assert ranking.keys == [1, 2]
    assert ranking.find_match(ONE).queries == (0,)
    assert ranking.find_match(TWO).queries == (0, 1)
    assert ranking.find_match(TWO).result is one
    assert ranking.find_match(TWO).evidence == 0.95


def test_a_chunk_that_is_weak_for_all_was_found_by_its_best_query():
    one, other = result(best=0.1, k2=1.0, k1=0.9), result(best=0.2, k3=1.0, k1=0.9)
    ranking = MergedRanking([one, other])

    assert ranking.find_match(ONE).queries == (1,)
    assert ranking.find_match(ONE).score == other.score(ONE)


def test_the_first_chunk_of_a_query_was_found_by_it_also_when_it_is_weak():
    ranking = MergedRanking([result(best=0.1, k1=1.0), result(best=0.2, k1=1.0)])

    assert ranking.find_match(ONE).queries == (0, 1)
    assert ranking.find_match(ONE).score == pytest.approx(0.2)


def test_the_tokens_of_all_queries_that_found_a_chunk_are_highlighted():
    one = result(weights={"oil": 2.0, "the": 0.1}, k1=1.0)
    other = result(weights={"embargo": 3.0}, k1=0.99, k2=1.0)
    ranking = MergedRanking([one, other])

    assert ranking.weigh_highlights(ONE) == {"oil": 2.0, "embargo": 3.0}
    assert ranking.weigh_highlights(TWO) == {"embargo": 3.0}


def test_several_queries_are_searched_together(base):
    base.add("a.md", "The oil embargo began in October.")
    base.add("b.md", "The garden needs water in summer.")
    base.add("c.md", "The garden of the oil embargo.")
    engine = base.engine()

    page = engine.search(
        Query(text="oil embargo", more=("water the garden",), detail=Detail.PASSAGES)
    )

    found = {hit.chunk.path: hit for hit in page.hits}
    assert len(found) == len(page.hits) == 3
    assert found["a.md"].queries == (0,)
    assert found["b.md"].queries == (1,)
    text, spans = found["c.md"].snippet
    assert {text[start:end] for start, end in spans} >= {"oil", "embargo"}
    assert [hit.rank for hit in page.hits] == [1, 2, 3]


def test_pages_of_several_queries_agree(base):
    for number in range(9):
        base.add(f"{number}.md", f"The oil embargo of year {number}.")
        base.add(f"g{number}.md", f"Water the garden of house {number}.")
    engine = base.engine()
    both = Query(text="oil embargo", more=("water the garden",), limit=9)

    whole = engine.search(replace(both, limit=18))
    first, last = (engine.search(replace(both, offset=offset)) for offset in (0, 9))

    assert [*first.hits, *last.hits] == list(whole.hits)
    assert {hit.chunk.path[0] == "g" for hit in whole.hits[:2]} == {True, False}


def test_a_channel_that_is_missing_for_all_queries_is_reported_once(base):
    base.add("a.md", "oil embargo", embed=False)

    page = base.engine().search(Query(text="oil", more=("embargo",)))

    assert len(page.degraded) == 1


def test_facts_about_several_queries_are_merged(base):
    base.add("a.md", "The oil embargo began in October.")

    page = base.engine().search(
        Query(
            text="zeppelin oil -garden",
            more=('"oil embargo" lang:en oil', "zeppelin lang:ko"),
            filters=Filters(path_glob="*.md"),
        )
    )

    assert page.interpretation == QueryInterpretation(
        terms=("zeppelin", "oil"),
        phrases=("oil embargo",),
        excluded=("garden",),
        filters=Filters(path_glob="*.md", lang=("en", "ko")),
    )
    assert page.absent_terms[0] == "zeppelin"
    assert len(page.absent_terms) == len(set(page.absent_terms))
