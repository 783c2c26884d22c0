"""Retrieves passages by words: the lexical channel."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kebab.core.chunks import KeyedScore
from kebab.core.ids import Key
from kebab.core.ports import LibraryReader
from kebab.search.query_parser import ParsedQuery, Phrase
from kebab.text.scripts import is_dense
from kebab.text.tokenizer import Term

COLUMN_WEIGHTS = (4.0, 2.5, 1.0)
"""What a word in the title, in a heading and in the body is worth to bm25.

Page hit@1 on the Korean Kubernetes pages: .561 with even weights, .595 with these; on SQuAD 2,
JaQuAD and Cranfield anything from (1, 1, 1) to (10, 5, 1) stays within .01.
"""

TERM_LIMIT = 64
"""The most terms of one query; of a pasted page the rarest are asked for."""

COMMON_SHARE = 0.5
"""A term in more of the chunks than this is worth nothing to bm25 (its idf is not positive).

Leaving out rarer ones costs: at .25 hit@1 on SQuAD 2 falls by .006, at .1 by .013.
"""

_SATURATION = 2.2
"""k1 + 1 of FTS5's bm25: the most that one term can score is its idf times this."""

_LEAST_IDF = 1e-6
"""What FTS5 takes for the idf of a term in more than half of the rows."""

_DENSE_DISCOUNT = 0.4
"""Right passages reach .48 of the highest score on SQuAD 2 (words), .29 on JaQuAD (bigrams)."""

NO_LIMIT = 1 << 31


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedTerms:
    """The terms of a question that can be found, with what they are worth here."""

    terms: tuple[Term, ...]
    weights: Mapping[str, float]
    """Inverse document frequency of these terms, by token."""
    best: float
    """The score of a chunk that has all that is asked for."""
    asked: Mapping[str, float]
    """How telling every term of the question is, those that occur nowhere included."""


def weigh_terms(library: LibraryReader, question: ParsedQuery) -> WeightedTerms:
    """Look up what the terms of a question are worth, and drop those that decide nothing.

    Fillers are asked for when the index holds none of the terms.
    """
    total = library.count_chunks()
    counts = library.get_document_frequencies({term.text for term in question.terms})
    found = _present(question.terms, counts)
    if not found:
        # Half of all passages hold a filler: to count them costs more than all the rest.
        counts |= library.get_document_frequencies({term.text for term in question.fillers})
        found = _present(question.fillers, counts)
    weights = {text: _idf(count, total) for text, count in counts.items()}
    telling = [term for term in found if term.prefix or counts[term.text] <= total * COMMON_SHARE]
    kept = sorted(telling or found, key=lambda term: -weights[term.text])[:TERM_LIMIT]
    there = set(found)
    absent = [term for term in question.terms if term not in there][:TERM_LIMIT]
    rare = {text: compute_rarity(count, total) for text, count in counts.items()}
    return WeightedTerms(
        terms=tuple(kept),
        weights={term.text: weights[term.text] for term in kept},
        best=_SATURATION * sum(weights[term.text] for term in kept) * _demand(kept, absent, rare),
        asked={term.text: rare[term.text] for term in question.terms},
    )


def search_lexical(
    library: LibraryReader, question: ParsedQuery, words: WeightedTerms, limit: int
) -> list[KeyedScore]:
    """Return the best chunks under bm25."""
    match = build_match_expression(words.terms, question.required, question.excluded)
    if not match:
        return []
    return library.search_lexical(match, question.filters, limit, _plain(question, words.terms))


def find_required(library: LibraryReader, question: ParsedQuery) -> list[Key] | None:
    """Return the chunks that hold all that is required, in rising order; None without phrases."""
    match = join_required(question.required)
    return _keys(library, question, match) if match else None


def find_excluded(library: LibraryReader, question: ParsedQuery) -> list[Key]:
    """Return the chunks that hold something excluded."""
    match = join_alternatives(f"({quote_phrase(one)})" for one in question.excluded)
    return _keys(library, question, match) if match else []


def compute_evidence(scores: Sequence[KeyedScore], words: WeightedTerms) -> dict[Key, float]:
    """Return bm25 as a share of what a good passage reaches, from 0 to 1 and a little above."""
    best = words.best or 1.0
    return {key: score / best for key, score in scores}


def _keys(library: LibraryReader, question: ParsedQuery, match: str) -> list[Key]:
    return sorted(key for key, _ in library.search_lexical(match, question.filters, NO_LIMIT))


def _plain(question: ParsedQuery, terms: Sequence[Term]) -> list[str]:
    """Return the tokens of an expression that asks for any of them and nothing else, else none."""
    if question.required or question.excluded or any(term.prefix for term in terms):
        return []
    return [term.text for term in terms]


def _present(terms: Sequence[Term], counts: Mapping[str, int]) -> list[Term]:
    return [term for term in terms if term.prefix or counts[term.text]]


def _demand(kept: Sequence[Term], absent: Sequence[Term], rare: Mapping[str, float]) -> float:
    """Return all that is asked for as a multiple of what the index holds of it.

    Bigrams of a question overlap particles and word borders, which no passage repeats: the more
    of the question is bigrams, the less of it a good passage has.
    """
    held = sum(rare[term.text] for term in kept)
    asked = held + sum(rare[term.text] for term in absent)
    dense = sum(rare[term.text] for term in (*kept, *absent) if is_dense(term.text))
    return (asked - _DENSE_DISCOUNT * dense) / (held or 1.0)


def compute_rarity(count: int, total: int) -> float:
    """Return how telling a term is, positive also where a handful of passages makes all common.

    A word that occurs nowhere is as telling as one that occurs once: more cannot be known.
    """
    count = min(max(count, 1), total)
    return math.log1p((total - count + 0.5) / (count + 0.5))


def _idf(count: int, total: int) -> float:
    """Return what FTS5's bm25 takes for a term that `count` of `total` rows hold."""
    count = min(count, total)
    return max(_LEAST_IDF, math.log((total - count + 0.5) / (count + 0.5)))


def quote_term(term: Term) -> str:
    """Return one token as an FTS5 string, with a star when it is a prefix."""
    return _string(term.text) + (" *" if term.prefix else "")


def quote_phrase(asked: Phrase) -> str:
    """Return tokens that stand side by side, in their column when one is named."""
    text = _string(" ".join(term.text for term in asked.terms))
    star = " *" if asked.terms[-1].prefix else ""
    return f"{asked.column} : {text}{star}" if asked.column else text + star


def join_alternatives(parts: Iterable[str]) -> str:
    """Return the alternative of expressions, or nothing of none."""
    return " OR ".join(parts)


def join_required(phrases: Iterable[Phrase]) -> str:
    """Return the conjunction of phrases, or nothing of none."""
    return " AND ".join(f"({quote_phrase(one)})" for one in phrases)


def build_match_expression(
    terms: Iterable[Term], required: Iterable[Phrase], excluded: Iterable[Phrase]
) -> str:
    """Return the expression: all that is required, better with any of the terms, nothing excluded.

    A required phrase stands in both branches, for a branch that holds counts towards bm25.
    """
    words, must = join_alternatives(map(quote_term, terms)), join_required(required)
    wanted = f"(({must}) AND ({words})) OR ({must})" if must and words else must or words
    out = join_alternatives(f"({quote_phrase(one)})" for one in excluded)
    return f"({wanted}) NOT ({out})" if out and wanted else wanted


def _string(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
