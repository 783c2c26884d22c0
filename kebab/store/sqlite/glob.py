"""Glob patterns over document paths: `*` and `?` within a folder, `**` across folders."""

import fnmatch
import re
from functools import lru_cache
from typing import TypeAlias
from unicodedata import normalize

Segments: TypeAlias = tuple[re.Pattern[str] | None, ...]
"""One pattern for each folder or file name; None stands for any number of them."""


def matches(pattern: str, path: str) -> bool:
    """Return whether the whole path fits the pattern; case matters, Unicode forms do not.

    A pattern that ends in `/` means everything below that folder.
    """
    return _fits(_compile(pattern), normalize("NFC", path).split("/"))


@lru_cache(maxsize=16)
def _compile(pattern: str) -> Segments:
    plain = normalize("NFC", pattern).removeprefix("./")
    if plain.endswith("/"):
        plain += "**"
    parts = plain.split("/")
    if parts[-1] == "**":
        parts.append("*")  # what is below a folder does not include the folder's own name
    return tuple(None if part == "**" else re.compile(fnmatch.translate(part)) for part in parts)


def _fits(pattern: Segments, names: list[str]) -> bool:
    """Match name by name; on a mismatch the last `**` takes one name more."""
    at = here = 0
    star, resume = -1, 0
    while here < len(names):
        if at < len(pattern) and _takes(pattern[at], names[here]):
            at, here = at + 1, here + 1
        elif at < len(pattern) and pattern[at] is None:
            star, resume = at, here
            at += 1
        elif star >= 0:
            resume += 1
            at, here = star + 1, resume
        else:
            return False
    return all(part is None for part in pattern[at:])


def _takes(part: re.Pattern[str] | None, name: str) -> bool:
    return part is not None and part.match(name) is not None
