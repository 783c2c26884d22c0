"""Explains where a search found or lost the passages of one document, with a verdict."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from kebab.core.ids import Key
from kebab.core.ports import LibraryReader
from kebab.core.queries import Confidence, Mode, Query, StoredChunk
from kebab.search.answerability import calibrate, classify_confidence
from kebab.search.explain_matches import (
    UNRANKED,
    BrokenCondition,
    describe_terms,
    find_broken_conditions,
    find_held_terms,
    find_lexical_standings,
    find_standings,
    find_vector_standings,
    list_active_filters,
    remove_conditions,
)
from kebab.search.fusion import rank_by_score
from kebab.search.page import deduplicate_hits
from kebab.search.query_parser import ParsedQuery, QueryIntent, classify_intent
from kebab.search.retrieval import CANDIDATE_LIMIT, RankedCandidates, Ranker, StageTimer
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorRetriever
from kebab.wire.search import DegradedChannel, Lift
from kebab.wire.why import HeldTerms, Standing, TermReading, VerdictName, Withheld

_SHOWN = 3
_LAST = 1 << 62
"""The sort key of passages without a rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageExplanation:
    """What a search did with one passage."""

    chunk: StoredChunk
    broken: tuple[BrokenCondition, ...]
    held: HeldTerms
    lexical: Standing
    semantic: Standing
    fused: Standing
    boosts: list[Lift]
    final: Standing
    score: float | None
    """The final evidence, calibrated."""
    hit_rank: int | None
    """Its rank among the hits of all pages."""
    withheld: Withheld | None
    """Why a ranked passage is no hit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentExplanation:
    """What a search did with a document.

    Where every passage breaks a condition, `removed` holds the conditions of the best one, and the
    passages are explained for a search without them.
    """

    parsed: ParsedQuery
    """The query as it was searched, with the removed conditions."""
    intent: QueryIntent
    terms: list[TermReading]
    relaxed: bool
    """Whether required phrases were dropped because no passage holds them all."""
    removed: tuple[BrokenCondition, ...]
    passages: tuple[PassageExplanation, ...]
    """The best passages, best first."""
    candidate_count: int
    degraded: tuple[DegradedChannel, ...]
    revision: int
    timing_ms: float

    @property
    def best(self) -> PassageExplanation | None:
        """The explanation of the best passage; None for a document without text."""
        return self.passages[0] if self.passages else None


class Explainer:
    """Explains searches of one snapshot."""

    def __init__(
        self,
        library: LibraryReader,
        retriever: VectorRetriever,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._library = library
        self._retriever = retriever
        self._clock = clock

    def explain(self, query: Query, passages: Sequence[StoredChunk]) -> DocumentExplanation:
        """Explain what a search does with passages of one document.

        Raises:
            InvalidInput: The query is empty.
            EmbeddingUnavailable: The mode is `vector`, and there is no model.
            StoreCorrupt: The mode is `vector`, and the vectors cannot be read.
            TimedOut: The mode is `vector`, and the model took too long.
        """
        timer, cache = StageTimer(self._clock), PassageCache(self._library)
        ranker = Ranker(self._library, self._retriever)
        first = candidates = ranker.rank(query, timer, cache)
        broken = find_broken_conditions(self._library, first.parsed, passages)
        removed = min(broken.values(), key=len, default=())
        if removed:
            without = remove_conditions(first.parsed, removed)
            candidates = ranker.rank_parsed(without, query.mode, timer, cache)
        return DocumentExplanation(
            parsed=first.parsed,
            intent=classify_intent(first.parsed),
            terms=describe_terms(self._library, first.parsed, candidates.weighted),
            relaxed=first.relaxed,
            removed=removed,
            passages=tuple(self._explain_passages(candidates, query, broken, cache)),
            candidate_count=len(candidates.ranked),
            degraded=candidates.degraded,
            revision=self._library.get_revision(),
            timing_ms=timer.get_elapsed_ms(),
        )

    def _explain_passages(
        self,
        candidates: RankedCandidates,
        query: Query,
        broken: Mapping[Key, tuple[BrokenCondition, ...]],
        cache: PassageCache,
    ) -> Iterator[PassageExplanation]:
        """Yield the explanations of the passages that came furthest."""
        keys = broken.keys()
        lexical = find_lexical_standings(self._library, candidates, keys)
        semantic = find_vector_standings(self._retriever, candidates, keys, query.mode)
        fused = find_standings(rank_by_score(candidates.fused), keys)
        final = find_standings(candidates.ranked, keys)
        hit_ranks, withheld = _rank_hits(candidates, query.per_doc, keys, cache)
        calibration = calibrate(candidates, cache)

        def sort_key(key: Key) -> tuple[int, ...]:
            stages = (one.get(key, UNRANKED).rank for one in (final, semantic, lexical))
            ranks = (hit_ranks.get(key), *stages)
            return (*(_LAST if rank is None else rank for rank in ranks), key)

        for chunk in cache.load_chunks(sorted(keys, key=sort_key)[:_SHOWN]):
            key, standing = chunk.key, final.get(chunk.key, UNRANKED)
            yield PassageExplanation(
                chunk=chunk,
                broken=broken[key],
                held=find_held_terms(candidates.weighted, chunk),
                lexical=lexical.get(key, UNRANKED),
                semantic=semantic.get(key, UNRANKED),
                fused=fused.get(key, UNRANKED),
                boosts=candidates.list_boosts(key),
                final=standing,
                score=None if standing.score is None else calibration.score(standing.score),
                hit_rank=hit_ranks.get(key),
                withheld=withheld.get(key),
            )


def _rank_hits(
    candidates: RankedCandidates, per_doc: int | None, keys: Collection[Key], cache: PassageCache
) -> tuple[dict[Key, int], dict[Key, Withheld]]:
    """Return the ranks of those passages that are hits, and why other candidates are none."""
    order = [key for key, _ in candidates.ranked]
    hits = enumerate(deduplicate_hits(order, cache.load_chunks, per_doc), start=1)
    shown = {chunk.key: rank for rank, chunk in hits}
    lost = [key for key in order if key in keys and key not in shown]
    free = (
        {chunk.key for chunk in deduplicate_hits(order, cache.load_chunks, None)} if lost else set()
    )
    withheld: dict[Key, Withheld] = {key: "per_doc" if key in free else "copies" for key in lost}
    return {key: rank for key, rank in shown.items() if key in keys}, withheld


Remedy: TypeAlias = Literal[
    "limit", "per_doc", "copies", "loosen", "hybrid", "ingest", "mend", "within", "inspect"
]
"""What brings a lost document back: more hits, no limit per document, fewer conditions, a look at
the copies, both channels, an embedding, a repair, a search within it, or a look at its record.
"""

_FLAGS = {"path_glob": "path", "doc_id": "doc-id", "folder": "in"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a search found or lost a document, and what would bring it back."""

    kind: VerdictName
    text: str
    remedy: Remedy | None = None


def build_verdict(explained: DocumentExplanation, query: Query) -> Verdict:
    """Return the verdict on a document, by its best passage."""
    best = explained.best
    if best is None:
        return Verdict("no_text", "lost: no text of it is indexed", "inspect")
    if explained.removed:
        return _describe_removed(explained, best, query)
    if best.hit_rank is not None:
        return _describe_rank(best.hit_rank, best, query)
    if best.withheld == "per_doc":
        text = f"lost: {query.per_doc} better passages of its document are shown, and no more"
        return Verdict("per_doc", text, "per_doc")
    if best.withheld == "copies":
        return Verdict("copy", "lost: the very same text is shown from other documents", "copies")
    return _describe_loss(best, query)


def _describe_rank(rank: int, best: PassageExplanation, query: Query) -> Verdict:
    if rank <= query.limit:
        weak = classify_confidence(best.score or 0.0) is Confidence.WEAK
        return Verdict("found", f"found at rank {rank}" + (", as a weak hit" if weak else ""))
    text = f"it stands at rank {rank:,}, and the page holds {query.limit:,}"
    return Verdict("next_page", text, "limit")


def _describe_removed(
    explained: DocumentExplanation, best: PassageExplanation, query: Query
) -> Verdict:
    filters = list_active_filters(explained.parsed.filters)
    reasons = " and ".join(_describe_condition(one, filters) for one in explained.removed)
    if best.hit_rank is None:
        after = "it would not be among the candidates without that either"
    else:
        after = f"without that it stands at rank {best.hit_rank:,}"
        if best.hit_rank > query.limit:
            after += f", and the page holds {query.limit:,}"
    return Verdict("kept_out", f"lost: {reasons}; {after}", "loosen")


def _describe_condition(condition: BrokenCondition, filters: Mapping[str, Any]) -> str:
    phrase = condition.phrase
    if phrase is None:
        return f"the filter {_describe_filter(str(condition.filter), filters)} keeps it out"
    where = f" in its {phrase.column}" if phrase.column else ""
    if condition.kind == "exclusion":
        return f"it holds the excluded \u201c{phrase.text}\u201d{where}"
    return f"it does not hold \u201c{phrase.text}\u201d{where}"


def _describe_filter(name: str, filters: Mapping[str, Any]) -> str:
    """Return a filter as a flag with its values, but without times."""
    value = filters[name]
    values = " or ".join(value) if isinstance(value, tuple) else value
    flag = f"--{_FLAGS.get(name, name)}"
    return f"{flag} {values}" if isinstance(values, str) else flag


def _describe_loss(best: PassageExplanation, query: Query) -> Verdict:
    """Return why a passage that breaks no condition is no candidate."""
    lexical = _describe_lexical_loss(best, query.mode)
    semantic, remedy = _describe_vector_loss(best, query.mode)
    kind: VerdictName = (
        "no_match" if best.lexical.rank is None and best.semantic.rank is None else "too_far"
    )
    return Verdict(kind, "lost: " + " and ".join(filter(None, (lexical, semantic))), remedy)


def _describe_lexical_loss(best: PassageExplanation, mode: Mode) -> str:
    if mode is Mode.VECTOR:
        return ""
    if best.lexical.rank is None:
        return "no term that was asked for occurs in it"
    return _describe_far("words", best.lexical.rank)


def _describe_vector_loss(best: PassageExplanation, mode: Mode) -> tuple[str, Remedy]:
    if mode is Mode.LEXICAL:
        return "", "hybrid"
    if best.semantic.rank is not None:
        return _describe_far("meaning", best.semantic.rank), "within"
    if best.chunk.vector_state == "pending":
        return "it still waits for its vector", "ingest"
    if best.chunk.vector_state == "unsupported":
        remedy: Remedy = "inspect" if best.lexical.rank is None else "within"
        return "the model does not know its script", remedy
    return "its vector could not be compared", "mend"


def _describe_far(channel: str, rank: int) -> str:
    return f"by its {channel} it is only at rank {rank:,} ({CANDIDATE_LIMIT:,} are looked at)"
