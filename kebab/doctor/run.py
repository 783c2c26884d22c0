"""Lists all checks in the order in which one requires another."""

from dataclasses import dataclass

from kebab.core.ports import Clock
from kebab.doctor import machine, models, storage
from kebab.doctor.findings import Check, run_all, suggest_move
from kebab.doctor.machine import MachineInputs
from kebab.doctor.models import ModelInputs
from kebab.doctor.storage import REWRITE, DocumentInputs, StorageInputs
from kebab.wire.health import Doctor

_INGEST = "kebab ingest"
_INIT = "kebab init"
_SOURCES = "kebab source list"
_PULL = "kebab model pull"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorInputs:
    """The inputs of all checks."""

    machine: MachineInputs
    storage: StorageInputs
    documents: DocumentInputs
    models: ModelInputs


def run_checks(inputs: DoctorInputs, clock: Clock) -> Doctor:
    """Return the health of a knowledge base and of everything that it needs."""
    checks = (
        *_list_machine_checks(inputs.machine),
        *_list_storage_checks(inputs),
        *_list_model_checks(inputs.models),
    )
    return run_all(checks, clock)


def _list_machine_checks(inputs: MachineInputs) -> list[Check]:
    return [
        Check(
            "configuration",
            lambda: machine.check_settings(inputs.read_settings),
            fix="kebab init",
        ),
        Check("directories", lambda: machine.check_folders(inputs.folders), fix=_INIT),
        Check("disk", lambda: machine.check_disk_space(inputs.data), fix="df -h"),
        Check("descriptors", machine.check_open_files, fix="ulimit -n 1024"),
        Check("writer_lock", lambda: machine.check_writer(inputs.find_writer), fix=_INIT),
        Check("log", lambda: machine.check_log(inputs.log), fix=_INIT),
    ]


def _list_storage_checks(inputs: DoctorInputs) -> list[Check]:
    stores, documents = inputs.storage, inputs.documents
    readable, intact = ("database",), ("database", "integrity")
    rebuild = suggest_move(inputs.machine.data)
    return [
        Check("database", lambda: storage.check_database(stores), rebuild),
        Check("integrity", lambda: storage.check_integrity(stores), rebuild, readable),
        Check("full_text", lambda: storage.check_full_text(stores), rebuild, intact),
        Check("vectors", lambda: storage.check_vectors(stores), REWRITE, intact),
        Check("reviews", lambda: storage.check_reviews(stores), suggest_move(stores.reviews)),
        Check("pending", lambda: storage.check_pending(documents), _INGEST, intact),
        Check("sources", lambda: storage.check_sources(documents), _SOURCES, intact),
        Check("files", lambda: storage.check_files(documents), _INGEST, intact),
        Check(
            "embedding_version",
            lambda: models.check_embedding_version(inputs.models),
            "kebab model use auto",
            intact,
        ),
    ]


def _list_model_checks(inputs: ModelInputs) -> list[Check]:
    installed = ("embedding_files",)
    return [
        Check("embedding_files", lambda: models.check_embedding_files(inputs), _PULL),
        Check("embedding_probe", lambda: models.check_embedding_probe(inputs), _PULL, installed),
        Check("language_model", lambda: models.check_language_model(inputs), inputs.start_command),
    ]
