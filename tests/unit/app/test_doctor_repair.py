import shutil
from contextlib import closing

import apsw
import pytest

from kebab.app.doctor import check_health, repair
from kebab.app.ingest import ingest_text
from kebab.app.own_files import reset
from kebab.core.progress import Cancel, ignore_progress
from kebab.wire.health import DoctorRequest, RepairRequest, ResetRequest
from kebab.wire.ingest import IngestTextRequest


@pytest.fixture
def filled(lab):
    """Two notes in a folder, a file beside it, and a text from standard input."""
    lab.write("a.md", "# Cats\n\nthe cat sleeps on the mat\n")
    lab.write("b.md", "# Dogs\n\nthe dog runs in the park\n")
    lab.ingest()
    single = lab.folder / "other" / "snow.txt"
    single.parent.mkdir()
    single.write_text("snow falls in winter\n")
    lab.ingest(single)
    text = IngestTextRequest(text=b"The dentist moved to Friday.", title="Dentist")
    ingest_text(lab.context(), text, ignore_progress, Cancel())
    return lab


@pytest.fixture
def damaged(filled):
    """Its database with a part that was overwritten."""
    overwrite(filled.data / "kebab.sqlite")
    return filled


def overwrite(path):
    with path.open("r+b") as file:
        file.seek(3 * 4096)
        file.write(b"\xaa" * 20 * 4096)


def fix(desk, *, cancel=None, context=None, **fields):
    request = RepairRequest(**fields)
    return repair(context or desk.context(), request, ignore_progress, cancel or Cancel())


def outcomes(reply):
    return [(one.check, one.outcome) for one in reply.repairs]


def statuses(desk):
    health = check_health(desk.context(), DoctorRequest(), deep=True)
    return {check.name: check.status for check in health.checks}


def test_a_plan_changes_nothing(damaged):
    before = damaged.tree()

    reply = fix(damaged, dry_run=True)

    assert damaged.tree() == before
    assert outcomes(reply) == [("integrity", "planned")]
    assert (reply.ok, reply.moved) == (False, [])


def test_a_damaged_database_is_moved_aside_and_its_sources_are_read_again(filled):
    paths = set(filled.documents())
    overwrite(filled.data / "kebab.sqlite")

    reply = fix(filled)

    assert (reply.ok, outcomes(reply)[0]) == (True, ("integrity", "repaired"))
    (moved,) = reply.moved
    assert moved.path.startswith(f"{filled.data / 'kebab.sqlite'}.damaged-")
    assert set(filled.documents()) == paths
    assert filled.search("mat").hits[0].doc_path == "a.md"
    assert fix(filled).repairs == []
    reset(filled.context(), ResetRequest())
    assert not filled.data.exists()


def test_a_lost_database_is_made_again_by_the_next_ingest(filled):
    paths = set(filled.documents())
    for path in filled.data.glob("kebab.sqlite*"):
        path.unlink()
    assert statuses(filled)["database"] == "fail"

    filled.again()

    assert set(filled.documents()) == paths


def test_what_only_the_database_had_is_counted(filled):
    with closing(apsw.Connection(str(filled.data / "kebab.sqlite"))) as database:
        database.execute("PRAGMA foreign_keys = OFF; DELETE FROM assets")

    (moved,) = fix(filled).moved

    assert (moved.documents, moved.sessions) == (4, 0)


def test_without_a_list_of_the_sources_somebody_has_to_name_them(damaged):
    (damaged.data / "sources.json").unlink()
    (damaged.data / "kebab.sqlite").write_bytes(b"no database" * 1000)

    (refused,) = fix(damaged).repairs
    reply = fix(damaged, sources=[str(damaged.notes)])

    assert (refused.outcome, refused.hint) == ("refused", "kebab doctor --fix --source FOLDER")
    assert outcomes(reply) == [("database", "repaired")]
    assert damaged.search("mat").hits


def test_a_repair_that_was_killed_can_be_run_again(damaged, monkeypatch):
    def die(*_arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("kebab.app.ingest.ingest", die)
        with pytest.raises(KeyboardInterrupt):
            fix(damaged)

    assert fix(damaged).ok
    assert damaged.search("mat").hits


def test_words_come_again_from_the_stored_text(filled):
    with closing(apsw.Connection(str(filled.data / "kebab.sqlite"))) as database:
        database.execute("DELETE FROM chunks_fts WHERE rowid = 1")
    assert statuses(filled)["full_text"] == "fail"

    reply = fix(filled)

    assert outcomes(reply) == [("full_text", "repaired")]
    assert (reply.ok, reply.moved) == (True, [])
    assert filled.search("mat", mode="lexical").hits[0].doc_path == "a.md"


def test_a_damaged_word_index_costs_nothing_else(filled):
    with closing(apsw.Connection(str(filled.data / "kebab.sqlite"))) as database:
        database.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        database.execute("UPDATE chunks_fts_data SET block = x'00' WHERE id > 10")

    reply = fix(filled)

    assert (reply.ok, reply.moved) == (True, [])
    assert filled.search("mat", mode="lexical").hits[0].doc_path == "a.md"


def test_vectors_come_again_from_the_passages(filled):
    shutil.rmtree(filled.data / "lance")
    assert statuses(filled)["vectors"] == "fail"

    reply = fix(filled)

    assert outcomes(reply) == [("vectors", "repaired")]
    assert statuses(filled)["pending"] == "ok"
    assert filled.search("mat", mode="vector").hits[0].doc_path == "a.md"


def test_without_the_model_lost_vectors_wait_for_an_ingest(filled, monkeypatch):
    shutil.rmtree(filled.data / "lance")
    context = filled.context()
    monkeypatch.setattr(context.embedders, "load_installed", lambda _version: None)

    reply = fix(filled, context=context)

    assert outcomes(reply) == [("vectors", "repaired")]
    assert statuses(filled)["pending"] == "warn"


def test_damaged_reviews_are_moved_aside(filled):
    with filled.context().open_review_store():
        pass
    (filled.data / "reviews.sqlite").write_bytes(b"no database" * 1000)

    reply = fix(filled)

    assert outcomes(reply) == [("reviews", "repaired")]
    assert ".damaged-" in reply.moved[0].path
