"""Explains how the passages of a document match a query: terms, conditions and ranks."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from msgspec import structs

from kebab.core.chunks import KeyedScore
from kebab.core.ids import DocId, Key
from kebab.core.ports import LibraryReader
from kebab.core.queries import Filters, Mode, StoredChunk
from kebab.search import lexical, retrieval
from kebab.search.lexical import COMMON_SHARE, WeightedTerms
from kebab.search.query_operators import Phrase
from kebab.search.query_parser import ParsedQuery
from kebab.search.retrieval import ChannelResults, RankedCandidates
from kebab.search.vector import VectorMatches, VectorRetriever
from kebab.text.tokenizer import Term, tokenize
from kebab.wire.why import BarrierKind, HeldTerms, Standing, TermReading, TermUse

UNRANKED = Standing(rank=None, score=None, candidate=False)

_FILTERS = tuple(one.name for one in fields(Filters) if one.compare)


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
        return [term.text for term in weighted.terms if _is_held(term, tokens)]

    return HeldTerms(
        title=find_terms(passage.title),
        headings=find_terms("\n".join(passage.heading_path)),
        body=find_terms(passage.text),
    )


def _is_held(term: Term, tokens: set[str]) -> bool:
    return term.text in tokens or (
        term.prefix and any(token.startswith(term.text) for token in tokens)
    )


@dataclass(frozen=True, slots=True)
class BrokenCondition:
    """One condition that a passage breaks: a filter by its name, or a phrase."""

    kind: BarrierKind
    filter: str | None = None
    phrase: Phrase | None = None


def list_active_filters(filters: Filters) -> dict[str, Any]:
    """Return the filters that are set, by name."""
    given = {name: getattr(filters, name) for name in _FILTERS}
    return {name: value for name, value in given.items() if value not in (None, ())}


def find_broken_conditions(
    library: LibraryReader, parsed: ParsedQuery, passages: Sequence[StoredChunk]
) -> dict[Key, tuple[BrokenCondition, ...]]:
    """Return the conditions that each passage of one document breaks."""
    found: dict[Key, tuple[BrokenCondition, ...]] = {passage.key: () for passage in passages}
    doc = passages[0].doc_id if passages else DocId("")
    for condition, keys in _iter_broken(library, parsed, doc, list(found)):
        for key in keys:
            found[key] += (condition,)
    return found


def remove_conditions(parsed: ParsedQuery, broken: Collection[BrokenCondition]) -> ParsedQuery:
    """Return a query without some of its conditions."""
    phrases = [one.phrase for one in broken]
    unset: dict[str, Any] = {
        one.filter: getattr(Filters(), one.filter) for one in broken if one.filter
    }
    return replace(
        parsed,
        filters=replace(parsed.filters, **unset),
        required=tuple(phrase for phrase in parsed.required if phrase not in phrases),
        excluded=tuple(phrase for phrase in parsed.excluded if phrase not in phrases),
    )


def _iter_broken(
    library: LibraryReader, parsed: ParsedQuery, doc: DocId, keys: Sequence[Key]
) -> Iterator[tuple[BrokenCondition, Sequence[Key]]]:
    """Yield each condition that some passage breaks, with these passages."""
    for name, value in list_active_filters(parsed.filters).items():
        given: dict[str, Any] = {"doc_id": doc, name: value}
        if set(keys).isdisjoint(library.list_allowed_keys(Filters(**given)) or []):
            yield BrokenCondition("filter", filter=name), keys
    for phrase in parsed.required:
        holding = _find_holding(library, phrase, doc)
        yield (
            BrokenCondition("phrase", phrase=phrase),
            [key for key in keys if key not in holding],
        )
    for phrase in parsed.excluded:
        holding = _find_holding(library, phrase, doc)
        yield BrokenCondition("exclusion", phrase=phrase), [key for key in keys if key in holding]


def _find_holding(library: LibraryReader, phrase: Phrase, doc: DocId) -> set[Key]:
    match = lexical.quote_phrase(phrase)
    return {key for key, _ in library.search_lexical(match, Filters(doc_id=doc), lexical.NO_LIMIT)}


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

    def search_all() -> Sequence[KeyedScore]:
        total = library.count_chunks()
        return lexical.search_lexical(library, candidates.parsed, candidates.weighted, total)

    return _find_deep_standings(candidates.lexical, keys, search_all)


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
    results: ChannelResults,
    keys: Collection[Key],
    search_all: Callable[[], Sequence[KeyedScore]],
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
