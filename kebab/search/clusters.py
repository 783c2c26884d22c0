"""Clusters: from pairs that may be alike to groups whose members are all like their first one."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cluster:
    """Items by index, the first one leads; `likeness` is that of each to the first."""

    items: tuple[int, ...]
    likeness: tuple[float, ...]


def adjacent(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the partners of each item, items in rising order."""
    found: dict[int, list[int]] = defaultdict(list)
    for left, right in pairs:
        found[left].append(right)
        found[right].append(left)
    return dict(sorted(found.items()))


def led(
    partners: Mapping[int, Sequence[int]],
    likeness: Callable[[int, int], float],
    threshold: float,
) -> Iterator[Cluster]:
    """Yield the clusters: the first item leads those that are like it, and so on.

    A leader is held against its partners and those of its members. A chain in which each is like
    the next falls apart here, for its ends have nothing in common. Every pair is looked at once at
    most, so a crowd that is alike by half costs no more than its pairs.
    """
    taken: set[int] = set()
    for first in partners:
        if first in taken:
            continue
        taken.add(first)
        near = _members(first, partners, likeness, threshold, taken)
        taken |= near.keys()
        if near:
            items = sorted(near)
            yield Cluster((first, *items), (1.0, *(near[item] for item in items)))


def _members(
    first: int,
    partners: Mapping[int, Sequence[int]],
    likeness: Callable[[int, int], float],
    threshold: float,
    taken: set[int],
) -> dict[int, float]:
    """Return the items that a leader gathers, with their likeness."""
    near: dict[int, float] = {}
    seen, waiting = {first}, [first]
    while waiting:
        for item in partners[waiting.pop()]:
            if item in seen or item in taken:
                continue
            seen.add(item)
            score = likeness(first, item)
            if score >= threshold:
                near[item] = score
                waiting.append(item)
    return near
