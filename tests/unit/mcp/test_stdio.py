"""One client over standard input and output: nothing is lost, said twice, or written in between."""

import json
import os
import threading
import time

import pytest

from kebab.mcp.calls import Resources
from kebab.mcp.server import Handlers, build_server
from kebab.mcp.stdio import Handshake, MessageReader, serve_stdio
from tests.unit.mcp.test_stdio_handshake import INITIALIZED, build_call, initialize

DEADLINE_S = 30


class Client:
    """The other end of two pipes, and the server between them."""

    def __init__(self, caller):
        source, self._input = os.pipe()
        output, self._sink = os.pipe()
        self.output = os.fdopen(output, "rb")
        self._source = os.fdopen(source, "rb")
        self.handlers = Handlers(caller, Resources(caller), text_only=False)
        handshake = Handshake("Hints.", caller.list_tools)
        self.reader = MessageReader(self._source, self._write, handshake)
        self._server = threading.Thread(target=self._serve, daemon=True)
        self._is_open = True

    def _write(self, data):
        os.write(self._sink, data)

    def _serve(self):
        server = build_server(self.handlers, "Hints.")
        serve_stdio(server, self.reader, self._write)
        os.close(self._sink)
        self._sink = -1

    def send(self, *messages):
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            os.write(self._input, line + b"\n")

    def receive(self):
        return json.loads(self.output.readline())

    def serve(self):
        self._server.start()

    def hang_up(self):
        if self._is_open:
            self._is_open = False
            os.close(self._input)

    def close(self):
        """Close what is open, after the threads have ended."""
        self.hang_up()
        if self._server.ident is not None:
            assert self.wait()
        elif self._sink >= 0:
            os.close(self._sink)
        self.reader.join(DEADLINE_S)
        self._source.close()
        self.output.close()

    def wait(self):
        self._server.join(DEADLINE_S)
        return not self._server.is_alive()


@pytest.fixture
def client(caller):
    client = Client(caller)
    yield client
    client.close()


HELLO = (initialize("2025-11-25"), INITIALIZED)


def test_the_handshake_needs_no_session(client):
    client.reader.start()
    client.send(*HELLO, build_call(1, "tools/list"))

    assert client.receive()["result"]["serverInfo"]["name"] == "kebab"
    assert client.receive()["result"]["tools"]


def test_what_was_answered_before_the_session_is_not_answered_again(client):
    client.reader.start()
    client.send(*HELLO, build_call(1, "tools/list"))
    early = [client.receive()["id"], client.receive()["id"]]
    client.send(build_call(2, "tools/call", {"name": "status"}))
    client.serve()
    late = client.receive()
    client.hang_up()

    assert client.wait()
    assert (early, late["id"]) == ([0, 1], 2)
    assert late["result"]["structuredContent"]["documents"] == 2
    assert client.output.read() == b""


def test_several_calls_are_answered_at_once(client):
    client.reader.start()
    client.serve()
    client.send(*HELLO)
    client.send(
        *(
            build_call(number, "tools/call", {"name": "search", "arguments": {"queries": "rye"}})
            for number in range(1, 9)
        )
    )

    answers = [client.receive() for _ in range(9)]
    client.hang_up()

    assert {one["id"] for one in answers} == set(range(9))
    assert client.wait()


@pytest.mark.parametrize("line", [b"nonsense", b"[" * 100_000, b'{"jsonrpc": "2.0"}', b"\xff\xfe"])
def test_a_broken_line_does_not_end_the_session(client, line):
    client.reader.start()
    client.serve()
    client.send(*HELLO, line, build_call(1, "ping"))
    answers = [client.receive()]
    while answers[-1].get("id") != 1:
        answers.append(client.receive())
    client.hang_up()

    assert answers[-1]["result"] == {}
    assert client.wait()


def test_a_request_that_is_no_unicode_is_answered(client):
    client.reader.start()
    client.serve()
    raw = b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "\\ud800"}}'
    client.send(*HELLO, raw)
    answers = [client.receive(), client.receive()]
    client.hang_up()

    (refused,) = [one for one in answers if one["id"] == 7]
    assert refused["error"]["code"] == -32700
    assert client.wait()


class WorkUntilCancelled:
    """A tool call that goes on until it is cancelled."""

    def __init__(self):
        self.begun, self.stopped = threading.Event(), threading.Event()

    def __call__(self, *_, cancel, **__):
        self.begun.set()
        while not cancel.requested:
            time.sleep(0.01)
        self.stopped.set()
        return {"content": []}


def test_the_end_of_the_input_ends_the_session_and_its_work(client, monkeypatch):
    work = WorkUntilCancelled()
    monkeypatch.setattr(client.handlers._caller, "call", work)
    client.reader.start()
    client.serve()
    client.send(*HELLO, build_call(1, "tools/call", {"name": "status"}))
    assert work.begun.wait(DEADLINE_S)
    client.hang_up()

    assert client.wait()
    assert work.stopped.wait(DEADLINE_S)


def test_a_cancelled_call_stops_and_gets_no_answer(client, monkeypatch):
    work = WorkUntilCancelled()
    monkeypatch.setattr(client.handlers._caller, "call", work)
    client.reader.start()
    client.serve()
    client.send(*HELLO, build_call(1, "tools/call", {"name": "status"}))
    assert client.receive()["id"] == 0
    assert work.begun.wait(DEADLINE_S)
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": 1}}
    client.send({"jsonrpc": "2.0", **cancelled}, build_call(2, "ping"))

    assert client.receive()["id"] == 2
    assert work.stopped.wait(DEADLINE_S)
    client.hang_up()
    assert client.wait()


def test_a_client_that_reads_nothing_more_ends_the_session(client):
    client.reader.start()
    client.serve()
    client.send(*HELLO)
    client.receive()
    client.output.close()
    client.send(build_call(1, "tools/call", {"name": "status"}))

    assert client.wait()
