import json
import threading

import pytest

from kebab.errors.catalog import build_catalog
from kebab.server.events import WorkEncoder
from tests.fakes.facade import FakeKebab
from tests.fakes.waiting import PATIENCE_S, wait_until
from tests.shape.libraries import list_own_exceptions
from tests.unit.server.conftest import read_until

SEARCH = "/v1/search"
ENVELOPE = {"command", "timestamp", "exit_code", "output_format", "schema_version"}


def test_an_empty_body_means_all_defaults(client):
    answer = client.post("/v1/list")
    assert answer.json()["schema_version"] == "doc_list.v1"
    assert answer.headers["content-type"] == "application/json"
    assert answer.content.count(b"\n") == 1
    assert client.post("/v1/list", content=b"  ", headers={"Content-Type": "application/json"})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"{", "$"),
        (b'{"query": 1}', "$.query"),
        (b"[" * 5000, "$"),
        (b'{"query": " "}', "$.query"),
    ],
)
def test_a_broken_request_is_invalid_input_with_its_place(client, body, field):
    answer = client.post(SEARCH, content=body, headers={"Content-Type": "application/json"})

    error = answer.json()
    assert (answer.status_code, error["code"]) == (422, "invalid_input")
    assert error["details"]["field"] == field
    assert (error["command"], error["exit_code"]) == ("search", 2)
    assert len(error["correlation_id"]) == 32


@pytest.mark.parametrize("name", ["broken", "unindexed", "surprise"])
def test_an_error_has_the_status_of_its_row(client, name):
    answer = client.post(SEARCH, json={"query": name})

    error = answer.json()
    assert answer.status_code == build_catalog()[error["code"]].http
    assert "nobody expected this" not in answer.text


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD"])
def test_a_wrong_method_is_405_and_says_which_is_right(client, method):
    answer = client.request(method, SEARCH)

    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert not answer.content or answer.json()["code"] == "usage_invalid"


def test_options_say_the_method_and_head_sends_no_body(client):
    options = client.options(SEARCH)
    head = client.head("/v1/health")

    assert (options.status_code, options.headers["Allow"], options.content) == (204, "POST", b"")
    assert (head.status_code, head.headers["content-type"]) == (200, "application/json")


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_that_is_not_declared_as_json_is_415(client, media):
    answer = client.post(SEARCH, content=b'{"query": "cat"}', headers={"Content-Type": media})

    assert (answer.status_code, answer.json()["code"]) == (415, "usage_invalid")


def test_a_request_that_takes_too_long_is_a_timeout_and_the_server_goes_on(make_client):
    client = make_client(deadline_s=0.2)
    answer = client.post(SEARCH, json={"query": "stuck"})

    error = answer.json()
    assert (answer.status_code, error["code"]) == (504, "timeout")
    assert error["details"]["deadline_ms"] == 200
    assert client.post(SEARCH, json={"query": "cat"}).status_code == 200


def test_events_come_as_lines_and_the_last_one_has_the_answer(client):
    accept = {"Accept": "application/x-ndjson"}
    answer = client.post("/v1/ask", json={"question": "cat"}, headers=accept)

    events = [json.loads(line) for line in answer.text.splitlines()]
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert (events[0]["type"], events[-1]["type"]) == ("retrieval_done", "final")
    assert events[-1]["answer"]["schema_version"] == "answer.v1"
    assert not ENVELOPE & events[-1]["answer"].keys() - {"schema_version"}
    assert [event["exit_code"] for event in events] == [None] * (len(events) - 1) + [0]


@pytest.mark.parametrize("body", [{"question": "broken"}, {"question": 1}, {"question": " "}])
def test_work_that_fails_at_once_is_an_error_and_no_stream(client, body):
    accept = {"Accept": "application/x-ndjson"}
    answer = client.post("/v1/ask", json=body, headers=accept)

    assert answer.status_code in (422, 500)
    assert answer.json()["schema_version"] == "error.v1"


@pytest.mark.filterwarnings("ignore")  # a module of the library warns of itself
def test_every_exception_of_the_library_is_answered_or_belongs_to_what_is_not_used():
    answered = {"HTTPException", "ClientDisconnect"}
    unused = {
        "_RequestBodyLimitResponseSent",
        "_RequestBodyTooLarge",
        "_StopIteration",
        "_Upgrade",
        "AuthenticationError",
        "EnvironError",
        "MalformedRangeHeader",
        "MultiPartException",
        "NoMatchFound",
        "RangeNotSatisfiable",
        "StarletteDeprecationWarning",
        "WebSocketDenialResponse",
        "WebSocketDisconnect",
        "WebSocketDisconnected",
        "WebSocketException",
    }

    assert {kind.__name__ for kind in list_own_exceptions("starlette")} <= answered | unused


QUICK = 0.1


@pytest.fixture
def told():
    """What a test sets to let silent work go on."""
    return threading.Event()


def read_events(text):
    return [json.loads(line) for line in text.decode().splitlines() if line.startswith("{")]


@pytest.mark.parametrize("accept", ["application/x-ndjson", "application/json"])
def test_a_client_that_vanishes_interrupts_a_question(serve, send, pool, accept):
    address, _ = serve()
    connection = send(address, "/v1/ask", {"question": "stuck"}, accept)
    wait_until(lambda: pool.asked)
    connection.close()

    wait_until(lambda: pool.interrupted)


def test_a_client_that_vanishes_cancels_an_ingest_between_two_files(serve, send, pool, monkeypatch):
    seen = []
    keep = WorkEncoder.take

    def note(self, event):
        seen.append(event.kind)
        return keep(self, event)

    monkeypatch.setattr(WorkEncoder, "take", note)
    address, _ = serve()
    connection = send(address, "/v1/ingest", {"paths": ["slow"]})
    read_until(connection, b"asset_started")
    connection.close()

    wait_until(lambda: "aborted" in seen)
    assert not pool.interrupted


def test_silent_work_has_heartbeats_even_before_its_first_event(
    serve, send, pool, monkeypatch, told
):
    ingest = FakeKebab.ingest

    def keep_silent(*arguments):
        assert told.wait(PATIENCE_S)
        return ingest(*arguments)

    monkeypatch.setattr(FakeKebab, "ingest", keep_silent)
    monkeypatch.setattr(WorkEncoder, "silence_s", QUICK)
    address, _ = serve()
    connection = send(address, "/v1/ingest", {})
    text = read_until(connection, b'"heartbeat"')
    told.set()
    events = read_events(text + read_until(connection, b'"completed"'))

    assert events[0]["kind"] == "heartbeat"
    assert events[-1]["kind"] == "completed"


def test_an_error_after_the_first_event_ends_the_stream(serve, send, pool, monkeypatch, told):
    def break_off(self, request, report, cancel):
        from kebab.core.progress import Progress, ProgressKind

        report(Progress(kind=ProgressKind.SCAN_STARTED))
        assert told.wait(PATIENCE_S)
        raise RuntimeError("nobody expected this")

    monkeypatch.setattr(FakeKebab, "ingest", break_off)
    address, _ = serve()
    connection = send(address, "/v1/ingest", {})
    text = read_until(connection, b'"scan_started"')
    told.set()
    events = read_events(text + read_until(connection, b'"aborted"'))

    assert [one.get("kind") for one in events] == ["scan_started", "unknown", "aborted"]
    assert (events[1]["schema_version"], events[1]["code"]) == ("error.v1", "generic")
    assert events[-1]["exit_code"] == 2


def test_work_without_a_report_ends_with_its_reply(client):
    accept = {"Accept": "application/x-ndjson"}
    answer = client.post("/v1/dupes", json={}, headers=accept)

    events = [json.loads(line) for line in answer.text.splitlines()]
    assert [one["schema_version"] for one in events] == [
        "ingest_progress.v1",
        "ingest_progress.v1",
        "duplicates.v1",
    ]
    assert (events[1]["kind"], events[1]["exit_code"]) == ("completed", 0)


def test_a_reader_that_is_slow_makes_the_work_wait(serve, send, pool, monkeypatch):
    monkeypatch.setattr("kebab.server.application._MOST_UNSENT", 5)
    address, _ = serve()
    connection = send(address, "/v1/ingest", {"paths": ["slow"]})
    text = read_until(connection, b'"asset_started"')
    connection.close()

    assert text.count(b'"scan_started"') == 1
