"""From the explanation of a search to wire objects."""

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from kebab.app.citations import line_citation
from kebab.app.project import lifts
from kebab.app.timestamps import format_timestamp
from kebab.search import barriers
from kebab.wire.why import (
    Barrier,
    FilterName,
    FilterReading,
    HeldTerms,
    PassageAccount,
    PhraseReading,
    QueryReading,
    Standing,
    TermReading,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kebab.core.query import Filters
    from kebab.search import depth
    from kebab.search.explain import Account, Explanation
    from kebab.search.parse import Phrase
    from kebab.text.tokenizer import Term

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
_Origin: TypeAlias = Literal["request", "query"]


def reading(explained: "Explanation", given: "Filters") -> QueryReading:
    """Return how a query was read; `given` are the filters that the request sets."""
    question, goal = explained.question, explained.aim
    return QueryReading(
        plain=question.plain,
        terms=[
            TermReading(
                text=one.term.text,
                prefix=one.term.prefix,
                use=one.use,
                weight=one.weight,
                passages=one.passages,
            )
            for one in explained.terms
        ],
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
        held=HeldTerms(
            title=_texts(one.held["title"]),
            headings=_texts(one.held["headings"]),
            body=_texts(one.held["body"]),
        ),
        vector=chunk.vector_state,
        lexical=_standing(one.words),
        semantic=_standing(one.meaning),
        fused=_standing(one.fused),
        lifts=lifts(one.lifts),
        final=_standing(one.final),
        score=one.score,
        hit_rank=one.place,
        withheld=one.withheld,
    )


def barrier(one: barriers.Barrier) -> Barrier:
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
    return [value if isinstance(value, str) else format_timestamp(value)]


def _origin(name: str, given: "Filters") -> _Origin:
    return "request" if getattr(given, name) else "query"


def _texts(terms: "Iterable[Term]") -> list[str]:
    return [term.text for term in terms]


def _standing(one: "depth.Standing") -> Standing:
    return Standing(rank=one.rank, score=one.score, candidate=one.listed)
