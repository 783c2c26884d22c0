"""Checks an answer against its evidence, corrects its markers and builds its citations."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from msgspec import structs

from kebab.core.answers import Evidence, Quote, SupportingQuote
from kebab.rag.checking.claims import extract_claims
from kebab.rag.checking.code_blocks import CodeCheck, verify_blocks
from kebab.rag.checking.code_edits import edit_block, edit_comments
from kebab.rag.checking.edited_text import Edit, EditedText
from kebab.rag.checking.markers import MarkedText, MarkerSpan, Span, choose_separator, parse_markers
from kebab.rag.checking.response_cleanup import clean_response
from kebab.rag.checking.round_markers import rewrite_round_markers
from kebab.rag.checking.support import IndexedEvidence
from kebab.rag.checking.verification import ClaimCheck, WarningCode, verify_claims
from kebab.rag.frame import mentions_elements
from kebab.wire.ask import AnswerWarning

UNSUPPORTED_MARK = "[unsupported]"
"""Follows an unsupported claim; it has no number, so it cannot be read as a citation marker."""

_STOPS = r".!?\u3002\uff01\uff1f\u0964\u061f\u2026"
_STOP = re.compile(
    rf"(?<=[^\s{_STOPS}])[ \t\u00a0\u202f]*[{_STOPS}]+(?=[*_)\uff09]*\\?$)|[ \t]*\|[ \t]*$"
)
"""A full stop, also inside emphasis or brackets; after direct speech the marker comes last."""

_TAIL = 40
_BLANKS = 8
_word = re.compile(r"[^\W_]").search


def build_edits(
    marked: MarkedText, checks: Sequence[ClaimCheck | CodeCheck], *, mark: bool
) -> list[Edit]:
    """Build the edits that remove wrong markers and add missing ones.

    Args:
        marked: The answer.
        checks: The checks of its claims, in order.
        mark: Whether unsupported claims are marked or left unchanged.
    """
    starts = [marker.start for marker in marked.markers]
    found: list[Edit] = []
    index = 0
    valid = {evidence.marker for one in checks for evidence in one.supporting}
    for one in checks:
        low, high = (bisect_left(starts, position) for position in one.claim.span)
        found += _remove_stray(marked.markers[index:low], marked.text, valid)
        inner = marked.markers[low:high]
        if isinstance(one, CodeCheck):
            found += edit_block(marked.text, one, inner, UNSUPPORTED_MARK if mark else None)
            found += edit_comments(one, UNSUPPORTED_MARK)
        elif one.supporting:
            found += _edit_supported(marked.text, one, inner)
        elif mark:
            found += _replace_markers(marked.text, one.claim.span, inner, UNSUPPORTED_MARK)
        index = high
    return [*found, *_remove_stray(marked.markers[index:], marked.text, valid)]


def _remove_stray(
    markers: Sequence[MarkerSpan], text: str, valid: Collection[int]
) -> Iterator[Edit]:
    """Yield edits that remove markers outside of claims that no supported claim cites."""
    for one in markers:
        if one.marker not in valid:
            yield _remove(text, _skip_blanks_back(text, 0, one.start), one.end)


def _edit_supported(text: str, check: ClaimCheck, inner: Sequence[MarkerSpan]) -> Iterator[Edit]:
    """Yield edits that leave a claim with the markers of its supporting evidence."""
    markers = [evidence.marker for evidence in check.supporting]
    low, high = check.claim.span
    if any(marker.marker in markers for marker in inner):
        wrong = [marker for marker in inner if marker.marker not in markers]
        kept = {marker.start for marker in inner if marker.marker in markers}
        for edit in _remove_markers(text, low, wrong):
            yield _keep_blank(edit, text) if edit.end in kept else edit
    else:
        yield from _replace_markers(text, (low, high), inner, "".join(map("[{}]".format, markers)))


def _keep_blank(edit: Edit, text: str) -> Edit:
    """Return an edit that leaves the blanks before a removed marker to the marker after it."""
    removed = text[edit.start : edit.end]
    return replace(edit, start=edit.end - len(removed.lstrip(" \t")))


def _replace_markers(
    text: str, span: Span, inner: Sequence[MarkerSpan], mark: str
) -> Iterator[Edit]:
    """Yield edits that write a mark instead of the markers of a claim."""
    found = list(_remove_markers(text, span[0], inner))
    if inner and _count_leading(text, span[0], inner) < len(inner):
        yield from (*found[:-1], replace(found[-1], text=f" {mark}"))
    else:
        position = _find_marker_place(text, *span)
        yield from (*found, Edit(position, position, f" {mark}"))


def _remove_markers(text: str, start: int, markers: Sequence[MarkerSpan]) -> Iterator[Edit]:
    """Yield edits that remove markers with the blanks before, or after when they come first."""
    position = start
    leading = _count_leading(text, start, markers)
    for index, one in enumerate(markers):
        if index >= leading:
            edit = _remove(text, _skip_blanks_back(text, position, one.start), one.end)
        else:
            rest = text[one.end : one.end + _BLANKS]
            edit = _remove(text, one.start, one.end + len(rest) - len(rest.lstrip(" \t")))
        yield edit
        position = edit.end


def _remove(text: str, start: int, end: int) -> Edit:
    return Edit(start, end, choose_separator(text, start, end))


def _count_leading(text: str, start: int, markers: Sequence[MarkerSpan]) -> int:
    """Return how many markers are before the first word."""
    for index, one in enumerate(markers):
        if _word(text, start, one.start):
            return index
        start = one.end
    return len(markers)


def _skip_blanks_back(text: str, least: int, position: int) -> int:
    low = max(least, position - _BLANKS)
    return low + len(text[low:position].rstrip(" \t"))


def _find_marker_place(text: str, start: int, end: int) -> int:
    """Return the position for the marker of a whole claim: before its full stop."""
    low = max(start, end - _TAIL)
    found = _STOP.search(text[low:end])
    return low + found.start() if found else end


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """A checked answer with its citations, its warnings and the number of supported claims.

    All spans are [start, end) code points of `text`.
    """

    text: str
    citations: tuple[SupportingQuote, ...]
    warnings: tuple[AnswerWarning, ...]
    supported: int
    unsupported: int


def check_answer(
    text: str,
    passages: Sequence[Evidence],
    policy: Literal["mark", "withhold"],
    question: str = "",
) -> CheckedAnswer:
    """Return an answer with normalized markers and checked claims.

    A claim without markers gets the marker of a passage that supports it. Markers of unknown
    passages are removed, and those of passages that do not support the claim while others do.

    Args:
        text: The response of the model.
        passages: The evidence of the prompt.
        policy: `mark` replaces the markers of an unsupported claim with ` [unsupported]`;
            `withhold` leaves the claim, because the answer is not shown.
        question: The question; code may contain the values that it names.
    """
    evidence = {passage.marker: IndexedEvidence(passage) for passage in passages}
    keeps_elements = mentions_elements((question, *(passage.text for passage in passages)))
    response = clean_response(text, keeps_elements=keeps_elements)
    plain = rewrite_round_markers(response, evidence)
    marked = parse_markers(plain, evidence)
    sentences = verify_claims(extract_claims(marked), evidence)
    blocks = verify_blocks(marked, sentences, evidence, question)
    checks: list[ClaimCheck | CodeCheck] = [*sentences, *blocks]
    checks.sort(key=lambda check: check.claim.start)
    edited = EditedText(marked.text, build_edits(marked, checks, mark=policy == "mark"))
    warnings = [*_warn_of_unknown(marked.unknown, checks)]
    warnings += [warning for one in checks for warning in one.warnings]
    if not checks:
        message = "the answer contains no claim that can be checked"
        code = WarningCode.NO_CLAIM.value
        warnings.append(AnswerWarning(code=code, message=message, marker=None, span=None))
    supported = sum(bool(check.supporting) for check in checks)
    return CheckedAnswer(
        text=edited.text,
        citations=tuple(_cite(checks, edited)),
        warnings=tuple(
            structs.replace(warning, span=edited.map_span(warning.span) if warning.span else None)
            for warning in warnings
        ),
        supported=supported,
        unsupported=len(checks) - supported,
    )


def _cite(
    checks: Sequence[ClaimCheck | CodeCheck], edited: EditedText
) -> Iterator[SupportingQuote]:
    """Yield each quote once with all claims that it supports, by marker and position."""
    found: dict[tuple[int, int, int], tuple[Quote, list[Span]]] = {}
    for one in checks:
        for evidence in one.supporting:
            quote = one.select_quote(evidence)
            key = (evidence.marker, quote.start, quote.end)
            found.setdefault(key, (quote, []))[1].append(edited.map_span(one.claim.span))
    for (marker, _, _), (quote, spans) in sorted(found.items()):
        yield SupportingQuote(marker=marker, quote=quote, spans=tuple(spans))


def _warn_of_unknown(
    unknown: Sequence[MarkerSpan], checks: Sequence[ClaimCheck | CodeCheck]
) -> Iterator[AnswerWarning]:
    """Yield a warning for each marker of an unknown passage, with the claim that contained it."""
    index = 0
    seen: set[tuple[int, int]] = set()
    for one in unknown:
        while index + 1 < len(checks) and checks[index + 1].claim.start <= one.start:
            index += 1
        near = checks[index].claim.span if checks else None
        span = near if near and near[0] <= one.start <= near[1] else None
        key = one.marker, index if span else -1
        if key not in seen:
            seen.add(key)
            message = f"removed, because no passage has this number: [{one.marker}]"
            yield AnswerWarning(
                code=WarningCode.UNKNOWN_MARKER.value, message=message, marker=one.marker, span=span
            )
