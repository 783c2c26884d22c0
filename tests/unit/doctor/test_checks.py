from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest

from kebab.core.chunks import ProbePair
from kebab.core.ids import sort_keys
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
    run_checks,
    suggest_move,
)
from kebab.errors.catalog import ConfigInvalid, ModelUnreachable, StoreCorrupt
from tests.fakes.replies import coverage

STORED = {"integrity", "full_text", "vectors", "pending", "sources", "files", "embedding_version"}


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
            find_known_term=lambda: ("word", True),
            list_vector_keys=lambda: sort_keys([1]),
            list_expected_keys=lambda: sort_keys([1]),
            list_deleted_keys=list,
            reviews=tmp_path / "reviews.sqlite",
            read_reviews=lambda: ReviewFile(tmp_path / "reviews.sqlite", 1, 1),
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
    return {check.name: check.status for check in run_checks(subject, Wall()).checks}


def named(subject, status):
    return {name for name, found in statuses(subject).items() if found == status}


def test_a_sound_base_is_healthy_in_every_check(sound):
    diagnosis = run_checks(sound, Wall())

    names = [check.name for check in diagnosis.checks]
    assert diagnosis.ok
    assert len(names) == len(set(names))
    # The machine's own space and limits are what they are.
    assert named(sound, "ok") >= set(names) - {"disk", "descriptors"}


def test_a_missing_base_is_no_illness(sound):
    empty = replace(sound, storage=replace(sound.storage, find_schema=lambda: None))

    assert run_checks(empty, Wall()).ok or statuses(empty)["disk"] == "fail"
    assert "database" in named(empty, "warn")
    assert named(empty, "skip") == STORED


def test_a_damaged_base_is_an_illness_with_its_cure(sound):
    torn = replace(sound, storage=replace(sound.storage, find_schema=raising(CORRUPT)))

    diagnosis = run_checks(torn, Wall())

    (failed,) = [check for check in diagnosis.checks if check.name == "database"]
    assert not diagnosis.ok
    assert (failed.status, failed.fix) == ("fail", suggest_move(sound.machine.data))
    assert named(torn, "skip") == STORED


def test_a_database_that_failed_its_integrity_check_gets_no_further_checks(sound):
    torn = replace(sound, storage=replace(sound.storage, find_damage=lambda: ["torn page"]))

    assert named(torn, "skip") == STORED - {"integrity"}


def test_a_vector_table_that_cannot_be_read_leaves_the_rest_looked_at(sound):
    torn = replace(sound, storage=replace(sound.storage, list_vector_keys=raising(CORRUPT)))

    assert named(torn, "fail") - {"disk"} == {"vectors"}
    assert named(torn, "skip") == set()
    (failed,) = [check for check in run_checks(torn, Wall()).checks if check.name == "vectors"]
    assert failed.fix == "kebab ingest"


def test_a_model_without_weights_computes_no_vector(sound):
    bare = replace(sound, models=replace(sound.models, read_weights=lambda: None))

    assert statuses(bare)["embedding_probe"] == "skip"


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
    ("storage", "find_known_term"),
    ("storage", "list_vector_keys"),
    ("storage", "list_expected_keys"),
    ("storage", "list_deleted_keys"),
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

    diagnosis = run_checks(ill, Wall())

    failed = [check for check in diagnosis.checks if check.status == "fail"]
    assert not diagnosis.ok
    assert all(check.fix and check.fix != "kebab doctor" for check in failed)
