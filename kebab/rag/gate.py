"""The gate: whether the notes can answer at all, decided before anything words an answer.

It is the conviction of the search, and lets through what is worth at least a fair hit. Refused, in
percent (with MiniLM / words alone), stands in `docs/search-quality.md`.
"""

from dataclasses import dataclass

from kebab.core.hit import Page
from kebab.search.calibrate import FAIR

THRESHOLD = FAIR
"""The least conviction that is answered from."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the notes may answer: the evidence between 0 and 1, and what it takes."""

    passed: bool
    evidence: float
    threshold: float


def judge(page: Page) -> Verdict:
    """Return whether a page of hits holds enough to answer from."""
    evidence = page.conviction if page.hits else 0.0
    return Verdict(passed=evidence >= THRESHOLD, evidence=evidence, threshold=THRESHOLD)
