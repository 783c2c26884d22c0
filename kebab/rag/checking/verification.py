"""Verifies the claims of an answer against the evidence."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kebab.core.answers import Quote
from kebab.rag.checking.claims import Claim
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
from kebab.wire.ask import AnswerWarning


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


@dataclass(frozen=True, slots=True)
class ClaimCheck:
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
    """Check each claim against the evidence.

    Args:
        claims: The claims of an answer, in order.
        evidence: The evidence by marker, with every marker of the claims.
    """
    checks: list[ClaimCheck] = []
    recent: frozenset[int] = frozenset()
    for claim in claims:
        parsed = parse_claim(claim.text)
        if claim.markers:
            cited = [evidence[marker] for marker in claim.markers]
            others = [one for one in evidence.values() if one.marker not in claim.markers]
            checks.append(_verify_cited(claim, parsed, cited, others))
        else:
            checks.append(_verify_uncited(claim, parsed, evidence, recent))
        recent = frozenset(one.marker for one in checks[-1].supporting) or recent
    return checks


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


def _verify_uncited(
    claim: Claim,
    parsed: ParsedClaim,
    evidence: Mapping[int, IndexedEvidence],
    recent: frozenset[int],
) -> ClaimCheck:
    """Find the passage that supports a claim without markers; among equals a recent one."""
    results = [(one, check_support(parsed, [one])) for one in evidence.values()]
    if best := _find_support(parsed, results, recent):
        return ClaimCheck(claim, parsed, (best,))
    message = _explain_uncited([result for _, result in results])
    warning = _warn(claim, WarningCode.UNCITED_CLAIM, None, message)
    return ClaimCheck(claim, parsed, warnings=(warning,))


def _warn(claim: Claim, code: WarningCode, marker: int | None, message: str) -> AnswerWarning:
    return AnswerWarning(code=code.value, message=message, marker=marker, span=claim.span)


def _explain_uncited(results: Sequence[SupportCheck]) -> str:
    """Return why no passage supports a claim, from the nearest result."""
    if not results:
        return "there is no passage"
    nearest = min(results, key=lambda result: (len(result.missing), -result.share))
    if nearest.missing:
        return f"no citation, and no passage contains: {format_missing(nearest.missing)}"
    return f"no citation, and {nearest.reason}"
