"""What the checks of doctor find, and what becomes of a check that fails."""

import math
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kebab.config.load import SettingsReport
from kebab.config.settings import Settings
from kebab.core.chunks import ProbePair, sort_keys
from kebab.core.documents import Source, SourceCounts
from kebab.doctor import checks
from kebab.doctor.checks import (
    FIX,
    Check,
    Finding,
    fail,
    run_all,
    succeed,
    suggest_move,
    warn,
)
from kebab.errors.catalog import (
    ConfigInvalid,
    IoError,
    Locked,
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
    TimedOut,
)
from kebab.errors.hints import NO_FILE, NO_FOLDER
from tests.fakes.replies import coverage

PROBE = ProbePair(cosine=0.7553, tolerance=0.02)
URL = "http://127.0.0.1:11434"
REFUSED: dict[str, Any] = {"model": "tiny", "endpoint": URL, "operation": "doctor"}
MIB = 1 << 20


class Ticking:
    """Advances a quarter of a second whenever it is read."""

    def __init__(self):
        self.time = 0.0

    def now(self):
        return self.time

    def monotonic(self):
        self.time += 0.25
        return self.time


def raising(fault):
    def ask(*_args):
        raise fault

    return ask


def check(name, run, requires=()):
    return Check(name, run, fix="mend it", requires=requires)


def run(*steps):
    return run_all(steps, Ticking())


@pytest.mark.parametrize(
    ("finding", "ok"),
    [
        (succeed("x"), True),
        (warn("x", "y"), True),
        (Finding("skip", "x"), True),
        (fail("x", "y"), False),
    ],
)
def test_only_a_failure_is_unhealthy(finding, ok):
    assert run(check("a", lambda: finding)).ok is ok


@pytest.mark.parametrize(
    ("fault", "summary", "fix"),
    [
        (
            Locked(path="/x", holder_pid=7),
            "another process is writing to this knowledge base: pid 7",
            "try again when it has finished",
        ),
        (IoError(path="/x", op="read", cause="denied"), "denied", "mend it"),
        (PermissionError(13, "no", "/my notes/x"), "no: /my notes/x", "chmod u+rw '/my notes/x'"),
    ],
    ids=["signal", "its hint leads back to doctor", "system"],
)
def test_an_error_fails_its_check_and_no_other(fault, summary, fix):
    first, second = run(check("a", raising(fault)), check("b", lambda: succeed("fine"))).checks

    assert (first.status, first.fix, second.status) == ("fail", fix, "ok")
    assert summary in first.summary


def test_a_bug_is_not_mistaken_for_bad_health():
    with pytest.raises(ZeroDivisionError):
        run(check("a", raising(ZeroDivisionError())))


def test_skips_carry_on_down_the_line():
    diagnosis = run(
        check("a", lambda: fail("x", "y")),
        check("b", lambda: succeed("x"), requires=("a",)),
        check("c", lambda: succeed("x"), requires=("b",)),
        check("d", lambda: succeed("x")),
    )

    assert [check.status for check in diagnosis.checks] == ["fail", "skip", "skip", "ok"]


def test_nothing_is_moved_onto_something_else(tmp_path):
    for name in ("data", "data.old", "data.old.1"):
        (tmp_path / name).touch()

    assert suggest_move(tmp_path / "data").endswith("data.old.2")


def test_a_long_folder_is_named_once():
    folder = Path("/srv") / ("long name " * 12)

    assert suggest_move(folder / "a b") == f"cd '{folder}' && mv 'a b' 'a b.old'"


def check_vectors(stored, stamped):
    return checks.check_vectors(lambda: sort_keys(stamped), lambda: sort_keys(stored))


def check_database(found, *remains):
    return checks.check_database(Path("/data/kebab.sqlite"), found, 3, remains)


def check_weights(folder, *faults):
    return checks.check_embedding_files("minilm", folder, faults)


def check_version(configured, stored):
    return checks.check_embedding_version(configured, stored, None, None)


def check_permissions(number):
    found: list[list[Path]] = [[], [], []]
    found[number] = [Path("/my data/a")]
    return checks.check_permissions(Path("/my data"), *found)


def check_files(lost=(), **fields):
    return checks.check_files(coverage(**fields), lost)


def list_lost(*roots):
    return [SourceCounts(Source(name=one, root=one, kind="folder"), 2, 5, None) for one in roots]


MODEL = Path("/models/minilm")
FINDINGS: list[tuple[Callable[[], Finding], str, str | None, str]] = [
    # what is stored
    (lambda: check_database(3), "ok", None, "schema 3"),
    (lambda: check_database(2), "fail", "kebab ingest", "needs a migration"),
    (
        lambda: check_database(4),
        *("fail", "pip install --upgrade kebab", "written by a newer kebab"),
    ),
    (lambda: check_database(None), "fail", "kebab ingest FOLDER", "nothing indexed yet"),
    (
        lambda: check_database(None, Path("/data/a.keys")),
        *("fail", FIX, "parts of an index are left: a.keys"),
    ),
    (lambda: checks.check_full_text("검색 is missing", deep=True), "fail", FIX, "검색"),
    (lambda: checks.check_full_text(None, deep=False), "ok", None, "words of a sample"),
    (lambda: checks.check_reviews(Path("/r"), None), "ok", None, "no review is stored"),
    (
        lambda: checks.check_reviews(Path("/r"), ["torn page"]),
        *("fail", FIX, "reviews are damaged: torn page"),
    ),
    (lambda: check_vectors([], []), "ok", None, "0 vectors, each with its passage"),
    (lambda: check_vectors([1, 9], [1]), "ok", None, "the next ingest deletes 1 more"),
    (lambda: check_vectors([1], [1, 2, 3]), "fail", FIX, "2 vectors of 3 missing"),
    (lambda: check_vectors([1, 1, 2], [1, 2]), "fail", FIX, "1 vector stored more than once"),
    (lambda: check_vectors([1, 1, 9], [1, 2]), "fail", FIX, "1 vector of 2 missing"),
    (
        lambda: check_permissions(0),
        *("fail", "sudo chown -R \"$(id -un)\" '/my data'", "another user"),
    ),
    (lambda: check_permissions(1), "fail", "chmod -R u+rwX '/my data'", "1 file"),
    (lambda: check_permissions(2), "warn", "chmod -R go-rwx '/my data'", "1 file"),
    # documents
    (lambda: checks.check_pending(0, bool), "ok", None, "no passage waits for a vector"),
    (
        lambda: checks.check_pending(1200, lambda: True),
        *("warn", "kebab ingest", "1,200 passages not embedded yet, found by words only"),
    ),
    (lambda: checks.check_pending(2, bool), "warn", "kebab model pull", "2 passages"),
    (
        lambda: check_files(unread=3, checked=5000, changed=1, gone=2),
        *("warn", "kebab ingest", "3 of 5,003 files are not read yet; 1 file changed since the"),
    ),
    (
        lambda: check_files(failed=1, failed_examples=["a.pdf"], checked=5002),
        *("warn", "kebab ingest --verbose", "`a.pdf` could not be read"),
    ),
    (
        lambda: check_files(list_lost("/a"), gone=2),
        *("ok", None, "every other file is as it was read, by time and size: 5,001 files"),
    ),
    (lambda: check_files(list_lost("/a"), gone=3), "warn", "kebab ingest", "1 file is gone"),
    (
        lambda: check_files(list_lost("/a"), gone=2, files=2, checked=2),
        *("skip", None, "no document has a file"),
    ),
    (lambda: checks.check_files(None, ()), "skip", None, "no document has a file"),
    (
        lambda: checks.check_sources(list_lost("/a b", "/c")),
        *("warn", "kebab source rm '/a b'", "in the index is gone or empty: /a b, and 1 more"),
    ),
    # the machine
    (lambda: checks.check_disk_space(Path("/x/y"), lambda _: 0), "fail", "df -h /", "full"),
    (
        lambda: checks.check_disk_space(Path("/x/y"), lambda _: 1024 * MIB - 1),
        *("warn", "df -h /", "little space"),
    ),
    (lambda: checks.check_disk_space(Path("/x/y"), lambda _: 1024 * MIB), "ok", None, "1,074 MB"),
    (
        lambda: checks.check_settings(Path("/a b.toml"), None, "port not understood: x"),
        *("warn", "micro '/a b.toml'", "port not understood: x"),
    ),
    # models
    (
        lambda: checks.check_embedding_files(None, None, ()),
        *("warn", "kebab model pull", "no embedding model yet"),
    ),
    (lambda: check_weights(None), "warn", "kebab model pull minilm", "not installed"),
    (
        lambda: check_weights(MODEL, "changed: a", "b"),
        *("fail", "kebab model pull minilm", "changed: a; b"),
    ),
    (lambda: check_weights(MODEL), "ok", None, "minilm: /models/minilm"),
    (
        lambda: checks.check_embedding_server("m at URL", "gone", "ollama serve"),
        *("warn", "ollama serve", "no vectors of m at URL, searches use words only: gone"),
    ),
    (lambda: checks.check_embedding_probe((0.74, PROBE)), "ok", None, "0.7400"),
    (lambda: checks.check_embedding_probe((0.77, PROBE)), "ok", None, "0.7700"),
    (
        lambda: checks.check_embedding_probe((0.73, PROBE)),
        *("fail", "kebab model pull", "expected: 0.7553"),
    ),
    (lambda: checks.check_embedding_probe((math.nan, PROBE)), "fail", "kebab model pull", "nan"),
    (lambda: check_version(None, None), "skip", None, "no vector"),
    (lambda: check_version("v1", None), "skip", None, "no vector"),
    (lambda: check_version(None, "v1"), "ok", None, "v1"),
    (lambda: check_version("v1", "v1"), "ok", None, "v1"),
    (lambda: check_version("v2", "v1"), "fail", "kebab model use auto", "configured is v2"),
]


@pytest.mark.parametrize(("find", "status", "fix", "part"), FINDINGS)
def test_a_check_finds_a_state_with_its_fix(find, status, fix, part, monkeypatch):
    monkeypatch.setenv("EDITOR", "micro")
    finding = find()

    assert (finding.status, finding.fix) == (status, fix)
    assert part in finding.summary


@pytest.mark.parametrize(
    ("before", "rows", "after"),
    [([1], [1, 2], [1, 2]), ([1, 2], [1], [1])],
    ids=["added meanwhile", "removed meanwhile"],
)
def test_vectors_that_change_during_the_check_are_no_fault(before, rows, after):
    states = iter([before, after])

    finding = checks.check_vectors(lambda: sort_keys(next(states)), lambda: sort_keys(rows))

    assert finding.status == "ok"


@pytest.mark.parametrize(
    ("origin", "cause", "fix"),
    [
        ("/etc/my kebab.toml", "unknown key `x`", "kebab init --force"),
        ("/etc/my kebab.toml", NO_FILE, "kebab init"),
        ("/etc/my kebab.toml", NO_FOLDER, "mkdir -p /etc"),
        ("$KEBAB_SEARCH_LIMIT", "Expected `int`", "unset KEBAB_SEARCH_LIMIT"),
        ("models.embedding.model", "no such model", "kebab init --force"),
        ("search.mode", "no such mode", "unset KEBAB_SEARCH_MODE"),
    ],
)
def test_refused_settings_fail_with_the_fix_for_their_origin(origin, cause, fix, monkeypatch):
    monkeypatch.setenv("KEBAB_SEARCH_MODE", "psychic")
    faults = (ConfigInvalid(path=origin, cause=cause), ConfigInvalid(path="/x", cause="second"))

    finding = checks.check_settings(Path("/x"), SettingsReport(Settings(), faults), None)

    assert (finding.status, finding.fix) == ("fail", fix)
    assert cause in finding.summary
    assert "second" in finding.summary


def test_a_file_in_the_way_of_a_folder_fails(tmp_path):
    (tmp_path / "data").write_text("mine")

    finding = checks.check_folders({"data": tmp_path / "data" / "kebab"})

    assert finding.status == "fail"
    assert finding.fix == f"mv {tmp_path / 'data'} {tmp_path / 'data.old'}"


def test_a_folder_that_cannot_be_written_fails(tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    closed.mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: path != closed)

    finding = checks.check_folders({"state": tmp_path, "data": closed / "kebab"})

    assert (finding.status, finding.fix) == ("fail", f"chmod u+rwx {closed}")
    assert "data folder" in finding.summary


def test_a_read_only_file_system_is_no_missing_permission(tmp_path, monkeypatch):
    read_only = SimpleNamespace(f_flag=os.ST_RDONLY)
    monkeypatch.setattr(os, "statvfs", lambda _: read_only)

    finding = checks.check_folders({"data": tmp_path})

    assert finding.summary == f"the data folder is on a read-only file system: {tmp_path}"
    assert finding.fix == f"df -h {tmp_path}"


@pytest.mark.parametrize(
    ("signal", "status", "part", "fix"),
    [
        (
            ModelUnreachable(
                endpoint="http://127.0.0.1:1", operation="doctor", cause="x", provider="ollama"
            ),
            *("warn", "127.0.0.1:1", "ollama serve"),
        ),
        (
            ModelUnreachable(endpoint=URL, operation="doctor", cause="x", setting="OLLAMA_HOST"),
            *("warn", URL, "start the server, or set another address: `export OLLAMA_HOST=URL`"),
        ),
        (
            ModelProtocol(endpoint=URL, operation="doctor", cause="it crashed"),
            *("warn", "crashed", "restart the model server, then try again: `kebab doctor`"),
        ),
        (
            TimedOut(operation="doctor", elapsed_ms=2001, deadline_ms=2000),
            *("warn", "", "ollama serve"),
        ),
        (ModelNotPulled(**REFUSED), "fail", "tiny", "ollama pull tiny"),
        (
            ModelNotPulled(**REFUSED, models=["tiny2:1b", "b"]),
            *("fail", "tiny2:1b, b", "ollama pull tiny"),
        ),
        (
            ModelNotPulled(**REFUSED, reason="not_offered", models=["t2"]),
            *("fail", "it has t2", "export KEBAB_MODELS_LLM_MODEL=t2"),
        ),
        (
            ModelRejected(**REFUSED, cause="it can only do: embedding", reason="task"),
            *("fail", "it can only do: embedding", "export KEBAB_MODELS_LLM_MODEL=NAME"),
        ),
        (
            ModelRejected(**REFUSED, cause="no key", reason="key_missing", setting="MY_KEY"),
            *("fail", "`MY_KEY` is not set", "export MY_KEY=KEY"),
        ),
    ],
)
def test_a_server_that_is_away_is_a_worry_and_one_that_refuses_a_failure(signal, status, part, fix):
    finding = checks.check_language_model(raising(signal), "ollama serve")

    assert (finding.status, finding.fix) == (status, fix)
    assert part in finding.summary
