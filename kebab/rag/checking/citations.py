"""Checks an answer against its passages, and builds its citations.

What models add is removed first: the frame of the prompt, and an enclosing fence.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, structs

from kebab.core.answers import Evidence, Quote, SupportingQuote
from kebab.rag.checking.claims import ClaimCheck, WarningCode, extract_claims, verify_claims
from kebab.rag.checking.markers import (
    MarkedText,
    MarkerSpan,
    Span,
    cut_markers,
    find_fenced_blocks,
    parse_markers,
)
from kebab.rag.checking.passages import Passage
from kebab.rag.prompt import remove_frame
from kebab.wire.ask import AnswerWarning

UNSUPPORTED_MARK = "[unsupported]"
"""Follows an unsupported claim; it has no number, so it cannot be read as a citation marker."""

_STOPS = r".!?。！？\u0964\u061f…"
_STOP = re.compile(
    rf"(?<=[^\s{_STOPS}])[ \t\u00a0\u202f]*+[{_STOPS}]++(?=[*_)）]*\\?$)|(?<![ \t])[ \t]*+\|[ \t]*$"
)
"""A full stop, also inside emphasis or brackets; after direct speech the marker comes last."""

_TAIL = 40


class CheckedAnswer(Struct, frozen=True):
    """A checked answer with its citations, its warnings and the number of supported claims.

    All spans are [start, end) code points of `text`.
    """

    text: str
    citations: tuple[SupportingQuote, ...]
    warnings: tuple[AnswerWarning, ...]
    supported: int
    unsupported: int


def check_answer(
    text: str, passages: Sequence[Evidence], policy: Literal["mark", "withhold"], question: str = ""
) -> CheckedAnswer:
    """Return an answer with normalized markers and checked claims.

    A claim without markers gets the marker of the passage that it is about if that supports it.
    Markers of unknown passages are removed, and those of cited passages that do not support the
    claim while others do. The policy `mark` replaces the markers of an unsupported claim with
    ` [unsupported]`; `withhold` leaves the claim, because the answer is not shown. Code may contain
    words of the question.
    """
    known = {passage.marker: Passage(passage) for passage in passages}
    marked = parse_markers(clean_response(text), known)
    checks = verify_claims(extract_claims(marked), known, question)
    written, spans = write_answer(marked, checks, mark=policy == "mark")
    warnings = _warn_of_unknown(marked.unknown, checks)
    warnings += [warning for one in checks for warning in one.warnings]
    if not checks:
        message = "the answer contains no claim that can be checked"
        code = WarningCode.NO_CLAIM.value
        warnings.append(AnswerWarning(code=code, message=message, marker=None, span=None))
    # Each quote is cited once with all claims that it supports.
    cited: dict[tuple[int, int, int], tuple[Quote, list[Span]]] = {}
    for one in checks:
        for supporting in one.supporting:
            quote = one.select_quote(supporting)
            key = (supporting.marker, quote.start, quote.end)
            cited.setdefault(key, (quote, []))[1].append(spans[one.claim.span])
    supported = sum(bool(check.supporting) for check in checks)
    return CheckedAnswer(
        text=written,
        citations=tuple(
            SupportingQuote(marker=marker, quote=quote, spans=tuple(places))
            for (marker, _, _), (quote, places) in sorted(cited.items())
        ),
        warnings=tuple(
            structs.replace(warning, span=spans[warning.span] if warning.span else None)
            for warning in warnings
        ),
        supported=supported,
        unsupported=len(checks) - supported,
    )


def write_answer(
    marked: MarkedText, checks: Sequence[ClaimCheck], *, mark: bool
) -> tuple[str, dict[Span, Span]]:
    """Return the answer with the markers of its checks, and the new span of each claim.

    With `mark` unsupported claims are marked; otherwise they stay unchanged. Markers outside of
    claims stay when a claim has them too.
    """
    cited = {passage.marker for one in checks for passage in one.supporting}
    stray = [one for one in marked.markers if one.marker not in cited]
    starts = [one.start for one in stray]
    parts: list[str] = []
    spans: dict[Span, Span] = {}
    position = length = 0
    for check in checks:
        start, end = check.claim.span
        between = stray[bisect_left(starts, position) : bisect_left(starts, start)]
        parts.append(cut_markers(marked.text, position, start, between))
        length += len(parts[-1])
        parts.append(_write_claim(marked, check, mark=mark))
        spans[start, end] = (length, length + len(parts[-1]))
        length += len(parts[-1])
        position = end
    rest = stray[bisect_left(starts, position) :]
    parts.append(cut_markers(marked.text, position, len(marked.text), rest))
    return "".join(parts), spans


def _write_claim(marked: MarkedText, check: ClaimCheck, *, mark: bool) -> str:
    """Return a claim as it stands, or with other markers or the mark before its full stop."""
    claim, text = check.claim, marked.text[check.claim.start : check.claim.end]
    markers = [passage.marker for passage in check.supporting]
    is_covered = claim.fence is not None and not claim.markers and set(markers) <= {*claim.before}
    if not markers and not mark:
        return text
    if markers and (is_covered or set(markers) == {*claim.markers}):
        return text
    signs = "".join(map("[{}]".format, sorted(markers))) or UNSUPPORTED_MARK
    if claim.fence is not None:
        fence = claim.fence
        code = marked.text[fence.start : fence.end]
        closing = "" if fence.is_closed else f"\n{fence.indent}{fence.sign}"
        follows = marked.text[fence.tail :].startswith("\n")
        return f"{code}{closing}\n{fence.indent}{signs}" + ("\n" if follows else "")
    low = max(0, len(claim.text) - _TAIL)
    stop = _STOP.search(claim.text[low:])
    at = low + stop.start() if stop else len(claim.text)
    return f"{claim.text[:at]} {signs}{claim.text[at:]}"


def _warn_of_unknown(
    unknown: Sequence[MarkerSpan], checks: Sequence[ClaimCheck]
) -> list[AnswerWarning]:
    found: dict[tuple[int, Span | None], AnswerWarning] = {}
    for one in unknown:
        spans = (check.claim.span for check in checks)
        span = next((near for near in spans if near[0] <= one.start <= near[1]), None)
        message = f"removed, because no passage has this number: [{one.marker}]"
        warning = AnswerWarning(
            code=WarningCode.UNKNOWN_MARKER.value, message=message, marker=one.marker, span=span
        )
        found.setdefault((one.marker, span), warning)
    return list(found.values())


_ENCLOSING_FENCE = re.compile(
    r"\s*(`{3,}|~{3,})[ \t]*+(?:(?:markdown|md|text|plaintext)[ \t]*+)?\n", re.IGNORECASE
)
_MARKED_FENCE = re.compile(
    r"^(?P<fence>(?P<indent>[ \t>]*)(?:`{3,}|~{3,}))[ \t]+(?P<markers>(?:\[\d{1,3}\][ \t]*)+)$",
    re.MULTILINE,
)
"""Markers on the line that closes a block, which does not close it therefore."""


def clean_response(text: str) -> str:
    """Return an answer without the frame of the prompt and without an enclosing fence."""
    unframed = remove_frame(text)
    plain = text if unframed == text else unframed.strip().removesuffix("<").rstrip()
    plain = _MARKED_FENCE.sub(r"\g<fence>\n\g<indent>\g<markers>", plain)
    if opened := _ENCLOSING_FENCE.match(plain):
        inner, fence, after = plain[opened.end() :].rpartition("\n" + opened[1])
        if fence and not after.strip() and not find_fenced_blocks(inner):
            plain = inner
    return plain
