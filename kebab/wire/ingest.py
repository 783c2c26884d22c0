"""Ingesting: the report of a run, and the events while it works."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from kebab.wire.error import ErrorReply
from kebab.wire.record import Reply

ItemKindName = Literal["new", "updated", "moved", "removed", "error"]
EventKind = Literal[
    "scan_started",
    "scan_completed",
    "asset_started",
    "asset_finished",
    "model_fetch",
    "embed_batch",
    "heartbeat",
    "completed",
    "aborted",
]


class IngestItem(Struct, frozen=True, kw_only=True):
    """What happened to one file."""

    kind: ItemKindName
    """What happened."""
    doc_id: str | None
    """The document; null when there is none."""
    doc_path: str
    """Its path below its source."""
    source: str
    """The name of its source."""
    chunk_count: int
    """How many passages it has now."""
    embedded: int
    """How many of them got a new vector in this run."""
    reused: int
    """How many of them kept or shared a vector."""
    warnings: list[str]
    """What was odd about the file."""
    error: ErrorReply | None
    """Why it could not be indexed."""


class EmbeddingSummary(Struct, frozen=True, kw_only=True):
    """The vectors of a run."""

    version: str | None
    """What embeds; null while the knowledge base has no model."""
    embedded: int
    """How many vectors were computed."""
    reused: int
    """How many were kept or shared."""
    pending: int
    """How many passages still wait for a vector."""
    unsupported: int
    """How many passages of this run are in a script that the model does not know."""


class SlowFile(Struct, frozen=True, kw_only=True):
    """One of the slowest files."""

    doc_path: str
    """The file."""
    duration_ms: float
    """What reading, parsing and storing it took."""


class IngestReport(Reply, frozen=True, kw_only=True, tag="ingest_report.v1"):
    """What a run found and did."""

    scope: list[str]
    """What was scanned."""
    dry_run: bool
    """Whether the run only planned."""
    scanned: int
    """How many files were looked at."""
    new: int
    """How many documents are new."""
    updated: int
    """How many changed."""
    moved: int
    """How many have another path and the same content."""
    unchanged: int
    """How many are as they were."""
    skipped: int
    """How many files were left out."""
    removed: int
    """How many documents went because their file is gone."""
    errors: int
    """How many files could not be indexed."""
    cancelled: bool
    """Whether the run was interrupted; what was done is kept."""
    duration_ms: int
    """How long it took."""
    skipped_by_reason: dict[str, int]
    """Left-out files by reason."""
    skipped_by_extension: dict[str, int]
    """Left-out files by extension."""
    skip_examples: dict[str, list[str]]
    """A few left-out paths of each reason."""
    items: list[IngestItem]
    """Every file that was not simply unchanged."""
    embedding: EmbeddingSummary
    """The vectors."""
    slowest: list[SlowFile]
    """The slowest files."""


class IngestProgress(Reply, frozen=True, kw_only=True, tag="ingest_progress.v1"):
    """One event of a run; exactly one `completed` or `aborted` ends it."""

    kind: EventKind
    """What happened."""
    path: str | UnsetType = UNSET
    """The file."""
    phase: str | UnsetType = UNSET
    """What is going on."""
    done: int | UnsetType = UNSET
    """How much is done."""
    total: int | UnsetType = UNSET
    """How much there is."""
    unit: str | UnsetType = UNSET
    """What is counted: `files`, `bytes` or `chunks`."""
    message: str | UnsetType = UNSET
    """A sentence for a person."""
    elapsed_ms: int = 0
    """Since the run began."""
    report: IngestReport | UnsetType = UNSET
    """The report, with the terminal event under `--stream`."""
