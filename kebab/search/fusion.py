"""Fuses lexical and vector evidence into one score per candidate."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from kebab.core.chunks import KeyedScore
from kebab.core.ids import Key
from kebab.core.model_profile import LanguageTrust
from kebab.core.ports import Vectors
from kebab.search.boosts import BOOSTED_LIMIT, Scores, apply_relevance_feedback, select_best
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorMatches
from kebab.text.scripts import split_units

LEXICAL_SHARE = 0.6
"""The share of lexical evidence for a question; the rest is semantic."""

_FOREIGN_GAIN = 0.2
"""What this share gains where the model knows the script, but not the language."""

_NEED_LOSS = 0.15
"""What this share loses for a described need: few passages hold most of so many words."""

_SAMPLE = 5
"""How many passages show the language of the notes."""

_COMMON = frozenset(
    ("the", "of", "and", "to", "is", "for", "that", "with", "by", "it", "be", "are", "this", "from")
)
_FOREIGN_LEVEL, _ENGLISH_LEVEL = 0.03, 0.09
"""Shares of these words: English prose has .2 of them, texts on code .12, others less than .03."""

_MIN_WORDS = 30
"""Passages with fewer words are taken to be English."""


def fuse_channels(
    need: float,
    found: Sequence[KeyedScore],
    evidence: Scores,
    matches: VectorMatches,
    passages: PassageCache,
    vectors: Callable[[], Vectors | None],
) -> Scores:
    """Return the evidence of both channels; a described need gets relevance feedback.

    Without lexical candidates it is the evidence of the vector channel alone.

    Args:
        need: How far the query describes a need, from 0 to 1.
        found: The candidates of the lexical channel, the best first.
        evidence: Their evidence.
        matches: The result of the vector channel.
        passages: Reads the passages.
        vectors: Returns the index, or None when there is none.
    """
    scale = matches.model.cosine_scale
    semantic = scale.normalise_all(matches.cosines)
    if not found:
        return semantic
    first = passages.load_chunks([key for key, _ in found[:_SAMPLE]])
    trust = estimate_trust(matches.model.language_trust, (chunk.text for chunk in first))
    share = compute_lexical_share(trust, need)
    scores = fuse(evidence, semantic, share)
    index = vectors() if need * trust > 0 else None
    if index is None:
        return scores
    best = select_best(scores, BOOSTED_LIMIT)
    cosines = {key: matches.cosines[key] for key in best if key in matches.cosines}
    moved = apply_relevance_feedback(cosines, best[0], need * trust, index)
    lexical = {key: evidence.get(key, 0.0) for key in best}
    return {**scores, **fuse(lexical, scale.normalise_all(moved), share)}


def compute_lexical_share(trust: float, need: float) -> float:
    """Return the share of lexical evidence.

    Args:
        trust: How far the vectors count, from 0 to 1.
        need: How far the query describes a need, from 0 to 1.
    """
    return LEXICAL_SHARE + _FOREIGN_GAIN * (1 - trust) - _NEED_LOSS * need * trust


def fuse(lexical: Scores, semantic: Scores, share: float = LEXICAL_SHARE) -> dict[Key, float]:
    """Return the fused score of every chunk of either channel; `share` is the lexical part.

    The semantic evidence of a chunk without a vector is taken to equal its lexical evidence.
    """
    rest = 1 - share
    fused = {key: share * lexical.get(key, 0.0) + rest * value for key, value in semantic.items()}
    for key, value in lexical.items():
        if key not in semantic:
            fused[key] = share * value + rest * value
    return fused


def rank_by_score(scores: Mapping[Key, float]) -> list[KeyedScore]:
    """Return chunks by falling score; of equal scores the smaller key comes first."""
    order = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
    return list(zip(order, map(scores.__getitem__, order), strict=True))


def estimate_trust(levels: LanguageTrust, texts: Iterable[str]) -> float:
    """Return how far the vectors of a model count for texts of a language, from 0 to 1."""
    if levels.english == levels.other:
        return levels.english
    return levels.other + (levels.english - levels.other) * _estimate_english(texts)


def _estimate_english(texts: Iterable[str]) -> float:
    """Return how far texts are English, from 0 (another language) to 1."""
    words = [word.lower() for text in texts for word in split_units(text)]
    if len(words) < _MIN_WORDS:
        return 1.0
    share = sum(word in _COMMON for word in words) / len(words)
    return min(1.0, max(0.0, (share - _FOREIGN_LEVEL) / (_ENGLISH_LEVEL - _FOREIGN_LEVEL)))
