"""What a run found and did, as the report tells it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from kebab.core.ids import DocId
from kebab.errors.signal import Signal
from kebab.wire.ingest import EmbeddingSummary, SlowFile

SLOWEST = 5
NO_EMBEDDING = EmbeddingSummary(version=None, embedded=0, reused=0, pending=0, unsupported=0)
"""The vectors of a run that embeds nothing."""


class ItemKind(StrEnum):
    """What happened to a file."""

    NEW = "new"
    UPDATED = "updated"
    MOVED = "moved"
    REMOVED = "removed"
    ERROR = "error"


@dataclass(slots=True, kw_only=True)
class FileOutcome:
    """What a run did with one file that was not simply unchanged; `error` is not yet worded."""

    kind: ItemKind
    doc_path: str
    source: str
    doc_id: DocId | None = None
    chunk_count: int = 0
    embedded: int = 0
    reused: int = 0
    warnings: tuple[str, ...] = ()
    error: Signal | None = None


@dataclass(slots=True, kw_only=True)
class IngestOutcome:
    """The whole run.

    Unless it was cancelled, `scanned == new + updated + moved + unchanged + errors + skipped`.
    """

    scope: tuple[str, ...] = ()
    dry_run: bool = False
    scanned: int = 0
    unchanged: int = 0
    skipped: int = 0
    cancelled: bool = False
    duration_ms: int = 0
    skipped_by_reason: dict[str, int] = field(default_factory=dict)
    skipped_by_extension: dict[str, int] = field(default_factory=dict)
    skip_examples: dict[str, list[str]] = field(default_factory=dict)
    items: list[FileOutcome] = field(default_factory=list)
    embedding: EmbeddingSummary = NO_EMBEDDING
    slowest: tuple[SlowFile, ...] = ()

    @property
    def new(self) -> int:
        """How many documents are new."""
        return self._count(ItemKind.NEW)

    @property
    def updated(self) -> int:
        """How many documents changed."""
        return self._count(ItemKind.UPDATED)

    @property
    def moved(self) -> int:
        """How many documents have another path and the same content."""
        return self._count(ItemKind.MOVED)

    @property
    def removed(self) -> int:
        """How many documents went because their file did."""
        return self._count(ItemKind.REMOVED)

    @property
    def errors(self) -> int:
        """How many files could not be indexed."""
        return self._count(ItemKind.ERROR)

    @property
    def changed(self) -> int:
        """How many documents are not as they were before the run."""
        return len(self.items) - self.errors

    def _count(self, kind: ItemKind) -> int:
        return sum(item.kind is kind for item in self.items)


def slowest(files: Iterable[SlowFile]) -> tuple[SlowFile, ...]:
    """Return the few files that took longest, slowest first."""
    return tuple(sorted(files, key=lambda file: -file.duration_ms)[:SLOWEST])
