"""Reads a knowledge base and its published bases as one library, for answers to questions."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kebab.app.bases import LOCAL, Base, Choice, intersect, merge_hits
from kebab.app.conversions import to_search_hit
from kebab.app.coverage import measure_coverage
from kebab.app.search import (
    build_engine,
    describe_published,
    find_candidates,
    load_query_embedder,
    resolve_request_filters,
)
from kebab.core.ids import Key
from kebab.core.queries import Filters, Hit, Page, Query, StoredChunk
from kebab.errors.catalog import EmbeddingMismatch, EmbeddingUnavailable
from kebab.wire.coverage import Coverage, Indexing
from kebab.wire.record import Reply
from kebab.wire.search import FilteredRequest, SearchHit, UnmatchedFilter

if TYPE_CHECKING:
    from kebab.core.ports import Embedder
    from kebab.store.sqlite.reader import SqliteReader

_KEY_BITS = 48
"""Keys of passages are below this power of two in every base."""


class _Snapshot(NamedTuple):
    """A snapshot of a base, and the filters as it names things."""

    base: Base
    reader: "SqliteReader"
    filters: Filters


class MergedNotes:
    """Snapshots of all chosen bases, until the stack of their readers is closed.

    Raises:
        Signal: No base can be read; otherwise one that cannot is left out.
    """

    def __init__(self, choice: Choice, filters: Filters, stack: ExitStack) -> None:
        self._choice = choice
        self._stack = stack
        self._snapshots: list[_Snapshot] = []
        for base in [*choice.bases]:
            with choice.leave_out(base):
                reader = stack.enter_context(base.context.open_reader())
                resolved = resolve_request_filters(base.context, reader, filters)
                self._snapshots.append(_Snapshot(base, reader, resolved))

    def search(self, query: Query) -> Page:
        """Return the best passages of all bases; a page of one base stays as it is."""
        pages: list[Page] = []
        for number, one in enumerate(self._snapshots):
            with self._choice.leave_out(one.base):
                if find_candidates(one.base.context, query):
                    reader = self._stack.enter_context(one.base.context.open_reader())
                    one = self._snapshots[number] = one._replace(reader=reader)  # noqa: PLW2901 - the store has chosen anew
                engine = build_engine(one.base.context, one.reader)
                pages.append(engine.search(replace(query, filters=one.filters)))
        self._snapshots = [one for one in self._snapshots if one.base in self._choice.bases]
        bases = [one.base for one in self._snapshots]
        notes = [note for base in bases for note in describe_published(base.context)]
        degraded = dict.fromkeys(one for page in pages for one in page.degraded)
        degraded |= dict.fromkeys(notes)
        degraded |= dict.fromkeys(self._choice.list_degraded())
        if len(pages) == 1:
            return pages[0]._replace(degraded=(*degraded,))
        merged = list(merge_hits(bases, [page.hits for page in pages], lambda hit: hit.score))
        kept = merged[: query.limit]
        hits = [
            hit._replace(rank=rank, chunk=self._mark(base, hit.chunk))
            for rank, (base, hit) in enumerate(kept, 1)
        ]
        names = {base.name for base, _ in kept}
        rated = [
            page.answerability
            for base, page in zip(bases, pages, strict=True)
            if base.name in names
        ]
        return pages[0]._replace(
            hits=tuple(hits),
            has_more=len(merged) > len(hits) or any(page.has_more for page in pages),
            degraded=(*degraded,),
            timing_ms=sum(page.timing_ms for page in pages),
            term_rarities=_take_least([page.term_rarities for page in pages]),
            answerability=max(rated, default=0.0),
            absent_terms=tuple(intersect([page.absent_terms for page in pages])),
            convincing=any(page.convincing for page in pages),
        )

    def _mark(self, base: Base, chunk: StoredChunk) -> StoredChunk:
        """Return a passage with its base, and with a key that no passage of another base has."""
        number = self._choice.bases.index(base)
        key = Key(chunk.key + (number << _KEY_BITS))
        return chunk._replace(key=key, base=base.context.base)

    def count_occurrences(self, tokens: Collection[str]) -> dict[str, int]:
        """Return in how many passages of all bases each token occurs."""
        counts: Counter[str] = Counter()
        for one in self._snapshots:
            counts.update(one.reader.get_document_frequencies(tokens))
        return counts

    def load_embedder(self) -> "Embedder | None":
        """Return the embedder of the first vectors that have one here."""
        for one in self._snapshots:
            with suppress(EmbeddingUnavailable, EmbeddingMismatch):
                return load_query_embedder(one.base.context, one.reader)
        return None

    def to_search_hit(self, hit: Hit) -> SearchHit:
        """Convert a hit."""
        return to_search_hit(hit)

    def measure_coverage(
        self, hits: Sequence[Hit], *, seconds: float, indexing: Indexing | None
    ) -> Coverage | None:
        """Return what is covered of all bases; `indexing` is the ingest of the own notes."""
        shown = [self.to_search_hit(hit) for hit in hits]
        return self._choice.merge_coverage(
            [
                measure_coverage(
                    one.base.context,
                    one.reader,
                    one.filters,
                    seconds=seconds,
                    hits=[hit for hit in shown if (hit.base or LOCAL) == one.base.name],
                    indexing=indexing if one.base.name == LOCAL else None,
                )
                for one in self._snapshots
            ]
        )

    def explain_filters(self, request: FilteredRequest[Reply]) -> list[UnmatchedFilter]:
        """Return the filters that no document of any base passes."""
        if not any(one.filters.is_active for one in self._snapshots):
            return []
        from kebab.app.filters import explain_filters

        return self._choice.merge_unmatched(
            [
                explain_filters(one.base.context, one.reader, one.filters, request)
                for one in self._snapshots
            ]
        )


def _take_least(rarities: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return how rare terms are where they are most frequent."""
    least: dict[str, float] = {}
    for some in rarities:
        for term, rarity in some.items():
            least[term] = min(rarity, least.get(term, rarity))
    return least
