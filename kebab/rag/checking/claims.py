"""Claims: what an answer says, sentence by sentence, each with the markers that stand for it.

A marker covers what stands before it in its sentence, up to the marker before. Headings, questions,
lead-ins, code, and sentences that say nothing claim nothing.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from kebab.rag.checking.key_terms import extract_key_terms
from kebab.rag.checking.markers import (
    MarkedText,
    MarkerSpan,
    Span,
    cut_markers,
    find_fenced_blocks,
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
_LIGHT, _LIGHT_DENSE = 1, 8
"""Of so few key terms no part of a sentence is a claim by itself."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim: [start, end) code points of the answer, its words without markers, its markers."""

    start: int
    end: int
    text: str
    markers: tuple[int, ...]

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    markers: tuple[MarkerSpan, ...]

    def words(self, text: str) -> str:
        """Return its words without markers."""
        return cut_markers(text, self.start, self.end, self.markers)


def extract_claims(marked: MarkedText) -> list[Claim]:
    """Return the claims of an answer in order; they do not overlap."""
    text, found = marked.text, list[Claim]()
    for sentence in _sentences(marked):
        if _claims_nothing(sentence.words(text), cited=bool(sentence.markers)):
            continue
        for piece in _parts(text, sentence):
            markers = tuple(dict.fromkeys(one.marker for one in piece.markers))
            found.append(Claim(piece.start, piece.end, piece.words(text), markers))
    return found


def _claims_nothing(words: str, *, cited: bool) -> bool:
    bare = words.rstrip(_CLOSERS)
    if bare.endswith((*_QUESTION, *_LEAD)) or not _says(words):
        return True
    return not cited and _BOLD.fullmatch(words) is not None


def _says(words: str) -> bool:
    """Return whether words hold anything that can be looked up."""
    return bool(_number(words) or extract_key_terms(words))


def _sentences(marked: MarkedText) -> Iterator[_Piece]:
    """Yield the sentences with the markers that stand behind them."""
    starts = [one.start for one in marked.markers]
    for start, end in _with_tails(marked, _whole(marked.text), starts):
        inner = marked.markers[bisect_left(starts, start) : bisect_left(starts, end)]
        yield _Piece(start, end, inner)


def _whole(text: str) -> list[Span]:
    """Return the sentences outside of headings and code, those that were too long put together."""
    code = find_fenced_blocks(text)
    blocks = [block for block in build_layout(text).blocks if block.kind is LayoutKind.HEADING]
    headings = [(block.start, block.end) for block in blocks]
    found: list[Span] = []
    for start, end in find_sentence_spans(text):
        if is_inside(code, start) or is_inside(headings, start):
            continue
        if found and _goes_on(text, found[-1], start):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _goes_on(text: str, before: Span, start: int) -> bool:
    """Return whether a sentence is the rest of the one before it."""
    low, high = before
    if "\n" in text[high:start]:
        return False
    return _STOPPED.search(text[max(low, high - _TAIL) : high]) is None


def _with_tails(marked: MarkedText, spans: list[Span], starts: list[int]) -> list[Span]:
    """Return sentences, each with the markers that begin the next one but belong to it."""
    text, found = marked.text, list[Span]()
    for start, end in spans:
        edge = _edge(marked, start, end, starts)
        alone = _word(text, edge, end) is None
        stray = edge > start and (alone or "\n" not in text[found[-1][1] if found else 0 : start])
        if found and stray:
            found[-1] = (found[-1][0], edge)
        if not alone:
            found.append((_begin(text, edge, end) if found and stray else start, end))
    return found


def _begin(text: str, start: int, end: int) -> int:
    """Return where the first sign of a stretch stands that is no blank."""
    return end - len(text[start:end].lstrip())


def _edge(marked: MarkedText, start: int, end: int, starts: list[int]) -> int:
    """Return where the markers end that a sentence begins with; its start when there are none."""
    index = bisect_left(starts, start)
    while index < len(starts) and starts[index] < end:
        if _word(marked.text, start, starts[index]):
            break
        start = marked.markers[index].end
        index += 1
    return start


def _parts(text: str, sentence: _Piece) -> list[_Piece]:
    """Return the parts of a sentence that its markers end; what says too little goes along."""
    groups: list[list[_Piece]] = []
    waiting: list[_Piece] = []
    for piece in _cut(text, sentence):
        waiting.append(piece)
        words = piece.words(text)
        if groups and not piece.markers and _light(words):
            break
        if not piece.markers or _says(words):
            groups.append(waiting)
            waiting = []
    if waiting:
        groups[-1:] = [[*(groups[-1] if groups else []), *waiting]]
    return [_joined(group) for group in groups]


def _joined(pieces: list[_Piece]) -> _Piece:
    """Return neighbours as one."""
    markers = tuple(one for piece in pieces for one in piece.markers)
    return _Piece(pieces[0].start, pieces[-1].end, markers)


def _cut(text: str, sentence: _Piece) -> Iterator[_Piece]:
    """Yield the stretches of a sentence up to and with each row of markers, and what is left."""
    start = sentence.start
    row: list[MarkerSpan] = []
    for one in sentence.markers:
        if row and _word(text, row[-1].end, one.start) and _word(text, start, row[0].start):
            yield _Piece(start, row[-1].end, tuple(row))
            start, row = _begin(text, row[-1].end, one.start), []
        row.append(one)
    if row and _word(text, start, row[0].start) and _word(text, row[-1].end, sentence.end):
        yield _Piece(start, row[-1].end, tuple(row))
        start, row = _begin(text, row[-1].end, sentence.end), []
    yield _Piece(start, sentence.end, tuple(row))


def _light(words: str) -> bool:
    """Return whether words are too few for a claim by themselves."""
    terms = extract_key_terms(words)
    limit = _LIGHT_DENSE if terms and is_dense(terms[0]) else _LIGHT
    return not _number(words) and len(terms) <= limit
