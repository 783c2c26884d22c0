"""The client holds every result of a tool to its schema, and survives what the server refuses."""

import os

import pytest

from tools.surfaces.clients import BrokenAnswerError
from tools.surfaces.mcp_client import McpClient

SERVER = """
import json, sys

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

def answer(message):
    match message["method"], message["params"]:
        case "tools/list", _:
            return {"result": {"tools": [{"name": "count", "outputSchema": SCHEMA}]}}
        case "tools/call", {"arguments": {"n": n}}:
            return {"result": {"content": [], "structuredContent": {"n": n}}}
        case "tools/call", {"arguments": {"end": True}}:
            sys.exit()
        case "tools/call", {"arguments": {}}:
            return {"result": {"isError": True, "structuredContent": {"code": "odd"}}}
        case "tools/call", _:
            return {"error": {"code": -32602, "message": "no object"}}
    return {"result": {}}

for line in sys.stdin.buffer:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if "id" in message:
        print(json.dumps({"method": "notifications/message"}), flush=True)
        print(json.dumps({"id": message["id"], **answer(message)}), flush=True)
"""


@pytest.fixture
def client(tmp_path):
    """A client of a server that the working folder has under the name of kebab."""
    (tmp_path / "kebab").mkdir()
    (tmp_path / "kebab" / "__init__.py").touch()
    (tmp_path / "kebab" / "__main__.py").write_text(SERVER)
    with McpClient(os.environ, tmp_path) as opened:
        yield opened


def test_a_result_that_conforms_is_returned(client):
    result = client.ask("count", b'{"n": 7}')

    assert (result.failed, result.reply["n"]) == (False, 7)


@pytest.mark.parametrize("raw", [b'{"n": "seven"}', b"{}", b'{"end": true}'])
def test_a_result_that_breaks_the_contract_is_refused(client, raw):
    with pytest.raises(BrokenAnswerError):
        client.ask("count", raw)


def test_arguments_that_are_no_object_are_an_error_of_the_protocol(client):
    assert client.ask("count", b"[]").reply["code"] == "jsonrpc -32602"


def test_what_is_no_message_is_survived(client):
    assert client.ask("count", b"\xff{").failed
    assert client.ask("count", b'{"n": 1}').reply["n"] == 1


def test_the_server_ends_with_its_client(client, tmp_path):
    client.__exit__()

    assert client.process.poll() == 0
    assert list(tmp_path.iterdir())
