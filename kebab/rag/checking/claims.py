"""Extracts the claims of an answer with the citation markers that cover them.

A marker covers the part of its sentence between the marker before and itself. Headings, questions,
lead-ins, code, and sentences without key terms contain no claims.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from kebab.rag.checking.fences import find_fences
from kebab.rag.checking.key_terms import extract_key_terms
from kebab.rag.checking.markers import (
    MarkedText,
    MarkerSpan,
    Span,
    cut_markers,
    is_inside,
)
from kebab.text.layout import LayoutKind, build_layout
from kebab.text.scripts import is_dense
from kebab.text.sentences import find_sentence_spans

_CLOSERS = " \t\n*_)\"'\u201d\u2019\u00bb\u300d\u300f\uff09|"
_QUESTION = ("?", "\uff1f", "\u061f", "\u037e")
_LEAD = (":", "\uff1a")
_STOPPED = re.compile(
    r"[.!?\u2026\u3002\uff01\uff1f\u0964\u061f][\"'\u201d\u2019\u00bb\u300d\u300f\uff09)\]*_]*(?:\s?\[\d{1,9}\])*$"
)
_BOLD = re.compile(r"(?:\*\*[^*\n]+\*\*|__[^_\n]+__)")
_word = re.compile(r"[^\W_]").search
_number = re.compile(r"\d").search
_TAIL = 80
_MAX_LIGHT_TERMS, _MAX_LIGHT_BIGRAMS = 1, 8
"""A part of a sentence with so few key terms is no claim by itself."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim at [start, end) code points of the answer; `text` is without its markers."""

    start: int
    end: int
    text: str
    markers: tuple[int, ...]

    @property
    def span(self) -> Span:
        """The start and the end."""
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class _Segment:
    start: int
    end: int
    markers: tuple[MarkerSpan, ...]

    def get_words(self, text: str) -> str:
        return cut_markers(text, self.start, self.end, self.markers)


def extract_claims(marked: MarkedText) -> list[Claim]:
    """Return the claims of an answer in order; they do not overlap."""
    text, found = marked.text, list[Claim]()
    for sentence in _find_sentences(marked):
        if not _is_claim(sentence.get_words(text), cited=bool(sentence.markers)):
            continue
        for part in _split_at_markers(text, sentence):
            markers = tuple(dict.fromkeys(marker.marker for marker in part.markers))
            found.append(Claim(part.start, part.end, part.get_words(text), markers))
    return found


def _is_claim(words: str, *, cited: bool) -> bool:
    bare = words.rstrip(_CLOSERS)
    if bare.endswith((*_QUESTION, *_LEAD)) or not _has_content(words):
        return False
    return cited or _BOLD.fullmatch(words) is None


def _has_content(words: str) -> bool:
    """Return whether words contain anything that can be checked."""
    return bool(_number(words) or extract_key_terms(words))


def _find_sentences(marked: MarkedText) -> Iterator[_Segment]:
    """Yield the sentences with the markers after them."""
    starts = [marker.start for marker in marked.markers]
    for start, end in _move_leading_markers(marked, _find_prose(marked), starts):
        inner = marked.markers[bisect_left(starts, start) : bisect_left(starts, end)]
        yield _Segment(start, end, inner)


def _find_prose(marked: MarkedText) -> list[Span]:
    """Return the sentences outside of headings and code; split long sentences are joined."""
    text = marked.text
    code = [fence.span for fence in find_fences(marked)]
    blocks = [block for block in build_layout(text).blocks if block.kind is LayoutKind.HEADING]
    headings = [(block.start, block.end) for block in blocks]
    found: list[Span] = []
    for start, end in find_sentence_spans(text):
        if is_inside(code, start) or is_inside(headings, start):
            continue
        if found and _is_continued(text, found[-1], start):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _is_continued(text: str, before: Span, start: int) -> bool:
    """Return whether the text at `start` continues the sentence before it."""
    low, high = before
    if "\n" in text[high:start]:
        return False
    return _STOPPED.search(text[max(low, high - _TAIL) : high]) is None


def _move_leading_markers(marked: MarkedText, spans: list[Span], starts: list[int]) -> list[Span]:
    """Return sentences; markers at the start of one that belong to the one before move there."""
    text, found = marked.text, list[Span]()
    for start, end in spans:
        edge = _skip_leading_markers(marked, start, end, starts)
        only_markers = _word(text, edge, end) is None
        same_line = "\n" not in text[found[-1][1] if found else 0 : start]
        moves = bool(found) and edge > start and (only_markers or same_line)
        if moves:
            found[-1] = (found[-1][0], edge)
        if not only_markers:
            found.append((_skip_blanks(text, edge, end) if moves else start, end))
    return found


def _skip_blanks(text: str, start: int, end: int) -> int:
    return end - len(text[start:end].lstrip())


def _skip_leading_markers(marked: MarkedText, start: int, end: int, starts: list[int]) -> int:
    index = bisect_left(starts, start)
    while index < len(starts) and starts[index] < end:
        if _word(marked.text, start, starts[index]):
            break
        start = marked.markers[index].end
        index += 1
    return start


def _split_at_markers(text: str, sentence: _Segment) -> list[_Segment]:
    """Return the parts of a sentence that end with markers; light parts join their neighbour."""
    groups: list[list[_Segment]] = []
    pending: list[_Segment] = []
    for part in _cut_at_markers(text, sentence):
        pending.append(part)
        words = part.get_words(text)
        if groups and not part.markers and _is_light(words):
            break
        if not part.markers or _has_content(words):
            groups.append(pending)
            pending = []
    if pending:
        groups[-1:] = [[*(groups[-1] if groups else []), *pending]]
    return [
        _Segment(
            group[0].start, group[-1].end, tuple(one for part in group for one in part.markers)
        )
        for group in groups
    ]


def _cut_at_markers(text: str, sentence: _Segment) -> Iterator[_Segment]:
    """Yield the parts of a sentence that end with a row of markers, and the rest."""
    start = sentence.start
    row: list[MarkerSpan] = []
    for one in sentence.markers:
        if row and _word(text, row[-1].end, one.start) and _word(text, start, row[0].start):
            yield _Segment(start, row[-1].end, tuple(row))
            start, row = _skip_blanks(text, row[-1].end, one.start), []
        row.append(one)
    if row and _word(text, start, row[0].start) and _word(text, row[-1].end, sentence.end):
        yield _Segment(start, row[-1].end, tuple(row))
        start, row = _skip_blanks(text, row[-1].end, sentence.end), []
    yield _Segment(start, sentence.end, tuple(row))


def _is_light(words: str) -> bool:
    terms = extract_key_terms(words)
    limit = _MAX_LIGHT_BIGRAMS if terms and is_dense(terms[0]) else _MAX_LIGHT_TERMS
    return not _number(words) and len(terms) <= limit
