"""A tool call becomes a result: text, links and a typed object, or an error with advice."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from kebab.config.settings import resolve_paths
from kebab.core.progress import Cancel, Progress
from kebab.mcp.calls import RequestError, Resources
from kebab.mcp.tools import TOOLS
from kebab.store.sqlite.connection import get_database_path
from kebab.wire.error import ErrorReply
from kebab.wire.ingest import IngestTextRequest
from kebab.wire.json_schema import build_schema
from tests.unit.mcp.conftest import BREAD

CALLS: dict[str, list[dict[str, Any]]] = {
    "search": [
        {"queries": "sourdough starter"},
        {"queries": ["sourdough", "Hecke"], "limit": 1, "detail": "ids"},
        {"queries": "qqqqqqqq"},
        {"queries": "sourdough", "path": "nowhere/"},
        {"queries": "sourdough", "since": "30d", "max_tokens": 20},
    ],
    "read": [
        {"refs": "bread.md#L3-L5"},
        {"refs": ["bread.md", "nowhere.md"], "max_tokens": 20},
        {"refs": "bread.md#L5", "section": True},
    ],
    "grep": [
        {"pattern": "flour"},
        {"pattern": "FLOUR", "ignore_case": True, "limit": 1, "context": 1, "path": "bread.md"},
        {"pattern": "a(", "fixed": True},
    ],
    "outline": [{}, {"ref": "bread.md"}, {"ref": "nowhere.md"}, {"depth": 1}],
    "explain": [
        {"path": "bread.md"},
        {"path": "nowhere.md"},
    ],
    "status": [{}],
    "ingest": [{}],
    "ask": [{"question": "how much water does rye need"}],
}
EVERY = [(name, arguments) for name, calls in CALLS.items() for arguments in calls]
BROKEN = [
    ("search", {"query": "sourdough"}, "queries (required)"),
    ("search", {}, "queries (required)"),
    ("search", {"queries": []}, "length >= 1"),
    ("search", {"queries": ""}, "query"),
    ("search", {"queries": "x", "limit": 0}, "$.limit"),
    ("search", {"queries": "x", "detail": "much"}, "$.detail"),
    ("search", {"queries": "x", "since": "whenever"}, "since"),
    ("read", {"refs": 5}, "refs (required)"),
    ("grep", {"pattern": "a("}, "pattern"),
    ("status", {"all": True}, "none"),
]


def read_text(result):
    return result["content"][0]["text"]


def test_each_tool_is_called_here():
    assert set(CALLS) == {tool.name for tool in TOOLS}


@pytest.mark.parametrize(("name", "arguments"), EVERY)
def test_a_structured_result_keeps_to_the_schema_of_its_tool(caller, name, arguments):
    result = caller.call(name, arguments)

    schema = caller.tools[name].output_schema
    jsonschema.validate(result["structuredContent"], schema)
    assert read_text(result)
    assert json.loads(json.dumps(result)) == result


@pytest.mark.parametrize(("name", "arguments"), [one for one in EVERY if one[0] != "ask"])
def test_a_result_is_no_error_even_when_nothing_is_found(caller, name, arguments):
    assert "isError" not in caller.call(name, arguments)


@pytest.mark.parametrize(("name", "arguments", "said"), BROKEN)
def test_wrong_arguments_are_a_result_that_says_how_to_mend_the_call(caller, name, arguments, said):
    result = caller.call(name, arguments)

    assert result["isError"]
    assert said in read_text(result)
    assert f"arguments of {name}: " in read_text(result)
    error = result["structuredContent"]
    jsonschema.validate(error, build_schema(ErrorReply))
    jsonschema.validate(error, caller.tools[name].output_schema)
    assert error["code"] == "invalid_input"


@pytest.mark.parametrize("name", ["search", "read", "grep", "outline"])
def test_without_an_index_a_tool_says_so(empty, name):
    result = empty.call(name, CALLS[name][0])

    assert result["isError"]
    assert result["structuredContent"]["code"] == "not_indexed"
    assert "hint: kebab" in read_text(result)


def test_the_status_of_an_empty_knowledge_base_is_a_result(empty):
    result = empty.call("status", {})

    assert result["structuredContent"] == {"documents": 0, "passages": 0}
    assert "Nothing is indexed yet" in read_text(result)


def test_numbers_may_be_strings_and_null_means_left_out(caller):
    result = caller.call("search", {"queries": "flour", "limit": "1", "path": None})

    assert len(result["structuredContent"]["hits"]) == 1


def test_the_text_of_a_result_is_not_repeated_in_its_structure(caller):
    result = caller.call("search", {"queries": "sourdough starter"})

    assert "ferments overnight" in read_text(result)
    assert "ferments" not in json.dumps([result["structuredContent"], *result["content"][1:]])


def test_a_degraded_search_says_so_in_the_text(caller):
    assert "no search by meaning" in read_text(caller.call("search", {"queries": "sourdough"}))


def test_a_page_names_the_cursor_of_the_next_one(caller):
    first = caller.call("search", {"queries": "flour Hecke", "limit": 1})
    cursor = first["structuredContent"]["next_cursor"]
    second = caller.call("search", {"queries": "flour Hecke", "limit": 1, "cursor": cursor})

    assert f'more: cursor "{cursor}"' in read_text(first)
    refs = [one["structuredContent"]["hits"][0]["ref"] for one in (first, second)]
    assert refs[0] != refs[1]


def test_every_reference_of_a_search_can_be_read(caller):
    found = caller.call("search", {"queries": ["flour", "Hecke"]})
    refs = [hit["ref"] for hit in found["structuredContent"]["hits"]]

    read = caller.call("read", {"refs": refs})["structuredContent"]

    assert len(read["places"]) == len(refs)
    assert "missing" not in read


@pytest.mark.parametrize(("name", "arguments"), EVERY[:3])
def test_text_alone_is_all_that_some_clients_get(caller, name, arguments):
    result = caller.call(name, arguments, structured=False)

    assert result == {"content": caller.call(name, arguments)["content"][:1]}


def test_an_error_as_text_alone_is_still_an_error(caller):
    result = caller.call("search", {}, structured=False)

    assert result["isError"]
    assert set(result) == {"isError", "content"}


def test_a_file_that_is_not_indexed_is_explained(caller, notes):
    (notes / "new.md").write_text("# New\n", encoding="utf-8")

    result = caller.call("explain", {"path": str(notes / "new.md")})

    assert result["structuredContent"]["found"] is False
    assert "new.md" in read_text(result)


def test_writing_is_refused_where_everything_is_read_only(make_caller, caller):
    result = make_caller(read_only=True).call("ingest", {})

    assert result["structuredContent"]["code"] == "read_only"


def test_an_ingest_reports_progress_and_can_be_cancelled(caller, notes):
    events: list[Progress] = []
    (notes / "new.md").write_text("# New\n", encoding="utf-8")

    done = caller.call("ingest", {}, report=events.append)
    cancel = Cancel()
    cancel.request()
    stopped = caller.call("ingest", {}, cancel=cancel)

    assert done["structuredContent"]["new"] == 1
    assert events
    assert stopped["structuredContent"]["cancelled"]


def test_a_damaged_index_is_described_and_every_call_says_so(caller, settings):
    database = get_database_path(resolve_paths(settings).data)
    for file in database.parent.glob(f"{database.name}*"):
        file.write_bytes(b"nonsense" * 1000)

    assert "cannot be read" in caller.describe_index()
    result = caller.call("search", {"queries": "sourdough"})
    assert result["structuredContent"]["code"] == "store_corrupt"


def test_a_fault_of_the_program_becomes_a_result(caller, monkeypatch):
    monkeypatch.setattr("kebab.app.facade.Kebab.run", lambda *_, **__: 1 / 0)

    result = caller.call("search", {"queries": "x"})

    assert result["structuredContent"]["code"] == "generic"
    assert "ZeroDivisionError" not in json.dumps(result)


@pytest.fixture
def resources(caller):
    return Resources(caller)


def test_every_listed_document_can_be_read(resources, caller):
    caller.run(lambda kebab: kebab.run(IngestTextRequest(text=b"Piped text.", title="Piped")))

    listed = resources.list(None)["resources"]
    texts = [resources.read(one["uri"])["contents"][0]["text"] for one in listed]

    assert len(listed) == 3
    assert BREAD.rstrip() in texts
    assert any("Piped text." in text for text in texts)


def test_an_entry_describes_its_document(resources):
    (bread,) = [one for one in resources.list(None)["resources"] if one["name"] == "bread.md"]

    assert (bread["title"], bread["mimeType"], bread["size"]) == (
        "Bread",
        "text/markdown",
        len(BREAD),
    )
    assert bread["annotations"]["lastModified"].endswith("Z")


def test_lines_of_a_document_can_be_read(resources, notes):
    (contents,) = resources.read(f"kebab://{notes}/bread.md#L1-L3")["contents"]

    assert contents["text"].splitlines() == ["# Bread", "", "## Sourdough"]
    assert contents["mimeType"] == "text/markdown"


@pytest.mark.parametrize("uri", ["kebab:///etc/passwd", "kebab://id/none", "file:///etc/passwd"])
def test_only_indexed_documents_can_be_read(resources, uri):
    with pytest.raises(RequestError):
        resources.read(uri)


def test_a_list_has_pages(resources, caller, monkeypatch):
    monkeypatch.setattr("kebab.mcp.calls._PAGE", 1)

    first = resources.list(None)
    second = resources.list(first["nextCursor"])

    assert "nextCursor" not in second
    assert first["resources"] != second["resources"]


@pytest.mark.parametrize("cursor", ["nonsense", "ü", ""])
def test_a_foreign_cursor_is_refused(resources, cursor):
    with pytest.raises(RequestError, match="not a cursor"):
        resources.list(cursor)


def test_a_path_is_completed_by_its_beginning_or_a_part(resources, notes):
    found = resources.complete("garten")["completion"]

    assert [unquote(value) for value in found["values"]] == [f"{notes}/my plans/garten ü#1.md"]
    assert resources.read(f"kebab://{found['values'][0]}")["contents"]
    assert resources.complete(str(notes))["completion"]["total"] == 2


def test_an_unknown_argument_has_no_completions(resources):
    assert resources.complete(None) == {"completion": {"values": []}}


def test_without_an_index_there_are_no_resources(empty):
    resources = Resources(empty)

    assert resources.list(None) == {"resources": []}
    assert resources.complete("a")["completion"]["values"] == []
    with pytest.raises(RequestError) as caught:
        resources.read("kebab:///a.md")
    assert caught.value.data["code"] == "not_indexed"


@pytest.mark.parametrize("index", ["caller", "empty"])
def test_loading_ahead_leaves_nothing_behind(request, index):
    caller = request.getfixturevalue(index)
    data = Path(caller.settings.data_dir)

    def read():
        return {
            file: file.read_bytes()
            for file in data.rglob("*")
            if file.is_file() and file.suffix != ".sqlite-shm"
        }

    before = read()
    caller.preload()

    assert read() == before
    assert not caller.call("status", {}).get("isError")
