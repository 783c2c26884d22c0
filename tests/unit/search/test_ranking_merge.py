from kebab.core.queries import Filters, Mode
from kebab.search import lexical
from kebab.search.query_parser import parse_query
from kebab.search.ranking import Merger
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorMatches


def _order(base, text, cosines=None):
    reader = base.reader()
    question = parse_query(text, Filters())
    words = lexical.weigh_terms(reader, question)
    found = lexical.search_lexical(reader, question, words, 100)
    near = None
    if cosines is not None:
        ranked = sorted(cosines.items(), key=lambda one: -one[1])
        near = VectorMatches(
            near=ranked, cosines=cosines, model=base.embedder.profile, remembered=False
        )
    merger = Merger(lambda: base.vectors)
    return merger.order(question, words, found, near, PassageCache(reader))


def _keys(order):
    return [key for key, _ in order.ranked]


def _fill(base):
    for number in range(8):
        base.add(f"other{number}.md", f"nothing of interest {number}")


def test_a_topic_is_found_where_a_document_speaks_of_it_again_and_again(base):
    _fill(base)
    base.add("aside.md", "gaskets and much else that takes room in a passage of a note")
    base.add("about.md", "about gaskets and much else that takes room here", "gaskets", "gaskets")

    order = _order(base, "gaskets")

    assert order.lifts["context"][9] < order.lifts["context"][10]


def test_further_passages_of_a_document_give_way(base):
    _fill(base)
    base.add("a.md", "gaskets here", "gaskets there")
    base.add("b.md", "gaskets where", "gaskets there")

    order = _order(base, "gaskets")

    assert set(_keys(order)[:2]) in ({9, 11}, {9, 12}, {10, 11}, {10, 12})
    assert sorted(order.lifts["spread"][key] < 0 for key in (9, 10)) == [False, True]


def test_a_question_is_answered_where_its_words_stand_together(base):
    _fill(base)
    base.add("apart.md", "the seal of a pump is changed when the rubber is old and stiff")
    base.add("close.md", "when the rubber is old and stiff a pump seal is changed in time")

    order = _order(base, "who changes the pump seal?")

    assert _keys(order)[:2] == [10, 9]
    assert order.lifts["closeness"][10] > order.lifts["closeness"][9]
    assert "context" not in order.lifts


def test_without_words_the_vectors_decide_alone(base):
    _fill(base)

    order = _order(base, "gaskets", {1: 0.2, 2: 0.6})

    assert order.method is Mode.VECTOR
    assert _keys(order) == [2, 1]


def test_the_order_is_by_the_evidence_that_it_gives(base):
    _fill(base)
    base.add("a.md", "gaskets", "gaskets too", "more gaskets")

    order = _order(base, "gaskets", {1: 0.9, 9: 0.1})

    scores = [score for _, score in order.ranked]
    assert scores == sorted(scores, reverse=True)
