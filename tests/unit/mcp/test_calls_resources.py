"""Documents are resources: listed in pages, read by their URI, completed by their path."""

from urllib.parse import unquote

import pytest

from kebab.mcp.calls import ResourceError, Resources
from kebab.wire.ingest import IngestTextRequest
from tests.unit.mcp.conftest import BREAD


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
    with pytest.raises(ResourceError):
        resources.read(uri)


def test_a_list_has_pages(resources, caller, monkeypatch):
    monkeypatch.setattr("kebab.mcp.calls._PAGE", 1)

    first = resources.list(None)
    second = resources.list(first["nextCursor"])

    assert "nextCursor" not in second
    assert first["resources"] != second["resources"]


@pytest.mark.parametrize("cursor", ["nonsense", "ü", ""])
def test_a_foreign_cursor_is_refused(resources, cursor):
    with pytest.raises(ResourceError, match="not a cursor"):
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
    with pytest.raises(ResourceError) as caught:
        resources.read("kebab:///a.md")
    assert caught.value.data["code"] == "not_indexed"
