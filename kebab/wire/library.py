"""Declares wire records: documents, passages, fetched lines, sources, and why a file is indexed."""

from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from kebab.wire.citation import Citation, Count, FetchedPlace, Freshness, Positive
from kebab.wire.coverage import LeftOutText
from kebab.wire.published import PublishedBase
from kebab.wire.record import Hinted, LookupRequest, Record, Reply, Request
from kebab.wire.search import FilteredRequest, UnmatchedFilter

VectorState = Literal["pending", "committed", "unsupported"]
"""Whether a passage waits for a vector, has one, or is in a script unknown to its model."""
SortName = Literal["path", "title", "date", "modified", "indexed", "size", "passages"]


class DocSummary(Record, frozen=True, kw_only=True, tag="doc_summary.v1"):
    """One document of a list."""

    doc_id: str
    """The id of the document."""
    doc_path: str
    """The path of the document below its source, exactly as on disk."""
    source: str
    """The name of its source."""
    title: str
    """The title of the document."""
    media: str
    """The media type of the document."""
    lang: str | None
    """The language of the document; null when unknown."""
    tags: list[str]
    """The tags of the document."""
    size: int
    """The size of the file in bytes when it was indexed."""
    chunk_count: int
    """The number of passages."""
    modified_at: str
    """The modification time of the file, RFC 3339."""
    indexed_at: str
    """The time when it was indexed, RFC 3339."""
    freshness: Freshness
    """How the file on disk compares with what was indexed."""
    date: str | None = None
    """The date that the document has for itself, ISO 8601; null when only its file has one."""
    authors: list[str] = msgspec.field(default_factory=list)
    """The authors of the document."""
    aliases: list[str] = msgspec.field(default_factory=list)
    """Further names of the document."""
    no_passages: str | None = None
    """The reason why the document has no text, so that only its name finds it, e.g. `no text`; null
    when it has some."""
    partial: list[str] = msgspec.field(default_factory=list)
    """What of the document is not searched, and why; empty when all of it is."""


class DocLink(Struct, frozen=True, kw_only=True):
    """A link between two documents."""

    target: str | None
    """The link as the document writes it; null for the document that links."""
    doc_id: str | None
    """The id of the other document; null when no document has this name."""
    doc_path: str | None
    """The path of the other document below its source."""
    title: str | None
    """The title of the other document."""


class DocList(Reply, Hinted, frozen=True, kw_only=True, tag="doc_list.v1"):
    """A page of documents, in the order of the request."""

    documents: list[DocSummary]
    """The documents of this page."""
    total: int
    """The number of all documents."""
    offset: int
    """The number of documents before this page."""
    has_more: bool
    """Whether there are further documents."""
    corpus_revision: int
    """The revision of the index."""
    unmatched_filters: list[UnmatchedFilter] = msgspec.field(default_factory=list)
    """The filters that no document passes, alone or together; empty when there are documents."""
    hint: str | None = None
    """The command that leads on when a filter matches nothing; null without one."""
    counts: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    """With `counts` of the request, by filter the values and their numbers of documents: at most
    1,000, the most frequent first. `month` has the months of the dates, such as `2025-01`."""
    links: list[tuple[str, str]] = msgspec.field(default_factory=list)
    """With `links` of the request, the ids of two documents of which the first links to the
    second."""


class ChunkBrief(Struct, frozen=True, kw_only=True):
    """One passage of a document."""

    chunk_id: str
    """The id of the passage."""
    ordinal: int
    """The position in the document, from 0."""
    heading_path: list[str]
    """The headings that lead to the passage."""
    citation: Citation
    """The place of the passage in the file."""
    chars: int
    """The length in code points."""
    vector: VectorState
    """Whether the passage has a vector."""


class DocInspection(Reply, frozen=True, kw_only=True, tag="doc_inspection.v1"):
    """Everything that the library holds about a document."""

    document: DocSummary
    """The document."""
    file: str | None
    """The absolute path of the file; null for text from standard input."""
    content_hash: str
    """The hash of the file's bytes."""
    parser_version: str
    """The version of the parser."""
    chunker_version: str
    """The version of the chunker."""
    warnings: list[str]
    """Warnings about the file."""
    left_out: list[LeftOutText] = msgspec.field(default_factory=list)
    """The text of the file that is in no passage."""
    chunks: list[ChunkBrief]
    """The passages of the document."""
    links: list[DocLink] = msgspec.field(default_factory=list)
    """The links of the document to other files."""
    backlinks: list[DocLink] = msgspec.field(default_factory=list)
    """The documents that link to the document."""


class ChunkInspection(Reply, frozen=True, kw_only=True, tag="chunk_inspection.v1"):
    """Everything that the library holds about a passage."""

    chunk: ChunkBrief
    """The passage."""
    document: DocSummary
    """The document of the passage."""
    text: str
    """The text of the passage."""
    embed_text: str
    """The text that is embedded."""
    text_hash: str
    """The hash of the text."""
    embedding_version: str | None
    """The embedding version; null without a vector."""
    previous_chunk_id: str | None
    """The id of the previous passage; null for the first."""
    next_chunk_id: str | None
    """The id of the next passage; null for the last."""


FetchKind = Literal["chunk", "doc", "span", "section", "page", "slide", "cell"]


class FetchResult(Record, frozen=True, kw_only=True, tag="fetch_result.v1"):
    """Original text of the user's file.

    Lines are those of the file. For a format that is not cited by lines, such as PDF, they are
    lines of the extracted text.
    """

    kind: FetchKind
    """What was fetched: a passage, a whole document, lines, a section, pages, slides or cells."""
    doc_id: str
    """The id of the document."""
    doc_path: str
    """The path of the document below its source."""
    title: str
    """The title of the document."""
    chunk_id: str | None
    """The id of the requested passage; null without one."""
    text: str
    """The lines, with the requested context."""
    start_line: int
    """The first line of `text`, from 1."""
    end_line: int
    """The last line of `text`, inclusive."""
    line_count: int
    """The number of lines of the file, or of its extracted text."""
    citation: Citation
    """The place of the requested lines, without context."""
    freshness: Freshness
    """How the file compares with what was indexed."""
    truncated: bool
    """Whether a limit cut the text."""
    ref: str | UnsetType = UNSET
    """The reference as given."""
    file: str | UnsetType | None = UNSET
    """The absolute path of the file, null for text from standard input."""
    heading_path: list[str] | UnsetType = UNSET
    """The headings that lead to the place."""
    is_indexed_text: bool = False
    """Whether `text` and its lines are those that were indexed, because the file is gone or no
    longer contains the passage; `line_count` is that of the present file while there is one."""
    rest: str | None = None
    """The reference of the lines that a limit cut off; null when nothing is cut off."""
    places: list[FetchedPlace] | UnsetType = UNSET
    """The pages, slides, cells or rows of `text`, in order; only for formats that have them."""


class RemoveReport(Reply, frozen=True, kw_only=True, tag="remove_report.v1"):
    """The documents that `rm` removed from the index; files are never changed."""

    removed: list[DocSummary]
    """The removed documents."""
    chunks: int
    """The number of their passages."""
    returns: bool
    """Whether the next ingest adds them again, because their files still exist."""


class ListRequest(FilteredRequest["DocList"], frozen=True, kw_only=True, tag="list_request.v1"):
    """The documents to list. All filters must hold."""

    limit: Positive | None = 100
    """The maximum number of documents; null means all."""
    offset: Count = 0
    """The number of documents to skip."""
    sort: SortName = "path"
    """The order: by source and path, by title, by `date`, `modified` or `indexed` the newest first,
    by `size` or `passages` the largest first."""
    reverse: bool = False
    """Whether to reverse the order."""
    counts: bool = False
    """Whether to count the documents by the values of each filter. The other filters hold for the
    counts of one, so that they say what a further value adds."""
    links: bool = False
    """Whether to return the links between the documents of the page."""


class InspectDocRequest(
    LookupRequest["DocInspection"], frozen=True, kw_only=True, tag="inspect_doc_request.v1"
):
    """The document to show in full."""

    name: str
    """An id of a document, a unique prefix of one, or a path."""


class InspectChunkRequest(
    LookupRequest["ChunkInspection"], frozen=True, kw_only=True, tag="inspect_chunk_request.v1"
):
    """The passage to show in full."""

    name: str
    """The id of a passage, or a unique prefix of one."""


class RmRequest(LookupRequest["RemoveReport"], frozen=True, kw_only=True, tag="rm_request.v1"):
    """The documents to remove from the index; when one is not found, none is removed."""

    names: list[str]
    """Ids, unique prefixes of ids, or paths."""


FolderState = Literal["present", "empty", "gone"]


class SourceSummary(Struct, frozen=True, kw_only=True):
    """One source."""

    name: str
    """The name that the filter `source` takes."""
    folder: str
    """The absolute path of its folder."""
    kind: Literal["folder", "files", "stdin", "published"]
    """Whether the whole folder is read, only named files of it, or texts from standard input, or it
    is a published base, whose address is in `folder`."""
    state: FolderState
    """Whether the folder exists and has entries."""
    documents: int
    """The number of its documents."""
    chunks: int
    """The number of their passages."""
    last_ingest_at: str | None
    """The time when it was last read, RFC 3339; null when it never was."""
    address: str | None = None
    """The address in object storage whose objects are downloaded to the folder; else null."""


class SourceList(Reply, frozen=True, kw_only=True, tag="source_list.v1"):
    """Every source, by name."""

    sources: list[SourceSummary]
    """The sources."""
    workspace: str | None
    """The folder that `kebab ingest` reads in any case; null without one."""
    published: list[PublishedBase] = msgspec.field(default_factory=list)
    """The published bases that are searched too."""


class SourceRemoved(Reply, frozen=True, kw_only=True, tag="source_removed.v1"):
    """The source that `source rm` removed from the index; files are never changed."""

    source: SourceSummary
    """The source as it was."""
    dry_run: bool
    """Whether the command only planned."""
    returns: bool
    """Whether the next ingest adds it again, because it is the workspace."""


class SourceListRequest(
    Request["SourceList"], frozen=True, kw_only=True, tag="source_list_request.v1"
):
    """A request for every source."""


class SourceRmRequest(
    LookupRequest["SourceRemoved"], frozen=True, kw_only=True, tag="source_rm_request.v1"
):
    """The source to remove from the index with all of its documents."""

    name: str
    """The name of the source, the path of its folder, or the end of that path."""
    dry_run: bool = False
    """Whether to report only what would be removed."""
