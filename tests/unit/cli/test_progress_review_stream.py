import json
import os
import time

import pytest

from kebab.app.classify import classify_error
from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.context import CommandContext, Interrupts
from kebab.cli.progress import ReviewEvents, stream_review
from kebab.errors.catalog import ModelUnreachable
from kebab.errors.signal import Exit
from tests.fakes import replies
from tests.fakes.review_stream import RUN, make_event, make_item, make_page

STAGE = make_event("stage", stage="rules", status="in_progress", label="rules")
UNREACHABLE = ModelUnreachable(endpoint="http://127.0.0.1:1", operation="review", cause="refused")


@pytest.fixture
def call(tmp_path):
    """The context of a call, and functions that return the lines on stdout and on stderr."""
    with (tmp_path / "out").open("w+b") as out, (tmp_path / "err").open("w+b") as err:
        channels = OutputChannels(
            OutputChannel(out.fileno(), "<stdout>"), OutputChannel(err.fileno(), "<stderr>")
        )
        context = CommandContext(channels, Interrupts(lambda: None), command="review")

        def read(file):
            return [json.loads(line) for line in file.seek(0) or file.read().splitlines()]

        yield context, lambda: read(out), lambda: read(err)


def list_types(lines):
    return [(line["type"], line["exit_code"]) for line in lines]


def test_a_stream_ends_with_the_last_page_and_one_end(call):
    context, out, err = call

    def work(report, _):
        report(STAGE)
        report(make_event("progress", emitted=1, total=1))
        return make_page(make_item())

    stream_review(context, work)

    types = [("stage", None), ("progress", None), ("items", None), ("complete", 0), ("end", 0)]
    assert [kind for kind, _ in list_types(out())] == [kind for kind, _ in types]
    assert {line["schema_version"] for line in out()} == {"review_event.v1"}
    assert {line["command"] for line in out()} == {"review"}
    assert "command" not in out()[2]["data"]["page"]
    assert out()[-1]["data"] == {"run_id": RUN, "completed": True}
    assert err() == []


def test_the_exit_status_is_unknown_until_the_work_is_complete(call):
    context, out, _ = call
    stream_review(context, lambda *_: make_page())
    assert list_types(out()) == [("items", None), ("complete", 0), ("end", 0)]


def test_an_error_in_the_middle_is_an_event_and_the_end_has_its_status(call):
    context, out, _ = call

    def work(report, _):
        report(STAGE)
        report(make_event("items", page=make_page(make_item(), cursor="next")))
        raise UNREACHABLE

    with pytest.raises(ModelUnreachable):
        stream_review(context, work)
    context.on_error(classify_error(UNREACHABLE, operation="review"))

    assert list_types(out()) == [("stage", None), ("items", None), ("error", 2), ("end", 2)]
    assert out()[2]["data"]["code"] == "model_unreachable"


def test_there_is_one_end_and_nothing_after_it(call):
    context, out, _ = call
    events = ReviewEvents(context, stream=True)
    events.finish(make_page())
    events.finish(make_page())
    events.show_heartbeat(1.0)
    context.on_error(classify_error(UNREACHABLE, operation="review"))

    assert not events(STAGE)
    assert [kind for kind, _ in list_types(out())] == ["items", "complete", "end"]


def test_an_interruption_ends_the_stream_without_an_error(call):
    context, out, _ = call
    ReviewEvents(context, stream=True)(STAGE)
    context.on_error(classify_error(KeyboardInterrupt(), operation="review"))

    assert list_types(out()) == [("stage", None), ("end", 130)]
    assert out()[-1]["data"] == {"run_id": RUN, "completed": False, "reason": "cancelled"}


def test_without_a_stream_the_events_are_on_stderr_and_pages_are_not(call):
    context, out, err = call
    events = ReviewEvents(context, stream=False)
    events(STAGE)
    assert not events(make_event("items", page=make_page()))
    events.show_heartbeat(3000)

    assert out() == []
    assert list_types(err()) == [("stage", None), ("heartbeat", None)]


def test_a_silence_has_heartbeats(call, monkeypatch):
    monkeypatch.setattr(ReviewEvents, "silence_s", 0.05)
    context, out, _ = call

    def work(report, _):
        report(STAGE)
        limit = time.monotonic() + 20
        while "heartbeat" not in dict(list_types(out())) and time.monotonic() < limit:
            time.sleep(0.02)
        return make_page()

    stream_review(context, work)

    kinds = [kind for kind, _ in list_types(out())]
    assert kinds[:2] == ["stage", "heartbeat"]
    assert kinds[-2:] == ["complete", "end"]


def test_a_reader_that_vanishes_interrupts_work_that_writes_nothing():
    reader, writer = os.pipe()
    channel = OutputChannel(writer, "<stdout>")
    context = CommandContext(OutputChannels(channel, channel), Interrupts(lambda: None))

    def work(*_):
        os.close(reader)
        time.sleep(30)
        return make_page()

    began = time.monotonic()
    with pytest.raises(BrokenPipeError):
        stream_review(context, work)
    os.close(writer)

    assert time.monotonic() - began < 20
    assert classify_error(BrokenPipeError(), operation="review").exit is Exit.READER_GONE


def test_an_interrupted_run_ends_with_what_it_has(call):
    context, out, _ = call

    def work(report, cancel):
        report(STAGE)
        try:
            context.interrupts.interrupt()
        except KeyboardInterrupt:
            assert cancel.requested
        return make_page(make_item(), cursor="next")

    assert stream_review(context, work) is Exit.INTERRUPTED
    assert list_types(out()) == [("stage", None), ("items", None), ("end", 130)]
    assert out()[-1]["data"] == {"run_id": RUN, "completed": False, "reason": "cancelled"}


def test_a_document_that_does_not_exist_is_an_error_event_and_status_1(call):
    context, out, _ = call

    assert stream_review(context, lambda *_: replies.not_found()) is Exit.NO
    assert list_types(out()) == [("error", 1), ("end", 1)]
    assert out()[0]["data"] == {"message": replies.not_found().error.message, "retryable": False}
    assert out()[1]["data"] == {"completed": False, "reason": "not_found"}
