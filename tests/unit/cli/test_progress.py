import time

import pytest

from kebab.cli import progress
from kebab.cli.channels import WorkDisplay
from kebab.cli.progress import WorkReporter
from kebab.core.progress import Heartbeat, Progress, ProgressKind

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


def test_events_are_passed_on(reporter, recorder):
    reporter(READING)

    assert recorder.events == [READING]


def test_a_long_silence_causes_a_heartbeat_with_the_phase(reporter, recorder, clock):
    reporter(READING)
    clock.now = 2.5
    reporter.beat()

    beat = recorder.events[-1]
    assert (beat.kind, beat.path, beat.elapsed_ms) == (ProgressKind.HEARTBEAT, "a.md", 2500)


def test_a_short_silence_causes_no_heartbeat(reporter, recorder, clock):
    reporter(READING)
    clock.now = 0.9
    reporter.beat()

    assert recorder.events == [READING]


def test_after_the_end_there_is_no_heartbeat(reporter, recorder, clock):
    reporter.finish(0, cancelled=False)
    clock.now = 9.0
    reporter.beat()

    assert (recorder.events, recorder.ends) == ([], [(0, None, False)])


def test_silent_work_gets_heartbeats(recorder):
    recorder.silence_s = 0.02
    with WorkReporter(recorder):
        for _ in range(200):
            if recorder.events:
                break
            time.sleep(0.01)

    assert recorder.events[0].kind is ProgressKind.HEARTBEAT


@pytest.mark.parametrize(("silence_s", "expected"), [(0.4, 0.2), (1.0, 0.5), (3.0, 0.5)])
def test_the_silence_is_checked_at_least_twice_a_second(recorder, monkeypatch, silence_s, expected):
    intervals = []

    def record(beat, interval_s):
        intervals.append(interval_s)
        return Heartbeat(beat, interval_s)

    monkeypatch.setattr(progress, "Heartbeat", record)
    recorder.silence_s = silence_s
    WorkReporter(recorder)

    assert intervals == [expected]
