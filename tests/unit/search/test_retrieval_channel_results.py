from kebab.core.ids import Key
from kebab.core.queries import Mode, Query
from kebab.search.retrieval import ChannelResults, Ranker, StageTimer
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorMatches, VectorRetriever


def test_candidates_beyond_the_list_have_a_score_and_no_rank():
    results = ChannelResults(
        [(Key(7), 0.9), (Key(3), 0.5)], {Key(7): 0.9, Key(3): 0.5, Key(4): 0.1}
    )
    assert [results.ranks.get(Key(key)) for key in (7, 3, 4, 5)] == [1, 2, None, None]
    assert [results.scores.get(Key(key)) for key in (3, 4, 5)] == [0.5, 0.1, None]


def test_scores_default_to_those_of_the_listed_candidates():
    assert ChannelResults([(Key(7), 0.9)]).scores == {7: 0.9}
    assert ChannelResults().scores == {}


class _Retriever(VectorRetriever, frozen=True, kw_only=True):
    """A vector channel that finds given cosines."""

    cosines: dict[Key, float]

    def prepare(self, parsed):
        """Prepare nothing."""

    def retrieve(self, parsed, candidates, limit, mode):
        return VectorMatches(
            nearest=sorted(self.cosines.items(), key=lambda one: -one[1]),
            cosines=self.cosines,
            model=self.embedder().profile,
            from_cache=False,
        )


def _rank(base, text, cosines=None):
    reader = base.reader()
    query = Query(text=text, mode=Mode.LEXICAL if cosines is None else Mode.HYBRID)
    retriever = _Retriever(
        library=reader,
        vectors=lambda: base.vectors,
        embedder=lambda: base.embedder,
        cosines=cosines or {},
    )
    return Ranker(reader, retriever).rank(query, StageTimer(lambda: 0.0), PassageCache(reader))


def _keys(found):
    return [key for key, _ in found.ranked]


def _fill(base):
    for number in range(8):
        base.add(f"other{number}.md", f"nothing of interest {number}")


def test_a_topic_is_boosted_where_a_document_has_more_passages_on_it(base):
    _fill(base)
    base.add("aside.md", "gaskets and much else that takes room in a passage of a note")
    base.add("about.md", "about gaskets and much else that takes room here", "gaskets", "gaskets")

    found = _rank(base, "gaskets")

    assert found.boosts["context"][9] < found.boosts["context"][10]


def test_further_passages_of_a_document_lose(base):
    _fill(base)
    base.add("a.md", "gaskets here", "gaskets there")
    base.add("b.md", "gaskets where", "gaskets there")

    found = _rank(base, "gaskets")

    assert set(_keys(found)[:2]) in ({9, 11}, {9, 12}, {10, 11}, {10, 12})
    assert sorted(found.boosts["spread"][key] < 0 for key in (9, 10)) == [False, True]


def test_a_question_is_boosted_where_its_words_are_near(base):
    _fill(base)
    base.add("apart.md", "the seal of a pump is changed when the rubber is old and stiff")
    base.add("close.md", "when the rubber is old and stiff a pump seal is changed in time")

    found = _rank(base, "who changes the pump seal?")

    assert _keys(found)[:2] == [10, 9]
    assert found.boosts["closeness"][10] > found.boosts["closeness"][9]
    assert "context" not in found.boosts


def test_the_context_of_a_topic_counts_the_vectors_of_other_passages(base):
    _fill(base)
    base.add("near.md", "gaskets here", "rubber rings")
    base.add("far.md", "gaskets here", "bread and butter")

    found = _rank(base, "gaskets", {9: 0.5, 10: 0.5, 11: 0.5, 12: 0.0})

    assert found.boosts["context"][9] > found.boosts["context"][11]


def test_without_lexical_candidates_the_vectors_decide(base):
    _fill(base)

    found = _rank(base, "gaskets", {1: 0.2, 2: 0.6})

    assert found.method is Mode.VECTOR
    assert _keys(found) == [2, 1]


def test_the_order_is_by_the_final_evidence(base):
    _fill(base)
    base.add("a.md", "gaskets", "gaskets too", "more gaskets")

    found = _rank(base, "gaskets", {1: 0.9, 9: 0.1})

    scores = [score for _, score in found.ranked]
    assert scores == sorted(scores, reverse=True)


def test_vectors_decide_where_a_passage_holds_little_of_the_question(base):
    _fill(base)
    base.add("name.md", "Marta Pumpe keeps bees, hens and two goats on the hill behind the mill")
    base.add("right.md", "the seal of the pump is changed by the plumber when it gets stiff")
    question = "wann tauscht Marta Pumpe in der Werkstatt denn die alte Dichtung der Pumpe"

    found = _rank(base, question, {9: 0.1, 10: 0.22})

    assert found.lexical.ranked[0][0] == 9
    assert _keys(found)[0] == 10
    assert "closeness" not in found.boosts or max(found.boosts["closeness"].values()) < 0.05


def test_a_near_passage_does_not_pass_one_without_a_vector_that_has_more_of_the_words(base):
    _fill(base)
    base.add("gold.md", "the seal of the pump leaks when the gasket is worn")
    base.add("near.md", "the pump and much else that takes room in a passage of a note")
    gold, near = Key(9), Key(10)
    text = "why does the seal of the pump leak with a worn gasket"

    found = _rank(base, text, {near: 0.95})
    complete = _rank(base, text, {near: 0.95, gold: 0.9})

    assert _keys(_rank(base, text))[:2] == [gold, near]
    assert _keys(found)[:2] == [gold, near]
    assert found.boosts["unembedded"].keys() == {gold}
    assert _keys(complete)[:2] == [gold, near]
    assert "unembedded" not in complete.boosts


def test_a_stage_lasts_from_the_end_of_the_one_before():
    timer = StageTimer(iter([0.0, 0.010, 0.015, 0.030]).__next__)

    timer.record("parse", 3)
    timer.record("lexical", 7, "2 terms")

    assert [(one.stage, one.duration_ms, one.candidates, one.note) for one in timer.stages] == [
        ("parse", 10.0, 3, ""),
        ("lexical", 5.0, 7, "2 terms"),
    ]
    assert timer.get_elapsed_ms() == 30.0
