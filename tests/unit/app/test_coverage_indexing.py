import pytest

from kebab.app.coverage import explain_degraded, find_indexing, suggests_ingest
from kebab.app.doctor import check_health
from kebab.app.ingest import INTERVAL_S, publish_progress
from kebab.app.schema import describe_build
from kebab.core.progress import Progress, ProgressKind
from kebab.store.sqlite.lock import IngestState, WriterLock
from kebab.wire.coverage import Indexing
from kebab.wire.health import DoctorRequest, SchemaRequest
from kebab.wire.search import DegradedChannel

EMBEDDING = IngestState(1_700_000_000.0, 2_695, 24_020, "chunks")


class Recorder:
    """Records what is published; the time is set by hand."""

    def __init__(self):
        self.time = 0.0
        self.events = []
        self.published = []

    def make(self):
        return publish_progress(self.events.append, self.published.append, self)

    def now(self):
        return 5.0

    def monotonic(self):
        return self.time


def embed(done):
    return Progress(ProgressKind.EMBED_BATCH, done=done, total=9, unit="chunks")


@pytest.fixture
def pending(desk):
    """A knowledge base whose only passage has no vector."""
    desk.write("a.md", "# A\n\nbread\n")
    desk.ingest()
    return desk


@pytest.fixture
def running(pending):
    """The same while another process computes vectors."""
    with WriterLock(pending.data) as lock:
        lock.publish(EMBEDDING)
        yield pending


def test_counts_are_published_at_most_once_in_an_interval():
    recorder = Recorder()
    publish = recorder.make()

    for done in range(5):
        recorder.time += INTERVAL_S / 2
        publish(embed(done))

    assert len(recorder.events) == 5
    assert [state.done for state in recorder.published] == [None, 0, 2, 4]


def test_a_search_says_how_far_the_ingest_is_and_does_not_suggest_one(running):
    found = running.search("bread")

    assert found.coverage.indexing.done == 2_695
    assert all(not suggests_ingest(channel.hint) for channel in found.degraded)


@pytest.mark.parametrize(
    ("left", "said"),
    [
        pytest.param(420.0, "18 % embedded, about 7 min left", id="rate"),
        pytest.param(None, "18 % embedded; indexing: 18 of 100 passages, pid 7", id="no_rate"),
    ],
)
def test_the_time_left_is_said_where_a_rate_was_measured(left, said):
    half = DegradedChannel(channel="vector", reason="18 % embedded", hint="kebab ingest")
    indexing = Indexing(
        pid=7, started_at="", done=18, total=100, unit="passages", seconds_left=left
    )

    assert [one.reason for one in explain_degraded([half], indexing)] == [said]


def test_doctor_and_schema_report_the_progress_instead_of_a_fix(running):
    health = check_health(running.context(), DoctorRequest())
    described = describe_build(running.context(), SchemaRequest())

    assert health.indexing == described.indexing == find_indexing(running.context())
    (check,) = [check for check in health.checks if check.name == "pending"]
    assert (check.status, check.fix) == ("warn", None)
