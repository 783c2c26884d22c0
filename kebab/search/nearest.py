"""Finds the existing values that are most like a value that does not exist."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from kebab.text.globs import escape_glob, matches_glob

MAX_NEAREST = 3
_SIMILAR = 0.6
"""The least share of common letters; `difflib` uses it too."""
_LITERAL_HEAD = re.compile(r"[^*?\[]*(?=/|$)")


def find_nearest(value: str, existing: Iterable[str], limit: int = MAX_NEAREST) -> list[str]:
    """Return the existing values that are most like a value, the nearest first.

    Values that one begins or contains the other come first, then those that are spelled alike.
    """
    by_key = {one.casefold(): one for one in existing}
    key = value.casefold()
    starts = [one for one in by_key if one.startswith(key) or key.startswith(one)]
    holds = [one for one in by_key if key in one or one in key] if key else []
    alike = _find_alike_spellings(key, by_key)
    return [by_key[one] for one in dict.fromkeys((*starts, *alike, *holds))][:limit]


def find_nearest_globs(pattern: str, paths: Sequence[str], limit: int = MAX_NEAREST) -> list[str]:
    """Return patterns that match some of the paths and are most like a pattern that matches none.

    The same pattern below another folder comes first, then a folder or file that is spelled alike,
    then the most frequent file extensions.
    """
    relative = pattern.strip("/")
    if not relative:
        return []
    folders: Counter[str] = Counter()
    for path in paths:
        if matches_glob(f"**/{relative}", path):
            names = path.split("/")
            rests = ("/".join(names[start:]) for start in range(len(names)))
            depth = next(n for n, rest in enumerate(rests) if matches_glob(relative, rest))
            folders["/".join(names[:depth])] += 1
    found = [f"{escape_glob(folder)}/{relative}" for folder, _ in folders.most_common() if folder]
    found = found or _find_alike(relative, paths)
    if not found and "*." in relative.rpartition("/")[2]:
        suffixes = Counter(PurePosixPath(path).suffix for path in paths)
        found = [f"*{suffix}" for suffix, _ in suffixes.most_common(limit) if suffix]
    return found[:limit]


def _find_alike(pattern: str, paths: Sequence[str]) -> list[str]:
    """Return the folders and files whose names are most like the literal start of a pattern."""
    match = _LITERAL_HEAD.match(pattern)
    head = (match[0] if match else "").rstrip("/")
    if not head:
        return []
    places = dict.fromkeys(
        place
        for path in paths
        for place in (path, *[str(folder) for folder in PurePosixPath(path).parents][:-1])
    )
    by_name: dict[str, list[str]] = {}
    for place in places:
        name = PurePosixPath(place.casefold())
        for spelling in dict.fromkeys((name.name, name.stem)):
            by_name.setdefault(spelling, []).append(place)
    names = _find_alike_spellings(head.rpartition("/")[2].casefold(), by_name)
    whole = _find_alike_spellings(head, places) if "/" in head else []
    found = dict.fromkeys((*whole, *(place for one in names for place in by_name[one])))
    known = set(paths)
    rest = pattern[len(head) :]
    return [_complete(place, rest, paths, is_file=place in known) for place in found]


def _find_alike_spellings(value: str, existing: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(value, list(existing), n=MAX_NEAREST, cutoff=_SIMILAR)


def _complete(place: str, rest: str, paths: Sequence[str], *, is_file: bool) -> str:
    """Return the pattern for a file, or for a folder with the rest of the pattern if it matches."""
    literal = escape_glob(place)
    if is_file:
        return literal
    if rest.strip("/") and any(matches_glob(literal + rest, path) for path in paths):
        return literal + rest
    return f"{literal}/**"
