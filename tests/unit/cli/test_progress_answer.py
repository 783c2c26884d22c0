import json
import os
import time

import pytest

from kebab.cli.channels import Display, OutputChannel, OutputChannels
from kebab.cli.context import CommandContext, Interrupts
from kebab.cli.progress import AnswerEvents, Reporter, is_reader_gone, report_events
from kebab.errors.signal import Exit
from kebab.wire.ask import AnswerEvent
from tests.fakes import replies

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


def test_work_that_ends_is_left_quietly(pipe):
    shown = Shown()
    context = context_on(pipe[1])

    with report_events(context, shown) as reporter:
        reporter(TOKEN)
        context.on_abort()

    assert (shown.events, shown.left) == ([TOKEN], 11)


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


def test_an_interruption_by_the_user_is_raised(pipe):
    with pytest.raises(KeyboardInterrupt), report_events(context_on(pipe[1]), Shown()):
        raise KeyboardInterrupt


def test_a_pipe_is_unread_once_its_reader_is_gone(pipe, tmp_path):
    reader, channel = pipe
    assert not is_reader_gone(channel)
    os.close(reader)
    assert is_reader_gone(channel)
    with (tmp_path / "file").open("wb") as file:
        assert not is_reader_gone(OutputChannel(file.fileno(), "<stdout>"))


def test_a_stream_has_one_end_and_nothing_after_it(tmp_path):
    path = tmp_path / "out"
    with path.open("wb") as file:
        context = context_on(OutputChannel(file.fileno(), "<stdout>"))
        events = AnswerEvents(context, stream=True)
        assert events(TOKEN)
        events.finish(replies.answer(), Exit.DONE)
        events.finish(replies.answer(), Exit.DONE)
        events.show_heartbeat(1.0)

    sent = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(one["type"], one["exit_code"]) for one in sent] == [("token", None), ("final", 0)]
