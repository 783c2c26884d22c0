"""Declares published bases and archives: what describes them, and how they are made and read."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from kebab.wire.coverage import Coverage
from kebab.wire.record import Record, Reply, Request


class PublishedFile(Struct, frozen=True, kw_only=True):
    """A file of the dataset that a copy needs."""

    name: Annotated[str, Meta(pattern=r"^(documents|passages)\.lance/\w+/\w[\w.-]*$")]
    bytes: int


class _Manifest(Record, frozen=True, kw_only=True):
    """What describes a copy of an index."""

    format_version: int
    kebab_version: str
    created_at: str
    index_schema: int
    """The schema version of its records."""
    embedding_version: str | None
    documents: int
    chunks: int
    vectors: int


class PublishedManifest(_Manifest, frozen=True, kw_only=True, tag="published_base.v1"):
    """What is published: `base.json`, beside the tables of a LanceDB dataset."""

    salt: str
    """What authenticates the cursors of searches, so that one server continues what another
    began."""
    dimension: int | None
    """The number of components of a vector; null without vectors."""
    sources: list[Annotated[str, Meta(pattern=r"^(?!\.{1,2}$)[^/]+$")]]
    """The names of the sources: the last parts of the folders of the publisher."""
    versions: dict[str, int]
    files: list[PublishedFile]
    coverage: Coverage | None
    """What the index of the publisher covered of its files; null where it was not measured."""


class PublishRequest(Request["PublishReport"], frozen=True, kw_only=True, tag="publish_request.v1"):
    """Where to publish the knowledge base."""

    dest: str
    """A folder, or an address that begins with `s3://`, `gs://` or `az://`."""


class PublishReport(Reply, frozen=True, kw_only=True, tag="publish_report.v1"):
    """The result of `publish`."""

    dest: str
    created_at: str
    documents: int
    chunks: int
    vectors: int
    added: int
    """The number of passages that were sent."""
    removed: int
    """The number of passages that were deleted there."""
    bytes: int
    """The size of the files that a copy needs."""
    sent_bytes: int
    """The size of the files that were written."""
    duration_ms: float


class Registration(Struct, frozen=True, kw_only=True):
    """A published base as a file of the data folder lists it."""

    name: str
    """The name that `--base` takes."""
    url: str
    """Its address, or its folder."""
    mode: Literal["pull", "remote"]
    """Whether it is copied, or read from its store while it is searched."""


class PublishedBase(Registration, frozen=True, kw_only=True):
    """A published base that this knowledge base searches too."""

    documents: int
    chunks: int
    created_at: str | None
    """The time when the copy here was published, RFC 3339; null without a copy."""
    checked_at: str | None
    """The time of the last look at the store that succeeded, RFC 3339."""
    problem: str | None
    """Why the copy here may be old; null when the last look succeeded."""
    coverage: Coverage | None
    """What the index of the publisher covered of its files; null without a copy."""


class SourceAddRequest(
    Request["SourceAdded"], frozen=True, kw_only=True, tag="source_add_request.v1"
):
    """The published base to search too."""

    url: str
    """Its address, or its folder."""
    name: Annotated[str, Meta(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]*)?$")] = ""
    """The name to give it; empty means the last part of the address."""
    mode: Literal["auto", "pull", "remote"] = "auto"
    """Whether to copy it, or to read it from its store while it is searched; `auto` chooses by its
    size, unless `published.mode` chooses."""


class SourceAdded(Reply, frozen=True, kw_only=True, tag="source_added.v1"):
    """The published base that `source add` added."""

    base: PublishedBase
    pulled_bytes: int
    """The bytes that were read from the store."""
    duration_ms: float


class ArchiveManifest(_Manifest, frozen=True, kw_only=True, tag="archive_manifest.v1"):
    """What an archive holds; it is the member `manifest.json`."""

    sessions: int


class ExportRequest(Request["ExportReport"], frozen=True, kw_only=True, tag="export_request.v1"):
    """Where to write the archive."""

    path: str
    """The file to write."""
    force: bool = False
    """Whether to replace an existing regular file."""


class ExportReport(Reply, frozen=True, kw_only=True, tag="export_report.v1"):
    """The result of `export`."""

    path: str
    bytes: int
    manifest: ArchiveManifest
    duration_ms: float


class ImportRequest(Request["ImportReport"], frozen=True, kw_only=True, tag="import_request.v1"):
    """The archive to import."""

    path: str
    dry_run: bool = False


class ImportReport(Reply, frozen=True, kw_only=True, tag="import_report.v1"):
    """The result of `import`."""

    path: str
    data_dir: str
    dry_run: bool
    replaced_documents: int | None
    """The number of documents of the index that was, or would be, replaced; -1 when it cannot be
    read, null when there was none."""
    manifest: ArchiveManifest
    duration_ms: float
