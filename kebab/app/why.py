"""Explains why a search finds a document or loses it."""

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

from msgspec import structs

from kebab.app.context import AppContext
from kebab.app.conversions import to_doc_summary, to_filter_value
from kebab.app.filters import resolve_filters, suggest_command
from kebab.app.indexing import explain_degraded, read_indexing
from kebab.app.library import find_chunk, find_document
from kebab.app.search import build_query, prepare_vector_search
from kebab.search.citations import cite_chunk
from kebab.search.explain import (
    BrokenCondition,
    DocumentExplanation,
    Explainer,
    PassageExplanation,
    build_verdict,
)
from kebab.search.query_parser import Phrase, list_active_filters
from kebab.search.vector import VectorRetriever
from kebab.wire.record import NotFound
from kebab.wire.related import (
    Barrier,
    Explanation,
    FilterName,
    FilterReading,
    PassageAccount,
    PhraseReading,
    QueryReading,
    WhyRequest,
)

if TYPE_CHECKING:
    from kebab.core.documents import StoredDocument
    from kebab.core.queries import Filters, StoredChunk
    from kebab.store.sqlite.catalogue import Catalogue

_Subject: TypeAlias = "tuple[StoredDocument, list[StoredChunk]]"


def explain_search(context: AppContext, request: WhyRequest) -> Explanation | NotFound:
    """Explain what a search finds of a document, or of one of its passages.

    Raises:
        InvalidInput: The query is empty or not valid UTF-8, or a date cannot be read.
        NotIndexed: There is no index.
        EmbeddingUnavailable: The mode needs vectors, and there are none.
        EmbeddingMismatch: The mode needs vectors, and the settings name another model.
    """
    query = build_query(request.search, context.clock.now())
    with context.open_reader() as reader:
        query = replace(query, filters=resolve_filters(context, reader, query.filters))
        subject = _find_subject(context.build_catalogue(reader), request.name)
        if isinstance(subject, NotFound):
            return subject
        document, passages = subject
        vectors, embedder = prepare_vector_search(context, reader)
        channel = VectorRetriever(
            library=reader, vectors=vectors, embedder=embedder, cache=context.cache
        )
        explained = Explainer(reader, channel).explain(query, passages)
    degraded = explain_degraded(explained.degraded, read_indexing(context))
    explained = structs.replace(explained, degraded=tuple(degraded))
    verdict, best = build_verdict(explained, query), explained.best
    return Explanation(
        query=request.search.query,
        mode=request.search.mode,
        limit=request.search.limit,
        document=to_doc_summary(document),
        found=verdict.kind == "found",
        rank=best.hit_rank if best and not explained.removed else None,
        verdict=verdict.kind,
        message=verdict.text,
        hint=suggest_command(verdict.remedy, explained, request.search, document.doc_id),
        reading=to_query_reading(explained, query.filters),
        lifted=list(map(to_barrier, explained.removed)),
        passages=list(map(to_passage_account, explained.passages)),
        candidates=explained.candidate_count,
        degraded=list(explained.degraded),
        corpus_revision=explained.revision,
        timing_ms=explained.timing_ms,
    )


def _find_subject(catalogue: "Catalogue", name: str) -> "_Subject | NotFound":
    """Return a document with its passages, or the document of a passage with that passage only."""
    document = find_document(catalogue, name)
    if not isinstance(document, NotFound):
        return document.summary, list(document.chunks)
    if document.error.kind == "ambiguous":
        return document
    passage = find_chunk(catalogue, name)
    return document if isinstance(passage, NotFound) else (passage[1], [passage[0].chunk])


def _name_filter(field: str) -> FilterName:
    return cast("FilterName", "path" if field == "path_glob" else field)


def to_query_reading(explained: DocumentExplanation, requested: "Filters") -> QueryReading:
    """Convert a parsed query; `requested` are the filters of the request."""
    parsed, intent = explained.parsed, explained.intent
    return QueryReading(
        plain=parsed.plain,
        terms=explained.terms,
        required=list(map(_to_phrase, parsed.required)),
        excluded=list(map(_to_phrase, parsed.excluded)),
        relaxed=explained.relaxed,
        filters=[
            FilterReading(
                name=_name_filter(name),
                values=[*value] if isinstance(value, tuple) else [to_filter_value(value)],
                origin="request" if getattr(requested, name) else "query",
            )
            for name, value in list_active_filters(parsed.filters).items()
        ],
        topic=intent.topic,
        need=intent.need,
        question=intent.question,
    )


def to_passage_account(passage: PassageExplanation) -> PassageAccount:
    """Convert the explanation of a passage."""
    chunk = passage.chunk
    return PassageAccount(
        chunk_id=chunk.chunk_id,
        heading_path=list(chunk.heading_path),
        citation=cite_chunk(chunk),
        barriers=list(map(to_barrier, passage.broken)),
        held=passage.held,
        vector=chunk.vector_state,
        lexical=passage.lexical,
        semantic=passage.semantic,
        fused=passage.fused,
        lifts=passage.boosts,
        final=passage.final,
        score=passage.score,
        hit_rank=passage.hit_rank,
        withheld=passage.withheld,
    )


def to_barrier(condition: BrokenCondition) -> Barrier:
    """Convert a condition that excludes a passage."""
    return Barrier(
        kind=condition.kind,
        filter=_name_filter(condition.filter) if condition.filter else None,
        phrase=_to_phrase(condition.phrase) if condition.phrase else None,
    )


def _to_phrase(phrase: Phrase) -> PhraseReading:
    return PhraseReading(text=phrase.text, column=phrase.column)
