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


MAX_NEAREST = 3
_SIMILAR = 0.6
"""The least share of common letters; `difflib` uses it too."""


def find_nearest(value: str, existing: Iterable[str], limit: int = MAX_NEAREST) -> list[str]:
    """Return the existing values that are most like a value, the nearest first.

    Values that one begins or contains the other come first, then those that are spelled alike.
    """
    by_key = {one.casefold(): one for one in existing}
    key = value.casefold()
    starts = [one for one in by_key if one.startswith(key) or key.startswith(one)]
    holds = [one for one in by_key if key in one or one in key] if key else []
    alike = find_alike_spellings(key, by_key)
    return [by_key[one] for one in dict.fromkeys((*starts, *alike, *holds))][:limit]


def find_alike_spellings(value: str, existing: Iterable[str]) -> list[str]:
    """Return the few existing values that are spelled most like a value."""
    import difflib  # few searches need it

    return difflib.get_close_matches(value, list(existing), n=MAX_NEAREST, cutoff=_SIMILAR)
