"""Judges the claims of an answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from kebab.rag.checking.claims import Claim
from kebab.rag.checking.support import (
    IndexedEvidence,
    ParsedClaim,
    SupportCheck,
    check_support,
    format_missing,
    parse_claim,
)


class WarningCode(StrEnum):
    """What is odd about a part of an answer."""

    UNKNOWN_MARKER = "unknown_marker"
    """A marker names no passage; it was taken out."""
    WRONG_MARKER = "wrong_marker"
    """A claim is carried by another passage that it cites, not by this one; it was taken out."""
    UNSUPPORTED_CLAIM = "unsupported_claim"
    """The passages that a claim cites do not carry it."""
    UNCITED_CLAIM = "uncited_claim"
    """A claim cites nothing, and no passage carries it."""
    NO_CLAIM = "no_claim"
    """The answer claims nothing, as a heading or a question does; nothing can be checked."""


_ADDED = 0.25
"""The share of a claim's key terms that makes a passage worth citing beside another."""

Doubt: TypeAlias = tuple[WarningCode, int | None, str]
"""What is odd, the marker that it is about if it is about one, and a sentence for people."""


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """A claim, the passages that carry it (none: it is unsupported), and what is odd about it."""

    claim: Claim
    parsed: ParsedClaim
    supporting: tuple[IndexedEvidence, ...] = ()
    warnings: tuple[Doubt, ...] = ()


def verify_claims(
    claims: Sequence[Claim], grounds: Mapping[int, IndexedEvidence]
) -> list[ClaimCheck]:
    """Return what becomes of each claim.

    Args:
        claims: The claims of an answer, in order.
        grounds: The passages by marker; every marker of a claim is one of them.
    """
    found: list[ClaimCheck] = []
    near: frozenset[int] = frozenset()
    for claim in claims:
        if claim.markers:
            found.append(_cited(claim, [grounds[marker] for marker in claim.markers]))
        else:
            found.append(_uncited(claim, grounds, near))
        near = frozenset(one.marker for one in found[-1].supporting) or near
    return found


def _cited(claim: Claim, cited: Sequence[IndexedEvidence]) -> ClaimCheck:
    """Return whether passages that a claim cites carry it, each by itself or together."""
    words = parse_claim(claim.text)
    verdicts = [check_support(words, [one]) for one in cited]
    if any(verdict.supported for verdict in verdicts):
        return _sorted(claim, words, cited, verdicts)
    verdict = check_support(words, cited) if len(cited) > 1 else verdicts[0]
    if verdict.supported:
        return ClaimCheck(claim, words, tuple(_needed(words, cited)))
    marker = cited[0].marker if len(cited) == 1 else None
    return ClaimCheck(
        claim, words, warnings=((WarningCode.UNSUPPORTED_CLAIM, marker, verdict.reason or ""),)
    )


def _sorted(
    claim: Claim,
    words: ParsedClaim,
    cited: Sequence[IndexedEvidence],
    verdicts: Sequence[SupportCheck],
) -> ClaimCheck:
    """Return a claim with the passages that carry all of it or what these lack."""
    carriers: list[IndexedEvidence] = []
    doubts: list[Doubt] = []
    pairs = zip(cited, verdicts, strict=True)
    for one, verdict in sorted(pairs, key=lambda pair: not pair[1].supported):
        if verdict.supported or _adds(words, one, carriers):
            carriers.append(one)
        else:
            doubts.append((WarningCode.WRONG_MARKER, one.marker, f"taken out: {verdict.reason}"))
    return ClaimCheck(claim, words, tuple(carriers), tuple(doubts))


def _adds(words: ParsedClaim, one: IndexedEvidence, carriers: Sequence[IndexedEvidence]) -> bool:
    """Return whether a passage holds key terms of a claim that others lack."""
    lacking = [term for term in words.terms if not any(term in had.tokens for had in carriers)]
    added = sum(term in one.tokens for term in lacking)
    return added >= max(1.0, _ADDED * len(words.terms))


def _needed(words: ParsedClaim, cited: Sequence[IndexedEvidence]) -> list[IndexedEvidence]:
    """Return passages that carry a claim together and not without one of them."""
    kept = list(cited)
    for one in cited:
        rest = [other for other in kept if other is not one]
        if rest and check_support(words, rest).supported:
            kept = rest
    return kept


def _uncited(
    claim: Claim, grounds: Mapping[int, IndexedEvidence], near: frozenset[int]
) -> ClaimCheck:
    """Return which passage carries a claim that cites none; of equal ones, one that is near."""
    words = parse_claim(claim.text)
    verdicts = [(one, check_support(words, [one])) for one in grounds.values()]
    able = [(one, verdict) for one, verdict in verdicts if _carries(words, verdict)]
    if able:
        best = max(able, key=lambda pair: (pair[1].share, pair[0].marker in near))
        return ClaimCheck(claim, words, (best[0],))
    return ClaimCheck(
        claim, words, warnings=((WarningCode.UNCITED_CLAIM, None, _nowhere(verdicts)),)
    )


def _carries(words: ParsedClaim, verdict: SupportCheck) -> bool:
    """Return whether a verdict rests on more than that nothing could be compared."""
    return verdict.supported and (verdict.reason is None or words.facts.count > 0)


def _nowhere(verdicts: Sequence[tuple[IndexedEvidence, SupportCheck]]) -> str:
    """Return why no passage carries a claim, by the one that comes nearest."""
    if not verdicts:
        return "there is no passage"
    nearest = min(verdicts, key=lambda pair: (len(pair[1].missing), -pair[1].share))[1]
    if nearest.missing:
        return f"cites nothing, and in no passage: {format_missing(nearest.missing)}"
    return f"cites nothing, and {nearest.reason}"
