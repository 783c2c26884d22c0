"""Declares the reports of doctor, init, reset, schema and model as wire records."""

from typing import Literal

from msgspec import Struct

from kebab.wire.error import ErrorReply
from kebab.wire.record import Reply, Request

CheckStatus = Literal["ok", "warn", "fail", "skip"]


class DoctorCheck(Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    """What."""
    status: CheckStatus
    """How it is: only `fail` is unhealthy."""
    summary: str
    """One sentence for a person."""
    fix: str | None
    """The command that mends it."""
    duration_ms: float
    """How long looking took."""


class Doctor(Reply, frozen=True, kw_only=True, tag="doctor.v1"):
    """The health of the knowledge base and of what it needs."""

    ok: bool
    """Whether nothing failed."""
    kebab_version: str
    """This build."""
    checks: list[DoctorCheck]
    """Everything that was looked at."""


class InitReport(Reply, frozen=True, kw_only=True, tag="init_report.v1"):
    """What `init` made."""

    config_path: str
    """The settings file."""
    written: bool
    """Whether it was written now; false when it was there already."""
    data_dir: str
    """Where the knowledge base lies."""
    workspace: str | None
    """The folder that a bare `kebab ingest` reads."""


class ResetReport(Reply, frozen=True, kw_only=True, tag="reset_report.v1"):
    """What `reset` deleted: only what kebab made."""

    data_dir: str
    """Where the knowledge base lies."""
    removed: list[str]
    """Deleted files and folders."""
    kept: list[str]
    """What lies in the data directory and is not ours."""
    bytes_freed: int
    """How much space came back."""
    models_removed: bool
    """Whether model weights were deleted too."""


class DoctorRequest(Request, frozen=True, kw_only=True, tag="doctor_request.v1"):
    """Check everything."""


class InitRequest(Request, frozen=True, kw_only=True, tag="init_request.v1"):
    """What to write into a new settings file."""

    workspace: str | None = None
    """The folder that `kebab ingest` reads when it is given no path."""
    force: bool = False
    """Replace a settings file that exists."""


class ResetRequest(Request, frozen=True, kw_only=True, tag="reset_request.v1"):
    """What to delete."""

    models: bool = False
    """Delete model weights too."""
    dry_run: bool = False
    """Only report what would be deleted."""


class WireInfo(Struct, frozen=True, kw_only=True):
    """The wire."""

    schemas: list[str]
    """Every schema that this build can emit or accept."""


class Capabilities(Struct, frozen=True, kw_only=True):
    """What works now; every key is always present."""

    json_mode: bool
    """Every command speaks JSON."""
    ingest_progress: bool
    """Ingest tells its progress as events."""
    ingest_cancellation: bool
    """Ingest stops cleanly when interrupted."""
    rag_multi_turn: bool
    """Questions can follow up on each other."""
    search_cache: bool
    """Repeated questions are remembered."""
    incremental_ingest: bool
    """Only what changed is read again."""
    streaming_ask: bool
    """Answers come word by word."""
    http_daemon: bool
    """There is an HTTP server."""
    mcp_server: bool
    """There is an MCP server."""
    single_file_ingest: bool
    """Single files and standard input can be ingested."""
    bulk_search: bool
    """Many queries can be asked at once."""
    lexical_only_mode: bool
    """Search works without any model."""
    extractive_ask: bool
    """Questions are answered without a language model."""
    review: bool
    """Documents can be reviewed."""


class ModelInfo(Struct, frozen=True, kw_only=True):
    """The versions that shape the index."""

    parser_version: str
    """The parser of Markdown, the main medium."""
    chunker_version: str
    """What cuts documents."""
    embedding_version: str | None
    """What embeds; null while the knowledge base has no model."""
    prompt_template_version: str | None
    """What asks the language model; null while nothing does."""
    index_version: str
    """How vectors are searched."""
    corpus_revision: int
    """The state of the index."""
    active_parsers: list[str]
    """Every parser."""
    active_chunkers: list[str]
    """Every chunker."""


class IndexBytes(Struct, frozen=True, kw_only=True):
    """Space on disk."""

    sqlite: int
    """The database."""
    lancedb: int
    """The vectors."""


class Stats(Struct, frozen=True, kw_only=True):
    """What the knowledge base holds."""

    doc_count: int
    """Documents."""
    chunk_count: int
    """Passages."""
    asset_count: int
    """Different contents."""
    last_ingest_at: str | None
    """When the index last changed; null when it is empty."""
    pending_embeddings: int
    """Passages that wait for a vector."""
    media_breakdown: dict[str, int]
    """Documents by media type."""
    lang_breakdown: dict[str, int]
    """Documents by language; `unknown` where it is not known."""
    index_bytes: IndexBytes
    """Space on disk."""
    stale_doc_count: int
    """Documents whose file differs from what was indexed."""


class Introspection(Reply, frozen=True, kw_only=True, tag="schema.v1"):
    """What this build is, can do and holds."""

    kebab_version: str
    """This build."""
    wire: WireInfo
    """The wire."""
    capabilities: Capabilities
    """What works now."""
    models: ModelInfo
    """The versions that shape the index."""
    stats: Stats
    """What the knowledge base holds."""
    unreadable: ErrorReply | None = None
    """Why this build cannot read the database that is there, so that all of `stats` is zero; null
    when it can, and when there is none."""


class SchemaRequest(Request, frozen=True, kw_only=True, tag="schema_request.v1"):
    """Describe this build and its knowledge base."""


class ModelRow(Struct, frozen=True, kw_only=True):
    """One embedding model of the registry."""

    name: str
    """Its name."""
    embedding_version: str
    """The label that the index stores."""
    dimension: int
    """The length of a vector."""
    window: int
    """The most tokens that one vector sees."""
    languages: str
    """What it knows."""
    installed: bool
    """Whether its weights are on this machine."""
    active: bool
    """Whether the knowledge base uses it."""
    bytes: int | None
    """The size of its weights; null when they are not here."""
    precision: str | None
    """The precision of its weights, `int8` or `fp32`; null when they are not here."""
    texts_per_second: dict[str, float]
    """What each precision reached when the weights were installed; the faster one was kept, `int8`
    when in doubt. Empty when only one was tried."""
    sources: list[str]
    """Where its weights can be had, in this order."""


class ModelList(Reply, frozen=True, kw_only=True, tag="model_list.v1"):
    """Every embedding model."""

    models: list[ModelRow]
    """The registry."""
    configured: str
    """What `models.embedding.model` says."""


class ModelReport(Reply, frozen=True, kw_only=True, tag="model_report.v1"):
    """What `model pull` or `model use` did."""

    model: ModelRow
    """The model."""
    fetched: bool
    """Whether its weights were fetched now."""
    embedded: int
    """How many passages were embedded again."""
    pending: int
    """How many passages still wait for a vector."""


class ModelListRequest(Request, frozen=True, kw_only=True, tag="model_list_request.v1"):
    """List every embedding model."""


class ModelPullRequest(Request, frozen=True, kw_only=True, tag="model_pull_request.v1"):
    """Which embedding model to download."""

    name: str = "auto"
    """The model; `auto` means the best one that can be downloaded."""


class ModelUseRequest(Request, frozen=True, kw_only=True, tag="model_use_request.v1"):
    """Which embedding model the knowledge base changes to."""

    name: str
    """The model; `auto` means that of the settings, else the best one that can be downloaded."""
