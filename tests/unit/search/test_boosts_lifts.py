import pytest

from kebab.core.ids import Key
from kebab.core.queries import Filters
from kebab.search import lexical
from kebab.search.boosts import add_boost, compute_boosts
from kebab.search.query_intent import classify_intent
from kebab.search.query_parser import parse_query
from kebab.search.snippet import PassageCache


def _lifts(base, text):
    reader = base.reader()
    question = parse_query(text, Filters())
    words = lexical.weigh_terms(reader, question)
    shares = lexical.compute_evidence(lexical.search_lexical(reader, question, words, 100), words)
    return dict(
        compute_boosts(
            question, classify_intent(question), words, shares, shares, PassageCache(reader)
        )
    )


@pytest.fixture
def notes(base):
    for number in range(8):
        base.add(f"other{number}.md", f"nothing of interest {number}")
    base.add("a.md", "the seal of the pump", "pump seal and rubber")
    return base


def test_a_topic_is_lifted_by_its_document_and_spread(notes):
    found = _lifts(notes, "pump seal")

    assert found.keys() == {"context", "spread"}
    assert found["context"][Key(9)] == found["context"][Key(10)] > 0


def test_a_question_is_lifted_by_closeness_alone(notes):
    found = _lifts(notes, "where is the pump seal")

    assert found.keys() == {"closeness"}
    assert found["closeness"][Key(10)] > found["closeness"][Key(9)] > 0


def test_a_need_spreads_and_nothing_else(notes):
    need = "pump seal rubber leaks pressure shaft housing bearing grease"

    assert _lifts(notes, need).keys() == {"spread"}


def test_each_lift_is_added_to_those_it_is_for():
    assert add_boost({Key(1): 0.5, Key(2): 0.4}, {Key(2): 0.2}) == pytest.approx(
        {Key(1): 0.5, Key(2): 0.6}
    )


def test_who_owns_a_passage_is_asked_only_where_it_matters(notes):
    reader = notes.reader()
    asked = []

    class Watched(PassageCache):
        def find_doc_numbers(self, keys):
            asked.append(set(keys))
            return super().find_doc_numbers(keys)

    question = parse_query("where is the pump seal", Filters())
    words = lexical.weigh_terms(reader, question)
    scores = {Key(9): 0.5}
    dict(
        compute_boosts(question, classify_intent(question), words, scores, scores, Watched(reader))
    )

    assert asked == []
