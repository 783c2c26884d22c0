"""Declares the facts about an embedding model that pipelines use, without naming any model."""

from collections.abc import Mapping
from dataclasses import dataclass

from kebab.core.ids import Key


@dataclass(frozen=True, slots=True)
class CosineScale:
    """The useful range of cosines: `low` for unrelated text, `high` for equal text."""

    low: float
    high: float

    def normalise(self, cosine: float) -> float:
        """Normalise a cosine to evidence between 0 and 1."""
        return min(1.0, max(0.0, (cosine - self.low) / (self.high - self.low)))

    def normalise_all(self, cosines: Mapping[Key, float]) -> dict[Key, float]:
        """Normalise many cosines; a thousand calls of `normalise` would take a millisecond."""
        low, width = self.low, self.high - self.low
        return {
            key: 0.0 if (part := (cosine - low) / width) < 0.0 else min(part, 1.0)
            for key, cosine in cosines.items()
        }


@dataclass(frozen=True, slots=True)
class LanguageTrust:
    """The weight of the model's vectors, from 0 to 1, by the language of the passages.

    Search tells English passages from all others (`kebab.search.fusion`), so there are two values.
    """

    english: float
    other: float


@dataclass(frozen=True, slots=True)
class AnswerabilityCurve:
    """The weights of a logistic curve: the probability that a passage found answers.

    For one passage, `words` weighs the share of the query's keywords that it holds, and `cosine`
    its scaled cosine; the best passage counts, because one passage has to hold the words and be
    near in meaning. `margin` weighs how far the highest cosine is above the usual ones, `evidence`
    the fused score of the first hit, `length` the logarithm of the number of terms. `match` and
    `lead` weigh how far its tokens match (`TokenMatch`). `start` is the constant.
    """

    words: float
    cosine: float
    evidence: float
    length: float
    start: float
    margin: float = 0.0
    match: float = 0.0
    lead: float = 0.0


@dataclass(frozen=True, slots=True)
class Answerability:
    """The curves of a model.

    `hybrid` is for evidence of both channels, `vector` for vectors alone, `absent` for vectors of a
    query whose every word occurs nowhere. `foreign` is for vectors alone where query and passages
    are in different languages, `matched` for their token vectors; they are None when the model
    cannot compare languages.
    """

    hybrid: AnswerabilityCurve
    vector: AnswerabilityCurve
    absent: AnswerabilityCurve
    foreign: AnswerabilityCurve | None = None
    matched: AnswerabilityCurve | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePair:
    """Two sentences with a known cosine, which identifies the model within a tolerance."""

    first: str = "A man is eating food."
    second: str = "A man is eating a piece of bread."
    cosine: float
    tolerance: float

    def accepts(self, cosine: float) -> bool:
        """Return whether a cosine is within the tolerance; NaN never is."""
        return abs(cosine - self.cosine) <= self.tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """The facts about one embedding model that search, ingest and doctor use.

    A model's `version` identifies weights, pooling, prefixes and dimension. A change of any of them
    needs another version. `window` counts content tokens, without special tokens and prefix.
    `languages` describes the languages to people. `lexical_share` is the share of lexical evidence
    beside these vectors. `scripts` is None when the model knows all, and `alternative` is the
    name of a model that knows more.
    """

    version: str
    dimension: int
    window: int
    languages: str
    scripts: frozenset[str] | None
    language_trust: LanguageTrust
    lexical_share: float
    cosine_scale: CosineScale
    answerability: Answerability
    probe: ProbePair
    alternative: str | None = None
