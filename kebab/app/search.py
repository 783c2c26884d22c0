"""Searches the knowledge base and its published bases as one library.

A request becomes a query, and a page the response. Scores are probabilities, so hits of several
bases are comparable. The order of each base is kept.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields, replace
from functools import cache, cached_property, partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import UNSET, structs

from kebab.app.context import LOCAL, AppContext, format_index_version
from kebab.app.coverage import (
    QUICK_S,
    THOROUGH_S,
    explain_degraded,
    find_indexing,
    measure_coverage,
)
from kebab.app.filters import build_filters, explain_filters, resolve_filters, suggest_nearest
from kebab.core.chunks import Key
from kebab.core.documents import CURSOR_SALT, EMBEDDING_VERSION, check_freshness
from kebab.core.queries import Filters, Hit, Mode, Page, Query, StoredChunk
from kebab.errors.catalog import (
    EmbeddingMismatch,
    EmbeddingUnavailable,
    InvalidInput,
    IoError,
    NotIndexed,
    StoreCorrupt,
    TooLarge,
)
from kebab.search.citations import cite_chunk, list_sources
from kebab.search.engine import SORTED_SHARE, SearchEngine, decode_cursor, encode_cursor
from kebab.wire.coverage import (
    COUNTS,
    EXAMPLES,
    MOST_NAMED,
    Coverage,
    Indexing,
    merge_left_out,
    name_omitted,
)
from kebab.wire.record import LineSpan, Reply, fill_record, format_timestamp
from kebab.wire.search import (
    MAX_LIMIT,
    MAX_QUERY_BYTES,
    DegradedChannel,
    DetailName,
    FilteredRequest,
    QueryParsed,
    SearchHit,
    SearchRequest,
    SearchResponse,
    UnmatchedFilter,
)

if TYPE_CHECKING:
    from kebab.core.ports import Embedder, Vectors
    from kebab.errors.signal import Signal
    from kebab.store.sqlite.reader import SqliteReader
    from kebab.wire.ask import AskRequest


def build_query(request: SearchRequest, now: float) -> Query:
    """Convert a request to a query.

    Raises:
        InvalidInput: A date cannot be read, a text is not valid UTF-8, or one of several is empty.
        TooLarge: The query has more than 1 MB.
    """
    filters = build_filters(request, now)
    for index, text in enumerate(request.queries):
        if not text.strip():
            raise InvalidInput(field=f"$.queries[{index}]", cause="it is empty")
    has_first = bool(request.query.strip() or not request.queries)
    first, *more = dict.fromkeys([*([request.query] if has_first else []), *request.queries])
    if (size := sum(len(text.encode()) for text in (first, *more))) > MAX_QUERY_BYTES:
        raise TooLarge(what="query", size=size, limit=MAX_QUERY_BYTES)
    same = {one.name for one in fields(Query)} & {*SearchRequest.__struct_fields__}
    given: dict[str, Any] = {name: getattr(request, name) for name in same}
    given |= {"mode": Mode(request.mode), "filters": filters}
    return Query(text=first, more=tuple(more), **given)


def to_search_hit(hit: Hit, detail: DetailName = "snippets", *, several: bool = False) -> SearchHit:
    """Convert a hit, and compare its file with the disk."""
    chunk, (text, highlights) = hit.chunk, hit.snippet
    whole = detail in ("passages", "best")
    return fill_record(
        SearchHit,
        hit,
        chunk,
        score_kind="calibrated",
        doc_path=chunk.path,
        base=chunk.base or UNSET,
        snippet="" if whole else text,
        highlights=[] if whole else list(highlights),
        text=text if whole and text else UNSET,
        text_highlights=list(highlights) if whole and text else UNSET,
        context=chunk.context if chunk.context and text else UNSET,
        queries=list(hit.queries) if several else UNSET,
        citation=cite_chunk(chunk),
        symbol_lines=LineSpan(start=hit.symbol[0], end=hit.symbol[1]) if hit.symbol else UNSET,
        indexed_at=format_timestamp(chunk.indexed_at),
        freshness=check_freshness(chunk),
    )


def separate_omitted(reader: "SqliteReader", page: Page) -> Page:
    """Return a page that does not call words absent that a parser left out of a document."""
    if not page.absent_terms:
        return page
    from kebab.text.tokenizer import tokenize

    found = {term: reader.find_omitted(tokenize(term)) for term in page.absent_terms}
    return page._replace(
        absent_terms=tuple(term for term, reasons in found.items() if not reasons),
        omitted_terms={term: reasons for term, reasons in found.items() if reasons},
    )


def build_engine(context: AppContext, reader: "SqliteReader") -> SearchEngine:
    """Build the search engine of one snapshot."""
    vectors, embedder = prepare_vector_search(context, reader)

    def show(chunk: StoredChunk) -> StoredChunk:
        chunk = context.masks.mask_chunk(chunk)
        return chunk._replace(base=context.base) if context.base else chunk

    return SearchEngine(reader, vectors, embedder, cache=context.cache, mask=show)


def prepare_vector_search(
    context: AppContext, reader: "SqliteReader"
) -> "tuple[Callable[[], Vectors | None], Callable[[], Embedder]]":
    """Return functions that load the vectors of a snapshot and the embedder of queries.

    Both results are cached, so that one search uses one state of the vectors.
    """
    version = reader.get_value(EMBEDDING_VERSION)
    return (
        cache(lambda: None if version is None else context.open_vector_index(version).load_index()),
        cache(lambda: load_query_embedder(context, reader)),
    )


def load_query_embedder(context: AppContext, reader: "SqliteReader") -> "Embedder":
    """Return the embedder of the stored vectors.

    Raises:
        EmbeddingMismatch: The settings name another model.
        EmbeddingUnavailable: No vector is stored, or the model is not on this machine.
    """
    version = reader.get_value(EMBEDDING_VERSION)
    if version is not None:
        context.embedders.choose_model(version)
    return context.embedders.load_stored(version)


FAULTS = (IoError, NotIndexed, StoreCorrupt)
"""Why one of several bases may be left out."""
_REVISION_BYTES = 6
_KEY_BITS = 48
"""Keys of passages are below this power of two in every base."""


def search_all(context: AppContext, request: SearchRequest) -> SearchResponse:
    """Return one page of hits of the knowledge base and of its published bases.

    A base that cannot be used is named in `degraded`, unless none can.

    Raises:
        InvalidInput: The query is empty or not valid UTF-8, a date cannot be read, or no base has
            a name.
        InvalidCursor: The cursor is not from kebab, or belongs to another query.
        StaleCursor: An index has changed since the cursor was issued.
        NotIndexed: There is no index.
        EmbeddingUnavailable: The mode needs vectors, and there are none.
        EmbeddingMismatch: The mode needs vectors, and the settings name another model.
    """
    query = build_query(request, context.clock.now())
    texts, several = [query.text, *query.more], bool(request.queries)
    words = [word for text in texts for word in ("-q", text)] if query.more else texts
    call = ["kebab", "search", *words] if any(words) else ["kebab", "list"]
    with ExitStack() as stack:
        notes = MergedNotes(context, request, query.filters, stack)
        revision, salt = notes.compute_revision(), notes.salt
        if request.cursor is not None:
            offset = decode_cursor(request.cursor, query, revision, salt)
            query = replace(query, offset=offset)
        page = notes.search(query)
        unmatched = [] if page.hits else notes.explain_filters()
        hint = suggest_nearest(call, request, unmatched)
        is_found = bool(page.hits) and page.convincing and not page.absent_terms
        coverage = notes.measure_coverage(page.hits, is_found=is_found)
    following, chunks = page.next_offset, [hit.chunk for hit in page.hits]
    embeddings = [*dict.fromkeys(filter(None, (chunk.embedding_version for chunk in chunks)))]
    return fill_record(
        SearchResponse,
        page,
        query=" | ".join(texts),
        queries=texts if several else UNSET,
        mode=query.mode.value,
        hits=[to_search_hit(hit, query.detail, several=several) for hit in page.hits],
        sources=list_sources(page.hits),
        next_cursor=None if following is None else encode_cursor(query, following, revision, salt),
        truncated=page.left_out is not None,
        left_out=page.left_out or UNSET,
        corpus_revision=page.revision,
        index_versions=[*dict.fromkeys(map(format_index_version, embeddings))],
        chunker_versions=[*dict.fromkeys(chunk.chunker_version for chunk in chunks)],
        embedding_versions=embeddings,
        query_parsed=page.query_parsed or QueryParsed(),
        convincing_queries=list(page.convincing_queries) if several else UNSET,
        trace=list(page.stages) if query.trace else UNSET,
        unmatched_filters=unmatched,
        hint=hint,
        coverage=coverage,
    )


class _Snapshot(NamedTuple):
    """A snapshot of a base, and the filters as it names things."""

    context: AppContext
    reader: "SqliteReader"
    filters: Filters


class MergedNotes:
    """Snapshots of the bases that a request names; without names of all, or with a folder the own.

    They last until the stack of their readers is closed. A base that cannot be read is left out.

    Raises:
        InvalidInput: A name is that of no base.
        Signal: No base can be read; it is the fault of the first.
    """

    def __init__(
        self,
        context: AppContext,
        request: "SearchRequest | AskRequest",
        filters: Filters,
        stack: ExitStack,
    ) -> None:
        self._context, self._request = context, request
        self._filters, self._stack = filters, stack
        self._snapshots: dict[str, _Snapshot] = {}
        self._faults: dict[str, Signal] = {}
        self._omitted: dict[str, list[str]] = {}
        self._searched: dict[str, tuple[Filters, ...]] = {}
        # A folder is one of this machine.
        chosen = context.bases.find(request.base or [LOCAL] * (request.folder is not None))
        for name, base in chosen.items():
            if base is None and len(chosen) > 1 and not context.database.exists():
                continue
            with self._leave_out(name):
                self._open(name, context if base is None else context.bases.open(base))
        self._require_any()
        first = next(iter(self._snapshots.values()))
        self.salt = first.reader.get_value(CURSOR_SALT) or ""
        """What authenticates cursors: the salt of the first base."""

    def _open(self, name: str, context: AppContext) -> None:
        reader = self._stack.enter_context(context.open_reader())
        filters = resolve_filters(context, reader, self._filters)
        self._snapshots[name] = _Snapshot(context, reader, filters)

    @contextmanager
    def _leave_out(self, name: str) -> Iterator[None]:
        """Leave a base out if the block fails because of it."""
        try:
            yield
        except FAULTS as fault:
            self._faults[name] = fault
            self._snapshots.pop(name, None)

    def _require_any(self) -> None:
        if not self._snapshots:
            raise next(iter(self._faults.values()))

    @cached_property
    def indexing(self) -> Indexing | None:
        """The ingest of the own notes that runs now."""
        return find_indexing(self._context) if LOCAL in self._snapshots else None

    def compute_revision(self) -> int:
        """Return a number of the states of all bases together, which a cursor is bound to."""
        if [*self._snapshots, *self._faults] == [LOCAL]:
            return self._snapshots[LOCAL].reader.get_revision()
        states = []
        for name, (context, reader, _) in self._snapshots.items():
            state: object = f"{reader.get_revision()} {reader.get_value(CURSOR_SALT)}"
            if context.published and context.published.state:  # the same for all its readers
                state = context.published.state.manifest
            states.append((name, state))
        digest = blake2b(repr(states).encode(), digest_size=_REVISION_BYTES).digest()
        return int.from_bytes(digest, "big")

    def search(self, query: Query) -> Page:
        """Return a page of the best passages of all bases; that of one base stays as it is."""
        inner = query
        if len(self._snapshots) > 1:
            limit = min(query.offset + query.page_size, MAX_LIMIT)
            inner = replace(query, offset=0, limit=limit, max_tokens=None)
            if query.detail == "best":
                inner = replace(inner, detail="passages")
        pages: dict[str, Page] = {}
        for name, (context, *_) in [*self._snapshots.items()]:
            with self._leave_out(name):
                if context.published and context.published.mode == "remote":
                    from kebab.app.published import choose_candidates

                    choose_candidates(context, query)
                    self._open(name, context)
                _, reader, filters = self._snapshots[name]
                page = build_engine(context, reader).search(replace(inner, filters=filters))
                pages[name] = page = separate_omitted(reader, page)
                self._omitted |= page.omitted_terms
                self._searched[name] = page.filters
        self._require_any()
        found: list[DegradedChannel] = []
        describe = partial(DegradedChannel, channel="published", hint=None)
        for name, page in pages.items():
            context = self._snapshots[name].context
            copy, prefix = context.published, f"{context.base}: " if context.base else ""
            indexing = self.indexing if name == LOCAL else None
            found += explain_degraded(page.degraded, indexing, published=copy is not None)
            notes = copy.list_notes() if copy else ()
            found += [describe(reason=f"{prefix}{note}", partial=True) for note in notes]
        for name, fault in self._faults.items():
            found.append(describe(reason=f"{name}: {fault.format_message()}"))
        merged = next(iter(pages.values())) if inner is query else self._merge(pages, query)
        return merged._replace(degraded=tuple(dict.fromkeys(found)))

    def _merge(self, pages: Mapping[str, Page], query: Query) -> Page:
        """Return the page of a query from the first pages of all bases."""
        from kebab.search.budget import drop_weak_texts, fit_budget

        end, all_pages = query.offset + query.page_size, [*pages.values()]
        merged = self._rank(pages, query.sort)
        shown = enumerate(merged[query.offset : end], query.offset + 1)
        hits = [hit._replace(rank=rank) for rank, hit in shown]
        if query.detail == "best":
            hits = drop_weak_texts(hits)
        left_out = None
        if query.max_tokens is not None:
            hits, left_out = fit_budget(hits, query, lambda _: {})
        following = query.offset + len(hits)
        has_more = following < len(merged) or (
            end < MAX_LIMIT and any(page.has_more for page in all_pages)
        )
        absent = _intersect([page.absent_terms for page in all_pages])
        unheld = _intersect([(*page.unheld_terms, *page.absent_terms) for page in all_pages])
        rarities: dict[str, float] = {}
        for term, rarity in (item for page in all_pages for item in page.term_rarities.items()):
            rarities[term] = min(rarity, rarities.get(term, rarity))
        return all_pages[0]._replace(
            hits=tuple(hits),
            has_more=has_more,
            next_offset=following if has_more and hits else None,
            left_out=left_out,
            timing_ms=sum(page.timing_ms for page in all_pages),
            term_rarities=rarities,
            answerability=max(page.answerability for page in all_pages),
            absent_terms=absent,
            unheld_terms=tuple(word for word in unheld if word not in absent),
            convincing=any(page.convincing for page in all_pages),
            convincing_queries=tuple(
                sorted({number for page in all_pages for number in page.convincing_queries})
            ),
        )

    def _rank(self, pages: Mapping[str, Page], sort: str) -> list[Hit]:
        """Return the hits of all bases, best first; those of one base stay in their order.

        A passage gets its base, and a key that no passage of another base has.
        """
        rows: list[tuple[float, Hit]] = []
        for number, (name, page) in enumerate(pages.items()):
            base, least = self._snapshots[name].context.base, 1.0
            for hit in page.hits:
                # A hit that was moved up in its base for another reason than its score stays there.
                least = min(least, hit.score)
                key = Key(hit.chunk.key + (number << _KEY_BITS))
                chunk = hit.chunk._replace(key=key, base=base)
                rows.append((least, hit._replace(chunk=chunk)))
        hits = [hit for _, hit in sorted(rows, key=lambda row: -row[0])]
        if sort != "relevance":
            least = max((hit.score for hit in hits), default=0.0) * SORTED_SHARE
            sign = -1 if sort == "newest" else 1
            hits.sort(key=lambda hit: (hit.score < least, sign * hit.chunk.moment_ns))
        return hits

    def load_embedder(self) -> "Embedder | None":
        """Return the embedder of the first vectors that have one here."""
        for one in self._snapshots.values():
            with suppress(EmbeddingUnavailable, EmbeddingMismatch):
                return load_query_embedder(one.context, one.reader)
        return None

    def measure_coverage(self, hits: Sequence[Hit], *, is_found: bool) -> Coverage:
        """Return what is covered of all bases.

        Looking at the disk may take longer where the reply says that something lacks.
        """
        found: dict[str, Coverage] = {}
        for name, (context, reader, filters) in self._snapshots.items():
            one = measure_coverage(
                context,
                reader,
                filters,
                seconds=QUICK_S if is_found else THOROUGH_S,
                chunks=[hit.chunk for hit in hits if (hit.chunk.base or LOCAL) == name],
                indexing=self.indexing if name == LOCAL else None,
            )
            if name != LOCAL:
                failed, parts = (
                    [f"{name}:{path}" for path in some]
                    for some in (one.failed_examples, one.partial_examples)
                )
                one = structs.replace(one, failed_examples=failed, partial_examples=parts)
            found[name] = one
        all_found = [*found.values()]

        def join(name: str) -> list[Any]:
            return [value for one in all_found for value in getattr(one, name)]

        merged = structs.replace(
            all_found[0],
            complete=not self._faults and all(one.complete for one in all_found),
            unlisted=join("unlisted"),
            left_out=merge_left_out(join("left_out")),
            bases=[name for name in found if name != LOCAL] or UNSET,
            unread_bases=[*self._faults] or UNSET,
            **{name: join(name)[:MOST_NAMED] for name in EXAMPLES},
            **{count: sum(getattr(one, count) for one in all_found) for count in COUNTS},
        )
        return name_omitted(merged, self._omitted)

    def explain_filters(self) -> list[UnmatchedFilter]:
        """Return the filters of the search, also those in its texts, that no document passes.

        Of several bases, only those that no document of any base passes. Nothing is said where a
        base could not be read.
        """
        request: FilteredRequest[Reply] = self._request
        found: list[dict[tuple[str, str], UnmatchedFilter]] = []
        for name, (context, reader, _) in self._snapshots.items():
            active = [one for one in dict.fromkeys(self._searched[name]) if one.is_active]
            explained = (explain_filters(context, reader, one, request) for one in active)
            some = next(filter(None, explained), [])
            found.append({(one.filter, one.value): one for one in some})
        if len(found) == 1 or self._faults:
            return [] if self._faults else [*found[0].values()]
        return [
            structs.replace(
                one,
                nearest=list(dict.fromkeys(near for some in found for near in some[key].nearest)),
            )
            for key, one in found[0].items()
            if all(key in some and not some[key].documents for some in found)
        ]


def _intersect(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the values that all lists have, in the order of the first."""
    return tuple(one for one in lists[0] if all(one in other for other in lists))
