"""Checks an answer against its passages and edits it."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

from msgspec import structs

from kebab.core.answers import Evidence, Quote, SupportingQuote
from kebab.rag.checking.claims import extract_claims
from kebab.rag.checking.markers import MarkedText, MarkerSpan, choose_separator, parse_markers
from kebab.rag.checking.response_cleanup import clean_response
from kebab.rag.checking.support import IndexedEvidence, select_quote
from kebab.rag.checking.verification import ClaimCheck, WarningCode, verify_claims
from kebab.wire.ask import AnswerWarning


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch [start, end) of a text and what stands there instead; an empty one inserts."""

    start: int
    end: int
    text: str = ""


class EditedText:
    """A text after edits that do not overlap.

    Args:
        text: The text before.
        edits: What changes; of two at one place the first one stands first.
    """

    def __init__(self, text: str, edits: Iterable[Edit]) -> None:
        ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
        parts: list[str] = []
        at = 0
        for edit in ordered:
            parts += (text[at : edit.start], edit.text)
            at = edit.end
        self.text = "".join([*parts, text[at:]])
        self._ends = [edit.end for edit in ordered]
        growth = (len(edit.text) - (edit.end - edit.start) for edit in ordered)
        self._shifts = [0, *accumulate(growth)]

    def map_span(self, span: tuple[int, int]) -> tuple[int, int]:
        """Return where a span stands now whose ends lie inside of no edit.

        What was inserted at its end belongs to it, what was inserted at its start does not.
        """
        start, end = span
        return start + self._shift(start), end + self._shift(end)

    def _shift(self, place: int) -> int:
        return self._shifts[bisect_right(self._ends, place)]


UNSUPPORTED_MARK = "[unsupported]"
"""What stands behind a claim that nothing carries; it holds no number, so it is no marker."""

_STOPS = r".!?\u3002\uff01\uff1f\u0964\u061f\u2026"
_STOP = re.compile(
    rf"(?<=[^\s{_STOPS}])[ \t\u00a0\u202f]*[{_STOPS}]+(?=[*_)\uff09]*\\?$)|[ \t]*\|[ \t]*$"
)
"""A full stop, also within emphasis or brackets; in speech the marker stands behind the speech."""

_TAIL = 40
_BLANKS = 8
_word = re.compile(r"[^\W_]").search


def build_edits(marked: MarkedText, findings: Sequence[ClaimCheck], *, mark: bool) -> list[Edit]:
    """Return what changes: markers that are wrong, missing, or stand for nothing.

    Args:
        marked: The answer.
        findings: What became of its claims, in order.
        mark: Whether claims that nothing carries are marked, or left as they stand.
    """
    starts = [one.start for one in marked.markers]
    found: list[Edit] = []
    at = 0
    good = {ground.marker for one in findings for ground in one.supporting}
    for one in findings:
        low, high = (bisect_left(starts, place) for place in one.claim.span)
        found += _strayed(marked.markers[at:low], marked.text, good)
        inner = marked.markers[low:high]
        if one.supporting:
            found += _supported(marked.text, one, inner)
        elif mark:
            found += _unsupported(marked.text, one, inner)
        at = high
    return [*found, *_strayed(marked.markers[at:], marked.text, good)]


def _strayed(markers: Sequence[MarkerSpan], text: str, good: Collection[int]) -> Iterator[Edit]:
    """Yield edits that take out markers outside of claims that cite nothing that was found good."""
    for one in markers:
        if one.marker not in good:
            yield _removal(text, _blank(text, 0, one.start), one.end)


def _supported(text: str, finding: ClaimCheck, inner: Sequence[MarkerSpan]) -> Iterator[Edit]:
    """Yield edits that leave a claim with the markers of what carries it."""
    carriers = [ground.marker for ground in finding.supporting]
    low, high = finding.claim.span
    if not inner:
        place = _stop(text, low, high)
        yield Edit(place, place, "".join([" ", *(f"[{marker}]" for marker in carriers)]))
    yield from _without(text, low, [one for one in inner if one.marker not in carriers])


def _unsupported(text: str, finding: ClaimCheck, inner: Sequence[MarkerSpan]) -> list[Edit]:
    """Return edits that take a claim's markers away and mark it."""
    low, high = finding.claim.span
    found = list(_without(text, low, inner))
    if inner and _leading(text, low, inner) < len(inner):
        return [*found[:-1], replace(found[-1], text=f" {UNSUPPORTED_MARK}")]
    place = _stop(text, low, high)
    return [*found, Edit(place, place, f" {UNSUPPORTED_MARK}")]


def _without(text: str, start: int, markers: Sequence[MarkerSpan]) -> Iterator[Edit]:
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
    return Edit(start, end, choose_separator(text, start, end))


def _leading(text: str, start: int, markers: Sequence[MarkerSpan]) -> int:
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


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """A checked answer: its text, what carries it, what is odd, and how many claims hold.

    All spans are [start, end) code points of `text`. Without one supported claim it is no answer.
    """

    text: str
    citations: tuple[SupportingQuote, ...]
    warnings: tuple[AnswerWarning, ...]
    supported: int
    unsupported: int


def check_answer(
    text: str, passages: Sequence[Evidence], policy: Literal["mark", "withhold"]
) -> CheckedAnswer:
    """Return an answer with its markers in one form, checked claim by claim.

    A claim that cites nothing gets the marker of a passage that carries it. Markers that name no
    passage, or one that does not carry its claim while another does, are taken out.

    Args:
        text: What the model said.
        passages: What it was shown, by their markers.
        policy: `mark` puts ` [unsupported]` in place of the markers of a claim that nothing
            carries; `withhold` leaves it stands, for nobody is to see it.
    """
    grounds = {passage.marker: IndexedEvidence(passage) for passage in passages}
    marked = parse_markers(clean_response(text), grounds)
    findings = verify_claims(extract_claims(marked), grounds)
    done = EditedText(marked.text, build_edits(marked, findings, mark=policy == "mark"))
    warnings = [*_unknown(marked.unknown, findings), *_doubts(findings), *_silence(findings)]
    supported = sum(bool(one.supporting) for one in findings)
    return CheckedAnswer(
        text=done.text,
        citations=tuple(_supports(findings, done)),
        warnings=tuple(_moved(one, done) for one in warnings),
        supported=supported,
        unsupported=len(findings) - supported,
    )


def _supports(findings: Sequence[ClaimCheck], done: EditedText) -> Iterator[SupportingQuote]:
    """Yield each quote once with all that it carries, by marker and place."""
    found: dict[tuple[int, int, int], tuple[Quote, list[tuple[int, int]]]] = {}
    for one in findings:
        for ground in one.supporting:
            quoted = select_quote(one.parsed, ground)
            key = (ground.marker, quoted.start, quoted.end)
            found.setdefault(key, (quoted, []))[1].append(done.map_span(one.claim.span))
    for (marker, _, _), (quoted, spans) in sorted(found.items()):
        yield SupportingQuote(marker=marker, quote=quoted, spans=tuple(spans))


def _unknown(
    taken: Sequence[MarkerSpan], findings: Sequence[ClaimCheck]
) -> Iterator[AnswerWarning]:
    """Yield a warning for each marker that names no passage, with the claim that it stood in."""
    index = 0
    told: set[tuple[int, int]] = set()
    for one in taken:
        while index + 1 < len(findings) and findings[index + 1].claim.start <= one.start:
            index += 1
        near = findings[index].claim.span if findings else None
        span = near if near and near[0] <= one.start <= near[1] else None
        if (one.marker, index if span else -1) not in told:
            told.add((one.marker, index if span else -1))
            message = f"taken out, as no passage has this number: [{one.marker}]"
            yield AnswerWarning(
                code=WarningCode.UNKNOWN_MARKER.value, message=message, marker=one.marker, span=span
            )


def _doubts(findings: Sequence[ClaimCheck]) -> Iterator[AnswerWarning]:
    """Yield warnings of claims that nothing carries, and of markers that carry nothing."""
    for one in findings:
        for caveat, marker, message in one.warnings:
            yield AnswerWarning(
                code=caveat.value, message=message, marker=marker, span=one.claim.span
            )


def _silence(findings: Sequence[ClaimCheck]) -> Iterator[AnswerWarning]:
    """Yield a warning of an answer without any claim."""
    if not findings:
        yield AnswerWarning(
            code=WarningCode.NO_CLAIM.value,
            message="it claims nothing that can be checked",
            marker=None,
            span=None,
        )


def _moved(warning: AnswerWarning, done: EditedText) -> AnswerWarning:
    span = done.map_span(warning.span) if warning.span else None
    return structs.replace(warning, span=span)
