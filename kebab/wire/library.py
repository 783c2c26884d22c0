"""Declares wire records: documents, passages, fetched lines, sources, related ones and copies."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from kebab.wire.coverage import LeftOutText
from kebab.wire.published import PublishedBase
from kebab.wire.record import (
    Citation,
    Count,
    FetchedPlace,
    Freshness,
    Hinted,
    LookupRequest,
    NotFound,
    Positive,
    Record,
    Reply,
    Request,
    VectorState,
)
from kebab.wire.search import MAX_LIMIT, DegradedChannel, FilteredRequest, Unit, UnmatchedFilter

SortName = Literal["path", "title", "date", "modified", "indexed", "size", "passages"]


class DocSummary(Record, frozen=True, kw_only=True, tag="doc_summary.v1"):
    """One document of a list."""

    doc_id: str
    doc_path: str
    source: str
    title: str
    media: str
    lang: str | None
    tags: list[str]
    size: int
    """The size of the file in bytes when it was indexed."""
    chunk_count: int
    modified_at: str
    """The modification time of the file, RFC 3339."""
    indexed_at: str
    freshness: Freshness
    date: str | None = None
    """The date that the document has for itself, ISO 8601; null when only its file has one."""
    authors: list[str] = msgspec.field(default_factory=list)
    aliases: list[str] = msgspec.field(default_factory=list)
    """Further names of the document."""
    no_passages: str | None = None
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
    offset: int
    """The number of documents before this page."""
    has_more: bool
    corpus_revision: int
    unmatched_filters: list[UnmatchedFilter] = msgspec.field(default_factory=list)
    hint: str | None = None
    counts: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    """With `counts` of the request, by filter the values and their numbers of documents: at most
    1,000, the most frequent first. `month` has the months of the dates, such as `2025-01`."""
    links: list[tuple[str, str]] = msgspec.field(default_factory=list)
    """With `links` of the request, the ids of two documents of which the first links to the
    second."""


class ChunkBrief(Struct, frozen=True, kw_only=True):
    """One passage of a document."""

    chunk_id: str
    ordinal: int
    """The position in the document, from 0."""
    heading_path: list[str]
    citation: Citation
    chars: int
    """The length in code points."""
    vector: VectorState


class DocInspection(Reply, frozen=True, kw_only=True, tag="doc_inspection.v1"):
    """Everything that the library holds about a document."""

    document: DocSummary
    file: str | None
    content_hash: str
    """The hash of the file's bytes."""
    parser_version: str
    chunker_version: str
    warnings: list[str]
    left_out: list[LeftOutText] = msgspec.field(default_factory=list)
    chunks: list[ChunkBrief]
    """The passages of the document."""
    links: list[DocLink] = msgspec.field(default_factory=list)
    backlinks: list[DocLink] = msgspec.field(default_factory=list)


class ChunkInspection(Reply, frozen=True, kw_only=True, tag="chunk_inspection.v1"):
    """Everything that the library holds about a passage."""

    chunk: ChunkBrief
    document: DocSummary
    text: str
    embed_text: str
    text_hash: str
    embedding_version: str | None
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
    doc_path: str
    title: str
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
    truncated: bool
    """Whether a limit cut the text."""
    ref: str | UnsetType = UNSET
    file: str | UnsetType | None = UNSET
    heading_path: list[str] | UnsetType = UNSET
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
    chunks: int
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
    chunks: int
    last_ingest_at: str | None
    """The time when it was last read, RFC 3339; null when it never was."""
    address: str | None = None
    """The address in object storage whose objects are downloaded to the folder; else null."""


class SourceList(Reply, frozen=True, kw_only=True, tag="source_list.v1"):
    """Every source, by name."""

    sources: list[SourceSummary]
    workspace: str | None
    """The folder that `kebab ingest` reads in any case; null without one."""
    published: list[PublishedBase] = msgspec.field(default_factory=list)


class SourceRemoved(Reply, frozen=True, kw_only=True, tag="source_removed.v1"):
    """The source that `source rm` removed from the index; files are never changed."""

    source: SourceSummary
    """The source as it was."""
    dry_run: bool
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


class MatchedPassage(Struct, frozen=True, kw_only=True):
    """One passage of a pair."""

    chunk_id: str
    heading_path: list[str]
    citation: Citation


class PassagePair(Struct, frozen=True, kw_only=True):
    """The two most similar passages of two documents."""

    asked: MatchedPassage
    """The passage of the given document."""
    found: MatchedPassage
    """The passage of the related document."""
    snippet: str
    """A part of the original text of the related document."""
    highlights: list[tuple[int, int]]
    """Shared keywords as [start, end) code points of `snippet`."""
    cosine: float | None
    """The cosine of both passages; null when only words could be compared."""


class RelatedDoc(Record, frozen=True, kw_only=True, tag="related_doc.v1"):
    """One related document."""

    rank: Positive
    score: Unit
    """The similarity; comparable within one response."""
    vector_score: Unit | None
    """The similarity by vectors; null when one of the documents has none."""
    lexical_score: Unit | None
    """The similarity by keywords; null when the documents share none."""
    doc_id: str
    doc_path: str
    file: str | None
    source: str
    title: str
    tags: list[str]
    lang: str | None
    media: str
    indexed_at: str
    freshness: Freshness
    pair: PassagePair


class RelatedDocs(Reply, frozen=True, kw_only=True, tag="related_docs.v1"):
    """The documents that are most similar to a document."""

    document: DocSummary
    related: list[RelatedDoc]
    """The related documents, the most similar first."""
    degraded: list[DegradedChannel]
    corpus_revision: int
    timing_ms: float
    unmatched_filters: list[UnmatchedFilter] = msgspec.field(default_factory=list)
    links: list[DocLink] = msgspec.field(default_factory=list)
    backlinks: list[DocLink] = msgspec.field(default_factory=list)


class RelatedRequest(
    FilteredRequest[RelatedDocs | NotFound], frozen=True, kw_only=True, tag="related_request.v1"
):
    """The document to compare. All filters must hold for a related document."""

    name: str
    """An id of a document, a unique prefix of one, or a path."""
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT)] = 10
    """The maximum number of related documents."""


GroupUnit = Literal["document", "passage"]


class DuplicateMember(Struct, frozen=True, kw_only=True):
    """One document or passage of a group."""

    similarity: Unit
    """The similarity to the first member: the Jaccard index of their word triples."""
    exact: bool
    """Whether it equals the first member in every byte (document) or character (passage)."""
    doc_id: str
    doc_path: str
    file: str | None
    source: str
    title: str
    chunk_id: str | None
    """The id of the passage; null when the whole document is a duplicate."""
    heading_path: list[str]
    """The headings that lead to the passage; empty for a document."""
    citation: Citation
    """The place in the file; for a document from its first passage to its last."""
    freshness: Freshness


class DuplicateGroup(Record, frozen=True, kw_only=True, tag="duplicate_group.v1"):
    """Documents or passages that are similar to the first one."""

    unit: GroupUnit
    """Whether the members are documents or passages."""
    kind: Literal["exact", "near"]
    """Whether all members equal the first one."""
    similarity: Unit
    """The lowest similarity of a member to the first one."""
    snippet: str
    """The beginning of the first member."""
    members: list[DuplicateMember]
    """At least two members, ordered by source and path."""


class Duplicates(Reply, frozen=True, kw_only=True, tag="duplicates.v1"):
    """Groups of copies: documents before passages, the most similar first."""

    threshold: Unit
    """The lowest similarity of near copies; 1 when only exact copies were requested."""
    exact: bool
    """Whether only exact copies were requested."""
    groups: list[DuplicateGroup]
    """The first groups, without passages that repeat because their documents do."""
    total: Count
    has_more: bool
    """Whether `limit` left out groups."""
    compared: Count
    corpus_revision: int
    timing_ms: float


class DupesRequest(
    FilteredRequest["Duplicates"], frozen=True, kw_only=True, tag="dupes_request.v1"
):
    """The copies to find. All filters must hold for what is compared."""

    threshold: Annotated[float, Meta(ge=0.5, le=1)] = 0.7
    """The lowest similarity of near copies."""
    exact: bool = False
    """Whether to find only exact copies; `threshold` is ignored then."""
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT)] = 20
    """The maximum number of groups."""
