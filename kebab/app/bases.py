"""Chooses the bases that an operation reads, and merges what they find and cover.

Scores are probabilities, so hits of several bases are comparable. The order of each base is kept.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace as replace_query
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.search import build_query, read_filters, search, search_once
from kebab.core.documents import CURSOR_SALT
from kebab.errors.catalog import InvalidInput, IoError, NotIndexed, StoreCorrupt
from kebab.search.budget import estimate_text_tokens
from kebab.search.engine import decode_cursor, encode_cursor
from kebab.wire.coverage import MOST_NAMED, Coverage
from kebab.wire.record import Reply
from kebab.wire.search import (
    MAX_LIMIT,
    DegradedChannel,
    FilteredRequest,
    LeftOut,
    SearchHit,
    SearchRequest,
    SearchResponse,
    UnmatchedFilter,
)

if TYPE_CHECKING:
    from kebab.errors.signal import Signal


LOCAL = "local"
"""The name of the knowledge base itself in `base`."""
MERGED = frozenset({"search", "ask"})
"""The operations that read several bases at once; any other reads one."""
FAULTS = (IoError, NotIndexed, StoreCorrupt)
"""Why one of several bases may be left out."""

_COUNTS = (
    *("files", "unread", "failed", "changed", "new", "gone", "checked"),
    *("unchecked_folders", "pending_vectors", "partial"),
)


class Base(NamedTuple):
    """A base that is read: its name, what its scores are multiplied by, and its context."""

    name: str
    weight: float
    context: AppContext


class Choice:
    """The bases that can be read, and why each other one cannot."""

    def __init__(self) -> None:
        self.bases: list[Base] = []
        self.faults: dict[str, Signal] = {}

    @property
    def is_local(self) -> bool:
        """Whether the knowledge base itself is all that was chosen."""
        return not self.faults and [one.name for one in self.bases] == [LOCAL]

    @contextmanager
    def leave_out(self, base: Base) -> Iterator[None]:
        """Leave a base out if the block fails because of it, unless no other base is left.

        Raises:
            Signal: No base can be read; it is the fault of the first.
        """
        try:
            yield
        except FAULTS as fault:
            self.faults[base.name] = fault
            self.bases = [one for one in self.bases if one != base]
            if not self.bases:
                raise next(iter(self.faults.values())) from fault

    def list_degraded(self) -> list[DegradedChannel]:
        """Return a note for each base that cannot be read."""
        return [
            DegradedChannel(
                channel="published", reason=f"{name}: {fault.format_message()}", hint=None
            )
            for name, fault in self.faults.items()
        ]

    def merge_coverage(self, found: Sequence[Coverage | None]) -> Coverage | None:
        """Return what the index covers of all bases; `found` is in the order of `bases`."""
        known = [one for one in found if one]
        if len(known) < len(found) or not known:
            return None
        names = [one.name for one in self.bases]
        examples = [
            (path if name == LOCAL else f"{name}:{path}", reason)
            for name, one in zip(names, known, strict=True)
            for path, reason in zip(one.partial_examples, one.partial_reasons, strict=True)
        ][:MOST_NAMED]
        return replace(
            known[0],
            complete=not self.faults and all(one.complete for one in known),
            unlisted=[folder for one in known for folder in one.unlisted],
            partial_examples=[path for path, _ in examples],
            partial_reasons=[reason for _, reason in examples],
            bases=[name for name in names if name != LOCAL] or UNSET,
            unread_bases=[*self.faults] or UNSET,
            **{count: sum(getattr(one, count) for one in known) for count in _COUNTS},
        )

    def merge_unmatched(self, found: Sequence[list[UnmatchedFilter]]) -> list[UnmatchedFilter]:
        """Return the filters that no document of any base passes, as far as that is known.

        `found` has those of each base without hits. Filters that only together exclude everything
        are listed where all bases agree on them.
        """
        if self.faults or not all(found):
            return []
        named = [{(one.filter, one.value): one for one in some} for some in found]
        merged = [
            replace(
                one,
                documents=sum(some[key].documents for some in named),
                nearest=list(dict.fromkeys(near for some in named for near in some[key].nearest)),
            )
            for key, one in named[0].items()
            if all(key in some for some in named)
        ]
        agree = all(some.keys() == named[0].keys() for some in named)
        return merged if agree else [one for one in merged if not one.documents]


def choose_bases(context: AppContext, request: FilteredRequest[Reply]) -> Choice:
    """Return the bases that a request names; without names all, or with a folder the own one.

    Raises:
        InvalidInput: A name is that of no base.
        Signal: None of the bases can be opened.
    """
    listed = context.bases.load().bases if context.has_bases else []
    known = {LOCAL, *(base.name for base in listed)}
    for name in request.base:
        _require_known(name, known)
    # A folder is one of this machine.
    chosen = {*request.base} or (known if request.folder is None else {LOCAL})
    choice = Choice()
    if LOCAL in chosen and (chosen == {LOCAL} or context.database.exists()):
        choice.bases.append(Base(LOCAL, 1.0, context))
    for base in listed:
        if base.name in chosen:
            try:
                choice.bases.append(Base(base.name, base.weight, context.bases.open(base)))
            except FAULTS as fault:
                choice.faults[base.name] = fault
    if not choice.bases:
        raise next(iter(choice.faults.values()))
    return choice


def choose_base(context: AppContext, names: Sequence[str]) -> AppContext:
    """Return the context of the only base that an operation reads.

    Raises:
        InvalidInput: No base has this name, or there are several.
    """
    if len({*names}) > 1:
        cause = f"only {' and '.join(sorted(MERGED))} read several bases at once"
        raise InvalidInput(field="$.base", cause=cause)
    base = context.bases.find(names[0])
    if base is None:
        _require_known(names[0], {LOCAL, *(base.name for base in context.bases.load().bases)})
    return context.bases.open(base) if base else context


def _require_known(name: str, known: set[str]) -> None:
    if name not in known:
        from kebab.search.nearest import find_nearest

        near = find_nearest(name, known - {LOCAL}, 1)
        suggestion = f", did you mean `{near[0]}`?" if near else ""
        cause = f"no published base has this name: {name}{suggestion}"
        raise InvalidInput(field="$.base", cause=cause)


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
        rest = hits[len(kept) :]
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
            left_out=LeftOut(hits=len(rest), tokens=sum(map(_estimate_tokens, rest)))
            if rest
            else UNSET,
        )

    def _compute_revision(self) -> int:
        """Return a number of the states of all bases together, which a cursor is bound to."""
        states = []
        for base in self._choice.bases:
            copy = base.context.published
            if copy and copy.state:
                states.append((base.name, copy.state.digest))
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
