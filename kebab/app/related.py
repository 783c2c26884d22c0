"""Finds the nearest documents of a document."""

from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.app.conversions import build_file_path, check_freshness, cite_lines
from kebab.app.library import build_not_found, find_document_id, to_doc_summary
from kebab.app.search import build_filters
from kebab.app.timestamps import format_timestamp
from kebab.core.documents import EMBEDDING_VERSION
from kebab.search.document_similarity import VectorSpace
from kebab.search.related import PassagePair, RelatedDocument, RelatedFinder
from kebab.wire.library import NotFound
from kebab.wire.related import MatchedPassage, PassagePair, RelatedDoc, RelatedDocs, RelatedRequest

if TYPE_CHECKING:
    from kebab.core.queries import StoredChunk
    from kebab.store.sqlite.reader import SqliteReader
    from kebab.wire.search import DegradedChannel


def find_related(context: AppContext, request: RelatedRequest) -> RelatedDocs | NotFound:
    """Return the nearest documents.

    The stored vectors are compared with each other, so neither a model nor the settings that name
    one matter.

    Raises:
        InvalidInput: A filter is not valid UTF-8, or a date cannot be read.
        NotIndexed: There is no index.
    """
    filters = build_filters(request, context.clock.now())
    started = context.clock.monotonic()
    with context.open_reader() as reader:
        catalogue = context.build_catalogue(reader)
        found = find_document_id(catalogue, request.name)
        if isinstance(found, NotFound):
            return found
        detail = catalogue.document(found)
        if detail is None:
            return build_not_found(request.name, "document")
        near: list[RelatedDocument] = []
        lost: tuple[DegradedChannel, ...] = ()
        if detail.chunks:
            around = RelatedFinder(reader, detail.chunks, _space(context, reader))
            near, lost = around.nearest(request.limit, filters), around.degraded
        revision = reader.revision()
    return RelatedDocs(
        document=to_doc_summary(detail.summary),
        related=[_related(rank, one) for rank, one in enumerate(near, start=1)],
        degraded=list(lost),
        corpus_revision=revision,
        timing_ms=(context.clock.monotonic() - started) * 1000,
    )


def _space(context: AppContext, reader: "SqliteReader") -> VectorSpace | None:
    version = reader.get_value(EMBEDDING_VERSION)
    if version is None:
        return None
    return VectorSpace(vectors=context.open_vector_index(version), scale=context.find_profile(version).cosine_scale)


def _related(rank: int, one: RelatedDocument) -> RelatedDoc:
    chunk = one.pair.other
    return RelatedDoc(
        rank=rank,
        score=one.score,
        vector_score=one.meaning,
        lexical_score=one.words,
        doc_id=chunk.doc_id,
        doc_path=chunk.path,
        file=build_file_path(chunk.source, chunk.root, chunk.path),
        source=chunk.source,
        title=chunk.title,
        tags=list(chunk.tags),
        lang=chunk.lang,
        media=chunk.media,
        indexed_at=format_timestamp(chunk.indexed_at),
        freshness=check_freshness(chunk.root, chunk.path, chunk.size, chunk.mtime_ns),
        pair=_pair(one.pair),
        terms=list(one.terms),
    )


def _pair(pair: PassagePair) -> PassagePair:
    return PassagePair(
        asked=_passage(pair.own),
        found=_passage(pair.other),
        snippet=pair.snippet.text,
        highlights=list(pair.snippet.highlights),
        cosine=pair.cosine,
    )


def _passage(chunk: "StoredChunk") -> MatchedPassage:
    return MatchedPassage(
        chunk_id=chunk.chunk_id,
        heading_path=list(chunk.heading_path),
        citation=cite_lines(chunk.path, chunk.start_line, chunk.end_line),
    )
