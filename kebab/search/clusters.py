"""Clusters: from pairs that may be alike to groups whose members are all like their first one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True, slots=True)
class Cluster:
    """Items by index, the first one leads; `likeness` is that of each to the first."""

    items: tuple[int, ...]
    likeness: tuple[float, ...]


def components(pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return what pairs connect, each part in rising order."""
    parent: dict[int, int] = {}

    def root(item: int) -> int:
        top = item
        while (above := parent.setdefault(top, top)) != top:
            top = above
        while item != top:
            parent[item], item = top, parent[item]
        return top

    for left, right in pairs:
        first, second = sorted((root(left), root(right)))
        parent[second] = first
    rooted = sorted((root(item), item) for item in parent)
    return [[item for _, item in part] for _, part in groupby(rooted, lambda one: one[0])]


def led(
    component: Sequence[int],
    likeness: Callable[[int, Sequence[int]], Iterable[float]],
    threshold: float,
) -> Iterator[Cluster]:
    """Yield the clusters of a component: the first item leads those that are like it, and so on.

    A chain in which each is like the next falls apart here, for its ends have nothing in common.
    """
    rest = list(component)
    while len(rest) > 1:
        first, *others = rest
        scored = list(zip(others, likeness(first, others), strict=True))
        near = [(item, score) for item, score in scored if score >= threshold]
        if near:
            items, scores = zip(*near, strict=True)
            yield Cluster((first, *items), (1.0, *scores))
        rest = [item for item, score in scored if score < threshold]
