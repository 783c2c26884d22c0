"""Declares published bases: their manifest, and the requests and reports of publishing them."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from kebab.wire.record import Record, Reply, Request


class PublishedSource(Struct, frozen=True, kw_only=True):
    """A source of a published base."""

    name: str
    """Its name: the last part of the folder of the publisher."""
    documents: int
    """The number of its documents."""


class PublishedObject(Struct, frozen=True, kw_only=True):
    """An object that a snapshot needs; its name is the SHA-256 of its content."""

    sha256: str
    """The SHA-256 of its content, in hex."""
    bytes: int
    """Its size."""


class PublishedManifest(Record, frozen=True, kw_only=True, tag="published_manifest.v1"):
    """A snapshot of a published base."""

    format_version: int
    """The version of the format."""
    kebab_version: str
    """The version of kebab that published it."""
    created_at: str
    """The time of the snapshot, RFC 3339 in UTC."""
    sequence: int
    """Its number; a later snapshot has a higher one."""
    previous: str | None
    """The SHA-256 of the manifest before this one; null for the first."""
    index_schema: int
    """The schema version of the index."""
    embedding_version: str | None
    """The embedding version of the vectors; null without vectors."""
    dimension: int | None
    """The number of components of a vector; null without vectors."""
    chunker_version: str
    """The chunker under the settings of the publisher."""
    documents: int
    """The number of documents."""
    chunks: int
    """The number of passages."""
    vectors: int
    """The number of passages with a vector."""
    with_texts: bool
    """Whether the files of the documents travel."""
    sources: list[PublishedSource]
    """The sources."""
    contents: PublishedObject
    """The object that says in which pack each page, row and file is."""
    packs: list[PublishedObject]
    """The packs, in the order in which `contents` counts them."""


class PublishedCurrent(Record, frozen=True, kw_only=True, tag="published_current.v1"):
    """The only object of a published base that changes: it names the newest manifest."""

    format_version: int
    """The version of the format."""
    manifest: str
    """The SHA-256 of the manifest."""
    public_key: str
    """The Ed25519 key of the publisher, in hex."""
    signature: str
    """The signature of the SHA-256 of the manifest, in hex."""


class PublishRequest(Request["PublishReport"], frozen=True, kw_only=True, tag="publish_request.v1"):
    """Where to publish the knowledge base."""

    dest: str
    """A folder, or an address that begins with `s3://`, `gs://` or `az://`."""
    with_texts: bool = False
    """Whether the files of the documents travel too."""
    dry_run: bool = False
    """Whether to report only what would be sent."""


class PublishReport(Reply, frozen=True, kw_only=True, tag="publish_report.v1"):
    """The result of `publish`."""

    dest: str
    """Where the base is published."""
    dry_run: bool
    """Whether nothing was sent."""
    public_key: str
    """The key that readers pin, in hex."""
    manifest: PublishedManifest
    """The snapshot."""
    bytes: int
    """The size of all objects of the snapshot."""
    sent_bytes: int
    """The size of the objects that were sent, or would be."""
    sent_objects: int
    """The number of these objects."""
    removed_objects: int
    """The number of old objects that no snapshot needs, and that were deleted."""
    left_out_files: int
    """The number of files that do not travel because they differ from what was indexed."""
    duration_ms: float
    """The time that it took."""


class PublishedBase(Struct, frozen=True, kw_only=True):
    """A published base that this knowledge base searches too."""

    name: str
    """The name that `--in` takes."""
    url: str
    """Its address, or its folder."""
    public_key: str
    """The key of its publisher, in hex."""
    weight: float
    """What the scores of its hits are multiplied by."""
    mode: Literal["pull", "remote"]
    """Whether it is copied, or read from its store while it is searched."""
    documents: int
    """The number of its documents."""
    chunks: int
    """The number of their passages."""
    created_at: str | None
    """The time when the copy here was published, RFC 3339; null without a copy."""
    checked_at: str | None
    """The time of the last look at the store, RFC 3339."""
    problem: str | None
    """Why the copy here may be old; null when the last look succeeded."""


class SourceAddRequest(
    Request["SourceAdded"], frozen=True, kw_only=True, tag="source_add_request.v1"
):
    """The published base to search too."""

    url: str
    """Its address, or its folder."""
    name: Annotated[str, Meta(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]*)?$")] = ""
    """The name to give it; empty means the last part of the address."""
    weight: Annotated[float, Meta(ge=0.01, le=10)] = 1.0
    """What the scores of its hits are multiplied by."""
    mode: Literal["auto", "pull", "remote"] = "auto"
    """Whether to copy it, or to read it from its store while it is searched; `auto` chooses by its
    size, unless `published.mode` chooses."""
    key: Annotated[str, Meta(pattern="^([0-9a-f]{64})?$")] = ""
    """The public key that it must have; empty means the key that it has now."""


class SourceAdded(Reply, frozen=True, kw_only=True, tag="source_added.v1"):
    """The published base that `source add` added."""

    base: PublishedBase
    """The base."""
    pulled_bytes: int
    """The bytes that were read from the store."""
    duration_ms: float
    """The time that it took."""


class Registration(Struct, frozen=True, kw_only=True):
    """A published base as the data folder lists it."""

    name: str
    url: str
    public_key: str
    weight: float = 1.0
    mode: Literal["pull", "remote"] = "pull"


class Registry(Struct, frozen=True, kw_only=True):
    """The file of the data folder that lists published bases."""

    format_version: Literal[1] = 1
    bases: list[Registration] = msgspec.field(default_factory=list)
    salt: str = ""
    """What authenticates the cursors of searches over several bases."""
