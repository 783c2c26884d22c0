import pytest

from kebab.cli.progress import IngestEvents
from kebab.core.progress import Progress, ProgressKind
from tests.fakes import replies


class Sent:
    """Keeps the kind and the status of each event."""

    def __init__(self):
        self.replies = []
        self.kinds = []

    def __call__(self, reply, status):
        self.replies.append(reply)
        self.kinds.append((reply.kind, status))


STARTED = Progress(kind=ProgressKind.SCAN_STARTED)
COMPLETED = Progress(kind=ProgressKind.COMPLETED, elapsed_ms=5)


@pytest.fixture
def sent():
    return Sent()


@pytest.fixture
def written(sent):
    return sent.kinds


@pytest.fixture
def events(sent):
    return IngestEvents(sent, always_ends=False)


@pytest.fixture
def stream(sent):
    return IngestEvents(sent, always_ends=True)


def test_the_terminal_event_is_written_with_the_status(events, written):
    with events:
        events(STARTED)
        events(COMPLETED)
        assert written == [("scan_started", None)]
        events.finish(0, cancelled=False)

    assert written == [("scan_started", None), ("completed", 0)]


def test_work_without_a_terminal_event_gets_one(events, written):
    with events:
        events.finish(130, cancelled=True)

    assert written == [("aborted", 130)]


def test_the_terminal_event_carries_the_report_of_a_stream(stream, sent):
    with stream:
        stream.finish(0, replies.ingest_report(), cancelled=False)

    assert sent.replies[0].report == replies.ingest_report()


def fail(events, fault):
    with events:
        events(STARTED)
        raise fault


def test_work_that_fails_after_its_first_event_is_aborted(events, written):
    with pytest.raises(RuntimeError):
        fail(events, RuntimeError())

    assert [kind for kind, _ in written] == ["scan_started", "aborted"]


def test_work_that_fails_before_it_reports_only_its_error(events, written):
    with pytest.raises(RuntimeError), events:
        raise RuntimeError

    assert written == []


def test_a_stream_always_gets_its_end(stream, written):
    with pytest.raises(RuntimeError), stream:
        raise RuntimeError

    assert written == [("aborted", None)]


def test_nothing_is_sent_to_a_closed_pipe(stream, written):
    with pytest.raises(BrokenPipeError):
        fail(stream, BrokenPipeError())

    assert written == [("scan_started", None)]


def test_a_stream_has_one_terminal_event(stream, written):
    with stream:
        stream.finish(0, cancelled=False)
        stream.abort()

    assert written == [("completed", 0)]


def test_an_interruption_is_a_heartbeat_with_a_message(events, written):
    events.announce_stop()

    assert written == [("heartbeat", None)]
