"""Searches one snapshot of the library: a query in, a page of hits out, with its cursor."""

import hmac
import time
from base64 import b64decode, urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from itertools import islice, zip_longest
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from kebab.core.chunks import DocId, Key
from kebab.core.queries import Hit, Mode, Page, Query, Snippet, StoredChunk
from kebab.errors.catalog import InvalidCursor, StaleCursor
from kebab.search import reordering
from kebab.search.absent_terms import find_absent_terms, find_unheld_words
from kebab.search.answerability import (
    FAIR,
    LEAST_SCORES,
    Calibration,
    calibrate,
    classify_confidence,
    read_first_passages,
    should_rerank,
)
from kebab.search.lexical import quote_term
from kebab.search.query_parser import ParsedQuery
from kebab.search.retrieval import (
    RankedCandidates,
    Ranker,
    StageTimer,
    VectorRetriever,
    build_degraded,
    merge_documents,
)
from kebab.search.snippet import PassageCache, cut_snippet, highlight_text
from kebab.text.tokenizer import Term, tokenize
from kebab.wire.record import format_timestamp
from kebab.wire.search import LeftOut, QueryParsed, SortName

if TYPE_CHECKING:
    from kebab.core.ports import Embedder, Vectors
    from kebab.store.sqlite.reader import QueryCache, SqliteReader


class QueryResult(msgspec.Struct, frozen=True, dict=True):
    """The ranking of one query, what turns its evidence into scores, and facts about the query."""

    candidates: RankedCandidates
    calibration: Calibration
    absent_terms: tuple[str, ...] = ()
    convincing: bool = False

    @cached_property
    def evidence(self) -> dict[Key, float]:
        """The evidence of each chunk, the best chunk first."""
        return dict(self.candidates.ranked)

    def score(self, key: Key) -> float:
        """Return the calibrated score of a chunk, 0 for one that the query did not find."""
        evidence = self.evidence.get(key)
        return 0.0 if evidence is None else self.calibration.score(evidence)

    @property
    def first(self) -> Key | None:
        """The best chunk, also when it is weak; None without any."""
        return next(iter(self.evidence), None)


class SearchEngine:
    """Searches one snapshot of the library.

    The vector index (None when there is none) and the model (or why there is none) are loaded only
    when needed. `cache` holds the vectors of queries. `mask` removes secrets from passages that
    are shown.
    """

    def __init__(
        self,
        library: "SqliteReader",
        vectors: "Callable[[], Vectors | None]",
        embedder: "Callable[[], Embedder]",
        *,
        cache: "QueryCache | None" = None,
        clock: Callable[[], float] = time.perf_counter,
        mask: Callable[[StoredChunk], StoredChunk] = lambda chunk: chunk,
    ) -> None:
        self._library = library
        self._mask = mask
        self._clock = clock
        self._embedder = embedder
        self._ranker = Ranker(
            VectorRetriever(library=library, vectors=vectors, embedder=embedder, cache=cache)
        )

    def search(self, query: Query) -> Page:
        """Return one page of hits.

        Raises:
            InvalidInput: The query is empty, or only excludes.
            EmbeddingUnavailable: The mode is `vector`, and there is no model.
            StoreCorrupt: The mode is `vector`, and the vectors cannot be read.
            TimedOut: The mode is `vector`, and the model took too long.
        """
        timer, passages = StageTimer(self._clock), PassageCache(self._library)
        results = [
            self._rank(replace(query, text=text), timer, passages)
            for text in (query.text, *query.more)
        ]
        ranking = MergedRanking(results)
        keys = ranking.keys
        if query.sort != "relevance":
            keys = sort_by_date(ranking, query.sort, passages)
        hits, has_more, left_out = select_hits(
            ranking,
            keys,
            query,
            self._library,
            lambda keys: [self._mask(chunk) for chunk in passages.load_chunks(keys)],
        )
        if query.detail == "best" and left_out is None:
            shown = [hit.chunk for hit in hits if hit.snippet.text]
        else:
            listed = {hit.chunk.key for hit in hits} | {*keys[: query.page_size]}
            shown = passages.load_chunks(sorted(listed))
        unheld = {
            word: None
            for found in results
            for word in find_unheld_words(
                self._library, found.candidates, shown, passages, convincing=found.convincing
            )
            if word not in found.absent_terms
        }
        timer.record("page", len(hits))
        degraded = list(
            dict.fromkeys(one for found in results for one in found.candidates.degraded)
        )
        has_vectors = query.mode is not Mode.LEXICAL and all(
            channel.channel != "vector" or channel.partial is True for channel in degraded
        )
        if has_vectors and (count := self._library.count_pending()):
            embedded = 100 - max(1, round(100 * count / max(count, self._library.count_chunks())))
            reason = f"{embedded} % embedded"
            note = build_degraded(reason, "kebab ingest")
            degraded.append(msgspec.structs.replace(note, partial=True))
        rarities = [result.candidates.weighted.rarities for result in results]
        parsed = [result.candidates.parsed for result in results]
        return Page(
            hits=hits,
            has_more=has_more,
            next_offset=query.offset + len(hits) if has_more and hits else None,
            left_out=left_out,
            degraded=tuple(degraded),
            revision=self._library.get_revision(),
            timing_ms=round(sum(stage.duration_ms for stage in timer.stages), 3),
            stages=tuple(timer.stages) if query.trace else (),
            term_rarities={term: rarity for some in rarities for term, rarity in some.items()},
            answerability=max(result.calibration.answerability for result in results),
            filters=tuple(one.filters for one in parsed),
            query_parsed=describe_reading(parsed),
            absent_terms=tuple(
                dict.fromkeys(term for result in results for term in result.absent_terms)
            ),
            unheld_terms=tuple(unheld),
            convincing=any(result.convincing for result in results),
            convincing_queries=tuple(
                index for index, result in enumerate(results) if result.convincing
            ),
        )

    def _rank(self, query: Query, timer: StageTimer, passages: PassageCache) -> QueryResult:
        candidates = self._ranker.rank(query, timer, passages)
        if not query.prose:
            candidates = merge_documents(candidates, passages)
        if should_rerank(query, candidates, passages):
            from kebab.search.rerank import rerank_candidates

            candidates = rerank_candidates(
                candidates, self._embedder, passages, timer, asked_for=bool(query.rerank)
            )
        bare = reordering.order_bare(candidates.ranked, candidates.parsed, passages)
        candidates = candidates.move(reordering.BARE, bare)
        parsed = candidates.parsed
        about = reordering.order_sections(candidates.ranked, parsed.words, passages)
        candidates = candidates.move(reordering.SECTION, about)
        calibration = calibrate(candidates, passages)
        is_sure = classify_confidence(calibration.answerability) == "strong"
        if query.detail == "best" and query.rerank is not False and not is_sure:
            from kebab.search.rerank import order_page

            candidates = order_page(candidates, self._embedder, passages, timer)
        convincing = calibration.answerability >= FAIR
        first = read_first_passages(candidates, passages)
        held = frozenset().union(*map(passages.tokenize_passage, first))
        least = LEAST_SCORES[query.min_confidence]
        kept = [one for one in candidates.ranked if calibration.score(one[1]) >= least]
        return QueryResult(
            candidates=msgspec.structs.replace(candidates, ranked=kept),
            calibration=calibration,
            absent_terms=find_absent_terms(
                self._library, candidates, first, held, convincing=convincing
            ),
            convincing=convincing,
        )


SORTED_SHARE = 0.5
"""The least score of a hit that is sorted by its date, as a share of the best one's."""


def sort_by_date(ranking: "MergedRanking", sort: SortName, passages: PassageCache) -> list[Key]:
    """Return the chunks of at least half of the best score by their dates, then the others."""
    scores = {key: ranking.find_match(key).score for key in ranking.keys}
    least = max(scores.values(), default=0.0) * SORTED_SHARE
    good = [key for key, score in scores.items() if score >= least]
    sign = -1 if sort == "newest" else 1
    moments = {chunk.key: sign * chunk.moment_ns for chunk in passages.load_chunks(good)}
    others = [key for key in scores if key not in moments]
    return [*sorted(moments, key=moments.__getitem__), *others]


_HIGHLIGHT_SHARE = 0.25
"""The least weight of a highlighted token, as a share of the heaviest one's."""


class Match(NamedTuple):
    """How a chunk was found: the query that it answers best, and all queries that found it."""

    result: QueryResult
    evidence: float
    score: float
    queries: tuple[int, ...]


class MergedRanking(msgspec.Struct, frozen=True, dict=True):
    """The chunks that several queries found, in one order."""

    results: Sequence[QueryResult]

    @cached_property
    def keys(self) -> list[Key]:
        """The chunks in order.

        First the queries take turns with their first chunk and those that are better than weak: in
        each turn every query gives its next one, the best score first. The other chunks follow by
        their best score. So the first chunk of each query is near the top.
        """
        if len(self.results) == 1:
            return list(self.results[0].evidence)
        ordered: dict[Key, None] = {}
        leading = (
            [key for key in result.evidence if key == result.first or result.score(key) >= FAIR]
            for result in self.results
        )
        for turn in zip_longest(*leading):
            found = {key for key in turn if key is not None}
            ordered.update(dict.fromkeys(sorted(found, key=self._sort_key)))
        others = {key for result in self.results for key in result.evidence}.difference(ordered)
        return [*ordered, *sorted(others, key=self._sort_key)]

    def _sort_key(self, key: Key) -> tuple[float, Key]:
        return -max(result.score(key) for result in self.results), key

    def find_match(self, key: Key) -> Match:
        """Return how a chunk was found.

        A query found its first chunk and those that are better than weak for it. Any other chunk
        was found by the query with the highest score.
        """
        scores = [result.score(key) for result in self.results]
        listed = [index for index, result in enumerate(self.results) if key in result.evidence]
        best = max(listed, key=lambda index: scores[index])
        result = self.results[best]
        finders = tuple(
            index
            for index in listed
            if index == best or scores[index] >= FAIR or key == self.results[index].first
        )
        return Match(result, result.evidence[key], scores[best], finders)

    def weigh_highlights(self, key: Key) -> Mapping[str, float]:
        """Return the weights of the tokens of all queries that found a chunk, to highlight them.

        Beside a rare word, highlights of frequent words only distract.
        """
        weights: dict[str, float] = {}
        for index in reversed(self.find_match(key).queries):
            found = self.results[index].candidates.weighted.weights
            least = max(found.values(), default=0.0) * _HIGHLIGHT_SHARE
            weights |= {token: weight for token, weight in found.items() if weight >= least}
        return weights


def describe_reading(queries: Sequence[ParsedQuery]) -> QueryParsed:
    """Return how queries were read: everything that occurs in any of them, dates as text.

    Of two values of a filter that takes only one, the first is reported.
    """
    filters: dict[str, Any] = {}
    for query in queries:
        for name, value in query.filters.list_active().items():
            if isinstance(value, tuple):
                filters[name] = list(dict.fromkeys((*filters.get(name, ()), *value)))
            else:
                shown = format_timestamp(value) if isinstance(value, float) else str(value)
                filters.setdefault(name, shown)
    return QueryParsed(
        terms=list(dict.fromkeys(word for query in queries for word in query.words)),
        phrases=list(dict.fromkeys(one.format() for query in queries for one in query.required)),
        excluded=list(dict.fromkeys(one.format() for query in queries for one in query.excluded)),
        filters=filters,
    )


MAX_COPIES = 3
"""How often the same text is shown; further copies in other documents are left out."""

_BATCH = 16

_HOLDERS = 16
"""How many passages that hold names are searched for their values."""


def deduplicate_hits(
    keys: Sequence[Key], read: Callable[[Sequence[Key]], list[StoredChunk]], per_doc: int | None
) -> Iterator[StoredChunk]:
    """Yield chunks in order, at most `per_doc` of one document and few copies of one text.

    They are read in batches, as far as the caller iterates.
    """
    documents: Counter[DocId] = Counter()
    texts: Counter[str] = Counter()
    for start in range(0, len(keys), _BATCH):
        for chunk in read(keys[start : start + _BATCH]):
            is_last = per_doc is not None and documents[chunk.doc_id] >= per_doc
            if not is_last and texts[chunk.text] < MAX_COPIES:
                documents[chunk.doc_id] += 1
                texts[chunk.text] += 1
                yield chunk


def select_hits(
    ranking: MergedRanking,
    keys: Sequence[Key],
    query: Query,
    library: "SqliteReader",
    read: Callable[[Sequence[Key]], list[StoredChunk]],
) -> tuple[tuple[Hit, ...], bool, LeftOut | None]:
    """Return the hits of a page, whether others follow, and what the token budget left out."""
    size, shown = query.page_size, deduplicate_hits(keys, read, query.per_doc)
    found = list(islice(shown, query.offset, query.offset + size + 1))
    more = len(found) > size
    hits = [
        _build_hit(ranking, chunk, query, rank)
        for rank, chunk in enumerate(found[:size], start=query.offset + 1)
    ]
    if query.detail != "best" and query.max_tokens is None:
        return tuple(hits), more, None
    from kebab.search.budget import drop_weak_texts, fit_budget, grow_texts

    if query.detail == "best":

        def find(names: Sequence[str]) -> list[StoredChunk]:
            match = " OR ".join(quote_term(Term(tokenize(name)[-1])) for name in names)
            return read([key for key, _ in library.search_lexical(match, query.filters, _HOLDERS)])

        weigh, hits = ranking.weigh_highlights, drop_weak_texts(hits)
        hits = grow_texts(hits, query, library.list_extents, read, find, weigh)
    if query.max_tokens is None:
        return tuple(hits), more, None
    first_keys = {result.first for result in ranking.results}
    firsts = [place for place, hit in enumerate(hits) if hit.chunk.key in first_keys]
    required = max(firsts, default=0) + 1
    fitting, left_out = fit_budget(hits, query, ranking.weigh_highlights, required)
    return tuple(fitting), more or len(fitting) < len(hits), left_out


def _build_hit(ranking: MergedRanking, chunk: StoredChunk, query: Query, rank: int) -> Hit:
    match = ranking.find_match(chunk.key)
    weights = ranking.weigh_highlights(chunk.key)
    found = Snippet("")
    if query.detail in ("passages", "best"):
        found = highlight_text(chunk.text, weights)
    elif query.detail == "snippets":
        found = cut_snippet(chunk.text, weights, query.snippet_chars)
    return Hit(
        rank=rank,
        score=match.score,
        confidence=classify_confidence(match.score),
        chunk=chunk,
        snippet=found,
        retrieval=match.result.candidates.build_retrieval(
            chunk.key, match.evidence, trace=query.trace
        ),
        queries=match.queries,
    )


_BODY = Struct(">QQ")
_SIGNATURE_BYTES = 14
"""With so many a cursor needs no padding."""
_UNBOUND_FIELDS = frozenset({"limit", "offset", "detail", "snippet_chars", "max_tokens", "trace"})


def encode_cursor(query: Query, offset: int, revision: int, salt: str) -> str:
    """Return the cursor of the page that starts at an offset."""
    body = _BODY.pack(offset, revision)
    return urlsafe_b64encode(body + _compute_signature(body, query, salt)).decode()


def decode_cursor(cursor: str, query: Query, revision: int, salt: str) -> int:
    """Return the offset of a cursor.

    Raises:
        InvalidCursor: The cursor is not of this library, or belongs to another query.
        StaleCursor: The index has changed since the cursor was issued.
    """
    try:
        raw = b64decode(cursor.encode("ascii"), b"-_", validate=True)
    except ValueError as error:
        raise InvalidCursor(cause="it is not a cursor") from error
    body, signature = raw[: _BODY.size], raw[_BODY.size :]
    if not hmac.compare_digest(_compute_signature(body, query, salt), signature):
        raise InvalidCursor(cause="it was not issued for this query by this knowledge base")
    offset, issued = _BODY.unpack(body)
    if issued != revision:
        raise StaleCursor(issued_revision=issued, current_revision=revision)
    return int(offset)


def _compute_signature(body: bytes, query: Query, salt: str) -> bytes:
    """Return the signature of a cursor with the fields that determine the order of hits."""
    bound = {name: value for name, value in asdict(query).items() if name not in _UNBOUND_FIELDS}
    bound["detail"] = query.detail == "best"
    signed = body + repr(sorted(bound.items())).encode("utf-8", "surrogatepass")
    key = salt.encode("utf-8", "surrogatepass")
    return hmac.digest(key, signed, "sha256")[:_SIGNATURE_BYTES]
