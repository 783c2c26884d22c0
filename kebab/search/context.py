"""Context: how much of what is asked the rest of a passage's document holds."""

from collections import defaultdict
from collections.abc import Mapping

from kebab.core.ids import DocNumber, Key

_BEST = 3
"""How many passages speak for a document; where it has fewer, the others count as nothing."""


def around(words: Mapping[Key, float], owners: Mapping[Key, DocNumber]) -> dict[Key, float]:
    """Return, for every passage with an owner, the mean lexical evidence of its document's best."""
    held: defaultdict[DocNumber, list[float]] = defaultdict(list)
    for key, owner in owners.items():
        held[owner].append(words.get(key, 0.0))
    means = {owner: sum(sorted(all_)[-_BEST:]) / _BEST for owner, all_ in held.items()}
    return {key: means[owner] for key, owner in owners.items()}
