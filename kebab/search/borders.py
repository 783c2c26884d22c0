"""Borders: where a sentence may begin in a text of any script, cheaply.

A line break is one too. What may be an abbreviation ends no sentence: half a sentence costs more
than a long one.
"""

import re
from collections.abc import Iterator

from kebab.search.abbreviations import abbreviates

_stops = re.compile("[.!?\u2026\u0964\u061f\u3002\uff01\uff1f\uff61\n]+").finditer
_WIDE = frozenset("\u3002\uff01\uff1f\uff61")
_SHUT = "\u300d\u300f\uff09\u3011\u201d\u2019"

_behind_line = re.compile(r"\s*").match
_behind_wide = re.compile(rf"(?:[{_SHUT}]++(?![\u3041-\u309f\u3001]))?+(?![{_SHUT}])\s*").match
_behind_plain = re.compile(
    r"[\"'\u201d\u2019\u00bb)\]*_]*(?:\s?\[\d{1,3}\])*[ \t]+(?=[\"'\u201c\u2018\u00ab(\[]*(\S))"
).match


def borders(text: str) -> list[int]:
    """Return where sentences begin, in rising order, the first one at 0."""
    return [0, *_later(text)]


def _later(text: str) -> Iterator[int]:
    for stop in _stops(text):
        place = _behind(text, stop[0], stop.end())
        if place is not None and place < len(text):
            yield place


def _behind(text: str, stop: str, end: int) -> int | None:
    """Return where the sentence behind a stop begins; None when the stop ends none."""
    if stop[-1] == "\n":
        found = _behind_line(text, end)
    elif stop[-1] in _WIDE:
        found = _behind_wide(text, end)
    else:
        found = _behind_plain(text, end)
        if found and (found[1].islower() or (stop == "." and abbreviates(text, end - 1, end))):
            return None
    return found.end() if found else None
