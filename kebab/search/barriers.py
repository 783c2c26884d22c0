"""Barriers: which filter, required phrase or excluded one keeps a passage out of a search."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from kebab.core.hit import StoredChunk
from kebab.core.ids import DocId, Key
from kebab.core.ports import LibraryReader
from kebab.core.query import Filters
from kebab.search import expression, lexical
from kebab.search.parse import Phrase, Question
from kebab.wire.why import BarrierKind

_NAMES = tuple(one.name for one in fields(Filters))


@dataclass(frozen=True, slots=True)
class BrokenCondition:
    """One condition that a passage breaks: a filter by its name, or a phrase."""

    kind: BarrierKind
    filter: str | None = None
    phrase: Phrase | None = None


def active(filters: Filters) -> dict[str, Any]:
    """Return the filters that are set, by name."""
    given = {name: getattr(filters, name) for name in _NAMES}
    return {name: value for name, value in given.items() if value not in (None, ())}


def barriers(
    library: LibraryReader, question: Question, passages: Sequence[StoredChunk]
) -> dict[Key, tuple[BrokenCondition, ...]]:
    """Return what keeps each passage of one document out."""
    keys = [one.key for one in passages]
    found: dict[Key, list[BrokenCondition]] = {key: [] for key in keys}
    doc = passages[0].doc_id if passages else DocId("")
    for barrier, barred in _found(library, question, doc, keys):
        for key in barred:
            found[key].append(barrier)
    return {key: tuple(barred) for key, barred in found.items()}


def lifted(question: Question, barred: Collection[BrokenCondition]) -> Question:
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
    library: LibraryReader, question: Question, doc: DocId, keys: Sequence[Key]
) -> Iterator[tuple[BrokenCondition, Sequence[Key]]]:
    """Yield each condition that some passage breaks, with the passages that do."""
    for name, value in active(question.filters).items():
        given: dict[str, Any] = {"doc_id": doc, name: value}
        passing = library.allowed(Filters(**given)) or []
        if set(keys).isdisjoint(passing):
            yield BrokenCondition("filter", filter=name), keys
    for phrase in question.required:
        held = _holding(library, phrase, doc)
        yield BrokenCondition("phrase", phrase=phrase), [key for key in keys if key not in held]
    for phrase in question.excluded:
        held = _holding(library, phrase, doc)
        yield BrokenCondition("exclusion", phrase=phrase), [key for key in keys if key in held]


def _holding(library: LibraryReader, phrase: Phrase, doc: DocId) -> set[Key]:
    found = library.lexical(expression.phrase(phrase), Filters(doc_id=doc), lexical.EVERYTHING)
    return {key for key, _ in found}
