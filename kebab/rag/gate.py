"""The gate: whether the notes can answer at all, decided before anything words an answer.

Evidence is the logistic of three things: the calibrated score of the best hit, the share of the
question's telling terms that the best passage holds with its headings (terms that occur nowhere
count against it, so that a handful of notes needs no statistics), and the highest cosine. It was
fitted on questions that their knowledge base answers against questions on other matters, and its
middle is put where few answerable ones are lost. Refused, in percent (with MiniLM / words alone):

- SQuAD 2: its 1,000 answerable questions 2.6 / 2.4, its 500 unanswerable ones 5.8 / 3.0, those of
  Cranfield 99.6 / 97.3, of JaQuAD 100 / 100; by vectors alone 3.0, 3.4 and 96.0 of Cranfield
- SQuAD 2, each question without the article that answers it: 87 / 64
- JaQuAD, by words: its own 2.9, those of SQuAD 2 99.7; Cranfield: its own .4 / 4.4, those of
  SQuAD 2, some of them on physics, 97.9 / 87
- three articles of SQuAD 2: its own 1.3 / 3.8, others 98.7 / 93.3; three of JaQuAD, by words:
  its own 6 (2 of 32), others 97.7
- seven notes, natural questions in English and Korean: 2 / 5 of 32 that they answer, 32 of 32
  on other matters
"""

import math
from dataclasses import dataclass

from kebab.core.hit import Hit, Page
from kebab.core.query import Mode
from kebab.rag.telling import share, telling, together
from kebab.search import fuse

THRESHOLD = 0.5
"""The least evidence that is answered from."""

_LOOKED_AT = 5
"""How many of the first hits are read."""

_LEAST, _MOST = 1e-4, 1 - 1e-4


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the notes may answer: the evidence between 0 and 1, and what it takes."""

    passed: bool
    evidence: float
    threshold: float


@dataclass(frozen=True, slots=True)
class _Curve:
    score: float
    words: float
    cosine: float
    start: float


_CURVES = {
    Mode.HYBRID: _Curve(2.35, 6.6, 13.0, -6.25),
    Mode.LEXICAL: _Curve(3.2, 6.6, 0.0, 0.4),
    Mode.VECTOR: _Curve(0.0, 7.4, 15.0, -7.95),
}


def judge(page: Page) -> Verdict:
    """Return whether a page of hits holds enough to answer from."""
    hits = page.hits
    if not hits:
        return Verdict(passed=False, evidence=0.0, threshold=THRESHOLD)
    curve = _CURVES[_method(hits)]
    score = min(_MOST, max(_LEAST, *(hit.score for hit in hits)))
    sum_ = (
        curve.start
        + curve.score * math.log(score / (1 - score))
        + curve.words * _words(page)
        + curve.cosine * _cosine(hits)
    )
    evidence = 1 / (1 + math.exp(-sum_))
    return Verdict(passed=evidence >= THRESHOLD, evidence=evidence, threshold=THRESHOLD)


def _method(hits: tuple[Hit, ...]) -> Mode:
    """Return which channels gave evidence."""
    if all(hit.evidence.vector_score is None for hit in hits):
        return Mode.LEXICAL
    if all(hit.evidence.lexical_score is None for hit in hits):
        return Mode.VECTOR
    return Mode.HYBRID


def _words(page: Page) -> float:
    """Return the largest share of the question that one passage holds."""
    weights = telling(page.asked)
    return max(share(weights, _held(hit)) for hit in page.hits[:_LOOKED_AT])


def _held(hit: Hit) -> frozenset[str]:
    chunk = hit.chunk
    return together((chunk.text, chunk.title, *chunk.heading_path))


def _cosine(hits: tuple[Hit, ...]) -> float:
    """Return the highest cosine, on the scale of its model."""
    return max(
        (
            fuse.scale(hit.chunk.embedding_version or "").share(hit.evidence.vector_score)
            for hit in hits
            if hit.evidence.vector_score is not None
        ),
        default=0.0,
    )
