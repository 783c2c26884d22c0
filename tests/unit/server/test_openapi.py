from kebab.server.openapi import build_document, build_path
from kebab.wire.operations import REMOTE_OPERATIONS

DOCUMENT = build_document()


def test_every_operation_is_a_path_and_every_path_but_one_an_operation():
    paths = {build_path(name) for name in REMOTE_OPERATIONS} | {"/v1/health"}

    assert DOCUMENT["paths"].keys() == paths
    ids = [item["operationId"] for path in DOCUMENT["paths"].values() for item in path.values()]
    assert len(ids) == len(set(ids))


def test_health_alone_needs_no_token():
    open_paths = [
        path
        for path, item in DOCUMENT["paths"].items()
        if next(iter(item.values())).get("security") == []
    ]

    assert open_paths == ["/v1/health"]
