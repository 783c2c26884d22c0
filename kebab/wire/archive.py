"""Declares the archive of a knowledge base, and the requests and reports of export and import."""

from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from kebab.wire.library import FolderState
from kebab.wire.record import Record, Reply, Request


class ArchiveMember(Struct, frozen=True, kw_only=True):
    """A file of an archive."""

    name: str
    """Its name in the archive."""
    bytes: int
    """Its size when it is unpacked."""
    sha256: str
    """The SHA-256 of its content, in hex."""


class ArchivedSource(Struct, frozen=True, kw_only=True):
    """A source at the time of the export."""

    folder: str
    """The absolute path of its folder."""
    kind: Literal["folder", "files", "stdin"]
    """Whether it is a folder, single files of a folder, or texts from standard input."""
    documents: int
    """The number of its documents."""


class ArchivedSetting(Struct, frozen=True, kw_only=True):
    """A setting that decides what the index contains."""

    name: str
    """Its dotted name in the settings file."""
    value: str
    """Its value as JSON."""


class ArchiveManifest(Record, frozen=True, kw_only=True, tag="archive_manifest.v1"):
    """The contents of an archive; it is the member `manifest.json`."""

    format_version: int
    """The version of the archive format."""
    kebab_version: str
    """The version of kebab that wrote the archive."""
    created_at: str
    """The time of the export, RFC 3339 in UTC."""
    index_schema: int
    """The schema version of the index."""
    reviews_schema: int | None
    """The schema version of the stored reviews; null without reviews."""
    embedding_version: str | None
    """The embedding version of the vectors; null without vectors."""
    dimension: int | None
    """The number of components of a vector; null without vectors."""
    documents: int
    """The number of documents."""
    chunks: int
    """The number of passages."""
    vectors: int
    """The number of passages with a vector."""
    sessions: int
    """The number of ask sessions."""
    review_runs: int
    """The number of stored reviews and translations."""
    home: str
    """The home directory of the user who exported."""
    sources: list[ArchivedSource]
    """The sources."""
    settings: list[ArchivedSetting]
    """The settings that decide what the index contains."""
    members: list[ArchiveMember]
    """Every other file of the archive."""


class _Format(Struct, frozen=True):
    """The part of a manifest that every version of the format has."""

    format_version: int


def decode_manifest(raw: bytes, newest: int) -> ArchiveManifest | int:
    """Decode a manifest; return only the version of a format that is newer than `newest`.

    Raises:
        DECODE_ERRORS: It is not a manifest.
    """
    version = msgspec.json.decode(raw, type=_Format).format_version
    return version if version > newest else msgspec.json.decode(raw, type=ArchiveManifest)


ExportFormat: TypeAlias = Literal["archive", "parquet"]


class ExportRequest(Request["ExportReport"], frozen=True, kw_only=True, tag="export_request.v1"):
    """Where to write the archive, and what to leave out."""

    path: str
    """The file to write."""
    format: ExportFormat = "archive"
    """What to write: `archive` for `import`, or `parquet` for other systems, with the passages,
    their places and their vectors only."""
    force: bool = False
    """Whether to replace an existing file."""
    without_sessions: bool = False
    """Whether to leave out ask sessions."""


class ExportReport(Reply, frozen=True, kw_only=True, tag="export_report.v1"):
    """The result of `export`."""

    path: str
    """The archive."""
    format: ExportFormat = "archive"
    """What the file is."""
    bytes: int
    """Its size."""
    manifest: ArchiveManifest
    """Its contents; a Parquet file has no members."""
    duration_ms: float
    """The time that it took."""


class ImportRequest(Request["ImportReport"], frozen=True, kw_only=True, tag="import_request.v1"):
    """The archive to import, and where its folders are on this machine."""

    path: str
    """The archive."""
    replace: bool = False
    """Whether to replace the knowledge base that is there."""
    map: list[str] = msgspec.field(default_factory=list)
    """Folders that have another path here, each as `OLD=NEW`; folders below OLD follow."""
    dry_run: bool = False
    """Whether to check the archive and report only what would be imported."""


class ImportedSource(Struct, frozen=True, kw_only=True):
    """A source on this machine."""

    exported_folder: str
    """Its folder in the archive."""
    folder: str
    """Its folder on this machine."""
    mapped: Literal["no", "asked", "home"]
    """Why the folder has another path: it has none, the caller asked for it, or the same path
    exists below the home directory of this user."""
    state: FolderState
    """Whether the folder exists on this machine."""
    documents: int
    """The number of its documents."""
    same: int
    """The number of documents whose file has the same content here."""
    changed: int
    """The number of documents whose file has another content here, or cannot be read."""
    gone: int
    """The number of documents without a file here."""


class SettingDifference(Struct, frozen=True, kw_only=True):
    """A setting that has another value on this machine than in the archive."""

    name: str
    """Its dotted name in the settings file."""
    archived: str
    """Its value in the archive, as JSON."""
    here: str
    """Its value on this machine, as JSON."""


class ImportReport(Reply, frozen=True, kw_only=True, tag="import_report.v1"):
    """The result of `import`."""

    path: str
    """The archive."""
    data_dir: str
    """The data directory of the knowledge base."""
    dry_run: bool
    """Whether nothing was imported."""
    replaced_documents: int | None
    """The number of documents of the knowledge base that was, or would be, replaced; -1 when it
    cannot be read, null when there was none."""
    manifest: ArchiveManifest
    """The contents of the archive."""
    sources: list[ImportedSource]
    """The sources on this machine."""
    settings: list[SettingDifference]
    """The settings of this machine that differ; they stay as they are."""
    duration_ms: float
    """The time that it took."""
