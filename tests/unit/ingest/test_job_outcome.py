from dataclasses import asdict

import msgspec

from kebab.ingest.job import (
    SLOWEST,
    FileOutcome,
    IngestJob,
    IngestOutcome,
    ItemKind,
    select_slowest,
)
from kebab.wire.ingest import SlowFile


def test_counts_follow_the_items():
    kinds = [*ItemKind, ItemKind.NEW]
    outcome = IngestOutcome(
        items=[FileOutcome(kind=kind, doc_path=kind.value, source="s") for kind in kinds]
    )

    assert (
        outcome.count(ItemKind.NEW),
        outcome.count(ItemKind.UPDATED),
        outcome.count(ItemKind.MOVED),
    ) == (2, 1, 1)
    assert (outcome.count(ItemKind.REMOVED), outcome.count(ItemKind.ERROR)) == (1, 1)


def test_before_anything_is_done_nothing_is_counted():
    outcome = asdict(IngestOutcome())
    vectors = msgspec.structs.asdict(outcome.pop("embedding"))

    assert not any(outcome.values()), outcome
    assert not any(vectors.values()), vectors


def test_the_slowest_files_come_slowest_first():
    files = [
        SlowFile(doc_path=str(number), duration_ms=float(number)) for number in range(SLOWEST + 3)
    ]

    told = select_slowest(files)

    assert [file.duration_ms for file in told] == [7.0, 6.0, 5.0, 4.0, 3.0]


def test_a_job_writes_and_reads_only_changes_unless_told_otherwise():
    job = IngestJob()

    assert (job.dry_run, job.force, job.paths) == (False, False, ())
