"""What this build is, can do and holds."""

from msgspec import Struct

from kebab.wire.error import ErrorReply
from kebab.wire.record import Reply, Request


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
