"""Explains where a search found or lost the passages of a document: terms, ranks and a verdict."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from msgspec import Struct, structs

from kebab.core.chunks import KeyedScore
from kebab.core.ids import DocId, Key
from kebab.core.ports import LibraryReader
from kebab.core.queries import Confidence, Filters, Mode, Query, StoredChunk
from kebab.search import lexical, retrieval
from kebab.search.answerability import (
    Calibration,
    calibrate,
    classify_confidence,
    select_confident,
    should_rerank,
)
from kebab.search.engine import deduplicate_hits
from kebab.search.lexical import COMMON_SHARE, WeightedTerms
from kebab.search.query_parser import (
    ParsedQuery,
    Phrase,
    QueryIntent,
    classify_intent,
    list_active_filters,
)
from kebab.search.ranking import rank_by_score
from kebab.search.rerank import rerank_candidates
from kebab.search.retrieval import (
    CANDIDATE_LIMIT,
    ChannelResults,
    RankedCandidates,
    Ranker,
    StageTimer,
)
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorMatches, VectorRetriever
from kebab.text.tokenizer import Term, tokenize
from kebab.wire.related import (
    BarrierKind,
    HeldTerms,
    Standing,
    TermReading,
    TermUse,
    VerdictName,
    Withheld,
)
from kebab.wire.search import DegradedChannel, Lift

_SHOWN = 3
_LAST = 1 << 62
"""The sort key of passages without a rank."""


class BrokenCondition(Struct, frozen=True):
    """One condition that a passage breaks: a filter by its name, or a phrase."""

    kind: BarrierKind
    filter: str | None = None
    phrase: Phrase | None = None


class PassageExplanation(Struct, frozen=True, kw_only=True):
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


class DocumentExplanation(Struct, frozen=True, kw_only=True):
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


class Explainer(Struct, frozen=True):
    """Explains searches of one snapshot."""

    _library: LibraryReader
    _retriever: VectorRetriever

    def explain(self, query: Query, passages: Sequence[StoredChunk]) -> DocumentExplanation:
        """Explain what a search does with passages of one document.

        Raises:
            InvalidInput: The query is empty.
            EmbeddingUnavailable: The mode is `vector`, and there is no model.
            StoreCorrupt: The mode is `vector`, and the vectors cannot be read.
            TimedOut: The mode is `vector`, and the model took too long.
        """
        timer, cache = StageTimer(time.perf_counter), PassageCache(self._library)
        ranker = Ranker(self._library, self._retriever)
        first = candidates = ranker.rank(query, timer, cache)
        broken = find_broken_conditions(self._library, first.parsed, passages)
        removed = min(broken.values(), key=len, default=())
        if removed:
            without = remove_conditions(first.parsed, removed)
            candidates = ranker.rank_parsed(without, query.mode, timer, cache)
        if should_rerank(query, candidates, cache):
            candidates = rerank_candidates(
                candidates, self._retriever.embedder, cache, timer, asked_for=bool(query.rerank)
            )
        return DocumentExplanation(
            parsed=first.parsed,
            intent=classify_intent(first.parsed),
            terms=describe_terms(self._library, first.parsed, candidates.weighted),
            relaxed=bool(first.dropped),
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
        calibration = calibrate(candidates, cache)
        hit_ranks, withheld = _rank_hits(candidates, calibration, query, keys, cache)

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
    candidates: RankedCandidates,
    calibration: Calibration,
    query: Query,
    keys: Collection[Key],
    cache: PassageCache,
) -> tuple[dict[Key, int], dict[Key, Withheld]]:
    """Return the ranks of those passages that are hits, and why other candidates are none."""
    confident = select_confident(candidates, calibration, query.min_confidence)
    order = [key for key, _ in confident.ranked]
    hits = enumerate(deduplicate_hits(order, cache.load_chunks, query.per_doc), start=1)
    shown = {chunk.key: rank for rank, chunk in hits}
    lost = [key for key in order if key in keys and key not in shown]
    free = (
        {chunk.key for chunk in deduplicate_hits(order, cache.load_chunks, None)} if lost else set()
    )
    below = [key for key, _ in candidates.ranked[len(order) :] if key in keys]
    withheld: dict[Key, Withheld] = {key: "per_doc" if key in free else "copies" for key in lost}
    withheld |= dict.fromkeys(below, "confidence")
    return {key: rank for key, rank in shown.items() if key in keys}, withheld


UNRANKED = Standing(rank=None, score=None, candidate=False)


def describe_terms(
    library: LibraryReader, parsed: ParsedQuery, weighted: WeightedTerms
) -> list[TermReading]:
    """Return every term of a query: searched terms by falling weight, then the others."""
    total = library.count_chunks()
    terms = (*parsed.terms, *parsed.stop_terms)
    counts = library.get_document_frequencies({term.text for term in terms})
    searched, stop_terms = set(weighted.terms), set(parsed.stop_terms)

    def classify_use(term: Term) -> TermUse:
        if term in searched:
            return "asked"
        if term in stop_terms:
            return "filler"
        if not counts[term.text] and not term.prefix:
            return "absent"
        return "common" if counts[term.text] > total * COMMON_SHARE else "surplus"

    found = [
        TermReading(
            text=term.text,
            prefix=term.prefix,
            use=classify_use(term),
            weight=weighted.weights[term.text] if term in searched else None,
            passages=counts[term.text],
        )
        for term in terms
    ]
    return sorted(found, key=lambda one: -(one.weight or 0.0))


def find_held_terms(weighted: WeightedTerms, passage: StoredChunk) -> HeldTerms:
    """Return the searched terms in the title, the headings and the body of a passage."""

    def find_terms(text: str) -> list[str]:
        tokens = set(tokenize(text))
        return [
            term.text
            for term in weighted.terms
            if (
                term.text in tokens
                or (term.prefix and any(token.startswith(term.text) for token in tokens))
            )
        ]

    return HeldTerms(
        title=find_terms(passage.title),
        headings=find_terms("\n".join(passage.heading_path)),
        body=find_terms(passage.text),
    )


def find_broken_conditions(
    library: LibraryReader, parsed: ParsedQuery, passages: Sequence[StoredChunk]
) -> dict[Key, tuple[BrokenCondition, ...]]:
    """Return the conditions that each passage of one document breaks."""
    found: dict[Key, tuple[BrokenCondition, ...]] = {passage.key: () for passage in passages}
    doc = passages[0].doc_id if passages else DocId("")

    def add(condition: BrokenCondition, keys: Collection[Key]) -> None:
        for key in keys:
            found[key] += (condition,)

    for name, value in list_active_filters(parsed.filters).items():
        given: dict[str, Any] = {"doc_id": doc, name: value}
        if found.keys().isdisjoint(library.list_allowed_keys(Filters(**given)) or []):
            add(BrokenCondition("filter", filter=name), found.keys())
    phrases: list[tuple[BarrierKind, Phrase]] = [("phrase", one) for one in parsed.required]
    phrases += (("exclusion", one) for one in parsed.excluded)
    for kind, phrase in phrases:
        match = lexical.quote_phrase(phrase)
        hits = library.search_lexical(match, Filters(doc_id=doc), lexical.NO_LIMIT)
        holding = found.keys() & {key for key, _ in hits}
        broken = holding if kind == "exclusion" else found.keys() - holding
        add(BrokenCondition(kind, phrase=phrase), broken)
    return found


def remove_conditions(parsed: ParsedQuery, broken: Collection[BrokenCondition]) -> ParsedQuery:
    """Return a query without some of its conditions."""
    phrases = [one.phrase for one in broken]
    unset: dict[str, Any] = {
        one.filter: getattr(Filters(), one.filter) for one in broken if one.filter
    }
    return structs.replace(
        parsed,
        filters=replace(parsed.filters, **unset),
        required=tuple(phrase for phrase in parsed.required if phrase not in phrases),
        excluded=tuple(phrase for phrase in parsed.excluded if phrase not in phrases),
    )


def find_standings(ranked: Sequence[KeyedScore], keys: Collection[Key]) -> dict[Key, Standing]:
    """Return the ranks of passages in an order."""
    return {
        key: Standing(rank=rank, score=score, candidate=True)
        for rank, (key, score) in enumerate(ranked, start=1)
        if key in keys
    }


def find_lexical_standings(
    library: LibraryReader, candidates: RankedCandidates, keys: Collection[Key]
) -> dict[Key, Standing]:
    """Return the ranks of passages in the lexical channel."""
    parsed, weighted = candidates.parsed, candidates.weighted
    return _find_deep_standings(
        candidates.lexical,
        keys,
        lambda: lexical.search_lexical(library, parsed, weighted, library.count_chunks()),
    )


def find_vector_standings(
    retriever: VectorRetriever, candidates: RankedCandidates, keys: Collection[Key], mode: Mode
) -> dict[Key, Standing]:
    """Return the ranks of passages in the vector channel."""

    def search_all() -> Sequence[KeyedScore]:
        total = retriever.library.count_chunks()
        result = retriever.retrieve(candidates.parsed, keys, total, mode)
        return result.nearest if isinstance(result, VectorMatches) else ()

    return _find_deep_standings(candidates.vector, keys, search_all)


def _find_deep_standings(
    results: ChannelResults, keys: Collection[Key], search_all: Callable[[], Sequence[KeyedScore]]
) -> dict[Key, Standing]:
    """Return the ranks of passages in one channel, also beyond its candidates.

    The channel searches again, without a limit, only if its list was full and misses a passage.
    """
    listed = find_standings(results.ranked, keys)
    if len(listed) == len(keys) or len(results.ranked) < retrieval.CANDIDATE_LIMIT:
        return listed
    deep = find_standings(search_all(), keys)
    beyond = {key: structs.replace(one, candidate=False) for key, one in deep.items()}
    return {**beyond, **listed}


Remedy: TypeAlias = Literal[
    "limit",
    "per_doc",
    "confidence",
    "copies",
    "loosen",
    "hybrid",
    "ingest",
    "mend",
    "within",
    "inspect",
]
"""What brings a lost document back: more hits, no limit per document, less confidence, a look at
the copies, fewer conditions, both channels, an embedding, a repair, a search within it, or a look
at its record.
"""

_ONLY_AT = "it is only at rank {:,} ({:,} are looked at)"
_FLAGS = {"path_glob": "path", "doc_id": "doc-id", "folder": "in"}


class Verdict(Struct, frozen=True):
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
        reasons = " and ".join(
            _describe_condition(one, explained.parsed.filters) for one in explained.removed
        )
        if best.hit_rank is None:
            after = "it would not be among the candidates without that either"
        else:
            after = f"without that it stands at rank {best.hit_rank:,}"
            if best.hit_rank > query.limit:
                after += f", and the page holds {query.limit:,}"
        return Verdict("kept_out", f"lost: {reasons}; {after}", "loosen")
    if best.hit_rank is not None and best.hit_rank <= query.limit:
        weak = classify_confidence(best.score or 0.0) is Confidence.WEAK
        return Verdict(
            "found", f"found at rank {best.hit_rank}" + (", as a weak hit" if weak else "")
        )
    if best.hit_rank is not None:
        text = f"it stands at rank {best.hit_rank:,}, and the page holds {query.limit:,}"
        return Verdict("next_page", text, "limit")
    if best.withheld is not None:
        return _describe_withheld(best.withheld, query)
    return _describe_loss(best, query.mode)


def _describe_withheld(reason: Withheld, query: Query) -> Verdict:
    if reason == "per_doc":
        text = f"lost: {query.per_doc} better passages of its document are shown, and no more"
        return Verdict("per_doc", text, "per_doc")
    if reason == "confidence":
        text = f"lost: its confidence is below {query.min_confidence.value}"
        return Verdict("confidence", text, "confidence")
    return Verdict("copy", "lost: the very same text is shown from other documents", "copies")


def _describe_condition(condition: BrokenCondition, filters: Filters) -> str:
    if (phrase := condition.phrase) is not None:
        where = f" in its {phrase.column}" if phrase.column else ""
        verb = "holds the excluded" if condition.kind == "exclusion" else "does not hold"
        return f"it {verb} \u201c{phrase.text}\u201d{where}"
    name = str(condition.filter)
    value = getattr(filters, name)
    values = " or ".join(value) if isinstance(value, tuple) else value
    flag = f"--{_FLAGS.get(name, name)}"
    # Times are not shown.
    return f"the filter {f'{flag} {values}' if isinstance(values, str) else flag} keeps it out"


def _describe_loss(best: PassageExplanation, mode: Mode) -> Verdict:
    """Return why a passage that breaks no condition is no candidate."""
    losses: list[str] = []
    if mode is not Mode.VECTOR:
        loss = "no term that was asked for occurs in it"
        if (rank := best.lexical.rank) is not None:
            loss = f"by its words {_ONLY_AT.format(rank, CANDIDATE_LIMIT)}"
        losses.append(loss)
    remedy: Remedy = "hybrid"
    if mode is not Mode.LEXICAL:
        if (rank := best.semantic.rank) is not None:
            loss, remedy = f"by its meaning {_ONLY_AT.format(rank, CANDIDATE_LIMIT)}", "within"
        elif best.chunk.vector_state == "pending":
            loss, remedy = "it still waits for its vector", "ingest"
        elif best.chunk.vector_state == "unsupported":
            loss = "the model does not know its script"
            remedy = "inspect" if best.lexical.rank is None else "within"
        else:
            loss, remedy = "its vector could not be compared", "mend"
        losses.append(loss)
    unmatched = best.lexical.rank is None and best.semantic.rank is None
    text = "lost: " + " and ".join(losses)
    return Verdict("no_match" if unmatched else "too_far", text, remedy)
