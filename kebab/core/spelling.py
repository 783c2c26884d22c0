"""Compares words by their spelling, to find the one that was meant."""

from collections.abc import Iterable

NEAR = 2
"""The most edits between a mistyped name and the one that was meant."""

_SHORT = 6
"""The letters of a name up to which only one edit is a mistake and not another word."""


def find_likely_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name with the fewest edits from this one, which was probably mistyped.

    None when all need more edits: a short name may have one, a longer one two.
    """
    most = 1 if len(name.strip("-")) < _SHORT else NEAR
    counted = [(count_edits(name, other, most), other) for other in names]
    count, nearest = min(counted, default=(most + 1, ""))
    return nearest if count <= most else None


def count_edits(word: str, other: str, most: int = NEAR) -> int:
    """Return the number of edits between two words; more than `most` is returned as `most + 1`.

    An edit inserts, removes or replaces a letter, or swaps two neighbours (the restricted
    Damerau-Levenshtein distance).
    """
    if abs(len(word) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(word, start=1):
        before, last, row = row, before, [at]
        for to, target in enumerate(other, start=1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != target))
            if last and to > 1 and (letter, word[at - 2]) == (other[to - 2], target):
                cost = min(cost, last[to - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)
