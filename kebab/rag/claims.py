"""Checks an answer of a language model against its passages, and builds its citations.

What models add is removed first: the frame of the prompt, and an enclosing fence. `markers` parses
the markers. A claim is a sentence with all its markers, or a fenced block of code. Headings,
questions, lead-ins and sentences without content words contain no claims. A block without markers
has those of the claim before it. `support` compares a claim with passages.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, structs

from kebab.rag.markers import (
    Fence,
    MarkedText,
    MarkerSpan,
    Span,
    cut_markers,
    find_fenced_blocks,
    find_fences,
    is_inside,
    parse_markers,
)
from kebab.rag.passages import Passage
from kebab.rag.prompt import Evidence, Quote, SupportingQuote, remove_frame
from kebab.rag.support import ParsedClaim, check_support, parse_claim, parse_code, select_quote
from kebab.text.normalize import compile_lazily, split_names
from kebab.text.sentences import LayoutKind, build_layout, find_sentences
from kebab.wire.ask import AnswerWarning

_OPEN_ENDS = ("?", "？", "\u061f", "\u037e", ":", "：")
_STOPPED = compile_lazily(r"[.!?…。！？\u0964\u061f][\"'”’»」』）)\]*_]*(?:\s?\[\d{1,9}\])*$")
_BOLD = compile_lazily(r"(?:\*\*[^*\n]+\*\*|__[^_\n]+__)")
_WORD = compile_lazily(r"[^\W_]")
_REPLIES = split_names("yes no ja nein oui non sí si sim não 네 예 아니요 はい いいえ 是 不是")
_TAIL = 80


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
        if words.rstrip(" \t\n*_)\"'”’»」』）|").endswith(_OPEN_ENDS):
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
    for start, end, _ in find_sentences(text):
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
    code = "unsupported_code" if claim.fence else "uncited_claim"
    return ClaimCheck(claim, parsed, warnings=(_warn(claim, code, None, message),))


def _verify_cited(claim: Claim, parsed: ParsedClaim, cited: Sequence[Passage]) -> ClaimCheck:
    """Check whether the cited passages support a claim, each alone or together."""
    results = [check_support(parsed, [one]) for one in cited]
    whole = check_support(parsed, cited) if len(cited) > 1 else results[0]
    if not whole.supported and not any(result.supported for result in results):
        marker = cited[0].marker if len(cited) == 1 else None
        code = "unsupported_code" if claim.fence else "unsupported_claim"
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
        _warn(claim, "wrong_marker", one.marker, f"removed: {result.reason}")
        for one, result in zip(cited, results, strict=True)
        if not result.supported and one.marker in claim.markers
    ]
    return ClaimCheck(claim, parsed, tuple(supporting), tuple(warnings))


def _warn(claim: Claim, code: str, marker: int | None, message: str) -> AnswerWarning:
    return AnswerWarning(code=code, message=message, marker=marker, span=claim.span)


UNSUPPORTED_MARK = "[unsupported]"
"""Follows an unsupported claim; it has no number, so it cannot be read as a citation marker."""

_STOPS = r".!?。！？\u0964\u061f…"
_STOP = re.compile(
    rf"(?<=[^\s{_STOPS}])[ \t\u00a0\u202f]*+[{_STOPS}]++(?=[*_)）]*\\?$)|(?<![ \t])[ \t]*+\|[ \t]*$"
)
"""A full stop, also inside emphasis or brackets; after direct speech the marker comes last."""

_END_CHARACTERS = 40


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
        warnings.append(AnswerWarning(code="no_claim", message=message, marker=None, span=None))
    # Each quote is cited once with all claims that it supports.
    cited: dict[tuple[int, int, int], tuple[Quote, list[Span]]] = {}
    for one in checks:
        for supporting in one.supporting:
            quote = select_quote(one.parsed, supporting)
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
    low = max(0, len(claim.text) - _END_CHARACTERS)
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
            code="unknown_marker", message=message, marker=one.marker, span=span
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
