"""Declares the clauses of a sentence, and compares those of a claim with those of a passage.

A clause denies or affirms its predicate. Two clauses contradict each other when one denies what the
other affirms, under the same condition, and nothing in the passage agrees with the claim. What a
clause under `only` says of others is not known. A false accusation is worse than a miss.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum


class Mode(Enum):
    """What a clause says of its predicate: that it is so, that it can be so, or that it has to."""

    PLAIN = "plain"
    CAN = "can"
    NEED = "need"


_NONE: frozenset[str] = frozenset()
_MIN_COVERED = 0.6
"""The least share of a claim's terms that the passage's clause contains when it denies."""

_MIN_AFFIRMED = 0.75
"""The same for a claim that affirms: what the passage denies may be about something else."""

_MIN_CONDITION = 0.5
"""The least share of the terms of two conditions that are in both."""

_FEW = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause with its content terms.

    `denied` are the terms that its negations deny, `scope` all terms behind the first of them,
    `context` the terms of its sentence, `predicate` its last term in languages that have it last.
    The subject of a `pronominal` clause is a pronoun. `word` is the negation as the text words it.
    """

    terms: frozenset[str]
    is_denied: bool = False
    mode: Mode = Mode.PLAIN
    denied: frozenset[str] = _NONE
    scope: frozenset[str] = _NONE
    condition: frozenset[str] = _NONE
    context: frozenset[str] = _NONE
    predicate: frozenset[str] = _NONE
    is_pronominal: bool = False
    word: str = ""


def find_contradiction(
    claimed: Sequence[Clause], stated: Sequence[Clause], tokens: Collection[str] = ()
) -> str | None:
    """Return the word that a passage denies and a claim affirms, or the reverse, if any.

    Args:
        claimed: The clauses of the claim.
        stated: Those of the passage.
        tokens: The terms of the whole passage, for sentences about a pronoun.
    """
    for claim in claimed:
        against = [other for other in stated if _contradicts(claim, other, tokens)]
        if against and not any(_agrees(claim, other) for other in stated):
            return claim.word or against[0].word
    return None


def _contradicts(claim: Clause, other: Clause, tokens: Collection[str]) -> bool:
    if claim.is_denied == other.is_denied or not _have_one_mode(claim, other):
        return False
    denying, affirming = (claim, other) if claim.is_denied else (other, claim)
    if not denying.denied or not denying.denied <= affirming.terms:
        return False
    if claim.predicate != other.predicate:
        return False
    return _is_covered(claim, other, tokens) and _share_condition(claim, other)


def _have_one_mode(claim: Clause, other: Clause) -> bool:
    """Return whether two clauses can contradict each other: `cannot` also denies that it is so."""
    if claim.mode is other.mode:
        return True
    denying, affirming = (claim, other) if claim.is_denied else (other, claim)
    return denying.mode is Mode.CAN and affirming.mode is Mode.PLAIN


def _is_covered(claim: Clause, other: Clause, tokens: Collection[str]) -> bool:
    """Return whether a clause of the passage is about what the claim says."""
    if not claim.scope <= other.terms:
        return False
    least = _MIN_COVERED if claim.is_denied else _MIN_AFFIRMED
    shared = claim.terms & other.terms
    if len(shared) >= _FEW:
        return len(shared) >= least * len(claim.terms)
    if other.is_pronominal or claim.is_pronominal:
        return _compute_share(claim.terms, frozenset(tokens) | other.terms) >= least
    is_short = min(len(claim.terms), len(other.terms)) == 1 < len(claim.context)
    alike = is_short and _compute_share(claim.context, other.context) >= _MIN_AFFIRMED
    return alike or claim.terms == other.terms == claim.context


def _agrees(claim: Clause, other: Clause) -> bool:
    """Return whether a clause of the passage says the same of the same words."""
    if claim.is_denied != other.is_denied:
        return False
    if claim.is_denied:
        return bool(claim.denied & other.denied)
    return _compute_share(claim.terms, other.terms) >= _MIN_AFFIRMED


def _share_condition(claim: Clause, other: Clause) -> bool:
    one, two = claim.condition, other.condition
    return one == two or len(one & two) >= _MIN_CONDITION * len(one | two)


def _compute_share(terms: frozenset[str], others: frozenset[str]) -> float:
    return len(terms & others) / len(terms) if terms else 1.0
