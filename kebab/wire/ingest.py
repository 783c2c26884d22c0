"""Declares ingest requests, reports and progress events as wire records."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from kebab.wire.error import ErrorReply
from kebab.wire.record import Hinted, Reply, Request

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
    """The result of one file."""

    kind: ItemKindName
    doc_id: str | None
    """The id of the document; null when there is none."""
    doc_path: str
    source: str
    chunk_count: int
    embedded: int
    """The number of passages with a new vector."""
    reused: int
    """The number of passages that kept or shared a vector."""
    warnings: list[str]
    error: ErrorReply | None
    """The reason why the file could not be indexed; null when it was."""
    no_passages: str | None = None


class EmbeddingSummary(Hinted, frozen=True, kw_only=True):
    """The vectors of a run."""

    version: str | None
    """The embedding version; null while the knowledge base has no model."""
    embedded: int
    """The number of computed vectors."""
    reused: int
    """The number of vectors that were kept or shared."""
    pending: int
    """The number of passages without a vector."""
    unsupported: int
    """The number of passages of this run in a script that the model does not know."""
    lost: int = 0
    """The number of vectors that were lost or damaged, so that this run computed them again."""
    unavailable: str | None = None
    """The reason why the run left passages without a vector: it had no model, or a passage took too
    long; else null."""
    hint: str | None = None
    """The command that gives the next run a model or more time."""
    reason: str | None = None
    """The reason why this run chose its model for the knowledge base; null when it chose none."""


class SlowFile(Struct, frozen=True, kw_only=True):
    """One of the slowest files."""

    doc_path: str
    duration_ms: float


class PictureFailure(Struct, frozen=True, kw_only=True):
    """Why a model could not read some pictures; the next ingest asks again."""

    error: ErrorReply
    """The reason; its detail `operation` is `ocr` or `caption`."""
    count: int
    """The number of documents with such pictures. What else is known of them is indexed."""
    examples: list[str]


class ObjectSync(Struct, frozen=True, kw_only=True):
    """The objects below an address of object storage, and what the run downloaded of them."""

    address: str
    listed: int = 0
    downloaded: int = 0
    """The number of new and changed objects that were downloaded; a dry run only counts them."""
    bytes: int = 0
    removed: int = 0
    """The number of downloaded files that were deleted, because their objects are gone, or are no
    longer read."""
    missing: int = 0
    """The number of new and changed objects that were not downloaded: each failed, or the run was
    interrupted. The next run tries again."""
    skipped_by_reason: dict[str, int] = msgspec.field(default_factory=dict)
    """Objects that were not downloaded, by reason; `unsafe_name` are those whose name cannot
    be that of a file below a folder."""
    skip_examples: dict[str, list[str]] = msgspec.field(default_factory=dict)
    error: ErrorReply | None = None
    """Why the store, or the first of the missing objects, could not be read; null when all were.
    After an error of the store the files of the last run stay in the index."""


class IngestReport(Reply, frozen=True, kw_only=True, tag="ingest_report.v1"):
    """The result of a run."""

    scope: list[str]
    dry_run: bool
    scanned: int
    """The number of files that were found, skipped ones included."""
    new: int
    updated: int
    moved: int
    """The number of documents with another path and the same content."""
    unchanged: int
    skipped: int
    removed: int
    """The number of documents that were removed because their file is gone."""
    errors: int
    """The number of files that could not be indexed."""
    cancelled: bool
    """Whether the run was interrupted; its finished work is kept."""
    duration_ms: int
    skipped_by_reason: dict[str, int]
    """Skipped files by reason; `secret` are those that usually hold keys or passwords, `generated`
    those that build tools write."""
    skipped_by_extension: dict[str, int]
    skip_examples: dict[str, list[str]]
    items: list[IngestItem]
    """Every file that was not unchanged."""
    embedding: EmbeddingSummary
    slowest: list[SlowFile]
    documents: int = 0
    """The number of documents in the scanned folders: new, updated, moved or unchanged files."""
    not_read: int = 0
    """The number of new and changed files that an interrupted run found and did not read. The next
    run reads them."""
    plugin_faults: list[str] = msgspec.field(default_factory=list)
    """The plugins for formats that were not used, each with its package and the reason."""
    pictures: list[PictureFailure] = msgspec.field(default_factory=list)
    objects: list[ObjectSync] = msgspec.field(default_factory=list)
    """The sources in object storage; all other counts are those of their downloaded files."""


class IngestProgress(Reply, frozen=True, kw_only=True, tag="ingest_progress.v1"):
    """One event of a run; exactly one `completed` or `aborted` ends it."""

    kind: EventKind
    path: str | UnsetType = UNSET
    phase: str | UnsetType = UNSET
    done: int | UnsetType = UNSET
    total: int | UnsetType = UNSET
    unit: str | UnsetType = UNSET
    """The unit of `done` and `total`: `files`, `bytes`, `chunks` or `pairs`."""
    message: str | UnsetType = UNSET
    elapsed_ms: int = 0
    """The time since the run began."""
    per_second: float | UnsetType = UNSET
    """The amount finished in a second of the last minute."""
    seconds_left: float | UnsetType = UNSET
    """The time until `done` is `total`, at the rate of the last minute."""
    report: IngestReport | UnsetType = UNSET
    """The report, part of the terminal event under `--stream`."""


class IngestRequest(Request["IngestReport"], frozen=True, kw_only=True, tag="ingest_request.v1"):
    """The files to read into the knowledge base."""

    paths: list[str] = msgspec.field(default_factory=list)
    """Folders, files, or addresses of object storage such as `s3://bucket/folder`; empty means the
    workspace, or every folder and address of earlier runs."""
    force: bool = False
    """Whether to read unchanged files again."""
    dry_run: bool = False
    changed: bool = False
    """Whether `paths` are what changed below folders of earlier runs: the folder of each is scanned
    with all that is below it, and a path in no such folder is left out."""
    vector_seconds: Annotated[float, Meta(ge=0)] | None = None
    """The limit of the time for vectors. The passages that remain stay pending, and no model is
    downloaded. Null means no limit."""


class IngestTextRequest(
    Request["IngestReport"], frozen=True, kw_only=True, tag="ingest_text_request.v1"
):
    """A text to store as a document without a file."""

    text: bytes
    """The text; its encoding is detected. In JSON it is base64."""
    title: str
    source_uri: str | None = None
    """The origin of the text."""
