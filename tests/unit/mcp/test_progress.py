"""Progress is sent at most a few times a second, with numbers that increase."""

import anyio
import anyio.to_thread
import pytest

from kebab.core.progress import Cancel, Progress, ProgressKind
from kebab.mcp.progress import ProgressReporter
from kebab.wire.ask import AnswerEvent


@pytest.fixture
def report():
    """Return a function that reports events from a thread, and returns what was sent."""

    def run(events, cancel=None):
        sent = []

        async def notify(progress, total, message):
            sent.append((progress, message))

        reporter = ProgressReporter(notify, cancel or Cancel())

        def work():
            for event in events:
                reporter.report(event)

        async def main():
            await anyio.to_thread.run_sync(work)

        anyio.run(main)
        return sent

    return run


def test_numbers_increase_and_messages_say_how_far_it_is(report, monkeypatch):
    monkeypatch.setattr("kebab.mcp.progress._INTERVAL_S", 0)
    events = [
        Progress(ProgressKind.SCAN_STARTED),
        Progress(ProgressKind.ASSET_FINISHED, done=2, total=3, unit="files", phase="reading"),
    ]

    assert report(events) == [(1.0, "scan started"), (2.0, "reading 2/3 files")]


def test_events_in_quick_succession_are_sent_once(report):
    assert len(report([Progress(ProgressKind.HEARTBEAT)] * 50)) == 1


def test_nothing_is_sent_for_a_cancelled_request(report):
    cancel = Cancel()
    cancel.request()

    assert report([Progress(ProgressKind.HEARTBEAT)], cancel) == []


def test_an_answer_is_stopped_by_its_next_event():
    cancel = Cancel()
    cancel.request()

    async def notify(progress, total, message):
        raise AssertionError((progress, total, message))

    with pytest.raises(KeyboardInterrupt):
        ProgressReporter(notify, cancel).report(AnswerEvent(type="token", delta="a"))
