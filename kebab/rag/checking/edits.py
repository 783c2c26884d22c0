"""Edits: what changes in an answer after its claims were checked."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from kebab.rag.checking.assemble import Edit
from kebab.rag.checking.judge import Finding
from kebab.rag.checking.markers import Marked, Placed, seam

MARK = "[unsupported]"
"""What stands behind a claim that nothing carries; it holds no number, so it is no marker."""

_STOPS = r".!?\u3002\uff01\uff1f\u0964\u061f\u2026"
_STOP = re.compile(
    rf"(?<=[^\s{_STOPS}])[ \t\u00a0\u202f]*[{_STOPS}]+(?=[*_)\uff09]*\\?$)|[ \t]*\|[ \t]*$"
)
"""A full stop, also within emphasis or brackets; in speech the marker stands behind the speech."""

_TAIL = 40
_BLANKS = 8
_word = re.compile(r"[^\W_]").search


def edits(marked: Marked, findings: Sequence[Finding], *, mark: bool) -> list[Edit]:
    """Return what changes: markers that are wrong, missing, or stand for nothing.

    Args:
        marked: The answer.
        findings: What became of its claims, in order.
        mark: Whether claims that nothing carries are marked, or left as they stand.
    """
    starts = [one.start for one in marked.markers]
    found: list[Edit] = []
    at = 0
    good = {ground.marker for one in findings for ground in one.carriers}
    for one in findings:
        low, high = (bisect_left(starts, place) for place in one.claim.span)
        found += _strayed(marked.markers[at:low], marked.text, good)
        inner = marked.markers[low:high]
        if one.carriers:
            found += _supported(marked.text, one, inner)
        elif mark:
            found += _unsupported(marked.text, one, inner)
        at = high
    return [*found, *_strayed(marked.markers[at:], marked.text, good)]


def _strayed(markers: Sequence[Placed], text: str, good: Collection[int]) -> Iterator[Edit]:
    """Yield edits that take out markers outside of claims that cite nothing that was found good."""
    for one in markers:
        if one.marker not in good:
            yield _removal(text, _blank(text, 0, one.start), one.end)


def _supported(text: str, finding: Finding, inner: Sequence[Placed]) -> Iterator[Edit]:
    """Yield edits that leave a claim with the markers of what carries it."""
    carriers = [ground.marker for ground in finding.carriers]
    low, high = finding.claim.span
    if not inner:
        place = _stop(text, low, high)
        yield Edit(place, place, "".join([" ", *(f"[{marker}]" for marker in carriers)]))
    yield from _without(text, low, [one for one in inner if one.marker not in carriers])


def _unsupported(text: str, finding: Finding, inner: Sequence[Placed]) -> list[Edit]:
    """Return edits that take a claim's markers away and mark it."""
    low, high = finding.claim.span
    found = list(_without(text, low, inner))
    if inner and _leading(text, low, inner) < len(inner):
        return [*found[:-1], replace(found[-1], text=f" {MARK}")]
    place = _stop(text, low, high)
    return [*found, Edit(place, place, f" {MARK}")]


def _without(text: str, start: int, markers: Sequence[Placed]) -> Iterator[Edit]:
    """Yield edits that take markers out: with the blanks before, at the beginning those behind."""
    at = start
    leading = _leading(text, start, markers)
    for index, one in enumerate(markers):
        if index >= leading:
            edit = _removal(text, _blank(text, at, one.start), one.end)
        else:
            rest = text[one.end : one.end + _BLANKS]
            edit = _removal(text, one.start, one.end + len(rest) - len(rest.lstrip(" \t")))
        yield edit
        at = edit.end


def _removal(text: str, start: int, end: int) -> Edit:
    return Edit(start, end, seam(text, start, end))


def _leading(text: str, start: int, markers: Sequence[Placed]) -> int:
    """Return how many markers stand before any word."""
    for index, one in enumerate(markers):
        if _word(text, start, one.start):
            return index
        start = one.end
    return len(markers)


def _blank(text: str, least: int, place: int) -> int:
    """Return where the blanks before a place begin."""
    low = max(least, place - _BLANKS)
    return low + len(text[low:place].rstrip(" \t"))


def _stop(text: str, start: int, end: int) -> int:
    """Return where a marker of a whole claim stands: before its full stop."""
    low = max(start, end - _TAIL)
    found = _STOP.search(text[low:end])
    return low + found.start() if found else end
