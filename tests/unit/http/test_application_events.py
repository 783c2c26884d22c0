import asyncio
import json
import time

import pytest

from kebab.app.dispatch import format_reply, report_failure
from kebab.errors.catalog import InvalidCursor
from kebab.http.application import AnswerStream, ReviewStream, WorkStream
from kebab.wire.record import encode_json
from tests.fakes.review_stream import make_event, make_page
from tests.unit.http.conftest import read_until, wait_until

QUICK = 0.1


@pytest.mark.parametrize(
    "accept", ["application/x-ndjson", "text/event-stream", "application/json"]
)
def test_a_client_that_vanishes_interrupts_a_question(serve, send, pool, accept):
    address, _ = serve()
    connection = send(address, "/v1/ask", {"question": "stuck"}, accept)
    wait_until(lambda: pool.asked)
    connection.close()

    wait_until(lambda: pool.interrupted)


def test_a_client_that_vanishes_from_a_search_frees_its_thread(serve, send, pool):
    address, _ = serve(quick_threads=1)
    connection = send(address, "/v1/search", {"query": "stuck"}, "*/*")
    wait_until(lambda: pool.asked)
    connection.close()

    assert b" 200 OK" in read_until(send(address, "/v1/search", {"query": "cat"}), b"\r\n\r\n")


def test_a_client_that_vanishes_cancels_an_ingest_between_two_files(serve, send, pool, monkeypatch):
    seen = []
    keep = WorkStream.report

    def note(self, event):
        seen.append(event.kind)
        keep(self, event)

    monkeypatch.setattr(WorkStream, "report", note)
    address, _ = serve()
    connection = send(address, "/v1/ingest", {"paths": ["slow"]})
    read_until(connection, b"asset_started")
    connection.close()

    wait_until(lambda: "aborted" in seen)
    assert not pool.interrupted


def test_a_client_that_vanishes_from_a_stream_interrupts_a_review(serve, send, pool):
    address, _ = serve()
    connection = send(address, "/v1/review", {"names": ["stuck"]})
    wait_until(lambda: pool.asked)
    connection.close()

    wait_until(lambda: pool.interrupted)


def test_a_review_is_streamed_to_its_end(client, tmp_path):
    file = tmp_path / "a.md"
    file.write_text("the the door\n", encoding="utf-8")
    body = {"names": [str(file)], "all_pages": True}
    answer = client.post("/v1/review", json=body, headers={"Accept": "application/x-ndjson"})

    events = [json.loads(line) for line in answer.text.splitlines()]
    assert [one["type"] for one in events] == ["progress", "stage", "items", "complete", "end"]
    assert [one["exit_code"] for one in events] == [None, None, None, 1, 1]


def test_a_silent_answer_has_heartbeats(serve, send, monkeypatch):
    monkeypatch.setattr(AnswerStream, "silence_s", QUICK)
    address, _ = serve()
    connection = send(address, "/v1/ask", {"question": "stuck"})
    text = read_until(connection, b'"heartbeat"')
    connection.close()

    assert text.index(b'"retrieval_done"') < text.index(b'"heartbeat"')


def test_silent_work_has_heartbeats_even_before_its_first_event(serve, send, monkeypatch):
    monkeypatch.setattr(WorkStream, "silence_s", QUICK)
    address, _ = serve()
    text = read_until(send(address, "/v1/ingest", {"paths": ["mute"]}), b'"completed"').decode()

    events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert events[0]["kind"] == "heartbeat"
    assert events[-1]["kind"] == "completed"


def test_an_error_after_the_first_event_ends_the_stream(serve, send, pool, monkeypatch):
    def break_off(self, request, report, cancel):
        from kebab.core.progress import Progress, ProgressKind

        report(Progress(kind=ProgressKind.SCAN_STARTED))
        time.sleep(QUICK)
        raise RuntimeError("nobody expected this")

    monkeypatch.setattr("tests.fakes.facade.FakeKebab.ingest", break_off)
    address, _ = serve()
    text = read_until(send(address, "/v1/ingest", {}), b'"aborted"').decode()

    events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
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
    monkeypatch.setattr("kebab.http.application._MOST_UNSENT", 5)
    address, _ = serve()
    connection = send(address, "/v1/ingest", {"paths": ["slow"]})
    text = read_until(connection, b'"asset_started"')
    connection.close()

    assert text.count(b'"scan_started"') == 1


def test_a_review_ends_with_its_page_and_with_an_error_as_events():
    async def build(reply):
        stream = ReviewStream("ask")
        stream.report(make_event("stage", stage="detect", status="in_progress"))
        assert b"run-1" in encode_json(stream.build_heartbeat())
        return list(stream.build_end(reply))

    page = format_reply("ask", make_page())
    events = asyncio.run(build(page))
    assert [(event.type, event.exit_code) for event in events] == [
        ("items", None),
        ("complete", 0),
        ("end", 0),
    ]
    failed = report_failure("ask", InvalidCursor(cause="of another run"), None).reply
    error, end = asyncio.run(build(failed))
    assert (error.type, error.data.stage, error.data.code) == ("error", "detect", "invalid_cursor")
    assert (end.type, end.exit_code, end.data.completed) == ("end", 2, False)
