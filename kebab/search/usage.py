"""Usage: what a search made of each term of a query, and where a passage holds it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kebab.core.hit import StoredChunk
from kebab.core.ports import LibraryReader
from kebab.search.lexical import COMMON, Words
from kebab.search.parse import Column, Question
from kebab.text.tokenizer import Term, tokenize

Use: TypeAlias = Literal["asked", "absent", "common", "surplus", "filler"]
"""Asked for; or not: it occurs nowhere, in most passages, beyond the limit, or it only asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermUse:
    """A term of a query: what it weighs when it was asked for, and how many passages hold it."""

    term: Term
    use: Use
    weight: float | None
    passages: int


def uses(library: LibraryReader, question: Question, words: Words) -> tuple[TermUse, ...]:
    """Return every term of a question, the asked ones by falling weight before the others."""
    total = library.chunk_count()
    all_ = (*question.terms, *question.fillers)
    counts = library.document_frequency({term.text for term in all_})
    asked, fillers = set(words.terms), set(question.fillers)

    def use(term: Term) -> Use:
        if term in asked:
            return "asked"
        if term in fillers:
            return "filler"
        if not counts[term.text] and not term.prefix:
            return "absent"
        return "common" if counts[term.text] > total * COMMON else "surplus"

    found = [
        TermUse(
            term=term,
            use=use(term),
            weight=words.weights[term.text] if term in asked else None,
            passages=counts[term.text],
        )
        for term in all_
    ]
    return tuple(sorted(found, key=lambda one: -(one.weight or 0.0)))


def held(words: Words, passage: StoredChunk) -> Mapping[Column, tuple[Term, ...]]:
    """Return which of the terms asked for stand in the title, the headings and the body."""
    columns: dict[Column, str] = {
        "title": passage.title,
        "headings": "\n".join(passage.heading_path),
        "body": passage.text,
    }
    return {column: _among(words.terms, text) for column, text in columns.items()}


def _among(terms: tuple[Term, ...], text: str) -> tuple[Term, ...]:
    tokens = set(tokenize(text))
    return tuple(term for term in terms if term.text in tokens or _begins(term, tokens))


def _begins(term: Term, tokens: set[str]) -> bool:
    return term.prefix and any(token.startswith(term.text) for token in tokens)
