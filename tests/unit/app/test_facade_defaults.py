"""The settings stand in for fields that a request leaves out, and for no others."""

import msgspec

from kebab.app.facade import convert_operation_request, list_names, list_request_defaults
from kebab.config.load import load_settings
from kebab.config.settings import Ask, Search, Settings
from kebab.wire.operations import OPERATIONS
from kebab.wire.search import SearchRequest

CHANGED = Settings(
    search=Search(mode="lexical", limit=3, snippet_chars=80, rerank=True),
    ask=Ask(limit=4, rerank=False),
)


def test_the_settings_of_an_operation_are_fields_of_its_request():
    for name in OPERATIONS:
        fields = msgspec.structs.fields(OPERATIONS[name].request)

        assert list_request_defaults(name, CHANGED).keys() <= {field.name for field in fields}


def test_a_search_takes_every_field_that_it_leaves_out_from_the_settings():
    filled = convert_operation_request("search", {"query": "x", "limit": 7}, CHANGED)

    assert filled == SearchRequest(
        query="x", limit=7, mode="lexical", snippet_chars=80, rerank=True
    )


def test_a_null_that_is_given_stays():
    filled = convert_operation_request("search", {"query": "x", "rerank": None}, CHANGED)

    assert isinstance(filled, SearchRequest)
    assert filled.rerank is None


def test_an_empty_string_is_a_field_left_out():
    settings = Settings()
    given = {"query": "restore", "mode": "", "cursor": "", "path_glob": ""}

    assert convert_operation_request("search", given, settings) == convert_operation_request(
        "search", {"query": "restore"}, settings
    )


def names(desk, kind, prefix=""):
    return list_names(load_settings(environ={}, flags=desk.flags), desk.config, kind, prefix)


def test_names_are_sorted_and_listed_once(desk):
    for name in ("b", "a"):
        desk.write(f"{name}.md", f"---\ntags: [home, {name}]\n---\nabout {name}\n")
    desk.ingest()

    assert names(desk, "tags") == ["a", "b", "home"]
    assert names(desk, "documents", "a") == ["a.md"]
    assert names(desk, "sources") == [str(desk.notes)]


def test_a_document_is_completed_by_the_beginning_of_its_name(desk):
    desk.write("deep/Cards view.md", "## Settings\ntext\n")
    desk.ingest()

    assert names(desk, "documents", "cards v") == ["deep/Cards view.md"]
    assert names(desk, "documents", "view") == []
