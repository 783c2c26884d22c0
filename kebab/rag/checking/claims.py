"""Extracts the claims of an answer with their markers, and verifies them against the passages.

A claim is a sentence with all its markers, or a fenced block of code. Headings, questions, lead-ins
and sentences without content words contain no claims. A block without markers has those of the
claim before it.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from kebab.core.answers import Quote
from kebab.rag.checking.markers import (
    Fence,
    MarkedText,
    MarkerSpan,
    Span,
    cut_markers,
    find_fences,
    is_inside,
)
from kebab.rag.checking.passages import Passage
from kebab.rag.checking.support import (
    ParsedClaim,
    check_support,
    parse_claim,
    parse_code,
    select_quote,
)
from kebab.text.lazy_pattern import compile_lazily
from kebab.text.normalize import split_names
from kebab.text.sentences import LayoutKind, build_layout, find_sentence_spans
from kebab.wire.ask import AnswerWarning

_CLOSERS = " \t\n*_)\"'”’»」』）|"
_OPEN_ENDS = ("?", "？", "\u061f", "\u037e", ":", "：")
_STOPPED = compile_lazily(r"[.!?…。！？\u0964\u061f][\"'”’»」』）)\]*_]*(?:\s?\[\d{1,9}\])*$")
_BOLD = compile_lazily(r"(?:\*\*[^*\n]+\*\*|__[^_\n]+__)")
_WORD = compile_lazily(r"[^\W_]")
_REPLIES = split_names("yes no ja nein oui non sí si sim não 네 예 아니요 はい いいえ 是 不是")
_TAIL = 80


class WarningCode(StrEnum):
    """The code of a warning about an answer."""

    UNKNOWN_MARKER = "unknown_marker"
    """A removed marker names no passage."""
    WRONG_MARKER = "wrong_marker"
    """A removed marker names a passage that does not support its claim, while another one does."""
    UNSUPPORTED_CLAIM = "unsupported_claim"
    """The cited passages do not support the claim."""
    UNCITED_CLAIM = "uncited_claim"
    """A claim has no marker, and no passage supports it."""
    UNSUPPORTED_CODE = "unsupported_code"
    """The passages do not contain all words of a block of code."""
    NO_CLAIM = "no_claim"
    """The answer contains no claim, only for example a heading or a question."""


class Claim(Struct, frozen=True):
    """A claim at [start, end) code points of the answer; `text` is without its markers.

    A block of code has its `fence`, and in `before` the markers of the claim before it.
    """

    start: int
    end: int
    text: str
    markers: tuple[int, ...]
    fence: Fence | None = None
    before: tuple[int, ...] = ()

    @property
    def span(self) -> Span:
        """The start and the end."""
        return self.start, self.end


def extract_claims(marked: MarkedText) -> list[Claim]:
    """Return the claims of an answer in order; they do not overlap."""
    text, found = marked.text, list[Claim]()
    starts = [marker.start for marker in marked.markers]
    for start, end in _move_leading_markers(marked, _find_prose(marked), starts):
        inner = marked.markers[bisect_left(starts, start) : bisect_left(starts, end)]
        words = cut_markers(text, start, end, inner).strip()
        if words.rstrip(_CLOSERS).endswith(_OPEN_ENDS):
            continue
        parsed = parse_claim(words)
        if not (parsed.terms or parsed.values) or words.strip(".!, ").lower() in _REPLIES:
            continue
        if not inner and _BOLD.fullmatch(words):
            continue
        found.append(Claim(start, end, words, _list_markers(inner)))
    for fence in find_fences(marked):
        own = [one for one in marked.markers if fence.end <= one.start < fence.tail]
        code = text[slice(*fence.content)]
        if _WORD.search(code):
            earlier = [one for one in found if one.end <= fence.start]
            last = max(earlier, key=lambda one: one.end, default=None)
            after = last.end if last else 0
            lead = [one for one in marked.markers if after <= one.start < fence.start]
            before = (*(last.markers if last else ()), *_list_markers(lead))
            found.append(Claim(*fence.span, code, _list_markers(own), fence, before))
    return sorted(found, key=lambda one: one.start)


def _list_markers(spans: Sequence[MarkerSpan]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(one.marker for one in spans))


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
        low, high = found[-1] if found else (0, 0)
        is_stopped = _STOPPED.search(text[max(low, high - _TAIL) : high]) is not None
        if not found or "\n" in text[high:start] or is_stopped:
            found.append((start, end))
        else:
            found[-1] = (low, end)
    return found


def _move_leading_markers(marked: MarkedText, spans: list[Span], starts: list[int]) -> list[Span]:
    """Return sentences; markers at the start of one that belong to the one before move there."""
    text, found = marked.text, list[Span]()
    for start, end in spans:
        edge, index = start, bisect_left(starts, start)
        while index < len(starts) and starts[index] < end:
            if _WORD.search(text, edge, starts[index]):
                break
            edge = marked.markers[index].end
            index += 1
        only_markers = _WORD.search(text, edge, end) is None
        same_line = "\n" not in text[found[-1][1] if found else 0 : start]
        moves = bool(found) and edge > start and (only_markers or same_line)
        if moves:
            found[-1] = (found[-1][0], edge)
        if not only_markers:
            rest = end - len(text[edge:end].lstrip())
            found.append((rest if moves else start, end))
    return found


class ClaimCheck(Struct, frozen=True):
    """A claim, the passages that support it (none if it is unsupported), and its warnings."""

    claim: Claim
    parsed: ParsedClaim
    supporting: tuple[Passage, ...] = ()
    warnings: tuple[AnswerWarning, ...] = ()

    def select_quote(self, passage: Passage) -> Quote:
        """Return the part of a passage that contains most of the claim."""
        return select_quote(self.parsed, passage)


def verify_claims(
    claims: Sequence[Claim], passages: Mapping[int, Passage], question: str = ""
) -> list[ClaimCheck]:
    """Check each claim against the passages that it cites; code may contain words of the question.

    A claim without markers is compared with every passage. A claim that its passages do not support
    is unsupported, whatever other passages say.
    """
    checks: list[ClaimCheck] = []
    for claim in claims:
        parsed = parse_code(claim.text, question) if claim.fence else parse_claim(claim.text)
        markers = claim.markers or claim.before
        cited = [passages[one] for one in markers if one in passages]
        verify = _verify_cited if cited else _verify_uncited
        checks.append(verify(claim, parsed, cited or list(passages.values())))
    return checks


def _verify_uncited(claim: Claim, parsed: ParsedClaim, passages: Sequence[Passage]) -> ClaimCheck:
    """Find the passage that a claim without markers is about, which has to support it."""
    pairs = [(one, check_support(parsed, [one])) for one in passages]
    supporting = [
        (one, result)
        for one, result in pairs
        if result.supported and (result.reason is None or parsed.values)
    ]
    denied = max((result.share for _, result in pairs if result.is_contradicted), default=-1.0)
    if supporting:
        best, result = max(supporting, key=lambda pair: pair[1].share)
        if result.share > denied:
            return ClaimCheck(claim, parsed, (best,))
    message = "there is no passage"
    if pairs:
        results = [result for _, result in pairs if not result.supported] or [pairs[0][1]]
        nearest = min(results, key=lambda result: (len(result.missing), -result.share))
        message = f"no citation, and {nearest.reason}"
    code = WarningCode.UNSUPPORTED_CODE if claim.fence else WarningCode.UNCITED_CLAIM
    return ClaimCheck(claim, parsed, warnings=(_warn(claim, code, None, message),))


def _verify_cited(claim: Claim, parsed: ParsedClaim, cited: Sequence[Passage]) -> ClaimCheck:
    """Check whether the cited passages support a claim, each alone or together."""
    results = [check_support(parsed, [one]) for one in cited]
    whole = check_support(parsed, cited) if len(cited) > 1 else results[0]
    if not whole.supported and not any(result.supported for result in results):
        marker = cited[0].marker if len(cited) == 1 else None
        code = WarningCode.UNSUPPORTED_CODE if claim.fence else WarningCode.UNSUPPORTED_CLAIM
        return ClaimCheck(claim, parsed, warnings=(_warn(claim, code, marker, whole.reason or ""),))
    supporting = [one for one, result in zip(cited, results, strict=True) if result.supported]
    if not supporting:
        supporting = list(cited)
        for one in cited:
            rest = [other for other in supporting if other is not one]
            if len(rest) > 1 and check_support(parsed, rest).supported:
                supporting = rest
        return ClaimCheck(claim, parsed, tuple(supporting))
    warnings = [
        _warn(claim, WarningCode.WRONG_MARKER, one.marker, f"removed: {result.reason}")
        for one, result in zip(cited, results, strict=True)
        if not result.supported and one.marker in claim.markers
    ]
    return ClaimCheck(claim, parsed, tuple(supporting), tuple(warnings))


def _warn(claim: Claim, code: WarningCode, marker: int | None, message: str) -> AnswerWarning:
    return AnswerWarning(code=code.value, message=message, marker=marker, span=claim.span)
