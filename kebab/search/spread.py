"""Spread: further passages of a document that is already shown give way to other documents."""

from collections import Counter
from collections.abc import Mapping, Sequence

from kebab.core.ids import DocNumber, Key


def handicap(
    ranked: Sequence[Key], owners: Mapping[Key, DocNumber], step: float
) -> dict[Key, float]:
    """Return what each passage loses: `step` for every better one of its document."""
    seen: Counter[DocNumber] = Counter()
    lost = {}
    for key in ranked:
        if (owner := owners.get(key)) is not None:
            lost[key] = -step * seen[owner]
            seen[owner] += 1
    return lost
