"""Fuses lexical and vector evidence, and calibrates scores."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kebab.core.ids import Key
from kebab.core.model_profile import LanguageTrust
from kebab.core.queries import Confidence
from kebab.text.scripts import split_units

LEXICAL_SHARE = 0.6
"""The share of lexical evidence in a question; the rest is semantic."""

_FOREIGN = 0.2
"""What words gain where the model knows the script, but not the language."""

_NEED = 0.15
"""What words lose where a need is told in so many of them that few passages hold most."""


def compute_lexical_share(trust: float, verbose: float) -> float:
    """Return the share of lexical evidence, by how far the model knows the language and by extent.

    Args:
        trust: How far the vectors may be trusted, from 0 to 1.
        verbose: How far the query describes a need, from 0 to 1.
    """
    return LEXICAL_SHARE + _FOREIGN * (1 - trust) - _NEED * verbose * trust


def fuse(
    words: Mapping[Key, float], meaning: Mapping[Key, float], share: float = LEXICAL_SHARE
) -> dict[Key, float]:
    """Return the score of every chunk of either channel; `share` is that of the words.

    A chunk that cannot have a vector is judged by its words alone: its semantic evidence is taken
    to be as strong as its lexical evidence.
    """
    rest = 1 - share
    fused = {key: share * words.get(key, 0.0) + rest * value for key, value in meaning.items()}
    for key, value in words.items():
        if key not in meaning:
            fused[key] = share * value + rest * value
    return fused


def rank_by_score(scores: Mapping[Key, float]) -> list[tuple[Key, float]]:
    """Return chunks by falling score, ties by the smaller key."""
    order = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
    return list(zip(order, map(scores.__getitem__, order), strict=True))


def select_best(scores: Mapping[Key, float], limit: int | None = None) -> list[Key]:
    """Return the chunks of highest score, the highest first, without an order among equals."""
    return sorted(scores, key=scores.__getitem__, reverse=True)[:limit]


STRONG = 0.8
FAIR = 0.3

_FALL = 4


@dataclass(frozen=True, slots=True)
class Calibration:
    """What evidence is worth in one query: `best` is that of its first hit."""

    conviction: float
    best: float

    def score(self, evidence: float) -> float:
        """Return the calibrated score of fused evidence, between 0 and 1, rising with it."""
        if evidence >= self.best:
            return self.conviction
        return self.conviction * max(0.0, evidence / self.best) ** _FALL if self.best > 0 else 0.0


def compute_relative_evidence(score: float, best: float) -> float:
    """Return the evidence of a hit as a share of the best one's, from 0 to 1."""
    return (score / best) ** (1 / _FALL) if best > 0 else 0.0


def classify_confidence(value: float) -> Confidence:
    """Return how far a calibrated score can be trusted to mean an answer."""
    if value >= STRONG:
        return Confidence.STRONG
    return Confidence.FAIR if value >= FAIR else Confidence.WEAK


_COMMON = frozenset(
    ("the", "of", "and", "to", "is", "for", "that", "with", "by", "it", "be", "are", "this", "from")
)
_FOREIGN_TRUST, _ENGLISH = 0.03, 0.09
"""Shares of these words: English prose has .2 of them, texts on code .12, others less than .03."""

_ENOUGH = 30
"""Passages with fewer words are taken to be English."""


def estimate_trust(levels: LanguageTrust, texts: Iterable[str]) -> float:
    """Return how far the vectors of a model count on texts, from 0 to 1."""
    if levels.english == levels.other:
        return levels.english
    return levels.other + (levels.english - levels.other) * _english_share(texts)


def _english_share(texts: Iterable[str]) -> float:
    """Return how far texts are English, from 0 (another language) to 1."""
    words = [word.lower() for text in texts for word in split_units(text)]
    if len(words) < _ENOUGH:
        return 1.0
    share = sum(word in _COMMON for word in words) / len(words)
    return min(1.0, max(0.0, (share - _FOREIGN_TRUST) / (_ENGLISH - _FOREIGN_TRUST)))
