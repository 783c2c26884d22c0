"""One client over standard input and output: nothing is lost, said twice, or written in between."""

import json
import os
import threading
import time
from typing import Any

import pytest

from kebab.core.progress import Progress, ProgressKind
from kebab.mcp.calls import Call
from kebab.mcp.protocol import Protocol
from kebab.mcp.stdio import ProgressReporter, StdioServer
from kebab.wire.ask import AnswerEvent
from tests.unit.mcp.test_protocol import INITIALIZED, build_call, initialize

DEADLINE_S = 30


class Client:
    """The other end of two pipes, and the server between them."""

    def __init__(self, caller):
        source, self._input = os.pipe()
        output, self._sink = os.pipe()
        self.output = os.fdopen(output, "rb")
        self._source = os.fdopen(source, "rb")
        protocol = Protocol(caller, lambda: "Hints.")
        self._stdio = StdioServer(protocol, self._source, self._write)
        self._server = threading.Thread(target=self._serve, daemon=True)
        self._server.start()
        self._is_open = True

    def _write(self, data):
        os.write(self._sink, data)

    def _serve(self):
        self._stdio.serve()
        os.close(self._sink)
        self._sink = -1

    def send(self, *messages):
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            os.write(self._input, line + b"\n")

    def receive(self):
        return json.loads(self.output.readline())

    def hang_up(self):
        if self._is_open:
            self._is_open = False
            os.close(self._input)

    def close(self):
        """Close what is open, after the threads have ended."""
        self.hang_up()
        assert self.wait()
        self._stdio.reader.join(DEADLINE_S)
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


def test_several_calls_are_answered_at_once(client):
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
    client.send(*HELLO, line, build_call(1, "ping"))
    answers = [client.receive()]
    while answers[-1].get("id") != 1:
        answers.append(client.receive())
    client.hang_up()

    assert answers[-1]["result"] == {}
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


def test_the_end_of_the_input_ends_the_session_and_its_work(client, caller, monkeypatch):
    work = WorkUntilCancelled()
    monkeypatch.setattr(caller, "call", work)
    client.send(*HELLO, build_call(1, "tools/call", {"name": "status"}))
    assert work.begun.wait(DEADLINE_S)
    client.hang_up()

    assert client.wait()
    assert work.stopped.wait(DEADLINE_S)


def test_a_cancelled_call_stops_and_gets_no_answer(client, caller, monkeypatch):
    work = WorkUntilCancelled()
    monkeypatch.setattr(caller, "call", work)
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
    client.send(*HELLO)
    client.receive()
    client.output.close()
    client.send(build_call(1, "tools/call", {"name": "status"}))

    assert client.wait()


def report(events, token="t", *, cancelled=False):
    """Return what is sent of some events."""
    call = Call(lambda _: None)
    sent: list[dict[str, Any]] = []
    if cancelled:
        call.cancel.request()
    reporter = ProgressReporter(sent.append, token, call)
    for event in events:
        reporter.report(event)
    return [one["params"] for one in sent]


def test_numbers_increase_and_messages_say_how_far_it_is(monkeypatch):
    monkeypatch.setattr("kebab.mcp.stdio._PROGRESS_INTERVAL_S", 0)
    events = [
        Progress(ProgressKind.SCAN_STARTED),
        Progress(ProgressKind.ASSET_FINISHED, done=2, total=3, unit="files", phase="reading"),
    ]

    told = [(one["progress"], one["message"]) for one in report(events)]

    assert told == [(1.0, "scan started"), (2.0, "reading 2/3 files")]


def test_events_in_quick_succession_are_sent_once():
    assert len(report([Progress(ProgressKind.HEARTBEAT)] * 50)) == 1


@pytest.mark.parametrize(("token", "cancelled"), [(None, False), ("t", True)])
def test_nothing_is_sent_unasked_or_after_a_cancellation(token, cancelled):
    assert report([Progress(ProgressKind.HEARTBEAT)], token, cancelled=cancelled) == []


def test_an_answer_is_stopped_by_its_next_event():
    with pytest.raises(KeyboardInterrupt):
        report([AnswerEvent(type="token", delta="a")], cancelled=True)


def test_a_client_may_send_much_before_it_reads(client):
    client.send(*HELLO, *(build_call(number, "tools/list") for number in range(1, 60)))
    client.send(build_call(60, "ping"))

    assert [client.receive()["id"] for _ in range(61)] == list(range(61))
