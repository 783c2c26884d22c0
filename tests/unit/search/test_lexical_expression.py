import apsw
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from kebab.core.queries import Filters
from kebab.errors.catalog import InvalidInput
from kebab.search.lexical import build_match_expression, quote_term
from kebab.search.query_parser import parse_query
from kebab.text.tokenizer import Term


def _match(text):
    question = parse_query(text, Filters())
    return build_match_expression(question.terms, question.required, question.excluded)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("foo-bar", '"foo" OR "bar" OR "foobar"'),
        ("역", '"역" *'),
        ("x -zebra", '("x") NOT (("zebra"))'),
        ("*", ""),
    ],
)
def test_every_token_is_a_string(text, expected):
    assert _match(text) == expected


def test_inner_quotes_are_doubled():
    assert quote_term(Term('a"b')) == '"a""b"'


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
