"""Why a document is among the hits of a search, or at which stage it was lost."""

from typing import TYPE_CHECKING, TypeAlias

from kebab.app import explained as told
from kebab.app.compose import Workshop
from kebab.app.library import summary
from kebab.app.lookup import chunk_id, document_id, not_found
from kebab.app.remedy import remedy
from kebab.app.requests import WhyOptions
from kebab.app.search import as_query, parts
from kebab.search.cache import QueryVectors
from kebab.search.explain import DocumentAccount, Explainer
from kebab.search.vector import Channel
from kebab.search.verdict import verdict
from kebab.wire.library import NotFound
from kebab.wire.why import Explanation

if TYPE_CHECKING:
    from kebab.core.hit import StoredChunk
    from kebab.core.library import StoredDocument
    from kebab.core.query import Query
    from kebab.store.sqlite.catalogue import Catalogue
    from kebab.wire.search import SearchRequest

_Subject: TypeAlias = "tuple[StoredDocument, list[StoredChunk]]"


def why(shop: Workshop, options: WhyOptions) -> Explanation | NotFound:
    """Return what a search makes of a document, or of one passage of it.

    Raises:
        InvalidInput: The query is empty or not valid UTF-8, or a date cannot be read.
        NotIndexed: There is no index.
        EmbeddingUnavailable: Vectors were demanded and cannot be had.
        EmbeddingMismatch: Vectors were demanded, and the settings name another model.
    """
    query = as_query(options.request, shop.clock.now())
    with shop.reader() as reader:
        subject = _subject(shop.catalogue(reader), options.name)
        if isinstance(subject, NotFound):
            return subject
        document, passages = subject
        vectors, embedder = parts(shop, reader)
        memory = QueryVectors(shop.cache)
        channel = Channel(library=reader, vectors=vectors, embedder=embedder, memory=memory)
        explained = Explainer(reader, channel).explain(query, passages)
    return _explanation(explained, document, options.request, query)


def _subject(catalogue: "Catalogue", name: str) -> "_Subject | NotFound":
    """Return a document with its passages, or with the one that is meant."""
    found = document_id(catalogue, name)
    if not isinstance(found, NotFound):
        detail = catalogue.document(found)
        return (detail.summary, list(detail.chunks)) if detail else not_found(name, "document")
    passage = found if found.error.kind == "ambiguous" else chunk_id(catalogue, name)
    one = None if isinstance(passage, NotFound) else catalogue.chunk(passage)
    document = catalogue.summary(one.chunk.doc_id) if one else None
    return (document, [one.chunk]) if one and document else found


def _explanation(
    explained: DocumentAccount,
    document: "StoredDocument",
    request: "SearchRequest",
    query: "Query",
) -> Explanation:
    found, best = verdict(explained, query), explained.best
    return Explanation(
        query=request.query,
        mode=request.mode,
        limit=request.limit,
        document=summary(document),
        found=found.kind == "found",
        rank=best.place if best and not explained.lifted else None,
        verdict=found.kind,
        message=found.text,
        hint=remedy(found.remedy, explained, request, document.doc_id),
        reading=told.reading(explained, query.filters),
        lifted=[told.barrier(one) for one in explained.lifted],
        passages=[told.account(one) for one in explained.accounts],
        candidates=explained.ranked,
        degraded=list(explained.degraded),
        corpus_revision=explained.revision,
        timing_ms=explained.timing_ms,
    )
