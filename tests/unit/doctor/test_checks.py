"""What the checks of doctor find, and what becomes of a check that fails."""

import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kebab.core.chunks import ProbePair
from kebab.core.documents import Source, SourceCounts
from kebab.core.ids import sort_keys
from kebab.doctor import checks
from kebab.doctor.checks import (
    FIX,
    Check,
    DoctorInputs,
    DocumentInputs,
    EmbeddingVersions,
    Finding,
    MachineInputs,
    ModelInputs,
    ReviewFile,
    SettingsFile,
    StorageInputs,
    Weights,
    build_checks,
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
WEIGHTS = Weights(model="minilm", folder=Path("/models/minilm"))
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


def machine(folder=Path("/my data"), **more: Any):
    return MachineInputs(
        read_settings=lambda: SettingsFile(path=folder / "config.toml"),
        folders={"data": folder, "models": folder / "models", "state": folder},
        data=folder,
        log=folder / "kebab.log",
        find_writer=lambda: None,
        **more,
    )


def storage(**more: Any):
    fields: dict[str, Any] = {
        "path": Path("/data/kebab.sqlite"),
        "schema": 3,
        "find_schema": lambda: 3,
        "find_damage": list,
        "find_word_fault": lambda: None,
        "list_vector_keys": lambda: sort_keys([1, 2]),
        "list_expected_keys": lambda: sort_keys([1, 2]),
        "reviews": Path("/data/reviews.sqlite"),
        "read_reviews": lambda: None,
    }
    return StorageInputs(**{**fields, **more})


def documents(found=None, pending=0, **more: Any):
    return DocumentInputs(count_pending=lambda: pending, measure_coverage=lambda: found, **more)


def models(**more: Any):
    fields: dict[str, Any] = {
        "read_weights": lambda: WEIGHTS,
        "measure_probe": lambda: (0.75, PROBE),
        "read_versions": lambda: EmbeddingVersions(configured=None, stored="v1"),
        "check_server": lambda: "Ollama 0.32.15 has gemma3:4b",
        "start_command": "ollama serve",
    }
    return ModelInputs(**{**fields, **more})


def check(name, run, requires=()):
    return Check(name, run, fix="mend it", requires=requires)


def run(*steps):
    return run_all(steps, Ticking())


def test_a_sound_base_is_healthy_in_every_check(tmp_path):
    inputs = DoctorInputs(
        machine=machine(tmp_path),
        storage=storage(read_reviews=lambda: ReviewFile(tmp_path / "reviews.sqlite", 1)),
        documents=documents(coverage()),
        models=models(),
    )

    diagnosis = run(*build_checks(inputs))

    found = {one.name: one.status for one in diagnosis.checks}
    assert diagnosis.ok
    assert len(found) == len(diagnosis.checks)
    # The machine's own space and limits are what they are.
    assert {name for name, status in found.items() if status != "ok"} <= {"disk", "descriptors"}


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
    return checks.check_vectors(
        storage(
            list_vector_keys=lambda: sort_keys(stored),
            list_expected_keys=lambda: sort_keys(stamped),
        )
    )


def check_probe(cosine):
    return checks.check_embedding_probe(models(measure_probe=lambda: (cosine, PROBE)))


def check_weights(weights):
    return checks.check_embedding_files(models(read_weights=lambda: weights))


def check_version(configured, stored):
    versions = EmbeddingVersions(configured=configured, stored=stored)
    return checks.check_embedding_version(models(read_versions=lambda: versions))


def check_reviews(*faults):
    file = ReviewFile(Path("/data/reviews.sqlite"), 20_480, faults)
    return checks.check_reviews(storage(read_reviews=lambda: file))


def check_permissions(which):
    more: dict[str, Any] = {which: lambda: [Path("/my data/a")]}
    return checks.check_permissions(machine(**more))


def check_files(lost=(), **fields):
    found = documents(coverage(**fields), list_lost_sources=lambda: lost)
    return checks.check_files(found)


def list_lost(*roots):
    return [SourceCounts(Source(name=one, root=one, kind="folder"), 2, 5, None) for one in roots]


FINDINGS: list[tuple[Callable[[], Finding], str, str | None, str]] = [
    # what is stored
    (lambda: checks.check_database(storage()), "ok", None, "schema 3"),
    (
        lambda: checks.check_database(storage(find_schema=lambda: 2)),
        *("fail", "kebab ingest", "needs a migration"),
    ),
    (
        lambda: checks.check_database(storage(find_schema=lambda: 4)),
        *("fail", "pip install --upgrade kebab", "written by a newer kebab"),
    ),
    (
        lambda: checks.check_database(storage(find_schema=lambda: None)),
        *("fail", "kebab ingest FOLDER", "nothing indexed yet"),
    ),
    (
        lambda: checks.check_database(
            storage(find_schema=lambda: None, list_remains=lambda: [Path("/data/a.keys")])
        ),
        *("fail", FIX, "parts of an index are left: a.keys"),
    ),
    (
        lambda: checks.check_full_text(storage(find_word_fault=lambda: "검색 is missing")),
        *("fail", FIX, "검색"),
    ),
    (check_reviews, "ok", None, "20,480 bytes: /data/reviews.sqlite"),
    (lambda: check_reviews("torn page"), "fail", FIX, "reviews are damaged: torn page"),
    (lambda: check_vectors([], []), "ok", None, "0 vectors, each with its passage"),
    (lambda: check_vectors([1, 9], [1]), "ok", None, "the next ingest deletes 1 more"),
    (lambda: check_vectors([1], [1, 2, 3]), "fail", FIX, "2 vectors of 3 missing"),
    (lambda: check_vectors([1, 1, 2], [1, 2]), "fail", FIX, "1 vector stored more than once"),
    (lambda: check_vectors([1, 1, 9], [1, 2]), "fail", FIX, "1 vector of 2 missing"),
    (
        lambda: check_permissions("list_foreign"),
        *("fail", "sudo chown -R \"$(id -un)\" '/my data'", "another user"),
    ),
    (lambda: check_permissions("list_denied"), "fail", "chmod -R u+rwX '/my data'", "1 file"),
    (lambda: check_permissions("list_exposed"), "warn", "chmod -R go-rwx '/my data'", "1 file"),
    # documents
    (lambda: checks.check_pending(documents()), "ok", None, "every passage has a vector"),
    (
        lambda: checks.check_pending(documents(pending=1200)),
        *("warn", "kebab ingest", "1,200 passages not embedded yet, found by words only"),
    ),
    (
        lambda: checks.check_pending(documents(pending=2, has_model=lambda: False)),
        *("warn", "kebab model pull", "2 passages"),
    ),
    (
        lambda: check_files(unread=3, checked=5000, changed=1, gone=2),
        *("warn", "kebab ingest", "3 of 5,003 files are not read yet; 1 file changed since the"),
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
    (
        lambda: checks.check_sources(documents(list_lost_sources=lambda: list_lost("/a b", "/c"))),
        *("warn", "kebab source rm '/a b'", "in the index is gone or empty: /a b, and 1 more"),
    ),
    # the machine
    (lambda: checks.check_disk_space(Path("/x/y"), lambda _: 0), "fail", "df -h /", "full"),
    (
        lambda: checks.check_disk_space(Path("/x/y"), lambda _: 1024 * MIB - 1),
        *("warn", "df -h /", "little space"),
    ),
    (lambda: checks.check_disk_space(Path("/x/y"), lambda _: 1024 * MIB), "ok", None, "1,024 MiB"),
    (lambda: checks.check_open_files(lambda: 255), "warn", "ulimit -n 1024", "255 files"),
    (lambda: checks.check_open_files(lambda: 256), "ok", None, "256 files"),
    (
        lambda: checks.check_settings(
            lambda: SettingsFile(path=Path("/a b.toml"), warnings=("port not understood: x", "y"))
        ),
        *("warn", "micro '/a b.toml'", "port not understood: x; y"),
    ),
    (
        lambda: checks.check_settings(
            lambda: SettingsFile(path=Path("/x"), unknown_variables=("KEBAB_A", "KEBAB_B"))
        ),
        *("warn", "unset KEBAB_A KEBAB_B", "without effect: KEBAB_A, KEBAB_B"),
    ),
    # models
    (lambda: check_weights(None), "warn", "kebab model pull", "no embedding model yet"),
    (
        lambda: check_weights(replace(WEIGHTS, folder=None)),
        *("warn", "kebab model pull minilm", "not installed"),
    ),
    (
        lambda: check_weights(replace(WEIGHTS, faults=("changed: a", "b"))),
        *("fail", "kebab model pull minilm", "changed: a; b"),
    ),
    (lambda: check_probe(0.74), "ok", None, "0.7400"),
    (lambda: check_probe(0.77), "ok", None, "0.7700"),
    (lambda: check_probe(0.73), "fail", "kebab model pull", "expected: 0.7553"),
    (lambda: check_probe(0.78), "fail", "kebab model pull", "expected: 0.7553"),
    (lambda: check_probe(math.nan), "fail", "kebab model pull", "nan"),
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

    finding = checks.check_vectors(
        storage(
            list_expected_keys=lambda: sort_keys(next(states)),
            list_vector_keys=lambda: sort_keys(rows),
        )
    )

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

    finding = checks.check_settings(lambda: SettingsFile(path=Path("/x"), faults=faults))

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
    finding = checks.check_language_model(models(check_server=raising(signal)))

    assert (finding.status, finding.fix) == (status, fix)
    assert part in finding.summary
