"""Usage: what a search made of each term of a query, and where a passage holds it."""

from kebab.core.hit import StoredChunk
from kebab.core.ports import LibraryReader
from kebab.search.lexical import COMMON, Words
from kebab.search.parse import Question
from kebab.text.tokenizer import Term, tokenize
from kebab.wire.why import HeldTerms, TermReading, TermUse


def uses(library: LibraryReader, question: Question, words: Words) -> list[TermReading]:
    """Return every term of a question, the asked ones by falling weight before the others."""
    total = library.chunk_count()
    all_ = (*question.terms, *question.fillers)
    counts = library.document_frequency({term.text for term in all_})
    asked, fillers = set(words.terms), set(question.fillers)

    def use(term: Term) -> TermUse:
        if term in asked:
            return "asked"
        if term in fillers:
            return "filler"
        if not counts[term.text] and not term.prefix:
            return "absent"
        return "common" if counts[term.text] > total * COMMON else "surplus"

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


def held(words: Words, passage: StoredChunk) -> HeldTerms:
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
