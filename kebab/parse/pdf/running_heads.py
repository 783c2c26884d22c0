"""Removes running heads and page numbers from the pages of a PDF."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from kebab.parse.pdf.pages import PageText, Segment

_MIN_PAGES = 3
_EDGE_LINES = 3
"""How many lines at the top and at the bottom of a page may be running heads."""
_STEP_POINTS = 6.0
_LARGER = 1.15
"""How much larger than most text a line is that heads a page, as `Exercise 3` does."""
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlcdm]+", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"(?:\w{1,6}\.?\s)?\W*(\d{1,5})\W*(?:(?:of|von|sur|de|/)\s*\d{1,5}\W*)?")
_BLANKS = re.compile(r"\s+")


def remove_running_heads(pages: Sequence[PageText]) -> list[PageText]:
    """Return the pages without the lines that repeat at the same place of at least three pages.

    Lines in large letters count as repeated only with the same numbers.
    """
    large = _LARGER * _find_usual_size(pages)
    edges = [_find_edges(page.segments) for page in pages]
    counts = Counter(
        key
        for page, bases in zip(pages, edges, strict=True)
        for key in {_get_key(one, large) for one in page.segments if one.base in bases}
    )
    return [
        page._replace(segments=tuple(_filter(page, bases, counts, large)))
        for page, bases in zip(pages, edges, strict=True)
    ]


def _filter(
    page: PageText, bases: frozenset[float], counts: Counter[tuple[int, str]], large: float
) -> Iterable[Segment]:
    for segment in page.segments:
        if segment.base in bases and (
            counts[_get_key(segment, large)] >= _MIN_PAGES or _is_page_number(segment, page)
        ):
            continue
        yield segment


def _find_edges(segments: Sequence[Segment]) -> frozenset[float]:
    """Return the base lines of the first and the last lines of a page."""
    bases = sorted({segment.base for segment in segments})
    return frozenset(bases[:_EDGE_LINES] + bases[-_EDGE_LINES:])


def _find_usual_size(pages: Sequence[PageText]) -> float:
    """Return the size in which most text is written; 0 without text."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for segment in page.segments:
            sizes[round(segment.size, 1)] += len(segment.text)
    return max(sizes, key=sizes.__getitem__, default=0.0)


def _get_key(segment: Segment, large: float) -> tuple[int, str]:
    """Return where a line stands, and its text without numbers if it is not large."""
    words = segment.text if segment.size >= large else _DIGITS.sub("", segment.text)
    text = _BLANKS.sub(" ", words).strip().casefold()
    return round(segment.base / _STEP_POINTS), "" if _ROMAN.fullmatch(text) else text


def _is_page_number(segment: Segment, page: PageText) -> bool:
    """Return whether the lowest or highest line of a page is its number."""
    bases = [one.base for one in page.segments]
    match = _PAGE_NUMBER.fullmatch(segment.text)
    is_outer = segment.base in {min(bases), max(bases)} and len(set(bases)) > 1
    return is_outer and match is not None and int(match[1]) == page.number
