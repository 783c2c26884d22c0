"""Finds the documents that are most similar to a document."""

from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.app.conversions import check_freshness, to_doc_summary
from kebab.app.filters import explain_filters, resolve_filters
from kebab.app.indexing import explain_degraded, read_indexing
from kebab.app.library import find_document
from kebab.app.links import describe_backlinks, describe_links
from kebab.app.search import build_filters
from kebab.app.timestamps import format_timestamp
from kebab.core.documents import EMBEDDING_VERSION
from kebab.embed.registry import find_model
from kebab.search.citations import build_file_path, cite_chunk
from kebab.search.related import PassagePair as FoundPair
from kebab.search.related import RelatedDocument, RelatedFinder, VectorSpace
from kebab.wire.library import NotFound
from kebab.wire.related import MatchedPassage, PassagePair, RelatedDoc, RelatedDocs, RelatedRequest

if TYPE_CHECKING:
    from kebab.core.queries import StoredChunk
    from kebab.store.sqlite.reader import SqliteReader
    from kebab.wire.search import DegradedChannel


def find_related(context: AppContext, request: RelatedRequest) -> RelatedDocs | NotFound:
    """Return the nearest documents.

    Stored vectors are compared with each other, so no model is loaded and the model that the
    settings name does not matter.

    Raises:
        InvalidInput: A filter is not valid UTF-8, or a date cannot be read.
        NotIndexed: There is no index.
    """
    filters = build_filters(request, context.clock.now())
    started = context.clock.monotonic()
    with context.open_reader() as reader:
        filters = resolve_filters(context, reader, filters)
        document = find_document(context.build_catalogue(reader), request.name)
        if isinstance(document, NotFound):
            return document
        nearest: list[RelatedDocument] = []
        degraded: tuple[DegradedChannel, ...] = ()
        if document.chunks:
            finder = RelatedFinder(reader, document.chunks, _open_vector_space(context, reader))
            nearest, degraded = finder.find(request.limit, filters), finder.degraded
        catalogue, doc_id = context.build_catalogue(reader), document.summary.doc_id
        links, backlinks = describe_links(catalogue, doc_id), describe_backlinks(catalogue, doc_id)
        missed = filters.is_active and not nearest
        unmatched = explain_filters(context, reader, filters, request) if missed else []
        revision = reader.get_revision()
    return RelatedDocs(
        document=to_doc_summary(document.summary),
        related=[_to_related_doc(rank, found) for rank, found in enumerate(nearest, start=1)],
        degraded=explain_degraded(degraded, read_indexing(context)),
        corpus_revision=revision,
        timing_ms=(context.clock.monotonic() - started) * 1000,
        unmatched_filters=unmatched,
        links=links,
        backlinks=backlinks,
    )


def _open_vector_space(context: AppContext, reader: "SqliteReader") -> VectorSpace | None:
    version = reader.get_value(EMBEDDING_VERSION)
    if version is None:
        return None
    scale = find_model(version).cosine_scale
    return VectorSpace(vectors=context.open_vector_index(version), scale=scale)


def _to_related_doc(rank: int, found: RelatedDocument) -> RelatedDoc:
    chunk = found.pair.other
    return RelatedDoc(
        rank=rank,
        score=found.score,
        vector_score=found.vector_score,
        lexical_score=found.lexical_score,
        doc_id=chunk.doc_id,
        doc_path=chunk.path,
        file=build_file_path(chunk),
        source=chunk.source,
        title=chunk.title,
        tags=list(chunk.tags),
        lang=chunk.lang,
        media=chunk.media,
        indexed_at=format_timestamp(chunk.indexed_at),
        freshness=check_freshness(chunk),
        pair=_to_pair(found.pair),
        terms=list(found.shared_words),
    )


def _to_pair(pair: FoundPair) -> PassagePair:
    return PassagePair(
        asked=_to_matched_passage(pair.own),
        found=_to_matched_passage(pair.other),
        snippet=pair.snippet.text,
        highlights=list(pair.snippet.highlights),
        cosine=pair.cosine,
    )


def _to_matched_passage(chunk: "StoredChunk") -> MatchedPassage:
    return MatchedPassage(
        chunk_id=chunk.chunk_id,
        heading_path=list(chunk.heading_path),
        citation=cite_chunk(chunk),
    )
