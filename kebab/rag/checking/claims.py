"""Extracts the claims of an answer with their markers, and verifies them against the evidence.

A marker covers the part of its sentence between the marker before and itself. Headings, questions,
lead-ins, code, and sentences without key terms contain no claims.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from kebab.core.answers import Quote
from kebab.rag.checking.markers import (
    MarkedText,
    MarkerSpan,
    Span,
    cut_markers,
    find_fences,
    is_inside,
)
from kebab.rag.checking.support import (
    IndexedEvidence,
    ParsedClaim,
    SupportCheck,
    check_support,
    drop_redundant,
    format_missing,
    parse_claim,
    select_quote,
)
from kebab.rag.checking.terms import extract_key_terms
from kebab.text.language import is_dense
from kebab.text.sentences import LayoutKind, build_layout, find_sentence_spans
from kebab.wire.ask import AnswerWarning

_CLOSERS = " \t\n*_)\"'”’»」』）|"
_QUESTION = ("?", "？", "\u061f", "\u037e")
_LEAD = (":", "：")
_STOPPED = re.compile(r"[.!?…。！？\u0964\u061f][\"'”’»」』）)\]*_]*(?:\s?\[\d{1,9}\])*$")
_BOLD = re.compile(r"(?:\*\*[^*\n]+\*\*|__[^_\n]+__)")
_word = re.compile(r"[^\W_]").search
_number = re.compile(r"\d").search
_TAIL = 80
_MAX_LIGHT_TERMS, _MAX_LIGHT_BIGRAMS = 1, 8
"""A part of a sentence with so few key terms is no claim by itself."""


class Claim(Struct, frozen=True):
    """A claim at [start, end) code points of the answer; `text` is without its markers."""

    start: int
    end: int
    text: str
    markers: tuple[int, ...]

    @property
    def span(self) -> Span:
        """The start and the end."""
        return self.start, self.end


class _Segment(Struct, frozen=True):
    start: int
    end: int
    markers: tuple[MarkerSpan, ...]

    def get_words(self, text: str) -> str:
        return cut_markers(text, self.start, self.end, self.markers)


def extract_claims(marked: MarkedText) -> list[Claim]:
    """Return the claims of an answer in order; they do not overlap."""
    text, found = marked.text, list[Claim]()
    starts = [marker.start for marker in marked.markers]
    for start, end in _move_leading_markers(marked, _find_prose(marked), starts):
        inner = marked.markers[bisect_left(starts, start) : bisect_left(starts, end)]
        sentence = _Segment(start, end, inner)
        words = sentence.get_words(text)
        bare = words.rstrip(_CLOSERS)
        if bare.endswith((*_QUESTION, *_LEAD)) or not _has_content(words):
            continue
        if not inner and _BOLD.fullmatch(words):
            continue
        for part in _split_at_markers(text, sentence):
            markers = tuple(dict.fromkeys(marker.marker for marker in part.markers))
            found.append(Claim(part.start, part.end, part.get_words(text), markers))
    return found


def _has_content(words: str) -> bool:
    """Return whether words contain anything that can be checked."""
    return bool(_number(words) or extract_key_terms(words))


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
            if _word(text, edge, starts[index]):
                break
            edge = marked.markers[index].end
            index += 1
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


def _split_at_markers(text: str, sentence: _Segment) -> list[_Segment]:
    """Return the parts of a sentence that end with markers; light parts join their neighbour."""
    groups: list[list[_Segment]] = []
    pending: list[_Segment] = []
    for part in _cut_at_markers(text, sentence):
        pending.append(part)
        words = part.get_words(text)
        if groups and not part.markers and not _number(words):
            terms = extract_key_terms(words)
            limit = _MAX_LIGHT_BIGRAMS if terms and is_dense(terms[0]) else _MAX_LIGHT_TERMS
            if len(terms) <= limit:
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


class WarningCode(StrEnum):
    """The code of a warning about an answer."""

    UNKNOWN_MARKER = "unknown_marker"
    """A removed marker names no passage."""
    WRONG_MARKER = "wrong_marker"
    """A removed marker names a passage that does not support its claim, while another one does."""
    MARKER_CORRECTED = "marker_corrected"
    """A replaced marker names a passage that does not support its claim; the new one does."""
    UNSUPPORTED_CLAIM = "unsupported_claim"
    """The cited passages do not support the claim."""
    UNCITED_CLAIM = "uncited_claim"
    """A claim has no marker, and no passage supports it."""
    UNSUPPORTED_CODE = "unsupported_code"
    """No passage contains all commands, flags, names and numbers of a block of code."""
    UNSUPPORTED_COMMENT = "unsupported_comment"
    """The passages do not support a comment in a supported block of code."""
    NO_CLAIM = "no_claim"
    """The answer contains no claim, only for example a heading or a question."""


_MIN_ADDED_SHARE = 0.25
"""A further passage is cited when it adds this share of the claim's key terms."""


class ClaimCheck(Struct, frozen=True):
    """A claim, the evidence that supports it (none if it is unsupported), and its warnings."""

    claim: Claim
    parsed: ParsedClaim
    supporting: tuple[IndexedEvidence, ...] = ()
    warnings: tuple[AnswerWarning, ...] = ()

    def select_quote(self, evidence: IndexedEvidence) -> Quote:
        """Return the part of a passage that contains most of the claim."""
        return select_quote(self.parsed, evidence)


def verify_claims(
    claims: Sequence[Claim], evidence: Mapping[int, IndexedEvidence]
) -> list[ClaimCheck]:
    """Check each claim against the evidence."""
    checks: list[ClaimCheck] = []
    recent: frozenset[int] = frozenset()
    for claim in claims:
        parsed = parse_claim(claim.text)
        if claim.markers:
            cited = [evidence[marker] for marker in claim.markers]
            others = [one for one in evidence.values() if one.marker not in claim.markers]
            checks.append(_verify_cited(claim, parsed, cited, others))
        else:
            checks.append(_verify_uncited(claim, parsed, list(evidence.values()), recent))
        recent = frozenset(one.marker for one in checks[-1].supporting) or recent
    return checks


def _verify_uncited(
    claim: Claim, parsed: ParsedClaim, evidence: Sequence[IndexedEvidence], recent: frozenset[int]
) -> ClaimCheck:
    """Find the passage that supports a claim without markers; among equals a recent one."""
    results = [check_support(parsed, [one]) for one in evidence]
    if best := _find_support(parsed, list(zip(evidence, results, strict=True)), recent):
        return ClaimCheck(claim, parsed, (best,))
    message = "there is no passage"
    if results:
        nearest = min(results, key=lambda result: (len(result.missing), -result.share))
        message = f"no citation, and {nearest.reason}"
        if nearest.missing:
            missing = format_missing(nearest.missing)
            message = f"no citation, and no passage contains: {missing}"
    warning = _warn(claim, WarningCode.UNCITED_CLAIM, None, message)
    return ClaimCheck(claim, parsed, warnings=(warning,))


def _verify_cited(
    claim: Claim,
    parsed: ParsedClaim,
    cited: Sequence[IndexedEvidence],
    others: Sequence[IndexedEvidence],
) -> ClaimCheck:
    """Check whether the cited passages support a claim, each alone or together, or another one."""
    results = [check_support(parsed, [one]) for one in cited]
    if any(result.supported for result in results):
        return _select_supporting(claim, parsed, cited, results)
    result = check_support(parsed, cited) if len(cited) > 1 else results[0]
    if result.supported:
        needed = drop_redundant(cited, lambda rest: check_support(parsed, rest).supported)
        return ClaimCheck(claim, parsed, needed)
    marker = cited[0].marker if len(cited) == 1 else None
    reason = result.reason or ""
    if right := _find_support(parsed, [(one, check_support(parsed, [one])) for one in others]):
        message = f"replaced by [{right.marker}]: {reason}"
        warning = _warn(claim, WarningCode.MARKER_CORRECTED, marker, message)
        return ClaimCheck(claim, parsed, (right,), (warning,))
    warning = _warn(claim, WarningCode.UNSUPPORTED_CLAIM, marker, reason)
    return ClaimCheck(claim, parsed, warnings=(warning,))


def _find_support(
    parsed: ParsedClaim,
    results: Sequence[tuple[IndexedEvidence, SupportCheck]],
    recent: Collection[int] = (),
) -> IndexedEvidence | None:
    """Return the passage that supports most of a claim, if any; among equals a recent one."""
    # A supported result with a reason compared facts only, so the claim must have some.
    supporting = [
        (one, result)
        for one, result in results
        if result.supported and (result.reason is None or parsed.facts.count > 0)
    ]
    if not supporting:
        return None
    return max(supporting, key=lambda pair: (pair[1].share, pair[0].marker in recent))[0]


def _select_supporting(
    claim: Claim,
    parsed: ParsedClaim,
    cited: Sequence[IndexedEvidence],
    results: Sequence[SupportCheck],
) -> ClaimCheck:
    """Select the passages that support the whole claim or add what the others lack."""
    supporting: list[IndexedEvidence] = []
    warnings: list[AnswerWarning] = []
    pairs = zip(cited, results, strict=True)
    for one, result in sorted(pairs, key=lambda pair: not pair[1].supported):
        if result.supported or _adds_terms(parsed, one, supporting):
            supporting.append(one)
        else:
            message = f"removed: {result.reason}"
            warnings.append(_warn(claim, WarningCode.WRONG_MARKER, one.marker, message))
    return ClaimCheck(claim, parsed, tuple(supporting), tuple(warnings))


def _adds_terms(
    parsed: ParsedClaim, one: IndexedEvidence, others: Sequence[IndexedEvidence]
) -> bool:
    """Return whether a passage contains key terms of a claim that the others lack."""
    lacking = [term for term in parsed.terms if not any(term in other.tokens for other in others)]
    added = sum(term in one.tokens for term in lacking)
    return added >= max(1.0, _MIN_ADDED_SHARE * len(parsed.terms))


def _warn(claim: Claim, code: WarningCode, marker: int | None, message: str) -> AnswerWarning:
    return AnswerWarning(code=code.value, message=message, marker=marker, span=claim.span)
