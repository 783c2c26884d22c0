import json
import os
import time

import pytest

from kebab.app.classify import classify_error
from kebab.app.events import AnswerEncoder, ReviewEncoder, WorkEncoder
from kebab.cli import progress
from kebab.cli.channels import Display, OutputChannel, OutputChannels, WorkDisplay
from kebab.cli.context import CommandContext, Interrupts
from kebab.cli.event_lines import EventLines
from kebab.cli.progress import (
    Reporter,
    WorkReporter,
    choose_work_display,
    report_cancellable_work,
    report_events,
    stream_review,
)
from kebab.cli.render.progress import ProgressLines
from kebab.core.progress import Heartbeat, Progress, ProgressKind
from kebab.errors.catalog import ModelUnreachable
from kebab.errors.signal import Exit
from kebab.wire.ask import AnswerEvent
from tests.fakes import replies
from tests.fakes.review_stream import RUN, make_event, make_item, make_page

READING = Progress(kind=ProgressKind.ASSET_STARTED, path="a.md", done=1, total=2)


class Recorder(WorkDisplay):
    """Keeps what it is shown."""

    def __init__(self):
        self.events = []
        self.ends = []

    def __call__(self, event):
        self.events.append(event)

    def finish(self, status, report=None, *, cancelled):
        self.ends.append((status, report, cancelled))


@pytest.fixture
def recorder():
    return Recorder()


class Hands:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Hands()


@pytest.fixture
def reporter(recorder, clock):
    return WorkReporter(recorder, clock)


def test_a_long_silence_causes_a_heartbeat_with_the_phase(reporter, recorder, clock):
    reporter(READING)
    clock.now = 2.5
    reporter.beat()

    beat = recorder.events[-1]
    assert (beat.kind, beat.path, beat.elapsed_ms) == (ProgressKind.HEARTBEAT, "a.md", 2500)


def test_silent_work_gets_heartbeats(recorder):
    recorder.silence_s = 0.02
    with WorkReporter(recorder):
        for _ in range(200):
            if recorder.events:
                break
            time.sleep(0.01)

    assert recorder.events[0].kind is ProgressKind.HEARTBEAT


@pytest.mark.parametrize(("silence_s", "expected"), [(0.4, 0.2), (3.0, 0.5)])
def test_the_silence_is_checked_at_least_twice_a_second(recorder, monkeypatch, silence_s, expected):
    intervals = []

    def record(beat, interval_s):
        intervals.append(interval_s)
        return Heartbeat(beat, interval_s)

    monkeypatch.setattr(progress, "Heartbeat", record)
    recorder.silence_s = silence_s
    WorkReporter(recorder)

    assert intervals == [expected]


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


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    yield reader, OutputChannel(writer, "<stdout>")
    for descriptor in (reader, writer):
        try:
            os.close(descriptor)
        except OSError:
            continue


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
    with pytest.raises(BrokenPipeError), report_events(context_on(channel), Shown()):
        work()
    assert time.monotonic() - began < 20


def test_a_heartbeat_that_nobody_reads_interrupts_too(pipe, tmp_path):
    class Torn(Shown):
        silence_s = 0.2  # the context is entered before the first heartbeat

        def show_heartbeat(self, elapsed_ms):
            raise BrokenPipeError

    with (
        (tmp_path / "out").open("wb") as file,
        pytest.raises(BrokenPipeError),
        report_events(context_on(OutputChannel(file.fileno(), "<stdout>")), Torn()),
    ):
        time.sleep(30)


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
    for machine, form in ((True, EventLines), (False, ProgressLines)):
        context, file = a_context(tmp_path, machine=machine)
        with file:
            assert isinstance(choose_work_display(context, stream=False), form)


def test_an_interruption_reaches_the_work_and_is_reported(tmp_path):
    context, file = a_context(tmp_path, machine=False)

    with file, report_cancellable_work(context) as (_, cancel):
        context.interrupts.interrupt()

    assert cancel.requested
    assert (tmp_path / "err").read_text().startswith("stopping soon")


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
    assert "command" not in out()[2]["data"]
    assert out()[-1]["data"] == {
        "schema_version": "review_event_data.v1",
        "run_id": RUN,
        "completed": True,
    }
    assert err() == []


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


def test_without_a_stream_the_events_are_on_stderr_and_pages_are_not(call):
    context, out, err = call
    events = EventLines(context, ReviewEncoder(), stream=False)
    events(STAGE)
    assert not events(make_event("items", page=make_page()))
    events.show_heartbeat(3000)

    assert out() == []
    assert list_types(err()) == [("stage", None), ("heartbeat", None)]


def test_a_silence_has_heartbeats(call, monkeypatch):
    monkeypatch.setattr(ReviewEncoder, "silence_s", 0.05)
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
def written(sent):
    return sent.kinds


@pytest.fixture
def events(sent):
    return EventLines(sent, WorkEncoder(), stream=False)


@pytest.fixture
def stream(sent):
    return EventLines(sent, WorkEncoder(), stream=True)


def test_the_terminal_event_carries_the_report_of_a_stream(stream, sent):
    with stream:
        stream.finish(0, replies.ingest_report(), cancelled=False)

    assert sent.replies[0].report == replies.ingest_report()


def test_work_that_fails_before_it_reports_only_its_error(events, written):
    with pytest.raises(RuntimeError), events:
        raise RuntimeError

    assert written == []


def test_an_interruption_is_a_heartbeat_with_a_message(events, written):
    events.announce_stop()

    assert written == [("heartbeat", None)]


def test_a_page_is_written_as_frames_that_end_with_complete_and_end(kebab):
    ran = kebab("search", "word", "-n", "2", "--stream")

    assert [one["type"] for one in ran.events] == ["stage", "progress", "items", "complete", "end"]
    assert len(ran.events[2]["data"]["items"]) == 2
    assert ran.events[3]["data"]["hit_count"] == 2
    assert ran.events[3]["data"]["page"]["next_cursor"] == "CURSOR"
    assert [one["exit_code"] for one in ran.events] == [None, 0, 0, 0, 0]
    assert (ran.status, ran.err) == (0, "")


def test_an_error_is_a_frame_and_is_reported_with_the_same_id(kebab):
    ran = kebab("search", "broken", "--stream")

    assert [one["type"] for one in ran.events] == ["stage", "error", "end"]
    sent = ran.events[1]["data"]["error"]
    assert (ran.status, sent["code"]) == (3, "store_corrupt")
    assert sent["correlation_id"] == ran.fault["correlation_id"]
    assert "command" not in sent
