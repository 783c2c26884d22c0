"""Lists, inspects, compares and removes documents, and lists and removes sources."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from kebab.app.context import AppContext
from kebab.app.filters import build_filters, explain_filters, resolve_filters, suggest_nearest
from kebab.app.published import describe_base, remove_base
from kebab.app.references import ReferenceFinder, build_lookup_fault, build_not_found, make_absolute
from kebab.core.chunks import ChunkId, CosineScale, DocId, build_embed_text
from kebab.core.documents import (
    EMBEDDING_VERSION,
    PUBLISHED_ROOT,
    STDIN,
    AmbiguousName,
    DocumentOrder,
    FileStamp,
    Link,
    SourceCounts,
    StoredDocument,
    build_last_scan_key,
    build_named_files_key,
    check_freshness,
    find_emptiness,
    is_cut,
)
from kebab.core.files import join_root, list_containers, resolve_links
from kebab.core.progress import ProgressCallback
from kebab.core.queries import StoredChunk
from kebab.core.spelling import find_nearest
from kebab.errors.catalog import NotIndexed
from kebab.errors.system import escape_undecodable
from kebab.search.citations import build_file_path, cite_chunk
from kebab.wire.coverage import LeftOutText
from kebab.wire.library import (
    ChunkBrief,
    ChunkInspection,
    DocInspection,
    DocLink,
    DocList,
    DocSummary,
    DupesRequest,
    DuplicateGroup,
    DuplicateMember,
    Duplicates,
    FolderState,
    InspectChunkRequest,
    InspectDocRequest,
    ListRequest,
    MatchedPassage,
    PassagePair,
    RelatedDoc,
    RelatedDocs,
    RelatedRequest,
    RemoveReport,
    RmRequest,
    SourceList,
    SourceListRequest,
    SourceRemoved,
    SourceRmRequest,
    SourceSummary,
)
from kebab.wire.record import NotFound, fill_record, format_timestamp

if TYPE_CHECKING:
    from kebab.search.duplicates import Group
    from kebab.search.related import RelatedDocument
    from kebab.store.sqlite.catalogue import Catalogue
    from kebab.store.sqlite.reader import SqliteReader
    from kebab.wire.search import DegradedChannel


def list_documents(context: AppContext, request: ListRequest) -> DocList:
    """Return a part of the list of documents.

    Raises:
        InvalidInput: A filter is not valid UTF-8, or a date cannot be read.
        NotIndexed: There is no index.
    """
    filters = build_filters(request, context.clock.now())
    with context.open_reader() as reader:
        filters = resolve_filters(context, reader, filters)
        catalogue = context.build_catalogue(reader)
        listing = catalogue.list_documents(
            filters,
            limit=-1 if request.limit is None else request.limit,
            offset=request.offset,
            order=DocumentOrder(request.sort, reverse=request.reverse),
        )
        revision = reader.get_revision()
        unmatched = [] if listing.total else explain_filters(context, reader, filters, request)
        counts = catalogue.count_values(filters) if request.counts else {}
        shown = {document.doc_id for document in listing.documents}
        links = list_linked_pairs(catalogue, shown) if request.links else []
    return DocList(
        documents=[to_doc_summary(document) for document in listing.documents],
        total=listing.total,
        offset=request.offset,
        has_more=request.offset + len(listing.documents) < listing.total,
        corpus_revision=revision,
        unmatched_filters=unmatched,
        hint=suggest_nearest(["kebab", "list"], request, unmatched),
        counts=counts,
        links=links,
    )


def describe_backlinks(catalogue: "Catalogue", doc_id: DocId) -> list[DocLink]:
    """Return the documents that link to a document, by source and path."""
    from kebab.text.names import LinkResolver, list_link_keys

    targets = catalogue.list_link_targets()
    own = next((one for one in targets if one.doc_id == doc_id), None)
    links = catalogue.list_links(keys=list_link_keys(own)) if own else []
    resolver = LinkResolver(targets) if links else None
    found = [
        link.doc_id
        for link in links
        if link.doc_id != doc_id and resolver is not None and resolver.resolve(link) == doc_id
    ]
    return [_describe_link(catalogue, linking) for linking in dict.fromkeys(found)]


def describe_links(catalogue: "Catalogue", doc_id: DocId) -> list[DocLink]:
    """Return the links of a document; one without a document has no id."""
    from kebab.text.names import LinkResolver

    links = catalogue.list_links(doc_id)
    resolver = LinkResolver(catalogue.list_link_targets() if links else ())
    return [_describe_link(catalogue, resolver.resolve(link), link) for link in links]


def list_linked_pairs(catalogue: "Catalogue", doc_ids: Collection[DocId]) -> list[tuple[str, str]]:
    """Return the pairs of these documents of which the first links to the second."""
    from kebab.text.names import LinkResolver

    resolver = LinkResolver(catalogue.list_link_targets())
    pairs = {(link.doc_id, resolver.resolve(link)) for link in catalogue.list_links()}
    return sorted((a, b) for a, b in pairs if b and a != b and a in doc_ids and b in doc_ids)


def _describe_link(
    catalogue: "Catalogue", doc_id: DocId | None, link: Link | None = None
) -> DocLink:
    target = link.target if link else None
    found = catalogue.load_summary(doc_id) if doc_id else None
    if found is None:
        return DocLink(target=target, doc_id=None, doc_path=None, title=None)
    return DocLink(target=target, doc_id=found.doc_id, doc_path=found.path, title=found.title)


_NANO = 1_000_000_000


def to_doc_summary(document: StoredDocument) -> DocSummary:
    """Convert a document, and compare its file with the disk."""
    said = document.warnings
    return fill_record(
        DocSummary,
        document,
        doc_path=document.path,
        chunk_count=document.chunks,
        modified_at=format_timestamp(document.mtime_ns / _NANO),
        indexed_at=format_timestamp(document.indexed_at),
        freshness=check_freshness(document),
        no_passages=find_emptiness(said) or (None if document.chunks else "not recorded"),
        partial=[*filter(is_cut, said)],
    )


def inspect_doc(context: AppContext, request: InspectDocRequest) -> DocInspection | NotFound:
    """Return everything that the library holds about a document."""
    with context.open_catalogue() as catalogue:
        found = ReferenceFinder(catalogue, chunks=False).find_document(request.name)
        if isinstance(found, NotFound):
            from kebab.app.ingest import explain_absence

            return explain_absence(context, request.name, catalogue.list_sources(), found)
        links = describe_links(catalogue, found.summary.doc_id)
        backlinks = describe_backlinks(catalogue, found.summary.doc_id)
    return DocInspection(
        document=to_doc_summary(found.summary),
        file=build_file_path(found.summary),
        content_hash=found.content_hash,
        parser_version=found.parser_version,
        chunker_version=found.chunker_version,
        warnings=list(found.summary.warnings),
        left_out=[
            LeftOutText(reason=one.reason, documents=1, words=one.words) for one in found.omissions
        ],
        chunks=[_to_brief(chunk) for chunk in found.chunks],
        links=links,
        backlinks=backlinks,
    )


def inspect_chunk(context: AppContext, request: InspectChunkRequest) -> ChunkInspection | NotFound:
    """Return everything that the library holds about a passage."""
    name = escape_undecodable(request.name)
    with context.open_catalogue() as catalogue:
        found = catalogue.resolve_chunk(name)
        detail = catalogue.load_chunk(ChunkId(found)) if isinstance(found, str) else None
        document = catalogue.load_summary(detail.chunk.doc_id) if detail else None
    if detail is None or document is None:
        return build_not_found(name, "passage", found if isinstance(found, AmbiguousName) else None)
    chunk = detail.chunk
    return ChunkInspection(
        chunk=_to_brief(chunk),
        document=to_doc_summary(document),
        text=chunk.text,
        embed_text=build_embed_text(chunk.title, chunk.heading_path, chunk.text, chunk.context),
        text_hash=detail.text_hash,
        embedding_version=chunk.embedding_version,
        previous_chunk_id=detail.previous,
        next_chunk_id=detail.following,
    )


def remove_documents(context: AppContext, request: RmRequest) -> RemoveReport | NotFound:
    """Remove documents from the index; when one is not found, none is removed."""
    context.refuse_when_read_only("rm")
    with context.open_catalogue() as catalogue:
        found = [find_document_id(catalogue, name) for name in request.names]
        if missing := next((reply for reply in found if isinstance(reply, NotFound)), None):
            return missing
        named = [doc for doc in dict.fromkeys(found) if not isinstance(doc, NotFound)]
        documents = [row for row in map(catalogue.load_summary, named) if row is not None]
    with context.open_writer("rm") as library:
        ids = set(named)
        for one in documents:
            members = library.load_known_documents(one.source, [f"{one.path}!"])
            ids |= {  # beside the file there may be a folder with the name of its members
                member.doc_id
                for path, member in members.items()
                if not os.path.isfile(join_root(one.root, path))  # noqa: PTH113 - a plain string
            }
            # The next ingest opens the container of a removed member again.
            paths = list_containers(one.path)
            known = library.load_known_documents(one.source, paths)
            for container in (known[path] for path in paths if path in known):
                stamp = FileStamp(size=container.size, mtime_ns=container.mtime_ns, inode=0)
                library.update_stamp(container.doc_id, stamp)
        chunks = library.remove_documents(sorted(ids))
    for document in documents:
        if document.source == STDIN:
            Path(document.root, document.path).unlink(missing_ok=True)
    removed = [to_doc_summary(document) for document in documents]
    returns = any(document.freshness != "gone" for document in removed)
    return RemoveReport(removed=removed, chunks=chunks, returns=returns)


def _to_brief(chunk: StoredChunk) -> ChunkBrief:
    return ChunkBrief(
        chunk_id=chunk.chunk_id,
        ordinal=chunk.ordinal,
        heading_path=list(chunk.heading_path),
        citation=cite_chunk(chunk),
        chars=len(chunk.text),
        vector=chunk.vector_state,
    )


def find_document_id(catalogue: "Catalogue", name: str) -> DocId | NotFound:
    """Return the document of an id, the start of an id, or a whole path; similar names count not.

    This is the lookup of commands that delete.
    """
    name = escape_undecodable(name)
    found = catalogue.resolve_document(name) or catalogue.resolve_document(make_absolute(name))
    if isinstance(found, str):
        return found
    if found:
        return build_not_found(name, "document", found)
    return ReferenceFinder(catalogue, chunks=False).suggest(name)


def list_sources(context: AppContext, _request: SourceListRequest) -> SourceList:
    """Return every source.

    Raises:
        NotIndexed: There is no index.
    """
    published = [describe_base(one) for one in context.bases.load().values()]
    try:
        with context.open_reader() as reader:
            found = context.build_catalogue(reader).count_sources()
            sources = [_summarize(one, reader) for one in found]
    except NotIndexed as signal:
        if not published or signal.found:
            raise
        sources = []
    return SourceList(sources=sources, workspace=_find_workspace(context), published=published)


def remove_source(context: AppContext, request: SourceRmRequest) -> SourceRemoved | NotFound:
    """Remove a source with its documents; a dry run only says what would be removed.

    Raises:
        ReadOnly: Writing is switched off.
        NotIndexed: There is no index.
    """
    if not request.dry_run:
        context.refuse_when_read_only("source rm")
    if base := context.bases.load().get(request.name):
        return remove_base(context, base, dry_run=request.dry_run)
    with context.open_reader() as reader:
        found = _find_source(context, reader, request.name)
        if isinstance(found, NotFound):
            return found
        summary = _summarize(found, reader)
    removed = SourceRemoved(
        source=summary,
        dry_run=request.dry_run,
        returns=summary.kind == "folder" and summary.folder == _find_workspace(context),
    )
    if request.dry_run:
        return removed
    name, folder = summary.name, summary.folder
    with context.open_writer("source rm") as library:
        if summary.address:
            from kebab.app.object_sources import ObjectMirror

            ObjectMirror(Path(folder).parents[1], summary.address).remove()
        paths = list(library.load_known_documents(name)) if name == STDIN else []
        chunks = library.remove_source(name)
        for key in (build_last_scan_key(name), build_named_files_key(name)):
            library.set_value(key, None)
    for path in paths:  # the texts that kebab stored
        Path(folder, path).unlink(missing_ok=True)
    return structs.replace(removed, source=structs.replace(summary, chunks=chunks))


def _find_source(context: AppContext, reader: "SqliteReader", name: str) -> SourceCounts | NotFound:
    """Return the source of a name, of a path, or of the end of a path."""
    # Filters need most of search, and a list of sources does not.
    from kebab.app.filters import resolve_source_names

    values = context.build_catalogue(reader)
    sources = {one.source.name: one for one in values.count_sources()}
    name = escape_undecodable(name)
    names = resolve_source_names(name, [one.source for one in sources.values()])
    if len(names) > 1:
        return build_not_found(name, "source", AmbiguousName(tuple(names)))
    if names[0] in sources:
        return sources[names[0]]
    ends = {Path(one).name: one for one in sources}
    near = [ends[end] for end in find_nearest(Path(name).name, ends)]
    return build_lookup_fault(name, f"no such source: {name}", near)


def _summarize(counts: SourceCounts, reader: "SqliteReader") -> SourceSummary:
    from kebab.app.coverage import find_mirror

    source = counts.source
    scanned = int(reader.get_value(build_last_scan_key(source.name)) or 0) / 1e9
    last = max(scanned, counts.last_indexed or 0.0)
    mirror = find_mirror(source.root)
    return SourceSummary(
        name=source.name,
        folder=source.root,
        kind=source.kind,
        state=check_folder(source.root),
        documents=counts.documents,
        chunks=counts.chunks,
        last_ingest_at=format_timestamp(last) if last else None,
        address=mirror.address if mirror else None,
    )


def check_folder(folder: str) -> FolderState:
    """Return whether a folder exists and has entries."""
    if folder.startswith(PUBLISHED_ROOT):
        return "present"
    try:
        with os.scandir(folder) as entries:
            return "present" if next(entries, None) else "empty"
    except (FileNotFoundError, NotADirectoryError):
        return "gone"
    except OSError:  # it exists and cannot be listed
        return "present"


def list_lost_sources(context: AppContext) -> list[SourceCounts]:
    """Return the sources whose folder is gone, or empty although it had documents."""
    with context.open_catalogue() as catalogue:
        found = [one for one in catalogue.count_sources() if one.source.kind != "stdin"]
    states = [check_folder(one.source.root) for one in found]
    return [
        one
        for one, state in zip(found, states, strict=True)
        if state == "gone" or (state == "empty" and one.documents)
    ]


def _find_workspace(context: AppContext) -> str | None:
    workspace = context.settings.workspace
    return resolve_links(os.path.expanduser(workspace)) if workspace else None  # noqa: PTH111 - as ingest resolves it


def find_related(context: AppContext, request: RelatedRequest) -> RelatedDocs | NotFound:
    """Return the nearest documents.

    Stored vectors are compared with each other, so no model is loaded and the model that the
    settings name does not matter.

    Raises:
        InvalidInput: A filter is not valid UTF-8, or a date cannot be read.
        NotIndexed: There is no index.
    """
    # A list of documents needs none of these.
    from kebab.app.coverage import explain_degraded, find_indexing
    from kebab.search.related import RelatedFinder, VectorSpace

    filters = build_filters(request, context.clock.now())
    started = context.clock.monotonic()
    with context.open_reader() as reader:
        filters = resolve_filters(context, reader, filters)
        catalogue = context.build_catalogue(reader)
        document = ReferenceFinder(catalogue, chunks=False).find_document(request.name)
        if isinstance(document, NotFound):
            return document
        nearest: list[RelatedDocument] = []
        degraded: tuple[DegradedChannel, ...] = ()
        if document.chunks:
            space: VectorSpace | None = None
            version = reader.get_value(EMBEDDING_VERSION)
            model = context.embedders.find_version(version) if version else None
            if version is not None:
                space = VectorSpace(
                    vectors=context.open_vector_index(version).load_index,
                    scale=model.cosine_scale if model else CosineScale(0.0, 1.0),
                    load_axes=model.load_language_axes if model else lambda: None,
                )
            finder = RelatedFinder(reader, document.chunks, space)
            nearest, degraded = finder.find(request.limit, filters), finder.degraded
        doc_id = document.summary.doc_id
        links, backlinks = describe_links(catalogue, doc_id), describe_backlinks(catalogue, doc_id)
        unmatched = [] if nearest else explain_filters(context, reader, filters, request)
        revision = reader.get_revision()
    return RelatedDocs(
        document=to_doc_summary(document.summary),
        related=[_to_related_doc(rank, found) for rank, found in enumerate(nearest, start=1)],
        degraded=explain_degraded(
            degraded, find_indexing(context), published=context.published is not None
        ),
        corpus_revision=revision,
        timing_ms=(context.clock.monotonic() - started) * 1000,
        unmatched_filters=unmatched,
        links=links,
        backlinks=backlinks,
    )


def _to_related_doc(rank: int, found: "RelatedDocument") -> RelatedDoc:
    chunk = found.other
    return fill_record(
        RelatedDoc,
        found,
        chunk,
        rank=rank,
        doc_path=chunk.path,
        file=build_file_path(chunk),
        indexed_at=format_timestamp(chunk.indexed_at),
        freshness=check_freshness(chunk),
        pair=PassagePair(
            asked=_to_matched_passage(found.own),
            found=_to_matched_passage(chunk),
            snippet=found.snippet.text,
            highlights=list(found.snippet.highlights),
            cosine=found.cosine,
        ),
    )


def _to_matched_passage(chunk: "StoredChunk") -> MatchedPassage:
    return fill_record(MatchedPassage, chunk, citation=cite_chunk(chunk))


_SNIPPET_CHARS = 160


def find_duplicates(
    context: AppContext, request: DupesRequest, report: ProgressCallback
) -> Duplicates:
    """Return the first groups of copies.

    Raises:
        InvalidInput: A filter is not valid UTF-8, or a date cannot be read.
        NotIndexed: There is no index.
    """
    from kebab.search import duplicates

    filters = build_filters(request, context.clock.now())
    started = context.clock.monotonic()
    with context.open_reader() as reader:
        filters = resolve_filters(context, reader, filters)
        revision = reader.get_revision()
        groups, compared = duplicates.find_duplicates(
            reader, request.threshold, filters, exact=request.exact, report=report
        )
        shown = [_to_group(reader, group) for group in groups[: request.limit]]
    return Duplicates(
        threshold=1.0 if request.exact else request.threshold,
        exact=request.exact,
        groups=shown,
        total=len(groups),
        has_more=len(shown) < len(groups),
        compared=compared,
        corpus_revision=revision,
        timing_ms=(context.clock.monotonic() - started) * 1000,
    )


def _to_group(library: "SqliteReader", group: "Group") -> DuplicateGroup:
    from kebab.search.snippet import cut_snippet

    ends = {key for item in group.items for key in (item.keys[0], item.keys[-1])}
    chunks = {chunk.key: chunk for chunk in library.load_chunks(sorted(ends))}
    whole, members = group.unit == "document", []
    for number, item in enumerate(group.items):
        first, last = chunks[item.keys[0]], chunks[item.keys[-1]]
        member = fill_record(
            DuplicateMember,
            first,
            similarity=group.similarities[number],
            exact=group.is_equal(number),
            doc_path=first.path,
            file=build_file_path(first),
            chunk_id=None if whole else first.chunk_id,
            heading_path=[] if whole else list(first.heading_path),
            citation=cite_chunk(first, last=last.end_line),
            freshness=check_freshness(first),
        )
        members.append(member)
    return DuplicateGroup(
        unit=group.unit,
        kind="exact" if group.exact else "near",
        similarity=group.similarity,
        snippet=cut_snippet(chunks[group.items[0].keys[0]].text, {}, _SNIPPET_CHARS).text,
        members=members,
    )
