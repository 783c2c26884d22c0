"""Chooses the bases that an operation reads, and reads several as one library.

Scores are probabilities, so hits of several bases are comparable. The order of each base is kept.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec import UNSET, structs

from kebab.app.context import AppContext
from kebab.app.coverage import (
    find_indexing,
    measure_coverage,
    refresh_index,
)
from kebab.app.filters import resolve_filters
from kebab.app.search import (
    build_engine,
    build_query,
    choose_seconds,
    complete_response,
    describe_published,
    find_candidates,
    find_unmatched,
    load_query_embedder,
    search,
    separate_omitted,
    to_search_hit,
    to_search_response,
)
from kebab.core.documents import CURSOR_SALT
from kebab.core.ids import Key
from kebab.core.queries import Detail, Filters, Hit, Page, Query, Sort, StoredChunk
from kebab.errors.catalog import (
    EmbeddingMismatch,
    EmbeddingUnavailable,
    InvalidInput,
    IoError,
    NotIndexed,
    StoreCorrupt,
)
from kebab.search.budget import drop_weak_texts, fit_budget
from kebab.search.engine import SORTED_SHARE, decode_cursor, encode_cursor
from kebab.wire.coverage import COUNTS, MOST_NAMED, Coverage, Indexing, merge_left_out, name_omitted
from kebab.wire.record import Reply
from kebab.wire.search import (
    MAX_LIMIT,
    DegradedChannel,
    FilteredRequest,
    SearchRequest,
    SearchResponse,
    UnmatchedFilter,
)

if TYPE_CHECKING:
    from kebab.core.ports import Embedder
    from kebab.errors.signal import Signal
    from kebab.store.sqlite.reader import SqliteReader


LOCAL = "local"
"""The name of the knowledge base itself in `base`."""
MERGED = frozenset({"search", "ask"})
"""The operations that read several bases at once; any other reads one."""
FAULTS = (IoError, NotIndexed, StoreCorrupt)
"""Why one of several bases may be left out."""


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
        return structs.replace(
            known[0],
            complete=not self.faults and all(one.complete for one in known),
            failed_examples=[
                path if name == LOCAL else f"{name}:{path}"
                for name, one in zip(names, known, strict=True)
                for path in one.failed_examples
            ][:MOST_NAMED],
            unlisted=[folder for one in known for folder in one.unlisted],
            left_out=merge_left_out([text for one in known for text in one.left_out]),
            partial_examples=[path for path, _ in examples],
            partial_reasons=[reason for _, reason in examples],
            bases=[name for name in names if name != LOCAL] or UNSET,
            unread_bases=[*self.faults] or UNSET,
            **{count: sum(getattr(one, count) for one in known) for count in COUNTS},
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
            structs.replace(
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


def search_all(context: AppContext, request: SearchRequest) -> SearchResponse:
    """Return one page of hits of the knowledge base and of its published bases.

    A base that cannot be used is named in `degraded`, unless none can.

    Raises what `search` raises, and `InvalidInput` when no base has a name.
    """
    choice = choose_bases(context, request)
    is_own = any(base.name == LOCAL for base in choice.bases)
    refresh = refresh_index(context, request) if request.refresh and is_own else None
    if choice.is_local:
        response = search(context, request)
        return structs.replace(response, refresh=refresh) if refresh else response
    query = build_query(request, context.clock.now())
    with ExitStack() as stack:
        notes = MergedNotes(choice, query.filters, stack)
        revision, salt = notes.compute_revision(), context.bases.load().salt
        offset = ((request.page or 1) - 1) * query.page_size
        if request.cursor is not None:
            if request.page is not None:
                raise InvalidInput(field="$.page", cause="it excludes `cursor`")
            offset = decode_cursor(request.cursor, query, revision, salt)
        query = replace(query, offset=offset)
        page = notes.search(query)
        unmatched = [] if page.hits else notes.explain_filters(request, (query.text, *query.more))
        indexing = find_indexing(context) if is_own else None
        following = page.next_offset
        cursor = None if following is None else encode_cursor(query, following, revision, salt)
        response = to_search_response(page, query, cursor, several=bool(request.queries))
        coverage = notes.measure_coverage(
            page.hits, seconds=choose_seconds(page), indexing=indexing
        )
    response = complete_response(response, (), unmatched, coverage, indexing=indexing)
    return structs.replace(response, refresh=refresh)


_REVISION_BYTES = 6
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
        self._filters = filters
        self._stack = stack
        self._snapshots: list[_Snapshot] = []
        self._omitted: dict[str, list[str]] = {}
        for base in [*choice.bases]:
            with choice.leave_out(base):
                reader = stack.enter_context(base.context.open_reader())
                resolved = resolve_filters(base.context, reader, filters)
                self._snapshots.append(_Snapshot(base, reader, resolved))

    def compute_revision(self) -> int:
        """Return a number of the states of all bases together, which a cursor is bound to."""
        states = []
        for base, reader, _ in self._snapshots:
            copy = base.context.published
            state = f"{reader.get_revision()} {reader.get_value(CURSOR_SALT)}"
            states.append((base.name, copy.state.digest if copy and copy.state else state))
        digest = blake2b(repr(states).encode(), digest_size=_REVISION_BYTES).digest()
        return int.from_bytes(digest, "big")

    def search(self, query: Query) -> Page:
        """Return a page of the best passages of all bases; that of one base stays as it is."""
        end = query.offset + query.page_size
        inner = query
        if len(self._snapshots) > 1:
            detail = Detail.PASSAGES if query.detail is Detail.BEST else query.detail
            limit = min(end, MAX_LIMIT)
            inner = replace(query, offset=0, limit=limit, max_tokens=None, detail=detail)
        pages: list[Page] = []
        for number, one in enumerate(self._snapshots):
            with self._choice.leave_out(one.base):
                context, reader, filters = one.base.context, one.reader, one.filters
                if find_candidates(context, query):  # the store has chosen anew
                    reader = self._stack.enter_context(context.open_reader())
                    filters = resolve_filters(context, reader, self._filters)
                    self._snapshots[number] = _Snapshot(one.base, reader, filters)
                engine = build_engine(context, reader)
                page = engine.search(replace(inner, filters=filters))
                pages.append(page := separate_omitted(reader, page))
                self._omitted |= page.omitted_terms
        self._snapshots = [one for one in self._snapshots if one.base in self._choice.bases]
        notes = [note for one in self._snapshots for note in describe_published(one.base.context)]
        degraded = dict.fromkeys(one for page in pages for one in page.degraded)
        degraded |= dict.fromkeys((*notes, *self._choice.list_degraded()))
        merged = pages[0] if inner is query else self._merge(pages, query)
        return merged._replace(degraded=(*degraded,))

    def _merge(self, pages: Sequence[Page], query: Query) -> Page:
        """Return the page of a query from the first pages of all bases."""
        bases, end = [one.base for one in self._snapshots], query.offset + query.page_size
        merged = list(merge_hits(bases, [page.hits for page in pages], lambda hit: hit.score))
        if query.sort is not Sort.RELEVANCE:
            sign = -1 if query.sort is Sort.NEWEST else 1
            merged.sort(key=lambda one: sign * one[1].chunk.moment_ns)
            least = max((hit.score for _, hit in merged), default=0.0) * SORTED_SHARE
            merged.sort(key=lambda one: one[1].score < least)
        names = {base.name for base, _ in merged[query.offset : end]}
        hits = [
            hit._replace(rank=rank, chunk=self._mark(base, hit.chunk))
            for rank, (base, hit) in enumerate(merged, 1)
        ][query.offset : end]
        if query.detail is Detail.BEST:
            hits = drop_weak_texts(hits)
        left_out = None
        if query.max_tokens is not None:
            hits, left_out = fit_budget(hits, query, lambda _: {})
        following = query.offset + len(hits)
        has_more = following < len(merged) or (
            end < MAX_LIMIT and any(page.has_more for page in pages)
        )
        rated = [
            page.answerability
            for base, page in zip(bases, pages, strict=True)
            if base.name in names
        ]
        return pages[0]._replace(
            hits=tuple(hits),
            has_more=has_more,
            next_offset=following if has_more and hits else None,
            left_out=left_out,
            timing_ms=sum(page.timing_ms for page in pages),
            term_rarities=_take_least([page.term_rarities for page in pages]),
            answerability=max(rated, default=0.0),
            absent_terms=tuple(absent := intersect([page.absent_terms for page in pages])),
            unheld_terms=tuple(
                word
                for word in intersect([(*one.unheld_terms, *one.absent_terms) for one in pages])
                if word not in absent
            ),
            convincing=any(page.convincing for page in pages),
            convincing_queries=(*sorted({n for page in pages for n in page.convincing_queries}),),
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
            # What a parser left out occurs too, although no passage has it.
            missing = (token for token in tokens if not counts[token])
            counts.update(token for token in missing if one.reader.find_omitted([token]))
        return counts

    def load_embedder(self) -> "Embedder | None":
        """Return the embedder of the first vectors that have one here."""
        for one in self._snapshots:
            with suppress(EmbeddingUnavailable, EmbeddingMismatch):
                return load_query_embedder(one.base.context, one.reader)
        return None

    def measure_coverage(
        self, hits: Sequence[Hit], *, seconds: float, indexing: Indexing | None
    ) -> Coverage | None:
        """Return what is covered of all bases; `indexing` is the ingest of the own notes."""
        shown = list(map(to_search_hit, hits))
        coverage = self._choice.merge_coverage(
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
        return name_omitted(coverage, self._omitted) if coverage else None

    def explain_filters(
        self, request: FilteredRequest[Reply], texts: Sequence[str] = ()
    ) -> list[UnmatchedFilter]:
        """Return the filters, also those in the texts of queries, that no document passes."""
        return self._choice.merge_unmatched(
            [
                find_unmatched(one.base.context, one.reader, one.filters, request, texts)
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
