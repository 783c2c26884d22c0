"""Finds the passage that is nearly the same as a paragraph."""

from collections.abc import Callable
from itertools import islice

from kebab.core.ports import LibraryReader
from kebab.core.queries import Filters, StoredChunk
from kebab.core.review import SimilarParagraph
from kebab.text.tokenizer import tokenize

LEAST_SHARED = 0.8
"""The least share of the runs of tokens of a paragraph that a copy holds."""

_RUN = 3
_RAREST = 4
"""How many terms a copy must hold before it is compared."""

_MOST_COPIES = 3
"""A text in more documents is a licence or another text that repeats on purpose."""

_CANDIDATES = 16
_LEAST_KNOWN = 0.85
"""The least share of the terms of a paragraph that other passages hold."""


def find_similar_passage(
    library: LibraryReader, paragraph: str, is_own: Callable[[StoredChunk], bool], *, copies: int
) -> SimilarParagraph | None:
    """Return the passage that holds nearly all of a paragraph, from another document.

    Args:
        library: The passages.
        paragraph: The text of the paragraph.
        is_own: Whether a passage is from the document of the paragraph.
        copies: How many passages of the library are known to hold it: 1 when it is indexed.
    """
    tokens = tokenize(paragraph)
    if len(tokens) < _RUN:
        return None
    terms = list(dict.fromkeys(tokens))
    counts = library.get_document_frequencies(terms)
    known = [term for term in terms if counts.get(term, 0) > copies]
    if len(known) < len(terms) * _LEAST_KNOWN:
        return None
    rarest = sorted(known, key=lambda term: counts[term])[:_RAREST]
    match = " AND ".join('"' + term.replace('"', '""') + '"' for term in rarest)
    found = library.search_lexical(match, Filters(), _CANDIDATES)
    chunks = library.load_chunks([key for key, _ in found])
    runs = _list_runs(tokens)
    similar = [
        SimilarParagraph(chunk, share)
        for chunk in chunks
        if not is_own(chunk)
        and (share := len(runs & _list_runs(tokenize(chunk.text))) / len(runs)) >= LEAST_SHARED
    ]
    if not similar or len({one.chunk.doc_id for one in similar}) > _MOST_COPIES:
        return None
    return max(similar, key=lambda one: one.similarity)


def _list_runs(tokens: list[str]) -> set[tuple[str, ...]]:
    """Return the runs of consecutive tokens."""
    return set(zip(*(islice(tokens, first, None) for first in range(_RUN)), strict=False))
