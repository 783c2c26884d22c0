"""The whole examination: every check in the order in which one needs another."""

from dataclasses import dataclass

from kebab.core.ports import Clock
from kebab.doctor import machine, models, storage
from kebab.doctor.findings import Check, run_all
from kebab.doctor.machine import MachineInputs
from kebab.doctor.models import ModelInputs
from kebab.doctor.storage import DocumentInputs, StorageInputs
from kebab.wire.health import Doctor


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorInputs:
    """All that can be asked."""

    machine: MachineInputs
    storage: StorageInputs
    corpus: DocumentInputs
    models: ModelInputs


def run_checks(subject: DoctorInputs, clock: Clock) -> Doctor:
    """Return the health of a knowledge base and of what it stands on."""
    steps = (
        *_list_machine_checks(subject.machine),
        *_list_storage_checks(subject),
        *_list_model_checks(subject.models),
    )
    return run_all(steps, clock)


def _list_machine_checks(asked: MachineInputs) -> list[Check]:
    return [
        Check(
            name="configuration",
            look=lambda: machine.check_settings(asked.settings),
            mend="kebab init --force",
        ),
        Check(
            name="directories",
            look=lambda: machine.check_folders(asked.folders),
            mend="kebab init",
        ),
        Check(name="disk", look=lambda: machine.check_disk_space(asked.data), mend="df -h"),
        Check(name="descriptors", look=machine.check_open_files, mend="ulimit -n 1024"),
        Check(
            name="writer_lock", look=lambda: machine.check_writer(asked.holder), mend="kebab init"
        ),
        Check(name="log", look=lambda: machine.check_log(asked.log), mend="kebab init"),
    ]


def _list_storage_checks(subject: DoctorInputs) -> list[Check]:
    asked, documents = subject.storage, subject.corpus
    readable, whole = ("database",), ("database", "integrity")
    rebuild, ingest = storage.REBUILD, "kebab ingest"
    return [
        Check(name="database", look=lambda: storage.check_database(asked), mend=rebuild),
        Check(
            name="integrity",
            look=lambda: storage.check_integrity(asked),
            mend=rebuild,
            after=readable,
        ),
        Check(
            name="full_text",
            look=lambda: storage.check_full_text(asked),
            mend=rebuild,
            after=whole,
        ),
        Check(
            name="vectors",
            look=lambda: storage.check_vectors(asked),
            mend=storage.REWRITE,
            after=whole,
        ),
        Check(
            name="pending", look=lambda: storage.check_pending(documents), mend=ingest, after=whole
        ),
        Check(name="files", look=lambda: storage.check_files(documents), mend=ingest, after=whole),
        Check(
            name="embedding_version",
            look=lambda: models.check_embedding_version(subject.models),
            mend="kebab model use auto",
            after=whole,
        ),
    ]


def _list_model_checks(asked: ModelInputs) -> list[Check]:
    pull = "kebab model pull"
    return [
        Check(name="embedding_files", look=lambda: models.check_embedding_files(asked), mend=pull),
        Check(
            name="embedding_probe",
            look=lambda: models.check_embedding_probe(asked),
            mend=pull,
            after=("embedding_files",),
        ),
        Check(
            name="language_model",
            look=lambda: models.check_language_model(asked),
            mend=asked.start,
        ),
    ]
