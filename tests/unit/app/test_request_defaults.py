"""The settings stand in for fields that a request leaves out, and for no others."""

import msgspec
import pytest

from kebab.app.request_defaults import fill_request, list_request_defaults
from kebab.config.settings import Ask, Search, Settings
from kebab.wire.ask import AskRequest
from kebab.wire.operations import OPERATIONS
from kebab.wire.search import SearchRequest

CHANGED = Settings(
    search=Search(mode="lexical", limit=3, snippet_chars=80, rerank=True),
    ask=Ask(limit=4, rerank=False),
)


def test_default_settings_change_nothing():
    name, given = "search", {"query": "x"}
    request = msgspec.convert(given, OPERATIONS[name].request)

    assert fill_request(request, given, list_request_defaults(name, Settings())) == request


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_settings_of_an_operation_are_fields_of_its_request(name):
    fields = msgspec.structs.fields(OPERATIONS[name].request)

    assert list_request_defaults(name, CHANGED).keys() <= {field.name for field in fields}


def test_a_search_takes_every_field_that_it_leaves_out_from_the_settings():
    filled = fill_request(
        SearchRequest(query="x", limit=7),
        {"query": "x", "limit": 7},
        list_request_defaults("search", CHANGED),
    )

    assert filled == SearchRequest(
        query="x", limit=7, mode="lexical", snippet_chars=80, rerank=True
    )


def test_a_null_that_is_given_stays():
    given = {"query": "x", "rerank": None}

    filled = fill_request(SearchRequest(query="x"), given, list_request_defaults("search", CHANGED))

    assert filled.rerank is None


def test_a_question_has_the_mode_of_searches_and_its_own_limit():
    filled = fill_request(AskRequest(question="x"), {}, list_request_defaults("ask", CHANGED))

    assert filled == AskRequest(question="x", mode="lexical", limit=4, rerank=False)
