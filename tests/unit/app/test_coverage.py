import os

import pytest

from kebab.app import context as app_context
from kebab.app.ask import ask
from kebab.app.coverage import (
    explain_degraded,
    find_indexing,
    measure_stored_coverage,
    suggests_ingest,
)
from kebab.app.doctor import check_health
from kebab.app.grep import grep
from kebab.app.ingest import INTERVAL_S, ingest, publish_progress
from kebab.app.outline import outline
from kebab.app.schema import describe_build
from kebab.core.media import READABLE_NAMES
from kebab.core.progress import Cancel, Progress, ProgressKind
from kebab.doctor import survey
from kebab.source import walk
from kebab.store.sqlite.lock import IngestState, WriterLock
from kebab.store.sqlite.writer import SqliteWriter
from kebab.wire.ask import AskRequest
from kebab.wire.coverage import Indexing
from kebab.wire.fetch import GrepRequest, OutlineRequest
from kebab.wire.health import DoctorRequest, SchemaRequest
from kebab.wire.ingest import IngestRequest
from kebab.wire.search import DegradedChannel

FILES = 5


class KilledError(BaseException):
    """Ends a run as a kill does, as far as the stores can see."""


@pytest.fixture(autouse=True)
def _fine_clock(monkeypatch):
    """Trust the times of folders that were written a moment ago."""
    monkeypatch.setattr(walk, "_FINE_NS", -1)


@pytest.fixture
def notes(desk):
    """A folder with notes in it and in a folder below, all read."""
    for number in range(FILES - 1):
        desk.write(f"n{number}.md", f"# Note {number}\n\nbread number {number}\n")
    desk.write("sub/deep.md", "# Deep\n\nbread below\n")
    return desk


def die_at(monkeypatch, name, calls=1):
    """Let a run die at this call of a method of the store."""
    real, count = getattr(SqliteWriter, name), iter(range(1, calls + 1))

    def method(*arguments):
        if next(count, None) == calls:
            raise KilledError
        return real(*arguments)

    monkeypatch.setattr(SqliteWriter, name, method)


def kill_ingest(desk, monkeypatch, name, calls=1):
    with monkeypatch.context() as patch:
        die_at(patch, name, calls)
        with pytest.raises(KilledError):
            desk.ingest()


def measure(desk):
    found = desk.search("bread", mode="lexical").coverage
    names = ("complete", "files", "unread", "failed", "changed", "new", "gone", "checked")
    return {name: getattr(found, name) for name in names if getattr(found, name)}


def touch(path):
    """Give a folder another time, also where the clock of the file system stands still."""
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1_000_000_000))


def test_a_version_that_reads_more_formats_lists_every_folder_again(notes, monkeypatch):
    notes.ingest()
    monkeypatch.setattr(app_context, "READABLE_NAMES", READABLE_NAMES | {".fjord"})

    assert notes.search("bread").coverage.unlisted == [str(notes.notes)]


def test_an_interrupted_run_says_what_is_not_read(notes):
    cancel = Cancel()

    def report(event):
        if event.kind.value == "asset_finished":
            cancel.request()

    reply = ingest(notes.context(), IngestRequest(paths=[str(notes.notes)]), report, cancel)

    assert reply.cancelled
    assert reply.not_read == FILES - 1 == measure(notes)["unread"]


def test_a_file_that_cannot_be_read_failed_until_it_can(notes):
    path = notes.write("bad.xlsx", "PK\3\4 cut off")
    notes.ingest()
    assert measure(notes)["failed"] == 1
    found = notes.search("bad", mode="lexical")
    assert (found.coverage.failed_examples, found.coverage.partial) == (["bad.xlsx"], 0)
    assert found.hits[0].citation.uri == "bad.xlsx"  # no line and no cell

    path.unlink()
    notes.ingest()

    assert "failed" not in measure(notes)


@pytest.fixture
def bad(notes):
    """A file that could not be read, of a source of named files."""
    path = notes.write("bad.pdf", "%PDF-1.4 broken")
    notes.write("n9.md", "bread")
    notes.ingest(path, notes.notes / "n9.md")
    assert measure(notes)["failed"] == 1
    return path


def test_new_changed_and_gone_files_are_counted(notes):
    notes.ingest()
    notes.write("n1.md", "# Note 1\n\nmore bread than before\n")
    (notes.notes / "n2.md").unlink()
    notes.write("sub/new.md", "new")
    notes.write("sub2/sub3/new.md", "new")
    touch(notes.notes)
    touch(notes.notes / "sub")

    found = measure(notes)

    assert (found["changed"], found["gone"], found["new"]) == (1, 1, 2)


def test_files_that_a_scan_leaves_out_are_not_new(notes):
    notes.write(".gitignore", "*.log.md\n")
    notes.ingest()
    for name in ("a.tmp", "b.log.md", ".hidden.md", "node_modules/c.md", "x.exe"):
        notes.write(name, "left out")
    touch(notes.notes)

    assert "new" not in measure(notes)


def test_a_file_with_another_time_and_the_same_content_is_not_changed(notes):
    notes.write("a.md", "bread")
    notes.ingest()

    touch(notes.notes / "a.md")

    found = measure(notes)
    assert "changed" not in found
    assert found["checked"] == found["files"]


def test_a_changed_ignore_file_is_noticed(notes):
    notes.write(".gitignore", "secret.md\n")
    notes.write("sub/secret.md", "bread")
    notes.ingest()

    notes.write(".gitignore", "other.md\n")
    touch(notes.notes / ".gitignore")

    assert measure(notes)["new"] == 1


@pytest.mark.parametrize("edited", [True, False], ids=["edited", "deleted"])
def test_a_changed_ignore_file_above_the_named_folder_is_noticed(notes, edited):
    rules = notes.write("sub/.gitignore", "secret.md\n")
    notes.write("sub/deep/below/secret.md", "bread")
    notes.write("sub/deep/below/known.md", "bread")
    notes.ingest()
    if edited:
        notes.write("sub/.gitignore", "other.md\n")
        touch(rules)
    else:
        rules.unlink()

    assert notes.search("bread", path_glob="sub/deep/below/**").coverage.new == 1


def test_what_was_not_looked_at_is_not_complete(notes, monkeypatch):
    notes.ingest()
    monkeypatch.setattr(survey, "_FEWEST", 0)
    monkeypatch.setattr(survey, "_STEP", 1)

    found = measure_stored_coverage(notes.context(), seconds=0.0)

    assert found is not None
    assert (found.checked, found.unchecked_folders, found.complete) == (0, 2, False)


def test_every_reply_has_it(notes):
    notes.ingest()
    notes.write("new.md", "new")
    touch(notes.notes)
    context = notes.context()

    replies = [
        notes.search("bread", context=context),
        grep(context, GrepRequest(pattern="zebra")),
        outline(context, OutlineRequest()),
        ask(context, AskRequest(question="What is zebra?", extractive=True), lambda _: None),
        check_health(context, DoctorRequest()),
        describe_build(context, SchemaRequest()),
    ]

    assert [reply.coverage.new for reply in replies] == [1] * len(replies)


def test_a_word_that_a_parser_left_out_is_named_and_not_called_absent(notes):
    notes.write("c.md", "# C\n\nThe oven %% tapirobs sleep %% is hot.\n")
    notes.ingest()
    found = notes.search("tapirobs zzyzx", mode="lexical")
    assert found.absent_terms == ["zzyzx"]
    (comments,) = found.coverage.left_out
    assert (comments.reason, comments.documents, comments.words, comments.terms) == (
        *("comments and markup", 1, 4),
        ["tapirobs"],
    )


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
