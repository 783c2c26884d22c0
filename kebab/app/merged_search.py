"""Searches a knowledge base and its published bases together, and merges their hits.

Scores are probabilities, so hits of several bases are comparable. The order of each base is kept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace as replace_query
from hashlib import blake2b
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.search import build_query, read_filters, search, search_once
from kebab.core.documents import CURSOR_SALT
from kebab.errors.catalog import InvalidInput, IoError, NotIndexed, StoreCorrupt
from kebab.errors.signal import Signal
from kebab.search.budget import estimate_text_tokens
from kebab.search.engine import decode_cursor, encode_cursor
from kebab.wire.search import (
    MAX_LIMIT,
    DegradedChannel,
    LeftOut,
    SearchHit,
    SearchRequest,
    SearchResponse,
)

LOCAL = "local"
"""The name of the knowledge base itself in `base`."""
_REVISION_BYTES = 6


class _Part(NamedTuple):
    """A base that is searched: its name, None for the knowledge base itself, and its weight."""

    name: str | None
    weight: float
    context: AppContext


def choose_base(context: AppContext, names: Sequence[str]) -> AppContext:
    """Return the context of the only base that an operation other than a search reads.

    Raises:
        InvalidInput: No base has this name, or there are several.
    """
    if len(names) > 1:
        raise InvalidInput(field="$.base", cause="only a search reads several bases at once")
    if names[0] == LOCAL:
        return context
    base = context.bases.find(names[0])
    if base is None:
        raise InvalidInput(field="$.base", cause=f"no published base has this name: {names[0]}")
    return context.bases.open(base)


def search_all(context: AppContext, request: SearchRequest) -> SearchResponse:
    """Return one page of hits of the knowledge base and of its published bases.

    A base that cannot be used is named in `degraded`, unless none can.

    Raises what `search_once` raises, and `InvalidInput` when no base has a name.
    """
    bases = context.bases.load().bases if context.has_bases else []
    known = {LOCAL, *(base.name for base in bases)}
    for name in request.base:
        if name not in known:
            cause = f"no published base has this name: {name}"
            raise InvalidInput(field="$.base", cause=cause)
    # A folder is one of this machine.
    chosen = {*request.base} or (known if request.folder is None else {LOCAL})
    if chosen == {LOCAL}:
        return search(context, request)
    parts: list[_Part] = []
    faults: list[tuple[str, Signal]] = []
    if LOCAL in chosen and (context.database.exists() or not bases):
        parts.append(_Part(None, 1.0, context))
    for base in bases:
        if base.name in chosen:
            try:
                parts.append(_Part(base.name, base.weight, context.bases.open(base)))
            except (IoError, NotIndexed, StoreCorrupt) as fault:
                faults.append((base.name, fault))
    refresh = None
    if request.refresh and LOCAL in chosen:
        from kebab.app.coverage import refresh_index

        refresh = refresh_index(context, request, read_filters)
    response = _Merger(context, request, parts, faults).run()
    return replace(response, refresh=refresh) if refresh else response


class _Merger:
    """One search over several bases."""

    def __init__(
        self,
        context: AppContext,
        request: SearchRequest,
        parts: list[_Part],
        faults: list[tuple[str, Signal]],
    ) -> None:
        self._context, self._request = context, request
        self._parts, self._faults = parts, faults

    def run(self) -> SearchResponse:
        request = self._request
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
        found: list[tuple[_Part, SearchResponse]] = []
        for part in self._parts:
            try:
                found.append((part, search_once(part.context, inner)))
            except (IoError, NotIndexed, StoreCorrupt) as fault:
                self._faults.append((part.name or LOCAL, fault))
        if not found:
            raise self._faults[0][1]
        merged = list(_merge(found))
        hits = [replace(hit, rank=rank) for rank, hit in enumerate(merged, 1)][offset:end]
        kept = self._cut(hits)
        has_more = len(merged) > offset + len(kept) or (
            end < MAX_LIMIT and any(response.has_more for _, response in found)
        )
        following = offset + len(kept) if has_more and kept else None
        response = self._combine([_name_base(part, response) for part, response in found])
        return replace(
            response,
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
        for part in self._parts:
            copy = part.context.published
            if copy and copy.state:
                states.append((part.name, copy.state.manifest))
            else:
                with part.context.open_reader() as reader:
                    salt = reader.get_value(CURSOR_SALT)
                    states.append((part.name, f"{reader.get_revision()} {salt}"))
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
        first = found[0]
        absent = [
            term for term in first.absent_terms if all(term in one.absent_terms for one in found)
        ]
        coverage = first.coverage and replace(
            first.coverage, complete=all(one.coverage and one.coverage.complete for one in found)
        )
        queries = {number for one in found for number in one.convincing_queries or ()}
        degraded = dict.fromkeys(one for response in found for one in response.degraded)
        faults = [
            DegradedChannel(
                channel="published", reason=f"{name}: {fault.format_message()}", hint=None
            )
            for name, fault in self._faults
        ]
        return replace(
            first,
            degraded=[*degraded, *faults],
            absent_terms=absent,
            convincing=any(one.convincing for one in found),
            convincing_queries=UNSET if first.convincing_queries is UNSET else sorted(queries),
            coverage=coverage,
            timing_ms=sum(one.timing_ms for one in found),
            unmatched_filters=[] if any(one.hits for one in found) else first.unmatched_filters,
            hint=None if any(one.hits for one in found) else first.hint,
        )


def _name_base(part: _Part, response: SearchResponse) -> SearchResponse:
    """Return a response whose notes on its copy say which base it is."""
    degraded = [
        replace(one, reason=f"{part.name}: {one.reason}") if one.channel == "published" else one
        for one in response.degraded
    ]
    return replace(response, degraded=degraded)


def _name_hit(part: _Part, hit: SearchHit) -> SearchHit:
    """Return a hit that says which base it is of; `fetch` takes the URI of its citation."""
    if part.name is None:
        return hit
    citation = replace(hit.citation, uri=f"{part.name}:{hit.citation.uri}")
    return replace(hit, base=part.name, citation=citation)


def _merge(found: list[tuple[_Part, SearchResponse]]) -> Iterator[SearchHit]:
    """Yield the hits of all bases, best first; those of one base stay in their order."""
    rows = []
    for number, (part, response) in enumerate(found):
        least = float("inf")
        for hit in response.hits:
            # A hit that was moved up in its base for another reason than its score stays there.
            least = min(least, hit.score * part.weight)
            rows.append((-least, number, _name_hit(part, hit)))
    yield from (hit for _, _, hit in sorted(rows, key=lambda row: row[:2]))


def _estimate_tokens(hit: SearchHit) -> int:
    text = hit.text if isinstance(hit.text, str) else hit.snippet
    return estimate_text_tokens(hit.doc_path, *hit.heading_path, text)
