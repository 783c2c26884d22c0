"""Declares the reports on the installation, the models and the servers as wire records."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType, field

from kebab.wire.coverage import Coverage, Indexing
from kebab.wire.error import ErrorReply
from kebab.wire.record import Hinted, Reply, Request
from kebab.wire.search import Unit

CheckStatus = Literal["ok", "warn", "fail", "skip"]


class DoctorCheck(Hinted, frozen=True, kw_only=True):
    """The result of one check."""

    name: str
    """The name of the check."""
    status: CheckStatus
    """The result: only `fail` means unhealthy."""
    summary: str
    """The result in one sentence."""
    fix: str | None
    """The command that solves the problem."""
    duration_ms: float
    """The duration of the check."""


class Doctor(Reply, frozen=True, kw_only=True, tag="doctor.v1"):
    """The health of the knowledge base and of everything that it needs."""

    ok: bool
    """Whether no check failed."""
    kebab_version: str
    """The version of kebab."""
    checks: list[DoctorCheck]
    """Every check."""
    indexing: Indexing | UnsetType = UNSET
    """The ingest that another process runs now; absent when there is none."""
    coverage: Coverage | None = None
    """What the index covers of all sources; null without an index that can be read."""


class InitReport(Reply, frozen=True, kw_only=True, tag="init_report.v1"):
    """The result of `init`."""

    config_path: str
    """The path of the settings file."""
    written: bool
    """Whether the file was written; false when it existed already."""
    backup_path: str | None = None
    """The copy of the file that was replaced; null when none was."""
    data_dir: str
    """The data directory of the knowledge base."""
    workspace: str | None
    """The folder that `kebab ingest` reads without a path."""


class ResetReport(Reply, frozen=True, kw_only=True, tag="reset_report.v1"):
    """The result of `reset`, which deletes only what kebab created."""

    data_dir: str
    """The data directory of the knowledge base."""
    removed: list[str]
    """The deleted files and folders."""
    kept: list[str]
    """Entries of the data directory that kebab did not create."""
    bytes_freed: int
    """The freed space in bytes."""
    models_removed: bool
    """Whether model weights were deleted too."""


class DoctorRequest(Request["Doctor"], frozen=True, kw_only=True, tag="doctor_request.v1"):
    """Check everything."""

    files: bool = False
    """Whether to compare the content of every file with what was indexed: times prove nothing."""


class InitRequest(Request["InitReport"], frozen=True, kw_only=True, tag="init_request.v1"):
    """The values of a new settings file."""

    workspace: str | None = None
    """The folder that `kebab ingest` reads without a path."""
    force: bool = False
    """Whether to replace an existing settings file."""


class ResetRequest(Request["ResetReport"], frozen=True, kw_only=True, tag="reset_request.v1"):
    """What to delete."""

    models: bool = False
    """Whether to delete model weights too."""
    dry_run: bool = False
    """Whether to report only what would be deleted."""


class WireInfo(Struct, frozen=True, kw_only=True):
    """The wire schemas."""

    schemas: list[str]
    """The id of every schema that this version can emit or accept."""


class Capabilities(Struct, frozen=True, kw_only=True):
    """The capabilities of this version; every key is always present."""

    json_mode: bool
    """Whether every command can reply in JSON."""
    ingest_progress: bool
    """Whether ingest reports its progress as events."""
    ingest_cancellation: bool
    """Whether an interrupted ingest keeps the work that it has done."""
    rag_multi_turn: bool
    """Whether questions can refer to earlier questions."""
    search_cache: bool
    """Whether the results of repeated queries are cached."""
    incremental_ingest: bool
    """Whether ingest reads only changed files."""
    streaming_ask: bool
    """Whether answers arrive word by word."""
    http_daemon: bool
    """Whether there is an HTTP server."""
    mcp_server: bool
    """Whether there is an MCP server."""
    web_page: bool
    """Whether the HTTP server has a web page."""
    published_base: bool
    """Whether the libraries are installed that published bases need."""
    single_file_ingest: bool
    """Whether single files and standard input can be ingested."""
    bulk_search: bool
    """Whether many queries can be searched in one call."""
    lexical_only_mode: bool
    """Whether search works without a model."""
    extractive_ask: bool
    """Whether questions can be answered without a language model."""
    review: bool
    """Whether documents can be reviewed."""
    watch: bool = False
    """Whether folders can be watched for changes."""
    translate: bool = False
    """Whether documents can be translated."""
    cluster_ingest: bool = False
    """Whether a Ray cluster can read and embed documents."""
    server_embeddings: bool = False
    """Whether a model server can compute vectors."""


class ModelInfo(Struct, frozen=True, kw_only=True):
    """The versions that shape the index."""

    parser_version: str
    """The version of the Markdown parser, which reads the main format."""
    chunker_version: str
    """The version of the chunker."""
    embedding_version: str | None
    """The embedding version; null while the knowledge base has no model."""
    prompt_template_version: str | None
    """The version of the prompt; null while no language model is used."""
    index_version: str
    """The version of the vector index."""
    corpus_revision: int
    """The revision of the index."""
    active_parsers: list[str]
    """The version of every parser."""
    active_chunkers: list[str]
    """The version of every chunker."""


class IndexBytes(Struct, frozen=True, kw_only=True):
    """The space on disk in bytes."""

    sqlite: int
    """The database."""
    lancedb: int
    """The vectors."""


class Stats(Struct, frozen=True, kw_only=True):
    """The contents of the knowledge base."""

    doc_count: int
    """The number of documents."""
    chunk_count: int
    """The number of passages."""
    asset_count: int
    """The number of different file contents."""
    last_ingest_at: str | None
    """The time of the last change of the index, RFC 3339; null when it is empty."""
    pending_embeddings: int
    """The number of passages without a vector."""
    media_breakdown: dict[str, int]
    """Documents by media type."""
    lang_breakdown: dict[str, int]
    """Documents by language; `unknown` where there is none."""
    index_bytes: IndexBytes
    """The space on disk in bytes."""
    stale_doc_count: int
    """The number of documents whose file differs from what was indexed: exact up to 256 documents,
    above that estimated from as many files. `kebab doctor` counts them all."""


class PluginRow(Struct, frozen=True, kw_only=True):
    """One plugin: an entry point of a package beside kebab."""

    name: str
    """The name of the entry point."""
    package: str
    """The package that declares it."""
    version: str
    """The version of the package."""


class ReviewWork(Struct, frozen=True, kw_only=True):
    """How the language model answered about the units of the stored reviews and translations."""

    asked: int
    """The number of units that it was asked about."""
    truncated_rate: Unit | None
    """The share of those whose responses were cut off under every limit; null without a unit."""
    followed_up: int
    """The number of units that needed a further request, because a response was of no use."""
    followup_success_rate: Unit | None
    """The share of these with a complete answer in the end; null without one."""


class Introspection(Reply, frozen=True, kw_only=True, tag="schema.v1"):
    """The version, the capabilities and the contents of kebab."""

    kebab_version: str
    """The version of kebab."""
    wire: WireInfo
    """The wire schemas."""
    capabilities: Capabilities
    """The capabilities of this version."""
    models: ModelInfo
    """The versions that shape the index."""
    stats: Stats
    """The contents of the knowledge base."""
    reviews: ReviewWork | None = None
    """The work of the stored reviews and translations; null when it cannot be read."""
    unreadable: ErrorReply | None = None
    """The reason why this version cannot read the existing database, so that all of `stats` is 0;
    null when it can, or when there is no database."""
    indexing: Indexing | UnsetType = UNSET
    """The ingest that another process runs now; absent when there is none."""
    coverage: Coverage | None = None
    """What the index covers of all sources; null without an index that can be read."""
    plugins: list[PluginRow] = field(default_factory=list)
    """The plugins that are installed; `kebab doctor` says which can be used."""


class SchemaRequest(Request["Introspection"], frozen=True, kw_only=True, tag="schema_request.v1"):
    """Describe this version and its knowledge base."""


class ModelRow(Struct, frozen=True, kw_only=True):
    """One embedding model of the registry."""

    name: str
    """The name of the model."""
    embedding_version: str
    """The label that the index stores."""
    dimension: int
    """The length of a vector."""
    window: int
    """The maximum number of tokens for one vector."""
    languages: str
    """The languages of the model."""
    installed: bool
    """Whether its weights are on this machine."""
    active: bool
    """Whether the knowledge base uses it."""
    bytes: int | None
    """The size of the weights; null when they are not installed."""
    sources: list[str]
    """The download sources of the weights, in order."""
    confidence: Literal["calibrated", "uncalibrated"] = "calibrated"
    """`calibrated` when the confidence of hits was measured for this model. With `uncalibrated`, it
    is generic: it rests on words and on the distance from other passages."""


class ModelList(Reply, frozen=True, kw_only=True, tag="model_list.v1"):
    """Every embedding model."""

    models: list[ModelRow]
    """Every model of the registry."""
    configured: str
    """The value of `models.embedding.model`."""
    reason: str | None = None
    """The reason why `auto` chose the active model; null when a person named it."""


class ModelReport(Reply, frozen=True, kw_only=True, tag="model_report.v1"):
    """The result of `model pull` or `model use`."""

    model: ModelRow
    """The model."""
    fetched: bool
    """Whether the weights were downloaded in this run."""
    embedded: int
    """The number of passages that were embedded again."""
    pending: int
    """The number of passages without a vector; the next ingest embeds them."""


class ModelListRequest(
    Request["ModelList"], frozen=True, kw_only=True, tag="model_list_request.v1"
):
    """List embedding models."""


class ModelPullRequest(
    Request["ModelReport"], frozen=True, kw_only=True, tag="model_pull_request.v1"
):
    """The embedding model to download."""

    name: str = "auto"
    """The model; `auto` means that of the settings or of the stored vectors, else the best one."""
    folder: str | None = None
    """The local folder with the files of the model; null means its download sources."""


class ModelUseRequest(
    Request["ModelReport"], frozen=True, kw_only=True, tag="model_use_request.v1"
):
    """The embedding model that the knowledge base changes to."""

    name: str
    """The model; `auto` means that of the settings, else the best one for the documents."""
    folder: str | None = None
    """The local folder with the files of the model; null means its download sources."""


IntegrationKind = Literal["skill", "mcp"]
FileChange = Literal["create", "replace", "keep", "remove", "none", "add", "update"]
IntegrationState = Literal["absent", "current", "outdated", "invalid"]


class InstalledFile(Struct, frozen=True, kw_only=True):
    """A file of a client, and what was done with it."""

    kind: IntegrationKind
    """`skill` is a text that explains kebab, `mcp` a file that lists kebab as an MCP server."""
    path: str
    """The file."""
    change: FileChange
    """The change. `keep` leaves the file as it is, `none` found nothing to remove. In a file that
    also has other settings `add` and `update` change the entry of kebab only, and `remove` leaves
    the other settings."""
    backup: str | None = None
    """The copy of an edited skill; null when none was needed."""


class InstallReport(Reply, frozen=True, kw_only=True, tag="install_report.v1"):
    """What `install` did with the files of a client."""

    integration: str
    """The program that uses kebab, such as `claude-code`."""
    files: list[InstalledFile]
    """All files, the skill first."""
    dry_run: bool = False
    """Whether nothing was written, because the caller only wants to see the change."""


class InstallSnippet(Reply, frozen=True, kw_only=True, tag="install_snippet.v1"):
    """The entry for the MCP server of kebab, to be added by hand."""

    integration: str
    """The client."""
    path: str
    """The file that the client reads."""
    snippet: str
    """The entry with the object that it belongs to, in the format of the file."""


class InstallableClient(Struct, frozen=True, kw_only=True):
    """A client, and what of kebab is installed in it."""

    name: str
    """The name for `kebab install`."""
    title: str
    """The name for people."""
    found: bool
    """Whether this machine shows a sign of the client."""
    mcp: IntegrationState
    """The entry for the MCP server; `outdated` starts another kebab or with other flags, `invalid`
    means that the file cannot be read or changed safely."""
    mcp_path: str
    """The file of the entry."""
    skill: IntegrationState | None = None
    """The skill; null when the client reads no skills."""
    skill_path: str | None = None
    """The file of the skill."""


class InstallOverview(Reply, frozen=True, kw_only=True, tag="install_overview.v1"):
    """The clients in which kebab can be installed."""

    clients: list[InstallableClient]
    """The clients in the order of help."""


class RunningWatcher(Struct, frozen=True, kw_only=True):
    """The watcher of a server, which keeps the index current."""

    state: Literal["started", "indexed", "waiting", "failed", "polling", "ended"]
    """What it did last, as the kinds of `watch_event.v1` say."""
    at: str
    """When that was, RFC 3339 in UTC with `Z`."""
    folders: list[str]
    """The followed folders; empty before the first run has ended."""
    message: str | None = None
    """The reason, with `waiting`, `failed`, `polling`, and with `ended` after an error."""


class RunningServer(Struct, frozen=True, kw_only=True):
    """A server that accepts requests."""

    url: str
    """Its address, for a browser of this machine."""
    pid: int
    """The id of its first process."""
    version: str
    """The version of kebab that it runs."""
    started_at: str
    """When it started, RFC 3339 in UTC with `Z`."""
    data_dir: str
    """The folder of its knowledge base."""
    allow_write: bool
    """Whether operations may write and delete."""
    watcher: RunningWatcher | None = None
    """The watcher inside; null without `--watch`."""


class ServeStatus(Reply, frozen=True, kw_only=True, tag="serve_status.v1"):
    """The servers of this user on this machine."""

    running: bool
    """Whether any runs."""
    servers: list[RunningServer]
    """The servers that run."""
    stopped: list[RunningServer] = field(default_factory=list)
    """The servers that `--stop` has ended."""


class WebPageReport(Reply, frozen=True, kw_only=True, tag="web_page.v1"):
    """The web page that `kebab open --web` opened."""

    url: str
    """The address of the server; with `--print` one that lets a browser in, once and for two
    minutes."""
    started: bool
    """Whether the server was started now."""
    ran: bool
    """Whether a browser was opened; false with `--print`."""


class HttpServerStarted(Reply, frozen=True, kw_only=True, tag="http_server_started.v1"):
    """The server accepts requests from now on; `kebab serve` writes it to stderr."""

    url: str
    """Its address."""
    token_path: str
    """The file of the token that requests must have."""
    pid: int
    """Its process id."""
    allow_write: bool
    """Whether operations may write and delete."""
