"""The neighbours of a document."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from kebab.app.compose import Workshop
from kebab.app.legible import require_legible
from kebab.app.library import summary
from kebab.app.lookup import document_id, not_found
from kebab.app.moment import stamp
from kebab.app.place import file_of, freshness, line_citation
from kebab.app.requests import RelatedOptions
from kebab.core.stored import EMBEDDING_VERSION
from kebab.search.meaning import Space
from kebab.search.neighbours import Neighbour, Neighbourhood, Pair
from kebab.wire.library import NotFound
from kebab.wire.related import MatchedPassage, PassagePair, RelatedDoc, RelatedDocs

if TYPE_CHECKING:
    from kebab.core.hit import StoredChunk
    from kebab.store.sqlite.reader import SqliteReader
    from kebab.wire.search import DegradedChannel


def related(shop: Workshop, options: RelatedOptions) -> RelatedDocs | NotFound:
    """Return the nearest documents.

    The stored vectors are compared with each other, so neither a model nor the settings that name
    one matter.

    Raises:
        InvalidInput: A filter is not valid UTF-8.
        NotIndexed: There is no index.
    """
    require_legible(asdict(options.filters))
    started = shop.clock.monotonic()
    with shop.reader() as reader:
        catalogue = shop.catalogue(reader)
        found = document_id(catalogue, options.name)
        if isinstance(found, NotFound):
            return found
        detail = catalogue.document(found)
        if detail is None:
            return not_found(options.name, "document")
        near: list[Neighbour] = []
        lost: tuple[DegradedChannel, ...] = ()
        if detail.chunks:
            around = Neighbourhood(reader, detail.chunks, _space(shop, reader))
            near, lost = around.nearest(options.limit, options.filters), around.degraded
        revision = reader.revision()
    return RelatedDocs(
        document=summary(detail.summary),
        related=[_related(rank, one) for rank, one in enumerate(near, start=1)],
        degraded=list(lost),
        corpus_revision=revision,
        timing_ms=(shop.clock.monotonic() - started) * 1000,
    )


def _space(shop: Workshop, reader: "SqliteReader") -> Space | None:
    version = reader.get_value(EMBEDDING_VERSION)
    if version is None:
        return None
    return Space(vectors=shop.index(version), scale=shop.profile(version).cosine_scale)


def _related(rank: int, one: Neighbour) -> RelatedDoc:
    chunk = one.pair.other
    return RelatedDoc(
        rank=rank,
        score=one.score,
        vector_score=one.meaning,
        lexical_score=one.words,
        doc_id=chunk.doc_id,
        doc_path=chunk.path,
        file=file_of(chunk.source, chunk.root, chunk.path),
        source=chunk.source,
        title=chunk.title,
        tags=list(chunk.tags),
        lang=chunk.lang,
        media=chunk.media,
        indexed_at=stamp(chunk.indexed_at),
        freshness=freshness(chunk.root, chunk.path, chunk.size, chunk.mtime_ns),
        pair=_pair(one.pair),
        terms=list(one.terms),
    )


def _pair(pair: Pair) -> PassagePair:
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
        citation=line_citation(chunk.path, chunk.start_line, chunk.end_line),
    )
