import math
import os
from dataclasses import replace
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest

from kebab.core.chunks import ProbePair
from kebab.core.documents import Source, SourceCounts
from kebab.core.ids import sort_keys
from kebab.doctor import checks
from kebab.doctor.checks import (
    DoctorInputs,
    DocumentInputs,
    EmbeddingVersions,
    MachineInputs,
    ModelInputs,
    ReviewFile,
    SettingsFile,
    StorageInputs,
    Weights,
    build_checks,
    run_all,
)
from kebab.errors.catalog import (
    ConfigInvalid,
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
    StoreCorrupt,
    TimedOut,
)
from kebab.errors.hints import NO_FILE, NO_FOLDER
from tests.fakes.replies import coverage


class Wall:
    def now(self):
        return 0.0

    def monotonic(self):
        return monotonic()


def raising(fault):
    def ask(*_args):
        raise fault

    return ask


CORRUPT = StoreCorrupt(path="/data/kebab.sqlite", cause="file is not a database")


@pytest.fixture
def sound(tmp_path):
    return DoctorInputs(
        machine=MachineInputs(
            read_settings=lambda: SettingsFile(path=tmp_path / "config.toml"),
            folders={"data": tmp_path, "models": tmp_path / "models", "state": tmp_path},
            data=tmp_path,
            log=tmp_path / "kebab.log",
            find_writer=lambda: None,
        ),
        storage=StorageInputs(
            path=tmp_path / "kebab.sqlite",
            schema=1,
            find_schema=lambda: 1,
            find_damage=list,
            find_word_fault=lambda: None,
            list_vector_keys=lambda: sort_keys([1]),
            list_expected_keys=lambda: sort_keys([1]),
            reviews=tmp_path / "reviews.sqlite",
            read_reviews=lambda: ReviewFile(tmp_path / "reviews.sqlite", 1),
        ),
        documents=DocumentInputs(
            count_pending=lambda: 0,
            measure_coverage=coverage,
        ),
        models=ModelInputs(
            read_weights=lambda: Weights(model="m", folder=Path("/models/m")),
            measure_probe=lambda: (0.75, ProbePair(cosine=0.7553, tolerance=0.02)),
            read_versions=lambda: EmbeddingVersions(configured=None, stored="v1"),
            check_server=lambda: "Ollama 0.32.15 has gemma3:4b",
            start_command="ollama serve",
        ),
    )


def statuses(subject):
    return {check.name: check.status for check in run_all(build_checks(subject), Wall()).checks}


def named(subject, status):
    return {name for name, found in statuses(subject).items() if found == status}


def test_a_sound_base_is_healthy_in_every_check(sound):
    diagnosis = run_all(build_checks(sound), Wall())

    names = [check.name for check in diagnosis.checks]
    assert diagnosis.ok
    assert len(names) == len(set(names))
    # The machine's own space and limits are what they are.
    assert named(sound, "ok") >= set(names) - {"disk", "descriptors"}


def test_a_vector_table_that_cannot_be_read_leaves_the_rest_looked_at(sound):
    torn = replace(sound, storage=replace(sound.storage, list_vector_keys=raising(CORRUPT)))

    assert named(torn, "fail") - {"disk"} == {"vectors"}
    assert named(torn, "skip") == set()
    (failed,) = [
        check for check in run_all(build_checks(torn), Wall()).checks if check.name == "vectors"
    ]
    assert failed.fix == "kebab doctor --fix"


def test_a_missing_language_model_leaves_the_base_healthy(sound):
    refused = ModelUnreachable(endpoint="x", operation="doctor", cause="refused")
    alone = replace(sound, models=replace(sound.models, check_server=raising(refused)))

    assert statuses(alone)["language_model"] == "warn"
    assert named(alone, "fail") <= {"disk"}


ASKED = [
    ("machine", "read_settings"),
    ("machine", "find_writer"),
    ("storage", "find_schema"),
    ("storage", "find_damage"),
    ("storage", "find_word_fault"),
    ("storage", "list_leftovers"),
    ("machine", "list_denied"),
    ("storage", "list_vector_keys"),
    ("storage", "list_expected_keys"),
    ("documents", "count_pending"),
    ("documents", "measure_coverage"),
    ("models", "read_weights"),
    ("models", "measure_probe"),
    ("models", "read_versions"),
]


@pytest.mark.parametrize(("room", "question"), ASKED)
@pytest.mark.parametrize(
    "fault",
    [CORRUPT, ConfigInvalid(path="/c.toml", cause="x"), PermissionError(13, "denied", "/x")],
    ids=["signal", "settings", "system"],
)
def test_a_failed_check_makes_doctor_unhealthy_and_names_a_command(sound, room, question, fault):
    ill = replace(sound, **{room: replace(getattr(sound, room), **{question: raising(fault)})})

    diagnosis = run_all(build_checks(ill), Wall())

    failed = [check for check in diagnosis.checks if check.status == "fail"]
    assert not diagnosis.ok
    assert all(check.fix and check.fix != "kebab doctor" for check in failed)


def asked(found=None, pending=0):
    return DocumentInputs(count_pending=lambda: pending, measure_coverage=lambda: found)


def test_passages_without_a_vector_are_a_worry_with_its_fix():
    assert checks.check_pending(asked()).status == "ok"

    no_model = replace(asked(pending=2), has_model=lambda: False)
    assert checks.check_pending(no_model).fix == "kebab model pull"
    finding = checks.check_pending(asked(pending=1200))

    assert (finding.status, finding.fix) == ("warn", "kebab ingest")
    assert finding.summary == "1,200 passages not embedded yet, found by words only"


def test_files_that_are_not_read_as_they_are_now_are_counted():
    finding = checks.check_files(asked(coverage(unread=3, checked=5000, changed=1, gone=2)))

    assert (finding.status, finding.fix) == ("warn", "kebab ingest")
    assert finding.summary == (
        "3 of 5,003 files are not read yet; 1 file changed since the last scan; 2 files are gone"
    )


def test_the_files_of_a_lost_folder_are_left_to_the_check_of_folders():
    lost = SourceCounts(Source(name="/a", root="/a", kind="folder"), 2, 5, None)

    def check(**fields):
        found = replace(asked(coverage(**fields)), list_lost_sources=lambda: [lost])
        return checks.check_files(found).summary

    assert check(gone=2) == "every other file is as it was read, by time and size: 5,001 files"
    assert check(gone=3) == "1 file is gone"
    assert check(gone=2, files=2, checked=2) == "no document has a file"


def test_a_lost_folder_is_fixed_by_removing_its_source():
    lost = [
        SourceCounts(Source(name=name, root=name, kind="folder"), 2, 5, None)
        for name in ("/a b", "/c")
    ]
    inputs = replace(asked(), list_lost_sources=lambda: lost)

    finding = checks.check_sources(inputs)

    assert (finding.status, finding.fix) == ("warn", "kebab source rm '/a b'")
    assert finding.summary.endswith("2 documents in the index is gone or empty: /a b, and 1 more")


MIB = 1 << 20


def test_odd_settings_are_a_worry(tmp_path):
    odd = SettingsFile(path=tmp_path / "a b.toml", warnings=("port not understood: x", "second"))

    finding = checks.check_settings(lambda: odd)

    assert finding.status == "warn"
    assert "port not understood: x; second" in finding.summary
    assert f"'{tmp_path / 'a b.toml'}'" in (finding.fix or "")


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


def test_variables_without_effect_are_a_worry(tmp_path):
    file = SettingsFile(path=tmp_path, unknown_variables=("KEBAB_A", "KEBAB_B"))

    finding = checks.check_settings(lambda: file)

    assert (finding.status, finding.fix) == ("warn", "unset KEBAB_A KEBAB_B")


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


@pytest.mark.parametrize(
    ("free", "status"),
    [
        (0, "fail"),
        (1, "warn"),
        (1024 * MIB - 1, "warn"),
        (1024 * MIB, "ok"),
    ],
)
def test_free_space_has_two_limits(tmp_path, free, status):
    finding = checks.check_disk_space(tmp_path / "not" / "yet", lambda ground: free)

    assert finding.status == status
    assert (finding.fix is None) == (status == "ok")
    assert str(tmp_path) in finding.summary


@pytest.mark.parametrize(("limit", "status"), [(16, "warn"), (255, "warn"), (256, "ok")])
def test_few_descriptors_are_a_worry(limit, status):
    assert checks.check_open_files(lambda: limit).status == status


def test_the_log_is_named_before_and_after_it_exists(tmp_path):
    path = tmp_path / "kebab.log"

    before = checks.check_log(path)
    path.write_text("12345")
    after = checks.check_log(path)

    assert before.summary == f"no error was logged yet: {path}"
    assert after.summary == f"5 bytes: {path}"


def test_a_read_only_file_system_is_no_missing_permission(tmp_path, monkeypatch):
    read_only = SimpleNamespace(f_flag=os.ST_RDONLY)
    monkeypatch.setattr(os, "statvfs", lambda _: read_only)

    finding = checks.check_folders({"data": tmp_path})

    assert finding.summary == f"the data folder is on a read-only file system: {tmp_path}"
    assert finding.fix == f"df -h {tmp_path}"


WEIGHTS = Weights(model="minilm", folder=Path("/models/minilm"))
URL = "http://127.0.0.1:11434"
SOUND = ModelInputs(
    read_weights=lambda: WEIGHTS,
    measure_probe=lambda: (0.75, ProbePair(cosine=0.7553, tolerance=0.02)),
    read_versions=lambda: EmbeddingVersions(configured=None, stored="v1"),
    check_server=lambda: "Ollama 0.32.15 has gemma3:4b",
    start_command="ollama serve",
)


@pytest.mark.parametrize(
    ("weights", "status", "fix"),
    [
        (None, "warn", "kebab model pull"),
        (replace(WEIGHTS, folder=None), "warn", "kebab model pull minilm"),
        (replace(WEIGHTS, faults=("changed: a", "b")), "fail", "kebab doctor --fix"),
    ],
)
def test_missing_weights_are_a_worry_and_damaged_ones_a_failure(weights, status, fix):
    finding = checks.check_embedding_files(replace(SOUND, read_weights=lambda: weights))

    assert (finding.status, finding.fix) == (status, fix)


@pytest.mark.parametrize(
    ("cosine", "status"),
    [
        (0.7553, "ok"),
        (0.74, "ok"),
        (0.77, "ok"),
        (0.73, "fail"),
        (0.78, "fail"),
        (math.nan, "fail"),
    ],
)
def test_known_sentences_must_agree_as_they_are_known_to(cosine, status):
    known = (cosine, ProbePair(cosine=0.7553, tolerance=0.02))

    assert (
        checks.check_embedding_probe(replace(SOUND, measure_probe=lambda: known)).status == status
    )


def test_a_model_known_for_nothing_is_not_probed():
    assert checks.check_embedding_probe(replace(SOUND, measure_probe=lambda: None)).status == "skip"


@pytest.mark.parametrize(
    ("configured", "stored", "status"),
    [
        (None, None, "skip"),
        ("v1", None, "skip"),
        (None, "v1", "ok"),
        ("v1", "v1", "ok"),
        ("v2", "v1", "fail"),
    ],
)
def test_the_configured_model_must_be_the_one_of_the_index(configured, stored, status):
    versions = EmbeddingVersions(configured=configured, stored=stored)

    finding = checks.check_embedding_version(replace(SOUND, read_versions=lambda: versions))

    assert finding.status == status
    assert (finding.fix == "kebab model use auto") == (status == "fail")


def check_server(signal):
    def refuse():
        raise signal

    return checks.check_language_model(replace(SOUND, check_server=refuse))


@pytest.mark.parametrize(
    ("signal", "fix"),
    [
        (
            ModelUnreachable(
                endpoint="http://127.0.0.1:1", operation="doctor", cause="x", provider="ollama"
            ),
            "ollama serve",
        ),
        (
            ModelUnreachable(endpoint=URL, operation="doctor", cause="x", setting="OLLAMA_HOST"),
            "start the server, or set another address: `export OLLAMA_HOST=URL`",
        ),
        (
            ModelProtocol(endpoint=URL, operation="doctor", cause="it crashed"),
            "restart the model server, then try again: `kebab doctor`",
        ),
        (TimedOut(operation="doctor", elapsed_ms=2001, deadline_ms=2000), "ollama serve"),
    ],
)
def test_a_server_that_is_away_is_only_a_worry(signal, fix):
    finding = check_server(signal)

    assert (finding.status, finding.summary, finding.fix) == ("warn", signal.format_message(), fix)


REFUSED: dict[str, Any] = {"model": "tiny", "endpoint": URL, "operation": "doctor"}


@pytest.mark.parametrize(
    ("signal", "part", "fix"),
    [
        (ModelNotPulled(**REFUSED), "tiny", "ollama pull tiny"),
        (ModelNotPulled(**REFUSED, models=["tiny2:1b", "b"]), "tiny2:1b, b", "ollama pull tiny"),
        (
            ModelNotPulled(**REFUSED, reason="not_offered", models=["t2"]),
            "it has t2",
            "export KEBAB_MODELS_LLM_MODEL=t2",
        ),
        (
            ModelRejected(**REFUSED, cause="it can only do: embedding", reason="task"),
            "it can only do: embedding",
            "export KEBAB_MODELS_LLM_MODEL=NAME",
        ),
        (
            ModelRejected(**REFUSED, cause="no key", reason="key_missing", setting="MY_KEY"),
            "`MY_KEY` is not set",
            "export MY_KEY=KEY",
        ),
    ],
)
def test_a_model_or_a_key_that_is_refused_fails(signal, part, fix):
    finding = check_server(signal)

    assert (finding.status, finding.fix) == ("fail", fix)
    assert part in finding.summary
