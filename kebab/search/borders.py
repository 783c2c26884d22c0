"""Borders: where a sentence may begin in a text of any script, cheaply.

A line break is one too, unless the line is long and seems to go on in the next one. What may be an
abbreviation ends no sentence: half a sentence costs more than a long one.
"""

import re
from collections.abc import Iterator

from kebab.search.abbreviations import abbreviates

_stops = re.compile("[.!?\u2026\u0964\u061f\u3002\uff01\uff1f\uff61\n]+").finditer
_WIDE = frozenset("\u3002\uff01\uff1f\uff61")
_SHUT = "\u300d\u300f\uff09\u3011\u201d\u2019"

_WRAPPED = 50
"""A line of as many code points that ends in no stop was most likely broken to fit a width."""

_opens_block = re.compile(r"\s*(?:[-*+>]\s|[#|]|```|~~~|\d{1,3}[.)]\s)").match
_ended = re.compile(
    "[.!?:\u2026\u0964\u061f\u3002\uff01\uff1f\uff61|][\"'\u201d\u2019\u00bb)\\]*_\\s]*$"
).search
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
    if stop == "\n" and _goes_on(text, end):
        return None
    if stop[-1] == "\n":
        found = _behind_line(text, end)
    elif stop[-1] in _WIDE:
        found = _behind_wide(text, end)
    else:
        found = _behind_plain(text, end)
        if found and (found[1].islower() or (stop == "." and abbreviates(text, end - 1, end))):
            return None
    return found.end() if found else None


def _goes_on(text: str, end: int) -> bool:
    """Return whether a sentence goes on behind the line break that ends at a place."""
    line = text[text.rfind("\n", 0, end - 1) + 1 : end - 1]
    if len(line) < _WRAPPED or _ended(line) or line.startswith("#"):
        return False
    return bool(text[end : end + 1].strip()) and not _opens_block(text, end)
