"""Feedback: a question asked again together with its best passage.

Pseudo-relevance feedback after Rocchio (1971), with one passage and on vectors alone: the new
query is q + b p, normalised. Its cosines follow from those of q and of p, so that no vector is
built and nothing is searched again.
"""

import math
from collections.abc import Mapping

from kebab.core.ids import Key
from kebab.core.ports import Vectors


def again(
    cosines: Mapping[Key, float], first: Key, weight: float, vectors: Vectors
) -> Mapping[Key, float]:
    """Return the cosines of the question and `weight` times its best passage; the same without one.

    Args:
        cosines: Of the question, for every candidate that has a vector.
        first: The best passage.
        weight: How much it counts beside the question, from 0.
        vectors: The index.
    """
    passage = vectors.get([first]).get(first) if weight > 0 and first in cosines else None
    if passage is None:
        return cosines
    length = math.sqrt(1 + 2 * weight * cosines[first] + weight * weight)
    beside = vectors.cosines(passage, cosines.keys())
    return {
        key: (cosine + weight * beside.get(key, cosine)) / length for key, cosine in cosines.items()
    }
