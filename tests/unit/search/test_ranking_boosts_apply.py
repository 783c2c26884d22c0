import pytest

from kebab.core.ids import Key
from kebab.core.queries import Filters
from kebab.search import lexical
from kebab.search.query_parser import classify_intent, parse_query
from kebab.search.ranking import add_boost, apply_boosts
from kebab.search.snippet import PassageCache


def _boosts(base, text):
    reader = base.reader()
    question = parse_query(text, Filters())
    words = lexical.weigh_terms(reader, question)
    shares = lexical.compute_evidence(lexical.search_lexical(reader, question, words, 100), words)
    _, boosts = apply_boosts(
        question, classify_intent(question), words, shares, PassageCache(reader)
    )
    return boosts


@pytest.fixture
def notes(base):
    for number in range(8):
        base.add(f"other{number}.md", f"nothing of interest {number}")
    base.add("a.md", "the seal of the pump", "pump seal and rubber")
    return base


def test_a_topic_is_boosted_by_document_context_and_diversity(notes):
    found = _boosts(notes, "pump seal")

    assert found.keys() == {"context", "spread"}
    assert found["context"][Key(9)] == found["context"][Key(10)] > 0


def test_a_question_is_boosted_by_proximity_alone(notes):
    found = _boosts(notes, "where is the pump seal")

    assert found.keys() == {"closeness"}
    assert found["closeness"][Key(10)] > found["closeness"][Key(9)] > 0


def test_a_need_gets_the_diversity_penalty_alone(notes):
    need = "pump seal rubber leaks pressure shaft housing bearing grease"

    assert _boosts(notes, need).keys() == {"spread"}


def test_a_boost_is_added_to_its_candidates():
    assert add_boost({Key(1): 0.5, Key(2): 0.4}, {Key(2): 0.2}) == pytest.approx(
        {Key(1): 0.5, Key(2): 0.6}
    )


def test_documents_are_looked_up_only_when_a_boost_needs_them(notes):
    reader = notes.reader()
    asked = []

    class Watched(PassageCache):
        def find_doc_numbers(self, keys):
            asked.append(set(keys))
            return super().find_doc_numbers(keys)

    question = parse_query("where is the pump seal", Filters())
    words = lexical.weigh_terms(reader, question)
    scores = {Key(9): 0.5}
    apply_boosts(question, classify_intent(question), words, scores, Watched(reader))

    assert asked == []
