"""Declares the reports on the installation, models, repairs, servers and commands on the wire."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

from kebab.wire.coverage import Coverage, Indexing
from kebab.wire.error import ErrorReply
from kebab.wire.record import Hinted, Reply, Request
from kebab.wire.search import Unit

CheckStatus = Literal["ok", "warn", "fail", "skip"]


class DoctorCheck(Hinted, frozen=True, kw_only=True):
    """The result of one check."""

    name: str
    status: CheckStatus
    """The result: only `fail` means unhealthy."""
    summary: str
    fix: str | None
    """The command that solves the problem."""
    duration_ms: float


class Doctor(Reply, frozen=True, kw_only=True, tag="doctor.v1"):
    """The health of the knowledge base and of everything that it needs."""

    ok: bool
    """Whether no check failed."""
    kebab_version: str
    checks: list[DoctorCheck]
    indexing: Indexing | UnsetType = UNSET
    coverage: Coverage | None = None


class InitReport(Reply, frozen=True, kw_only=True, tag="init_report.v1"):
    """The result of `init`."""

    config_path: str
    written: bool
    """Whether the file was written; false when it existed already."""
    backup_path: str | None = None
    """The copy of the file that was replaced; null when none was."""
    data_dir: str
    workspace: str | None


class ResetReport(Reply, frozen=True, kw_only=True, tag="reset_report.v1"):
    """The result of `reset`, which deletes only what kebab created."""

    data_dir: str
    removed: list[str]
    kept: list[str]
    """Entries of the data directory that kebab did not create."""
    bytes_freed: int
    models_removed: bool
    """Whether model weights were deleted too."""


class DoctorRequest(Request["Doctor"], frozen=True, kw_only=True, tag="doctor_request.v1"):
    """Check everything."""

    files: bool = False
    """Whether to compare the content of every file with what was indexed: times prove nothing."""


class InitRequest(Request["InitReport"], frozen=True, kw_only=True, tag="init_request.v1"):
    """The values of a new settings file."""

    workspace: str | None = None
    force: bool = False
    """Whether to replace an existing settings file."""


class ResetRequest(Request["ResetReport"], frozen=True, kw_only=True, tag="reset_request.v1"):
    """What to delete."""

    models: bool = False
    """Whether to delete model weights too."""
    dry_run: bool = False


class WireInfo(Struct, frozen=True, kw_only=True):
    """The wire schemas."""

    schemas: list[str]
    """The id of every schema that this version can emit or accept."""


class Capabilities(Struct, frozen=True, kw_only=True):
    """The capabilities of this version; every key is always present."""

    json_mode: bool
    ingest_progress: bool
    """Whether ingest reports its progress as events."""
    ingest_cancellation: bool
    """Whether an interrupted ingest keeps the work that it has done."""
    rag_multi_turn: bool
    """Whether questions can refer to earlier questions."""
    search_cache: bool
    incremental_ingest: bool
    streaming_ask: bool
    """Whether answers arrive word by word."""
    http_daemon: bool
    mcp_server: bool
    web_page: bool
    published_base: bool
    """Whether the libraries are installed that published bases need."""
    single_file_ingest: bool
    """Whether single files and standard input can be ingested."""
    bulk_search: bool
    lexical_only_mode: bool
    """Whether search works without a model."""
    extractive_ask: bool
    review: bool
    watch: bool = False
    translate: bool = False
    cluster_ingest: bool = False
    """Whether a Ray cluster can read and embed documents."""
    server_embeddings: bool = False
    """Whether a model server can compute vectors."""


class ModelInfo(Struct, frozen=True, kw_only=True):
    """The versions that shape the index."""

    parser_version: str
    """The version of the Markdown parser, which reads the main format."""
    chunker_version: str
    embedding_version: str | None
    """The embedding version; null while the knowledge base has no model."""
    prompt_template_version: str | None
    """The version of the prompt; null while no language model is used."""
    index_version: str
    corpus_revision: int
    active_parsers: list[str]
    active_chunkers: list[str]


class IndexBytes(Struct, frozen=True, kw_only=True):
    """The space on disk in bytes."""

    sqlite: int
    lancedb: int


class Stats(Struct, frozen=True, kw_only=True):
    """The contents of the knowledge base."""

    doc_count: int
    chunk_count: int
    asset_count: int
    """The number of different file contents."""
    last_ingest_at: str | None
    """The time of the last change of the index, RFC 3339; null when it is empty."""
    pending_embeddings: int
    """The number of passages without a vector."""
    media_breakdown: dict[str, int]
    lang_breakdown: dict[str, int]
    """Documents by language; `unknown` where there is none."""
    index_bytes: IndexBytes
    stale_doc_count: int
    """The number of documents whose file differs from what was indexed: exact up to 256 documents,
    above that estimated from as many files. `kebab doctor` counts them all."""


class PluginRow(Struct, frozen=True, kw_only=True):
    """One plugin: an entry point of a package beside kebab."""

    name: str
    package: str
    version: str


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
    wire: WireInfo
    capabilities: Capabilities
    models: ModelInfo
    stats: Stats
    reviews: ReviewWork | None = None
    """The work of the stored reviews and translations; null when it cannot be read."""
    unreadable: ErrorReply | None = None
    """The reason why this version cannot read the existing database, so that all of `stats` is 0;
    null when it can, or when there is no database."""
    indexing: Indexing | UnsetType = UNSET
    coverage: Coverage | None = None
    plugins: list[PluginRow] = field(default_factory=list)
    """The plugins that are installed; `kebab doctor` says which can be used."""


class SchemaRequest(Request["Introspection"], frozen=True, kw_only=True, tag="schema_request.v1"):
    """Describe this version and its knowledge base."""


class ModelRow(Struct, frozen=True, kw_only=True):
    """One embedding model of the registry."""

    name: str
    embedding_version: str
    """The label that the index stores."""
    dimension: int
    window: int
    """The maximum number of tokens for one vector."""
    languages: str
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
    configured: str
    """The value of `models.embedding.model`."""
    reason: str | None = None
    """The reason why `auto` chose the active model; null when a person named it."""


class ModelReport(Reply, frozen=True, kw_only=True, tag="model_report.v1"):
    """The result of `model pull` or `model use`."""

    model: ModelRow
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


class InstallSnippet(Reply, frozen=True, kw_only=True, tag="install_snippet.v1"):
    """The entry for the MCP server of kebab, to be added by hand."""

    integration: str
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
    skill: IntegrationState | None = None
    """The skill; null when the client reads no skills."""
    skill_path: str | None = None


class InstallOverview(Reply, frozen=True, kw_only=True, tag="install_overview.v1"):
    """The clients in which kebab can be installed."""

    clients: list[InstallableClient]


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
    version: str
    started_at: str
    """When it started, RFC 3339 in UTC with `Z`."""
    data_dir: str
    allow_write: bool
    watcher: RunningWatcher | None = None
    """The watcher inside; null without `--watch`."""


class ServeStatus(Reply, frozen=True, kw_only=True, tag="serve_status.v1"):
    """The servers of this user on this machine."""

    running: bool
    servers: list[RunningServer]
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
    token_path: str
    """The file of the token that requests must have."""
    pid: int
    allow_write: bool


RepairOutcome = Literal["planned", "repaired", "refused", "failed"]


class Repair(Hinted, frozen=True, kw_only=True):
    """A fault that was found, and what is or was done about it."""

    check: str
    """The check of `doctor` that finds the fault, and that must find nothing afterwards."""
    summary: str
    action: str
    """What would be or was done, in one sentence."""
    outcome: RepairOutcome
    """`planned` was not tried. `repaired` means that the check finds nothing wrong any more.
    `refused` means that nothing was changed, `failed` that the fault is still there; `reason` says
    why."""
    reason: str | None = None
    """Why it was refused or failed; null otherwise."""
    hint: str | None = None


class MovedDatabase(Struct, frozen=True, kw_only=True):
    """A damaged database that was moved aside, and what only it had."""

    path: str
    """Its file now. Nothing deletes it but you, and `reset`."""
    documents: int | None = None
    """The number of documents in it; null when that cannot be read."""
    sessions: int | None = None
    """The number of ask sessions in it; null when that cannot be read."""


class RepairReport(Reply, frozen=True, kw_only=True, tag="repair_report.v1"):
    """The result of `doctor --fix`."""

    ok: bool
    """Whether no check of `health` failed."""
    dry_run: bool
    cancelled: bool = False
    """Whether the caller stopped the repairs; a further call does what is left."""
    repairs: list[Repair]
    """Every fault that has a repair, in the order of the repairs."""
    moved: list[MovedDatabase] = field(default_factory=list)
    health: Doctor
    """What `doctor` finds: after the repairs, and without them for a dry run."""


class RepairRequest(Request["RepairReport"], frozen=True, kw_only=True, tag="repair_request.v1"):
    """Repair what `doctor` finds."""

    dry_run: bool = False
    sources: list[str] = field(default_factory=list)
    """Folders or files that were indexed, for an index that does not tell any more."""


class HelpTopic(Struct, frozen=True, kw_only=True):
    """A page of the documentation."""

    name: str
    """The name for `kebab help`."""
    summary: str


class HelpTopics(Reply, frozen=True, kw_only=True, tag="help_topics.v1"):
    """The pages of the documentation."""

    topics: list[HelpTopic]
    """The pages, those for everyone first."""


class HelpPage(Reply, frozen=True, kw_only=True, tag="help_page.v1"):
    """A page of the documentation, or the help of a command as `--help` shows it."""

    topic: str
    """The name of the page, or the command with its parents, such as `kebab model pull`."""
    text: str
    """The page in Markdown, or the help as text."""


class Version(Reply, frozen=True, kw_only=True, tag="version.v1"):
    """The version of kebab, as `--version` shows it."""

    kebab_version: str


class CommandUsage(Struct, frozen=True, kw_only=True):
    """One command on one line."""

    usage: str
    """The words and flags after `kebab`; flags and words in `[ ]` may be left out, `…` repeats."""
    summary: str


class CommandList(Reply, frozen=True, kw_only=True, tag="command_list.v1"):
    """Every command with its flags, short enough to be read in one call."""

    global_flags: str
    filters: str
    """The flags that `FILTERS` stands for; repeated values of one flag are alternatives."""
    modes: str = ""
    """The values that `MODE` stands for."""
    commands: list[CommandUsage]
    exits: dict[str, str]


class SchemaDocument(Reply, frozen=True, kw_only=True, tag="schema_document.v1"):
    """One published schema."""

    name: str
    """The name of the schema, such as `search_response.v1`."""
    document: dict[str, Any]


class CompletionScript(Reply, frozen=True, kw_only=True, tag="completion_script.v1"):
    """The script that makes a shell complete the words of kebab."""

    shell: str
    script: str
