"""The HTTP server answers as the dispatcher."""

import os

import pytest

from kebab.wire.operations import REMOTE_OPERATIONS
from tests.e2e.comparison import compare
from tests.e2e.conftest import ROOT
from tests.e2e.parity import World, list_cases
from tools.surfaces.clients import LibraryClient
from tools.surfaces.servers import run_http_server

pytestmark = pytest.mark.xdist_group("servers")  # one worker starts them

HTTP_HINTS = ("hint",)
"""The hint of a usage error leads to the help of the program, which is the server here."""


@pytest.fixture(scope="module")
def environment(world):
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def http(world: World, environment):
    with run_http_server(environment, world.folder) as client:
        yield client


@pytest.mark.parametrize("operation", REMOTE_OPERATIONS)
def test_http_answers_as_the_dispatcher(world, http, operation):
    differences = []
    for one in list_cases(operation):
        expected = world.ask(LibraryClient(is_owner=False), operation, one)
        assert expected.reply.get("code") != "generic", one.raw
        more = HTTP_HINTS if expected.reply.get("code") == "usage_invalid" else ()
        told = compare(operation, expected, world.ask(http, operation, one), *more)
        differences += [f"{one.raw[:80]!r}: {line}" for line in told]

    assert not differences, "\n".join(differences)
