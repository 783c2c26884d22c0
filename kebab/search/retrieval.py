"""Retrieves and ranks the candidates of a query; `kebab.search.engine` makes pages of them.

The lexical channel finds chunks by words, and the vector channel by the cosines of embeddings.
Evidence is their scores on a common scale, from 0 to about 1. It is fused, and boosts are added
(`kebab.search.ranking`). When a channel is degraded, it cannot answer, and the reply says so. No
library for vectors is imported before the vector channel is asked.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace as replace_fields
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, field
from msgspec.structs import replace

from kebab.config.settings import AUTO
from kebab.core.chunks import NO_BACKGROUND, CosineBackground, Key, KeyedScore, ModelProfile
from kebab.core.queries import Filters, Mode, Query
from kebab.errors.catalog import (
    DependencyMissing,
    EmbeddingMismatch,
    EmbeddingUnavailable,
    InvalidInput,
    IoError,
    OutOfMemory,
    StoreCorrupt,
    TimedOut,
)
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.search import lexical, reordering
from kebab.search.lexical import WeightedTerms, use_known_forms
from kebab.search.names import NAME, NameMatches, boost_named, match_names
from kebab.search.query_parser import (
    ParsedQuery,
    Phrase,
    classify_intent,
    is_question,
    parse_query,
    split_hashtags,
)
from kebab.search.ranking import (
    BoostScores,
    Scores,
    VectorMatches,
    add_boost,
    apply_boosts,
    fuse_channels,
    measure_lexical_strength,
    rank_by_score,
)
from kebab.search.snippet import PassageCache
from kebab.text.language import detect_question_language
from kebab.text.tokenizer import build_phrase_terms
from kebab.wire.search import DegradedChannel, Lift, ModeName, Retrieval, TraceStage

if TYPE_CHECKING:
    from kebab.core.chunks import Vector
    from kebab.core.ports import Embedder, Vectors
    from kebab.store.sqlite.reader import QueryCache, SqliteReader

CANDIDATE_LIMIT = 1000
"""How many candidates each channel gives; it is the same for every page, so that pages agree."""


class StageTimer:
    """Records the stages of a search; each lasts from the end of the stage before."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = clock()
        self.stages: list[TraceStage] = []

    def record(self, stage: str, candidates: int, note: str = "") -> None:
        """Record the end of a stage and the number of its candidates."""
        now = self._clock()
        cost = round((now - self._last) * 1000, 3)
        self.stages.append(
            TraceStage(stage=stage, duration_ms=cost, candidates=candidates, note=note)
        )
        self._last = now


class ChannelResults:
    """The candidates of one channel: the best in order, and the scores of all that have one.

    By default these are the scores of the listed candidates.
    """

    def __init__(
        self, ranked: Sequence[KeyedScore] = (), scores: Mapping[Key, float] | None = None
    ) -> None:
        self.ranked = ranked
        self.scores = dict(ranked) if scores is None else scores

    @cached_property
    def ranks(self) -> dict[Key, int]:
        """The rank of each listed candidate, from 1."""
        return {key: rank for rank, (key, _) in enumerate(self.ranked, start=1)}


class RankedCandidates(Struct, frozen=True, kw_only=True):
    """The candidates of a query in order, with the evidence of both channels."""

    ranked: Sequence[KeyedScore] = ()
    method: Mode = Mode.LEXICAL
    """The channels that the order is based on."""
    parsed: ParsedQuery
    """The query as it was searched."""
    weighted: WeightedTerms
    lexical: ChannelResults = field(default_factory=ChannelResults)
    vector: ChannelResults = field(default_factory=ChannelResults)
    degraded: tuple[DegradedChannel, ...] = ()
    fused: Scores = field(default_factory=dict)
    """The evidence of both channels without boosts."""
    boosts: BoostScores = field(default_factory=dict)
    named: NameMatches = field(default_factory=NameMatches)
    """The documents that the query may name."""
    dropped: tuple[Phrase, ...] = ()
    """The phrases of a question that were dropped: no passage holds them all."""
    model: ModelProfile | None = None
    """The model of the vectors; None when no vectors were compared."""
    background: CosineBackground = NO_BACKGROUND
    """The cosines of the query with the stored vectors."""
    match: float | None = None
    """How far the tokens of the first passages match; None when they were not compared."""

    def add_note(self, channel: str, reason: str, hint: str | None = None) -> "RankedCandidates":
        """Return the candidates with what a channel could not do."""
        note = DegradedChannel(channel=channel, reason=reason, hint=hint)
        return replace(self, degraded=(*self.degraded, note))

    def move(self, name: str, moved: Mapping[Key, float]) -> "RankedCandidates":
        """Return the candidates, first those that have changed places, with their new scores."""
        if not moved:
            return self
        before = dict(self.ranked)
        lifts = {key: score - before[key] for key, score in moved.items()}
        others = (one for one in self.ranked if one[0] not in moved)
        return replace(self, ranked=[*moved.items(), *others], boosts={**self.boosts, name: lifts})

    def build_retrieval(self, key: Key, fused: float, *, trace: bool) -> Retrieval:
        """Return how a candidate was found; with `trace` also its boosts."""
        lexical, vector = self.lexical.ranks.get(key), self.vector.ranks.get(key)
        only: ModeName = "lexical" if vector is None else "vector"
        found = ((name, boost.get(key)) for name, boost in self.boosts.items())
        return Retrieval(
            method="hybrid" if lexical and vector else only,
            lexical_rank=lexical,
            lexical_score=self.lexical.scores.get(key),
            vector_rank=vector,
            vector_score=self.vector.scores.get(key),
            fusion_score=fused,
            lifts=[Lift(reason=name, value=value) for name, value in found if value]
            if trace
            else UNSET,
        )


_READ = 10
"""So many passages tell whether words of code are looked for."""

_LEAST_HELD = 0.25
"""The least lexical evidence of the best passage, below which ranks by words say little."""


def merge_documents(candidates: RankedCandidates, passages: PassageCache) -> RankedCandidates:
    """Return the candidates of a question or a need, ordered by documents where many are long.

    Topics, names and code keep their order, and so does what only one channel found.
    """
    ranked, channels = candidates.ranked, (candidates.lexical.ranked, candidates.vector.ranked)
    if not all(channels) or reordering.CODE in candidates.boosts:
        return candidates
    held = channels[0][0][1] / (candidates.weighted.max_score or 1.0)
    if held < _LEAST_HELD or classify_intent(candidates.parsed).topic == 1:
        return candidates
    if candidates.named.names_owner(ranked[0][0], passages):
        return candidates
    moved = reordering.order_documents(ranked, channels, passages)
    return candidates.move(reordering.DOCUMENTS, moved)


class Ranker:
    """Ranks the chunks of one snapshot; a search by words asks for no vectors."""

    def __init__(self, retriever: "VectorRetriever") -> None:
        self._retriever = retriever
        self._library = retriever.library
        self._counts = lexical.TokenCounts(retriever.library)

    def rank(self, query: Query, timer: StageTimer, passages: PassageCache) -> RankedCandidates:
        """Return the candidates of a query; `passages` caches the passages that are read.

        Raises:
            InvalidInput: The query is empty, or only excludes.
        """
        if not (query.text.strip() or query.filters.is_active):
            raise InvalidInput(field="$.query", cause="it is empty")
        text, filters = self._read_hashtags(query)
        parsed = parse_query(text, filters, prose=query.prose)
        excluded = {one.terms for one in parsed.excluded if one.column is None}
        words = {tuple(build_phrase_terms(word)) for word in parsed.words}
        if words and words <= excluded:
            weighted = lexical.weigh_terms(self._library, parsed, self._counts)
            nothing = RankedCandidates(parsed=parsed, weighted=weighted)
            return nothing.add_note("lexical", "every word of the query is excluded, too")
        parsed = use_known_forms(self._library, parsed, self._counts)
        timer.record("parse", len(parsed.terms))
        found = self.rank_parsed(parsed, query.mode, timer, passages)
        if parsed.required and not found.ranked and (query.prose or is_question(parsed.plain)):
            loose = self.rank_parsed(replace(parsed, required=()), query.mode, timer, passages)
            found = replace(loose, dropped=parsed.required)
            found = found.add_note("lexical", "no passage holds the quoted words as they stand")
        return found

    def _read_hashtags(self, query: Query) -> tuple[str, Filters]:
        """Return a query whose hashtags are filters, if all are tags of documents.

        Without other words they stay words too, so that a passage with the tag comes first.
        """
        filters = query.filters
        text, tags = split_hashtags(query.text)
        if query.prose or not tags or filters.tag:
            return query.text, filters
        by_tag = [replace_fields(filters, tag=(tag,)) for tag in tags]
        if not all(map(self._library.list_allowed_keys, by_tag)):
            return query.text, filters
        return text, replace_fields(filters, tag=tags)

    def rank_parsed(
        self, parsed: ParsedQuery, mode: Mode, timer: StageTimer, passages: PassageCache
    ) -> RankedCandidates:
        """Return the candidates of a parsed query."""
        if mode is Mode.HYBRID and parsed.terms:
            self._retriever.prepare(parsed)  # the model loads while words are searched
        weighted = lexical.weigh_terms(self._library, parsed, self._counts)
        if not parsed.terms:
            return self._list_allowed(parsed, weighted, timer, passages)
        found: list[KeyedScore] = []
        named = NameMatches()
        if mode is not Mode.VECTOR:
            found = lexical.search_lexical(self._library, parsed, weighted, CANDIDATE_LIMIT)
            first = passages.load_chunks([key for key, _ in found[:_READ]])
            if reordering.has_mostly_code(first):
                found = lexical.search_code(self._library, parsed, found, CANDIDATE_LIMIT)
            timer.record("lexical", len(found), f"{len(weighted.terms)} terms")
            named = match_names(self._library, parsed, weighted)
            timer.record("names", len(named.documents))
        result = None
        if mode is not Mode.LEXICAL:
            keys = [key for key, _ in found]
            result = self._retriever.retrieve(parsed, keys, CANDIDATE_LIMIT, mode)
            if isinstance(result, DegradedChannel):
                timer.record("vector", 0, result.reason)
            else:
                note = "remembered" if result.from_cache else result.model.version
                timer.record("vector", len(result.nearest), note)
        candidates = self._merge(parsed, weighted, found, named, result, passages)
        timer.record("fuse", len(candidates.ranked), candidates.method.value)
        return candidates

    def _merge(
        self,
        parsed: ParsedQuery,
        weighted: WeightedTerms,
        found: Sequence[KeyedScore],
        named: NameMatches,
        result: "VectorMatches | DegradedChannel | None",
        passages: PassageCache,
    ) -> RankedCandidates:
        # Feedback, proximity and diversity rest on the words, so need falls where these say little.
        intent, method = classify_intent(parsed), Mode.LEXICAL
        # A share of what a good passage reaches, from 0 to slightly above 1.
        evidence = {key: score / (weighted.max_score or 1.0) for key, score in found}
        fused: Scores = evidence
        matches = None if isinstance(result, DegradedChannel) else result
        if matches is not None:
            method = Mode.HYBRID if found else Mode.VECTOR
            index = self._retriever.vectors
            strength = measure_lexical_strength(evidence)
            intent = replace(intent, need=intent.need * strength, strength=strength)
            fused = fuse_channels(parsed, intent.need, evidence, matches, passages, index)
        scores: Scores = fused
        boosts: BoostScores = {}
        if method is not Mode.VECTOR:
            scores, boosts = apply_boosts(parsed, intent, weighted, fused, passages)
        if named.documents:
            adds = not (parsed.required or parsed.excluded)
            boosts = {**boosts, NAME: boost_named(scores, named, passages, adds=adds)}
            scores = add_boost({**dict.fromkeys(boosts[NAME], 0.0), **scores}, boosts[NAME])
        ranked = rank_by_score(scores)
        candidates = RankedCandidates(
            ranked=ranked,
            method=method,
            parsed=parsed,
            weighted=weighted,
            named=named,
            lexical=ChannelResults(found),
            vector=ChannelResults(matches.nearest, matches.cosines)
            if matches
            else ChannelResults(),
            degraded=tuple(
                note
                for note in (result if matches is None else matches.note,)
                if isinstance(note, DegradedChannel)
            ),
            fused=fused,
            boosts=boosts,
            model=matches.model if matches else None,
            background=matches.background if matches else NO_BACKGROUND,
        )
        if method is Mode.VECTOR:
            return candidates
        is_named = bool(ranked) and named.names_owner(ranked[0][0], passages)
        spread = boosts.get("spread", {})
        moved = reordering.order_code(
            ranked, parsed, weighted.rarities, spread, passages, is_named=is_named
        )
        return candidates.move(reordering.CODE, moved)

    def _list_allowed(
        self,
        parsed: ParsedQuery,
        weighted: WeightedTerms,
        timer: StageTimer,
        passages: PassageCache,
    ) -> RankedCandidates:
        """Return the chunks that pass the filters and exclusions of a query without terms.

        The first of each document come before the others.
        """
        excluded = set(lexical.find_holding(self._library, parsed.filters, parsed.excluded, "OR"))
        allowed = self._library.list_allowed_keys(parsed.filters) or []
        keys = [key for key in allowed if key not in excluded][:CANDIDATE_LIMIT]
        owners = passages.find_doc_numbers(keys)
        firsts = {owner: key for key, owner in reversed(owners.items())}.values()
        ordered = sorted(keys, key=lambda key: key not in firsts)
        timer.record("filter", len(keys))
        ranked = [(key, 0.0) for key in ordered]
        return RankedCandidates(ranked=ranked, parsed=parsed, weighted=weighted)


_NAMESPACE = "query_vector:{}"
"""The part of the cache with the vectors of a model, by its version."""
_FLOAT_BYTES = 4

_SPARE = 32
"""How many more rows than needed are searched for, because some do not count."""

DEGRADING: tuple[type[Signal], ...] = (
    DependencyMissing,
    EmbeddingMismatch,
    EmbeddingUnavailable,
    IoError,
    OutOfMemory,
    StoreCorrupt,
    TimedOut,
)
"""Errors that disable the channel without failing a hybrid search."""


class VectorRetriever(Struct, frozen=True, kw_only=True):
    """The vector channel of one library; index and model are loaded on first use."""

    library: "SqliteReader"
    vectors: "Callable[[], Vectors | None]"
    embedder: "Callable[[], Embedder]"
    cache: "QueryCache | None" = None

    def prepare(self, parsed: ParsedQuery) -> None:
        """Start loading the model if the query needs it; errors are reported by `retrieve`."""
        with suppress(*DEGRADING):
            embedder, text = self.embedder(), parsed.plain
            namespace = _NAMESPACE.format(embedder.profile.version)
            if not embedder.supports(text) or (
                self.cache is not None and self.cache.get(namespace, text)
            ):
                return
            if (vectors := self.vectors()) is not None and vectors.count():
                embedder.prepare()

    def retrieve(
        self, parsed: ParsedQuery, candidates: Collection[Key], limit: int, mode: Mode
    ) -> VectorMatches | DegradedChannel:
        """Return the nearest chunks and the cosines of the candidates, or why there are none.

        Raises:
            DependencyMissing: The mode is `vector`, and a library cannot be loaded.
            EmbeddingUnavailable: The mode is `vector`, and there is no model.
            IoError: The mode is `vector`, and the file system failed.
            StoreCorrupt: The mode is `vector`, and the vectors cannot be read.
            TimedOut: The mode is `vector`, and the model took too long.
        """
        try:
            embedder = self.embedder()
            if not embedder.supports(parsed.plain):
                other = embedder.profile.alternative
                reason = "the embedding model does not know the script of this query"
                return build_degraded(reason, f"kebab model use {other}" if other else None)
            vectors = self.vectors()
            if vectors is None or not vectors.count():
                return build_degraded("no passage is embedded yet", "kebab ingest")
            query, from_cache = embed_query(self.cache, embedder, parsed.plain)
            allowed = (
                lexical.find_holding(self.library, parsed.filters, parsed.required, "AND")
                if parsed.required
                else self.library.list_allowed_keys(parsed.filters)
            )
            excluded = frozenset(
                lexical.find_holding(self.library, parsed.filters, parsed.excluded, "OR")
            )
            found = find_nearest(self.library, vectors, query, limit, allowed, excluded)
            cosines = dict(found)
            if missing := [key for key in candidates if key not in cosines]:
                cosines |= vectors.compute_cosines(query, missing)
            return VectorMatches(
                nearest=found,
                cosines=cosines,
                model=embedder.profile,
                from_cache=from_cache,
                background=vectors.measure_background(query),
                note=describe_unknown_language(embedder.profile, parsed.plain),
            )
        except DEGRADING as signal:
            if mode is Mode.VECTOR:
                raise
            return describe_loss(signal)


def embed_query(
    cache: "QueryCache | None", embedder: "Embedder", text: str
) -> tuple["Vector", bool]:
    """Return the unit vector of a query, and whether it comes from the cache."""
    namespace = _NAMESPACE.format(embedder.profile.version)
    raw = cache.get(namespace, text) if cache is not None else None
    if raw is not None and len(raw) == embedder.profile.dimension * _FLOAT_BYTES:
        with translate_import_errors("embedding", "numpy"):
            import numpy as np

        return np.frombuffer(raw, dtype="<f4").astype(np.float32), True
    vector = embedder.embed_query(text)
    if cache is not None:
        cache.put(namespace, text, vector.astype("<f4").tobytes())
    return vector, False


def find_nearest(
    library: "SqliteReader",
    vectors: "Vectors",
    query: "Vector",
    limit: int,
    allowed: Sequence[Key] | None = None,
    excluded: Collection[Key] = (),
) -> list[KeyedScore]:
    """Return the nearest chunks that the snapshot holds, of all or of those that are allowed.

    A row that the snapshot does not hold (a chunk deleted or written by another process) or that
    the query excludes does not count. The search is widened until the list is full or the index
    is exhausted.
    """
    wanted = limit + _SPARE
    while True:
        rows = vectors.find_nearest(query, wanted, allowed)
        live = library.find_committed_keys([key for key, _ in rows]).difference(excluded)
        found = [(key, cosine) for key, cosine in rows if key in live]
        if len(found) >= limit or len(rows) < wanted:
            return found[:limit]
        wanted *= 2


def describe_unknown_language(model: ModelProfile, text: str) -> DegradedChannel | None:
    """Return that a model does not know the language of a query, and which one does."""
    if model.alternative is None or model.language_trust.english == model.language_trust.other:
        return None
    language = detect_question_language(text)
    if language.code in {None, "en"}:
        return None
    reason = f"the embedding model knows {model.languages}, and this query is {language.name}"
    note = build_degraded(reason, f"kebab model use {model.alternative}")
    return replace(note, partial=True)


def describe_loss(signal: Signal) -> DegradedChannel:
    """Return why the vector channel failed; a model that nobody chose yet has no name to tell."""
    reason = signal.format_message()
    if isinstance(signal, EmbeddingUnavailable) and signal.model == AUTO:
        reason = signal.cause
    return build_degraded(reason, signal.format_hint())


def build_degraded(reason: str, hint: str | None = None) -> DegradedChannel:
    """Return why the vector channel did not answer, and the command that restores it."""
    return DegradedChannel(channel="vector", reason=reason, hint=hint)
