import json
import os
import time
from typing import Any

import pytest

from kebab.app.classify import classify_error
from kebab.cli.channels import Display, OutputChannel, OutputChannels
from kebab.cli.context import CommandContext, Interrupts
from kebab.cli.progress import (
    EventLines,
    Reporter,
    choose_work_display,
    report_events,
    run_work,
    stream_review,
)
from kebab.cli.render.progress import WorkStatus
from kebab.errors.catalog import ModelUnreachable
from kebab.errors.signal import Exit
from kebab.server.events import AnswerEncoder, ReviewEncoder, WorkEncoder
from kebab.wire.ask import AnswerEvent
from kebab.wire.ingest import IngestRequest
from kebab.wire.library import DupesRequest
from kebab.wire.review import ReviewRequest
from tests.fakes import replies
from tests.fakes.review_stream import RUN, make_event, make_item, make_page

TOKEN = AnswerEvent(type="token", delta="a")


class Shown(Display[AnswerEvent]):
    """Keeps what a display is told; `seen` says whether the reader sees it."""

    silence_s = 3.0

    def __init__(self, *, seen=True):
        self.seen = seen
        self.events = []
        self.beats = []
        self.left = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.left += 1

    def __call__(self, event):
        self.events.append(event)
        return self.seen

    def show_heartbeat(self, elapsed_ms):
        self.beats.append(elapsed_ms)

    def abort(self):
        self.left += 10


def context_on(channel):
    return CommandContext(OutputChannels(channel, channel), Interrupts(lambda: None))


@pytest.mark.parametrize(
    ("seen", "beats"), [(True, [4500]), (False, [3000, 6000])], ids=["resets", "goes on"]
)
def test_a_silence_is_what_the_reader_sees_nothing_in(pipe, seen, beats):
    now = [0.0]
    shown = Shown(seen=seen)
    reporter = Reporter(shown, pipe[1], clock=lambda: now[0])
    for now[0] in (0.5, 1.5):
        reporter(TOKEN)
    for now[0] in (2.9, 3.0, 4.5, 5.0, 6.0):
        reporter.beat()

    assert shown.events == [TOKEN, TOKEN]
    assert shown.beats == beats


@pytest.mark.parametrize("stubborn", [False, True], ids=["is interrupted", "gives what it has"])
def test_when_the_reader_closes_the_pipe_the_work_is_interrupted(pipe, stubborn):
    reader, channel = pipe

    def work():
        os.close(reader)
        try:
            time.sleep(30)
        except KeyboardInterrupt:
            if not stubborn:
                raise

    began = time.monotonic()
    with pytest.raises(BrokenPipeError), report_events(context_on(channel), Shown(), channel):
        work()
    assert time.monotonic() - began < 20


def test_a_stream_has_one_end_and_nothing_after_it(tmp_path):
    path = tmp_path / "out"
    with path.open("wb") as file:
        context = context_on(OutputChannel(file.fileno(), "<stdout>"))
        events = EventLines(context, AnswerEncoder(), stream=True)
        assert events(TOKEN)
        events.finish(Exit.DONE, replies.answer())
        events.finish(Exit.DONE, replies.answer())
        events.show_heartbeat(1.0)

    sent = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(one["type"], one["exit_code"]) for one in sent] == [("token", None), ("final", 0)]


def a_context(tmp_path, *, machine):
    descriptor = (tmp_path / "err").open("wb")
    channel = OutputChannel(descriptor.fileno(), "<stderr>")
    context = CommandContext(OutputChannels(channel, channel), Interrupts(lambda: None))
    context.flags.machine = machine
    return context, descriptor


def test_a_machine_gets_events_and_a_log_gets_lines(tmp_path):
    for machine, form in ((True, EventLines), (False, WorkStatus)):
        context, file = a_context(tmp_path, machine=machine)
        with file:
            assert isinstance(choose_work_display(context, stream=False), form)


class Interrupted:
    """A knowledge base whose work is interrupted."""

    def __init__(self, context):
        self.context = context

    def run(self, request, report, cancel):
        self.context.interrupts.interrupt()
        return replies.ingest_report(cancelled=cancel.requested)


def test_an_interruption_reaches_the_work_and_is_reported(tmp_path):
    context, file = a_context(tmp_path, machine=False)
    kebab: Any = Interrupted(context)
    with file:
        reply, status = run_work(context, IngestRequest(paths=[]), kebab=kebab)

    assert (reply.cancelled, status) == (True, Exit.INTERRUPTED)
    assert (tmp_path / "err").read_text().startswith("stopping soon")


def test_work_that_cannot_be_cancelled_is_interrupted(tmp_path):
    context, file = a_context(tmp_path, machine=False)
    kebab: Any = Interrupted(context)
    with file, pytest.raises(KeyboardInterrupt):
        run_work(context, DupesRequest(), kebab=kebab)


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


def do(monkeypatch, work):
    """Let operations do this work."""

    def run(_, request, *, report, cancel):
        return work(report, cancel)

    monkeypatch.setattr(CommandContext, "run", run)


def test_an_error_in_the_middle_is_an_event_and_the_end_has_its_status(call, monkeypatch):
    context, out, _ = call

    def work(report, _):
        report(STAGE)
        report(make_event("items", page=make_page(make_item(), cursor="next")))
        raise UNREACHABLE

    do(monkeypatch, work)
    with pytest.raises(ModelUnreachable):
        stream_review(context, ReviewRequest())
    context.on_error(classify_error(UNREACHABLE, operation="review"))

    assert list_types(out()) == [("stage", None), ("items", None), ("error", 2), ("end", 2)]
    assert out()[2]["data"]["code"] == "model_unreachable"


def test_without_a_stream_the_events_are_on_stderr_and_pages_are_not(call):
    context, out, err = call
    events = EventLines(context, ReviewEncoder(), stream=False)
    events(STAGE)
    assert not events(make_event("items", page=make_page()))
    events.show_heartbeat(3000)

    assert out() == []
    assert list_types(err()) == [("stage", None), ("heartbeat", None)]


def test_an_interrupted_run_ends_with_what_it_has(call, monkeypatch):
    context, out, _ = call

    def work(report, cancel):
        report(STAGE)
        try:
            context.interrupts.interrupt()
        except KeyboardInterrupt:
            assert cancel.requested
        return make_page(make_item(), cursor="next")

    do(monkeypatch, work)
    assert stream_review(context, ReviewRequest()) is Exit.INTERRUPTED
    assert list_types(out()) == [("stage", None), ("items", None), ("end", 130)]
    assert out()[-1]["data"] == {
        "schema_version": "review_event_data.v1",
        "run_id": RUN,
        "completed": False,
        "reason": "cancelled",
    }


class Sent:
    """Keeps the kind and the status of each event."""

    def __init__(self):
        self.replies = []
        self.kinds = []

    def write_json(self, reply, status):
        self.replies.append(reply)
        self.kinds.append((reply.kind, status))

    write_event = write_json


@pytest.fixture
def sent():
    return Sent()


@pytest.fixture
def events(sent):
    return EventLines(sent, WorkEncoder(), stream=False)


@pytest.fixture
def stream(sent):
    return EventLines(sent, WorkEncoder(), stream=True)
