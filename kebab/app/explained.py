"""From the explanation of a search to wire objects."""

from typing import TYPE_CHECKING, Any

from kebab.app.moment import stamp
from kebab.app.place import line_citation
from kebab.search import barriers
from kebab.wire.why import (
    Barrier,
    FilterName,
    FilterOrigin,
    FilterReading,
    PassageAccount,
    PhraseReading,
    QueryReading,
)

if TYPE_CHECKING:
    from kebab.core.query import Filters
    from kebab.search.explain import Account, DocumentAccount
    from kebab.search.parse import Phrase

_NAMES: dict[str, FilterName] = {
    "tag": "tag",
    "lang": "lang",
    "media": "media",
    "path_glob": "path",
    "source": "source",
    "doc_id": "doc_id",
    "since": "since",
    "until": "until",
}


def reading(explained: "DocumentAccount", given: "Filters") -> QueryReading:
    """Return how a query was read; `given` are the filters that the request sets."""
    question, goal = explained.question, explained.aim
    return QueryReading(
        plain=question.plain,
        terms=explained.terms,
        required=[_phrase(one) for one in question.required],
        excluded=[_phrase(one) for one in question.excluded],
        relaxed=explained.relaxed,
        filters=[
            FilterReading(name=_NAMES[name], values=_values(value), origin=_origin(name, given))
            for name, value in barriers.active(question.filters).items()
        ],
        topic=goal.topic,
        need=goal.need,
        question=goal.question,
    )


def account(one: "Account") -> PassageAccount:
    """Return what a search made of a passage."""
    chunk = one.chunk
    return PassageAccount(
        chunk_id=chunk.chunk_id,
        heading_path=list(chunk.heading_path),
        citation=line_citation(chunk.path, chunk.start_line, chunk.end_line),
        barriers=[barrier(each) for each in one.barriers],
        held=one.held,
        vector=chunk.vector_state,
        lexical=one.words,
        semantic=one.meaning,
        fused=one.fused,
        lifts=one.lifts,
        final=one.final,
        score=one.score,
        hit_rank=one.place,
        withheld=one.withheld,
    )


def barrier(one: barriers.BrokenCondition) -> Barrier:
    """Return what keeps a passage out."""
    return Barrier(
        kind=one.kind,
        filter=_NAMES[one.filter] if one.filter else None,
        phrase=_phrase(one.phrase) if one.phrase else None,
    )


def _phrase(phrase: "Phrase") -> PhraseReading:
    return PhraseReading(text=phrase.text, column=phrase.column)


def _values(value: Any) -> list[str]:
    """Return the values of a filter: names, one name, or a time."""
    if isinstance(value, tuple):
        return list(value)
    return [value if isinstance(value, str) else stamp(value)]


def _origin(name: str, given: "Filters") -> FilterOrigin:
    return "request" if getattr(given, name) else "query"
