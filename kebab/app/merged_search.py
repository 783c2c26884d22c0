"""Searches a knowledge base and its published bases together, and merges their hits.

Scores are probabilities, so hits of several bases are comparable. The order of each base is kept.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace as replace_query
from hashlib import blake2b
from typing import TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from kebab.app.bases import LOCAL, Base, Choice, choose_bases
from kebab.app.context import AppContext
from kebab.app.search import build_query, read_filters, search, search_once
from kebab.core.documents import CURSOR_SALT
from kebab.errors.catalog import InvalidInput
from kebab.search.budget import estimate_text_tokens
from kebab.search.engine import decode_cursor, encode_cursor
from kebab.wire.search import MAX_LIMIT, LeftOut, SearchHit, SearchRequest, SearchResponse

H = TypeVar("H")

_REVISION_BYTES = 6


def search_all(context: AppContext, request: SearchRequest) -> SearchResponse:
    """Return one page of hits of the knowledge base and of its published bases.

    A base that cannot be used is named in `degraded`, unless none can.

    Raises what `search_once` raises, and `InvalidInput` when no base has a name.
    """
    choice = choose_bases(context, request)
    if choice.is_local:
        return search(context, request)
    refresh = None
    if request.refresh and any(base.name == LOCAL for base in choice.bases):
        from kebab.app.coverage import refresh_index

        refresh = refresh_index(context, request, read_filters)
    response = _Merger(context, request, choice).run()
    return replace(response, refresh=refresh) if refresh else response


class _Merger:
    """One search over several bases."""

    def __init__(self, context: AppContext, request: SearchRequest, choice: Choice) -> None:
        self._context, self._request, self._choice = context, request, choice

    def run(self) -> SearchResponse:
        request, choice = self._request, self._choice
        query = build_query(request, self._context.clock.now())
        salt = self._context.bases.load().salt
        revision = self._compute_revision()
        offset = 0
        if request.cursor is not None:
            if request.page is not None:
                raise InvalidInput(field="$.page", cause="it excludes `cursor`")
            offset = decode_cursor(request.cursor, query, revision, salt)
        elif request.page is not None:
            offset = (request.page - 1) * query.page_size
        end = offset + query.page_size
        inner = replace(
            request, cursor=None, page=None, limit=min(end, MAX_LIMIT), max_tokens=None, base=[]
        )
        found: list[SearchResponse] = []
        for base in choice.bases:
            with choice.leave_out(base):
                found.append(search_once(base.context, inner))
        merged = merge_hits(choice.bases, [one.hits for one in found], lambda hit: hit.score)
        ranked = [replace(hit, rank=rank) for rank, (_, hit) in enumerate(merged, 1)]
        hits = ranked[offset:end]
        kept = self._cut(hits)
        has_more = len(ranked) > offset + len(kept) or (
            end < MAX_LIMIT and any(response.has_more for response in found)
        )
        following = offset + len(kept) if has_more and kept else None
        return replace(
            self._combine(found),
            hits=kept,
            has_more=has_more,
            next_cursor=None
            if following is None
            else encode_cursor(replace_query(query, offset=offset), following, revision, salt),
            truncated=len(kept) < len(hits),
            left_out=self._describe_left_out(hits[len(kept) :]),
        )

    def _compute_revision(self) -> int:
        """Return a number of the states of all bases together, which a cursor is bound to."""
        states = []
        for base in self._choice.bases:
            copy = base.context.published
            if copy and copy.state:
                states.append((base.name, copy.state.manifest))
            else:
                with self._choice.leave_out(base), base.context.open_reader() as reader:
                    salt = reader.get_value(CURSOR_SALT)
                    states.append((base.name, f"{reader.get_revision()} {salt}"))
        digest = blake2b(repr(states).encode(), digest_size=_REVISION_BYTES).digest()
        return int.from_bytes(digest, "big")

    def _cut(self, hits: list[SearchHit]) -> list[SearchHit]:
        """Return the first hits, as many as `max_tokens` allows, and one at least."""
        limit = self._request.max_tokens
        if limit is None:
            return hits
        kept, used = hits[:1], sum(map(_estimate_tokens, hits[:1]))
        for hit in hits[1:]:
            used += _estimate_tokens(hit)
            if used > limit:
                break
            kept.append(hit)
        return kept

    def _describe_left_out(self, hits: list[SearchHit]) -> "LeftOut":
        if not hits:
            return UNSET  # type: ignore[return-value]
        return LeftOut(hits=len(hits), tokens=sum(map(_estimate_tokens, hits)))

    def _combine(self, found: list[SearchResponse]) -> SearchResponse:
        """Return what the responses say about the whole search."""
        first, choice = found[0], self._choice
        queries = {number for one in found for number in one.convincing_queries or ()}
        degraded = dict.fromkeys(one for response in found for one in response.degraded)
        unmatched = choice.merge_unmatched([one.unmatched_filters for one in found])
        hint = None
        if unmatched:
            from kebab.app.filters import suggest_filters

            hint = suggest_filters(self._request, unmatched)
        return replace(
            first,
            degraded=[*degraded, *choice.list_degraded()],
            absent_terms=intersect([one.absent_terms for one in found]),
            convincing=any(one.convincing for one in found),
            convincing_queries=UNSET if first.convincing_queries is UNSET else sorted(queries),
            coverage=choice.merge_coverage([one.coverage for one in found]),
            timing_ms=sum(one.timing_ms for one in found),
            unmatched_filters=unmatched,
            hint=hint,
        )


def intersect(lists: Sequence[Sequence[str]]) -> list[str]:
    """Return the values that all lists have, in the order of the first."""
    return [one for one in lists[0] if all(one in other for other in lists)]


def merge_hits(
    bases: Sequence[Base], found: Sequence[Sequence[H]], get_score: Callable[[H], float]
) -> Iterator[tuple[Base, H]]:
    """Yield the hits of all bases, best first; those of one base stay in their order."""
    rows = []
    for number, (base, hits) in enumerate(zip(bases, found, strict=True)):
        least = float("inf")
        for hit in hits:
            # A hit that was moved up in its base for another reason than its score stays there.
            least = min(least, get_score(hit) * base.weight)
            rows.append((-least, number, hit))
    yield from ((bases[number], hit) for _, number, hit in sorted(rows, key=lambda row: row[:2]))


def _estimate_tokens(hit: SearchHit) -> int:
    text = hit.text if isinstance(hit.text, str) else hit.snippet
    return estimate_text_tokens(hit.doc_path, *hit.heading_path, text)
