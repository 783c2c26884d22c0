"""Declares the requests and reports of export and import."""

from kebab.wire.record import Record, Reply, Request


class ArchiveManifest(Record, frozen=True, kw_only=True, tag="archive_manifest.v1"):
    """What an archive holds; it is the member `manifest.json`."""

    format_version: int
    """The version of the archive format."""
    kebab_version: str
    """The version of kebab that wrote the archive."""
    created_at: str
    """The time of the export, RFC 3339 in UTC."""
    index_schema: int
    """The schema version of the index."""
    embedding_version: str | None
    """The embedding version of the vectors; null without vectors."""
    documents: int
    """The number of documents."""
    chunks: int
    """The number of passages."""
    vectors: int
    """The number of passages with a vector."""
    sessions: int
    """The number of ask sessions."""


class ExportRequest(Request["ExportReport"], frozen=True, kw_only=True, tag="export_request.v1"):
    """Where to write the archive."""

    path: str
    """The file to write."""
    force: bool = False
    """Whether to replace an existing regular file."""


class ExportReport(Reply, frozen=True, kw_only=True, tag="export_report.v1"):
    """The result of `export`."""

    path: str
    """The archive."""
    bytes: int
    """Its size."""
    manifest: ArchiveManifest
    """What it holds."""
    duration_ms: float
    """The time that it took."""


class ImportRequest(Request["ImportReport"], frozen=True, kw_only=True, tag="import_request.v1"):
    """The archive to import."""

    path: str
    """The archive."""
    dry_run: bool = False
    """Whether to check the archive and report only what would be imported."""


class ImportReport(Reply, frozen=True, kw_only=True, tag="import_report.v1"):
    """The result of `import`."""

    path: str
    """The archive."""
    data_dir: str
    """The data directory of the knowledge base."""
    dry_run: bool
    """Whether nothing was imported."""
    replaced_documents: int | None
    """The number of documents of the index that was, or would be, replaced; -1 when it cannot be
    read, null when there was none."""
    manifest: ArchiveManifest
    """What the archive holds."""
    duration_ms: float
    """The time that it took."""
