"""What pipelines need to know about an embedding model, declared without naming any model."""

from collections.abc import Mapping
from dataclasses import dataclass

from kebab.core.ids import Key


@dataclass(frozen=True, slots=True)
class CosineScale:
    """The range of cosines that carries information: `low` is unrelated text, `high` the same."""

    low: float
    high: float

    def share(self, cosine: float) -> float:
        """Return a cosine as evidence between 0 and 1."""
        return min(1.0, max(0.0, (cosine - self.low) / (self.high - self.low)))

    def shares(self, cosines: Mapping[Key, float]) -> dict[Key, float]:
        """Return cosines as evidence; a thousand calls of `share` would take a millisecond."""
        low, width = self.low, self.high - self.low
        return {
            key: 0.0 if (part := (cosine - low) / width) < 0.0 else min(part, 1.0)
            for key, cosine in cosines.items()
        }


@dataclass(frozen=True, slots=True)
class LanguageTrust:
    """How far the model's vectors count, from 0 to 1, by the language of the passages.

    Search tells English passages from all others (`kebab.search.fusion`), so there are two values.
    """

    english: float
    other: float


@dataclass(frozen=True, slots=True)
class AnswerabilityCurve:
    """The weights of a logistic curve that gives the probability that the first hits answer.

    `words` weighs the share of the question's terms in a passage, `cosine` the highest scaled
    cosine, `evidence` the fused score of the first hit, `length` the logarithm of the number of
    terms; `start` is the constant.
    """

    words: float
    cosine: float
    evidence: float
    length: float
    start: float


@dataclass(frozen=True, slots=True)
class Answerability:
    """The curves of a model: for evidence of both channels, and for vectors alone."""

    hybrid: AnswerabilityCurve
    vector: AnswerabilityCurve


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePair:
    """Two sentences whose cosine is known; a model that is off by more is another model."""

    first: str = "A man is eating food."
    second: str = "A man is eating a piece of bread."
    cosine: float
    tolerance: float

    def accepts(self, cosine: float) -> bool:
        """Return whether a cosine is near enough; NaN never is."""
        return abs(cosine - self.cosine) <= self.tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """The facts about one embedding model that search, ingest and doctor use.

    A model's `version` stands for weights, pooling, prefixes and dimension. Changing any of them
    means another version. `window` counts content tokens: special tokens and prefix are taken off.
    `languages` describes the languages to people. `scripts` is None when the model knows all.
    """

    version: str
    dimension: int
    window: int
    languages: str
    scripts: frozenset[str] | None
    language_trust: LanguageTrust
    cosine_scale: CosineScale
    answerability: Answerability
    probe: ProbePair
