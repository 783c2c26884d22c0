from kebab.core.chunks import Key
from kebab.core.queries import Mode, Query
from kebab.search.ranking import VectorMatches
from kebab.search.retrieval import Ranker, StageTimer, VectorRetriever
from kebab.search.snippet import PassageCache


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
    ranker = Ranker(reader, lambda: retriever)
    return ranker.rank(query, StageTimer(lambda: 0.0), PassageCache(reader))


def _keys(found):
    return [key for key, _ in found.ranked]


def _fill(base):
    for number in range(8):
        base.add(f"other{number}.md", f"nothing of interest {number}")


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
    assert _keys(complete)[:2] == [gold, near]
