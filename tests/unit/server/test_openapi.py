import json

from kebab.server.openapi import build_document, build_path, encode_document
from kebab.wire.operations import REMOTE_OPERATIONS
from tests.shape.tree import ROOT

DOCUMENT = build_document()


def list_references(value):
    if isinstance(value, dict):
        yield from ([value["$ref"]] if isinstance(value.get("$ref"), str) else [])
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from list_references(item)


def test_every_operation_is_a_path_and_every_path_but_one_an_operation():
    paths = {build_path(name) for name in REMOTE_OPERATIONS} | {"/v1/health"}

    assert DOCUMENT["paths"].keys() == paths
    ids = [item["operationId"] for path in DOCUMENT["paths"].values() for item in path.values()]
    assert len(ids) == len(set(ids))


def test_every_reference_leads_somewhere():
    for reference in set(list_references(DOCUMENT)):
        node = DOCUMENT
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]


def test_the_document_that_is_served_is_the_one_that_is_published():
    published = ROOT / "docs" / "wire-schema" / "openapi.json"

    assert json.loads(encode_document()) == json.loads(published.read_text(encoding="utf-8"))


def test_the_server_serves_it(client):
    assert client.get("/v1/openapi.json").json() == DOCUMENT


def test_health_alone_needs_no_token():
    open_paths = [
        path
        for path, item in DOCUMENT["paths"].items()
        if next(iter(item.values())).get("security") == []
    ]

    assert open_paths == ["/v1/health"]
