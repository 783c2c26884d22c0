"""Scores texts by the words and the meaning of a query, without an index."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kebab.core.ids import Key
from kebab.search.fusion import (
    compute_lexical_share,
    estimate_trust,
    fuse,
    measure_lexical_strength,
)
from kebab.search.query_parser import strip_stop_words
from kebab.text.tokenizer import Term, build_query_terms, tokenize

if TYPE_CHECKING:
    from kebab.core.ports import Embedder

EMBED_LIMIT = 1000
"""How many different texts are embedded at most; of more, those with the best words."""

EMBED_CHARS = 1000
"""How much of a long text is embedded."""

_K1, _B = 1.2, 0.5
"""The saturation of bm25, and how far it prefers short texts; lines differ much in length."""

_SAMPLE = 5
"""How many texts show the language of all."""


def score_words(query: str, texts: Sequence[str]) -> dict[Key, float]:
    """Return bm25 of every text as a share of the best possible score, 0 to 1."""
    terms = build_query_terms(strip_stop_words(query)) or build_query_terms(query)
    counts = [Counter(tokenize(text)) for text in texts]
    weights = {term: _compute_idf(term, counts) for term in terms}
    best = sum(weights.values()) * (_K1 + 1)
    lengths = [sum(count.values()) for count in counts]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    scores: dict[Key, float] = {}
    for position, (count, length) in enumerate(zip(counts, lengths, strict=True)):
        norm = _K1 * (1 - _B + _B * length / (mean or 1.0))
        hits = ((weights[term], _count(term, count)) for term in terms)
        score = sum(weight * hit * (_K1 + 1) / (hit + norm) for weight, hit in hits if hit)
        scores[Key(position)] = min(1.0, score / best) if best else 0.0
    return scores


def _count(term: Term, count: Mapping[str, int]) -> int:
    if not term.prefix:
        return count.get(term.text, 0)
    return sum(number for token, number in count.items() if token.startswith(term.text))


def _compute_idf(term: Term, counts: Sequence[Mapping[str, int]]) -> float:
    """Return the rarity of a term among the texts, which is always positive."""
    holding = sum(1 for count in counts if _count(term, count))
    return math.log(1 + (len(counts) - holding + 0.5) / (holding + 0.5))


def select_for_embedding(words: Mapping[Key, float], texts: Sequence[str]) -> list[Key]:
    """Return one text of each spelling, the best by words first, up to the limit."""
    order = sorted(words, key=lambda key: (-words[key], key))
    firsts: dict[str, Key] = {}
    for key in order:
        firsts.setdefault(texts[key], key)
    return list(firsts.values())[:EMBED_LIMIT]


def score_meaning(
    query: str, texts: Sequence[str], keys: Sequence[Key], embedder: "Embedder"
) -> dict[Key, float]:
    """Return the semantic evidence of the selected texts and of their copies.

    Raises:
        EmbeddingUnavailable: The model cannot be loaded.
        TimedOut: The model took too long.
    """
    asked = embedder.embed_query(query)
    embeddable = [key for key in keys if embedder.supports(texts[key])]
    cosines: dict[str, float] = {}
    passages = [texts[key][:EMBED_CHARS] for key in embeddable]
    for indexes, matrix in embedder.embed_passages(passages):
        for index, vector in zip(indexes, matrix, strict=True):
            cosines[texts[embeddable[index]]] = float(vector @ asked)
    found = {Key(n): cosines[text] for n, text in enumerate(texts) if text in cosines}
    return embedder.profile.cosine_scale.normalise_all(found)


def merge_scores(
    query: str,
    words: Mapping[Key, float],
    meaning: Mapping[Key, float],
    texts: Sequence[str],
    embedder: "Embedder",
) -> dict[Key, float]:
    """Return the fused score of every text."""
    model, strength = embedder.profile, measure_lexical_strength(words)
    trust = estimate_trust(model.language_trust, texts[:_SAMPLE], query, strength)
    return fuse(dict(words), dict(meaning), compute_lexical_share(model, trust, strength))
