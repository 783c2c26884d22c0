"""The whole examination: every check in the order in which one needs another."""

from dataclasses import dataclass

from kebab.core.ports import Clock
from kebab.doctor import machine, models, storage
from kebab.doctor.findings import Step, diagnose
from kebab.doctor.machine import Machine
from kebab.doctor.models import Models
from kebab.doctor.storage import Corpus, Storage
from kebab.wire.health import Doctor


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """All that can be asked."""

    machine: Machine
    storage: Storage
    corpus: Corpus
    models: Models


def examine(subject: Subject, clock: Clock) -> Doctor:
    """Return the health of a knowledge base and of what it stands on."""
    steps = (*_machine(subject.machine), *_base(subject), *_models(subject.models))
    return diagnose(steps, clock)


def _machine(asked: Machine) -> list[Step]:
    return [
        Step(
            name="configuration",
            look=lambda: machine.configuration(asked.settings),
            mend="kebab init --force",
        ),
        Step(
            name="directories",
            look=lambda: machine.directories(asked.folders),
            mend="kebab init",
        ),
        Step(name="disk", look=lambda: machine.disk(asked.data), mend="df -h"),
        Step(name="descriptors", look=machine.descriptors, mend="ulimit -n 1024"),
        Step(name="writer_lock", look=lambda: machine.writer(asked.holder), mend="kebab init"),
        Step(name="log", look=lambda: machine.log(asked.log), mend="kebab init"),
    ]


def _base(subject: Subject) -> list[Step]:
    asked, documents = subject.storage, subject.corpus
    readable, whole = ("database",), ("database", "integrity")
    rebuild, ingest = storage.REBUILD, "kebab ingest"
    return [
        Step(name="database", look=lambda: storage.database(asked), mend=rebuild),
        Step(
            name="integrity",
            look=lambda: storage.integrity(asked),
            mend=rebuild,
            after=readable,
        ),
        Step(
            name="full_text",
            look=lambda: storage.full_text(asked),
            mend=rebuild,
            after=whole,
        ),
        Step(
            name="vectors",
            look=lambda: storage.vectors(asked),
            mend=storage.REWRITE,
            after=whole,
        ),
        Step(name="pending", look=lambda: storage.pending(documents), mend=ingest, after=whole),
        Step(name="files", look=lambda: storage.files(documents), mend=ingest, after=whole),
        Step(
            name="embedding_version",
            look=lambda: models.embedding_version(subject.models),
            mend="kebab model use auto",
            after=whole,
        ),
    ]


def _models(asked: Models) -> list[Step]:
    pull = "kebab model pull"
    return [
        Step(name="embedding_files", look=lambda: models.embedding_files(asked), mend=pull),
        Step(
            name="embedding_probe",
            look=lambda: models.embedding_probe(asked),
            mend=pull,
            after=("embedding_files",),
        ),
        Step(
            name="language_model",
            look=lambda: models.language_model(asked),
            mend=asked.start,
        ),
    ]
