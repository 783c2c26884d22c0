import apsw
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from kebab.core.queries import Filters
from kebab.errors.catalog import InvalidInput
from kebab.search import lexical
from kebab.search.lexical import (
    build_match_expression,
)
from kebab.search.query_parser import parse_query


@pytest.fixture
def library(base):
    for number in range(6):
        base.add(f"{number}.md", f"common words here {'rare' if number == 0 else 'plain'}")
    return base.reader()


def _weighed(library, text):
    question = parse_query(text, Filters())
    return question, lexical.weigh_terms(library, question, lexical.TokenCounts(library))


def test_common_words_are_not_searched_for_beside_rare_ones(library):
    _, words = _weighed(library, "common rare absent")

    assert [term.text for term in words.terms] == ["rare"]
    assert set(words.weights) == {"rare"}


def test_common_words_are_searched_for_when_there_is_nothing_else(library):
    question, words = _weighed(library, "common")

    assert len(lexical.search_lexical(library, question, words, 10)) == 6


def test_words_that_occur_nowhere_lower_the_evidence(library):
    question, words = _weighed(library, "rare")
    _, more = _weighed(library, "rare absent unheard")
    [(_, score), *_] = lexical.search_lexical(library, question, words, 10)

    assert 0 < score / more.max_score < score / words.max_score / 2


def test_required_and_excluded_phrases_are_found(library):
    question = parse_query('"words here" -rare', Filters())

    assert len(lexical.find_holding(library, Filters(), question.required, "AND")) == 6
    assert len(lexical.find_holding(library, Filters(), question.excluded, "OR")) == 1
    assert lexical.find_holding(library, Filters(), (), "AND") == []


def test_stop_words_are_searched_for_when_the_index_holds_no_term(library):
    question, words = _weighed(library, "where is the unheard plain here")
    _, fillers = _weighed(library, "here or unheard")

    assert "plain" in words.weights
    assert [term.text for term in question.stop_terms] == ["where", "is", "the"]
    assert set(fillers.weights) == {"here"}


def _match(text):
    question = parse_query(text, Filters())
    return build_match_expression(question.terms, question.required, question.excluded)


_MIXTURES = st.lists(
    st.sampled_from(
        ['"', "-", "title:", "tag:x", "a", "서울", "역", " ", "*", "(", "AND", "NOT", "-b"]
    ),
    max_size=12,
).map("".join)


@given(st.text(max_size=60) | _MIXTURES)
def test_no_query_is_a_syntax_error(text):
    database = apsw.Connection(":memory:")
    database.execute("CREATE VIRTUAL TABLE f USING fts5(title, headings, body)")
    try:
        expression = _match(text)
    except InvalidInput:
        reject()

    if expression:
        database.execute("SELECT rowid FROM f WHERE f MATCH ?", (expression,)).fetchall()
