"""How fast notes are taken in, how much memory that takes, and how much disk they need then."""

from kebab.bench import yardsticks
from kebab.bench.budget import Budget
from kebab.bench.ledger import Yardstick
from kebab.bench.library import Indexed
from kebab.bench.race import Sample
from kebab.bench.rig import NO_MODEL, Rig

_MB = 1_000_000
_KB = 1_000
_MEMORY = Budget(600, "MB")
_DISK = Budget(10, "KB")
_COPIES = 3


def measure(rig: Rig) -> None:
    """Enter the figures of the one run that indexed the notes."""
    notes = rig.notes()
    if notes.fault is not None:
        rig.ledger.failed("ingest", notes.fault)
        return
    copy = yardsticks.copy_files(notes.corpus.folder, notes.bed.folder / "copy")
    copies = rig.race("copy", notes.bed, [copy], _COPIES)[yardsticks.COPY]
    if notes.version is None:
        rig.ledger.skipped("ingest.vectors", f"words alone were indexed: {NO_MODEL}")
    _enter(rig, notes, Yardstick(yardsticks.COPY, copies))


def _enter(rig: Rig, notes: Indexed, copy: Yardstick) -> None:
    add, seconds = rig.ledger.add, notes.outcome.seconds
    add("ingest.copy", "s", copy.sample)
    add("ingest.time", "s", Sample([seconds]), against=copy)
    add("ingest.documents", "documents/s", Sample([notes.corpus.files / seconds]))
    add("ingest.chunks", "chunks/s", Sample([notes.chunks / seconds]))
    add("ingest.bytes", "MB/s", Sample([notes.corpus.size / _MB / seconds]))
    add("ingest.memory", "MB", Sample([notes.outcome.peak_bytes / _MB]), budget=_MEMORY)
    per_chunk = notes.disk_bytes / _KB / max(1, notes.chunks)
    add("ingest.disk", "KB/chunk", Sample([per_chunk]), budget=_DISK)
