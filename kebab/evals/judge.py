"""Whether a hit is right, where the first right one stands, and what its documents are worth."""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

from kebab.evals.question import Question
from kebab.wire.citation import Citation, CodeCitation, LineCitation
from kebab.wire.search import SearchHit

DEPTH = 10
"""How far MRR and nDCG look."""


def rank_of(question: Question, hits: Sequence[SearchHit]) -> int | None:
    """Return the place of the first right hit, 1-based, None when there is none."""
    return next((place for place, hit in enumerate(hits, 1) if is_right(question, hit)), None)


def is_right(question: Question, hit: SearchHit) -> bool:
    """Return whether a hit answers: by document and lines, or by a grade above 0."""
    if not question.answerable:
        return False
    if question.doc is not None and is_document(question.doc, hit.doc_path):
        return question.lines is None or _overlaps(question.lines, hit.citation)
    return _grade(hit.doc_path, question.relevant)[1] > 0


def is_document(doc: str, path: str) -> bool:
    """Return whether `doc` is `path`, or whole names at its end."""
    return names_of(doc) in endings(path)


def names_of(path: str) -> tuple[str, ...]:
    """Return the names that a path is made of."""
    whole = unicodedata.normalize("NFC", path)
    return tuple(name for name in whole.split("/") if name not in ("", "."))


@lru_cache(maxsize=1 << 16)
def endings(path: str) -> tuple[tuple[str, ...], ...]:
    """Return the names at the end of a path: all of them, all but the first, and so on."""
    names = names_of(path)
    return tuple(names[start:] for start in range(len(names)))


def ndcg(question: Question, hits: Sequence[SearchHit]) -> float:
    """Return nDCG@10: of documents where there are grades, else of the right hit alone.

    DCG is the sum of `grade / log2(1 + rank)`, divided by that of the best order (Järvelin and
    Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002, in the
    form of trec_eval's `ndcg_cut`: linear gain, no discount at rank 1). A document stands where
    its first passage does.
    """
    if not question.relevant:
        rank = rank_of(question, hits)
        return _discounted([0] * (rank - 1) + [1]) if rank is not None and rank <= DEPTH else 0.0
    best = sorted((grade for grade in question.relevant.values() if grade > 0), reverse=True)
    ideal = _discounted(best[:DEPTH])
    return _discounted(_gains(question.relevant, hits)[:DEPTH]) / ideal if ideal else 0.0


def _gains(relevant: Mapping[str, int], hits: Sequence[SearchHit]) -> list[int]:
    """Return the grade of each document in the order of its first hit; no grade counts twice."""
    left = dict(relevant)
    gains = []
    for path in dict.fromkeys(hit.doc_path for hit in hits):
        name, grade = _grade(path, left)
        left.pop(name, None)
        gains.append(grade)
    return gains


def _grade(path: str, relevant: Mapping[str, int]) -> tuple[str, int]:
    """Return the best judgement on a document: its name there, and a grade from 0."""
    found = ((max(0, grade), doc) for doc, grade in relevant.items() if is_document(doc, path))
    grade, name = max(found, default=(0, ""))
    return name, grade


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(1 + rank) for rank, gain in enumerate(gains, 1))


def _overlaps(lines: tuple[int, int], citation: Citation) -> bool:
    match citation:
        case LineCitation():
            first, last = citation.line.start, citation.line.end
        case CodeCitation():
            first, last = citation.code.start, citation.code.end
        case _:
            return False
    return first <= lines[1] and lines[0] <= last
