"""Explains which terms, phrases and filters a passage matches."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from kebab.core.ids import DocId, Key
from kebab.core.ports import LibraryReader
from kebab.core.queries import Filters, StoredChunk
from kebab.search import lexical
from kebab.search.lexical import COMMON_SHARE, WeightedTerms
from kebab.search.query_parser import ParsedQuery, Phrase
from kebab.text.tokenizer import Term, tokenize
from kebab.wire.why import BarrierKind, HeldTerms, TermReading, TermUse


def describe_terms(
    library: LibraryReader, question: ParsedQuery, words: WeightedTerms
) -> list[TermReading]:
    """Return every term of a question, the asked ones by falling weight before the others."""
    total = library.count_chunks()
    all_ = (*question.terms, *question.fillers)
    counts = library.get_document_frequencies({term.text for term in all_})
    asked, fillers = set(words.terms), set(question.fillers)

    def use(term: Term) -> TermUse:
        if term in asked:
            return "asked"
        if term in fillers:
            return "filler"
        if not counts[term.text] and not term.prefix:
            return "absent"
        return "common" if counts[term.text] > total * COMMON_SHARE else "surplus"

    found = [
        TermReading(
            text=term.text,
            prefix=term.prefix,
            use=use(term),
            weight=words.weights[term.text] if term in asked else None,
            passages=counts[term.text],
        )
        for term in all_
    ]
    return sorted(found, key=lambda one: -(one.weight or 0.0))


def find_held_terms(words: WeightedTerms, passage: StoredChunk) -> HeldTerms:
    """Return which of the terms asked for stand in the title, the headings and the body."""
    return HeldTerms(
        title=_among(words.terms, passage.title),
        headings=_among(words.terms, "\n".join(passage.heading_path)),
        body=_among(words.terms, passage.text),
    )


def _among(terms: tuple[Term, ...], text: str) -> list[str]:
    tokens = set(tokenize(text))
    return [term.text for term in terms if term.text in tokens or _begins(term, tokens)]


def _begins(term: Term, tokens: set[str]) -> bool:
    return term.prefix and any(token.startswith(term.text) for token in tokens)


_NAMES = tuple(one.name for one in fields(Filters))


@dataclass(frozen=True, slots=True)
class BrokenCondition:
    """One condition that a passage breaks: a filter by its name, or a phrase."""

    kind: BarrierKind
    filter: str | None = None
    phrase: Phrase | None = None


def active_filters(filters: Filters) -> dict[str, Any]:
    """Return the filters that are set, by name."""
    given = {name: getattr(filters, name) for name in _NAMES}
    return {name: value for name, value in given.items() if value not in (None, ())}


def find_broken_conditions(
    library: LibraryReader, question: ParsedQuery, passages: Sequence[StoredChunk]
) -> dict[Key, tuple[BrokenCondition, ...]]:
    """Return what keeps each passage of one document out."""
    keys = [one.key for one in passages]
    found: dict[Key, list[BrokenCondition]] = {key: [] for key in keys}
    doc = passages[0].doc_id if passages else DocId("")
    for barrier, barred in _found(library, question, doc, keys):
        for key in barred:
            found[key].append(barrier)
    return {key: tuple(barred) for key, barred in found.items()}


def remove_conditions(question: ParsedQuery, barred: Collection[BrokenCondition]) -> ParsedQuery:
    """Return a question without the conditions that are barriers."""
    names = [one.filter for one in barred if one.filter]
    phrases = [one.phrase for one in barred]
    open_: dict[str, Any] = {name: getattr(Filters(), name) for name in names}
    return replace(
        question,
        filters=replace(question.filters, **open_),
        required=tuple(one for one in question.required if one not in phrases),
        excluded=tuple(one for one in question.excluded if one not in phrases),
    )


def _found(
    library: LibraryReader, question: ParsedQuery, doc: DocId, keys: Sequence[Key]
) -> Iterator[tuple[BrokenCondition, Sequence[Key]]]:
    """Yield each condition that some passage breaks, with the passages that do."""
    for name, value in active_filters(question.filters).items():
        given: dict[str, Any] = {"doc_id": doc, name: value}
        passing = library.list_allowed_keys(Filters(**given)) or []
        if set(keys).isdisjoint(passing):
            yield BrokenCondition("filter", filter=name), keys
    for phrase in question.required:
        held = _holding(library, phrase, doc)
        yield BrokenCondition("phrase", phrase=phrase), [key for key in keys if key not in held]
    for phrase in question.excluded:
        held = _holding(library, phrase, doc)
        yield BrokenCondition("exclusion", phrase=phrase), [key for key in keys if key in held]


def _holding(library: LibraryReader, phrase: Phrase, doc: DocId) -> set[Key]:
    found = library.search_lexical(lexical.quote_phrase(phrase), Filters(doc_id=doc), lexical.NO_LIMIT)
    return {key for key, _ in found}
