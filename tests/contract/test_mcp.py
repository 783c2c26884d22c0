"""`kebab mcp` as a program: only protocol on stdout, quick to begin, quick to end."""

import json
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.contract.conftest import REAL

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "clientInfo": {"name": "probe", "version": "1"},
        "capabilities": {},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
DEADLINE_S = 30


@pytest.fixture
def serve(home, started):
    """Return a function that starts the server as a process."""

    def start(*arguments):
        pipe = subprocess.PIPE
        return started(
            "mcp", *arguments, module=REAL, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT
        )

    return start


def send(process, *messages):
    for message in messages:
        process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def receive(process):
    return json.loads(process.stdout.readline())


def call(number, tool, **arguments):
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def test_a_client_gets_answers_and_the_process_ends_with_its_input(serve):
    process = serve()
    send(process, HELLO, INITIALIZED, call(1, "search", queries="restore a backup"))

    assert receive(process)["id"] == 0
    found = receive(process)["result"]
    process.stdin.close()

    assert found["isError"] is False
    assert process.stdout.read() == b""
    assert process.wait(DEADLINE_S) == 0


@pytest.mark.parametrize(("number", "is_late"), [(signal.SIGTERM, True), (signal.SIGINT, False)])
def test_a_signal_ends_it_quietly(serve, number, is_late):
    process = serve()
    send(process, HELLO, INITIALIZED)
    receive(process)
    if is_late:
        send(process, call(1, "status"))
        receive(process)
    process.send_signal(number)

    assert process.wait(DEADLINE_S) in (0, 130)
    assert process.stdout.read() == b""


def test_the_http_server_offers_the_tools_behind_its_token(home, started):
    pipe = subprocess.PIPE
    arguments = ("serve", "--port", "0", "--json")
    process = started(*arguments, module=REAL, stdout=subprocess.DEVNULL, stderr=pipe)
    running = json.loads(process.stderr.readline())
    token = Path(running["token_path"]).read_text(encoding="utf-8").strip()

    def post(**headers):
        wanted = {"accept": "application/json, text/event-stream", **headers}
        url = f"{running['url']}/mcp"
        return httpx.post(url, json=HELLO, headers=wanted, timeout=DEADLINE_S)

    refused, answer = post(), post(authorization=f"Bearer {token}")
    process.terminate()

    assert (refused.status_code, answer.status_code) == (401, 200)
    assert answer.json()["result"]["serverInfo"]["name"] == "kebab"
    assert process.wait(DEADLINE_S) == 0
