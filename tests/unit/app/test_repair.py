import shutil
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import apsw
import pytest

from kebab.app import repair as subject
from kebab.app.own_files import reset
from kebab.app.repair import repair
from kebab.core.progress import Cancel, Progress, ProgressKind, ignore_progress
from kebab.errors.catalog import Locked, ReadOnly
from kebab.store.sqlite.lock import WriterLock
from kebab.wire.health import ResetRequest
from kebab.wire.repair import RepairRequest


@pytest.fixture
def damaged(lab):
    """An index with one changed passage, and a row without a vector."""
    lab.write("a.md", "# Cats\n\nthe cat sleeps on the mat\n")
    lab.write("b.md", "# Dogs\n\nthe dog runs in the park\n")
    lab.ingest()
    execute(lab, "UPDATE chunks SET text = text || '!' WHERE key = 1")
    return lab


def execute(desk, sql):
    with closing(apsw.Connection(str(desk.data / "kebab.sqlite"))) as database:
        return database.execute(sql).fetchall()


def fix(desk, *, report=ignore_progress, cancel=None, context=None, **fields):
    request = RepairRequest(**fields)
    return repair(context or desk.context(), request, report, cancel or Cancel())


def test_a_plan_changes_nothing(damaged):
    def read():
        # A reader of SQLite keeps its marks beside the database.
        files = [path for path in damaged.data.rglob("*") if path.is_file()]
        return {path: path.read_bytes() for path in files if path.name[-4:] not in ("-shm", "-wal")}

    before = read()

    reply = fix(damaged, dry_run=True)

    assert read() == before
    assert [(one.kind, one.outcome, one.drops) for one in reply.repairs] == [
        ("database", "planned", True)
    ]
    assert (reply.ok, reply.copy, reply.read_again) == (False, None, 1)


def test_a_repair_ends_healthy_and_says_so(damaged):
    events: list[Progress] = []

    reply = fix(damaged, report=events.append)

    assert reply.ok
    assert [one.outcome for one in reply.repairs] == ["repaired"]
    assert damaged.search("mat").hits[0].snippet.endswith("\nthe cat sleeps on the mat")
    ends = [event.kind for event in events if event.kind in ("completed", "aborted")]
    assert ends == [ProgressKind.COMPLETED]
    assert fix(damaged).repairs == []


def test_the_copy_puts_everything_back(damaged):
    old = execute(damaged, "SELECT * FROM chunks")

    reply = fix(damaged)
    reset(damaged.context(), ResetRequest())
    shutil.copytree(reply.copy.path, damaged.data, dirs_exist_ok=True)

    assert execute(damaged, "SELECT * FROM chunks") == old
    assert reply.copy.bytes > 0
    assert reply.copy.hint.startswith("kebab reset --yes && cd ")


def test_a_full_disk_is_said_before_anything_is_dropped(damaged, monkeypatch):
    usage = SimpleNamespace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    before = execute(damaged, "SELECT * FROM chunks")

    reply = fix(damaged)

    (refused,) = reply.repairs
    assert refused.outcome == "refused"
    assert "and 0.0 MiB are free" in refused.reason
    assert execute(damaged, "SELECT * FROM chunks") == before


def test_a_repair_that_was_killed_can_be_run_again(damaged, monkeypatch):
    def die(*_arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(subject, "ingest", die)
        with pytest.raises(KeyboardInterrupt):
            fix(damaged)

    reply = fix(damaged)

    assert reply.ok
    assert damaged.search("mat").hits[0].snippet.endswith("\nthe cat sleeps on the mat")


def test_a_document_whose_file_is_gone_is_named(damaged):
    execute(damaged, "UPDATE documents SET checksum = 'x' WHERE path = 'b.md'")
    gone = damaged.notes / "b.md"
    gone.unlink()

    planned, done = fix(damaged, dry_run=True), fix(damaged)

    for reply in (planned, done):
        assert [(one.doc_path, one.passages) for one in reply.lost] == [(str(gone), 1)]
    assert [one.outcome for one in done.repairs] == ["repaired"]
    assert damaged.search("park").hits[0].doc_path == "b.md"


def test_vectors_come_from_the_files_of_a_lost_table(damaged, monkeypatch):
    fix(damaged)
    shutil.rmtree(next((damaged.data / "lance").glob("*.lance/_versions")))
    context = damaged.context()
    monkeypatch.setattr(context.embedders, "load_installed", lambda _version: None)

    reply = fix(damaged, context=context)

    assert [(one.kind, one.outcome) for one in reply.repairs] == [("vectors", "repaired")]
    assert {check.name: check.status for check in reply.health.checks}["pending"] == "ok"


def test_writing_must_be_allowed_and_free(damaged):
    with pytest.raises(ReadOnly):
        fix(damaged, context=damaged.context(read_only=True))
    with WriterLock(damaged.data), pytest.raises(Locked):
        fix(damaged)
    cancel = Cancel()
    cancel.request()
    assert [one.outcome for one in fix(damaged, cancel=cancel).repairs] == ["planned"]


def test_a_lost_database_needs_the_folders(damaged):
    Path(damaged.data / "kebab.sqlite").unlink()

    (refused,) = fix(damaged).repairs
    reply = fix(damaged, sources=[str(damaged.notes)])

    assert refused.hint == "kebab doctor --fix --source FOLDER"
    assert reply.ok
    assert set(damaged.documents()) == {"a.md", "b.md"}
