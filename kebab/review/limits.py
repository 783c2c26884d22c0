"""Contains the limits of requests to the language model, which only fall."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from kebab.core.review import UnitResult
from kebab.wire.review import PolicyName, ReviewTierName

ReviewStage: TypeAlias = Literal["proofread", "detect", "fix"]


class Limit(NamedTuple):
    """The most items of a response, and its most tokens."""

    items: int
    tokens: int


AnswerState: TypeAlias = Literal["complete", "cut", "broken", "unusable"]
"""Whether a response is complete, was cut off at its limit, or ended by itself as a part of what
was asked for, or as something else."""


class AskedParts(NamedTuple):
    """What it took to ask about some parts, and whether there is a complete response about all."""

    policy: PolicyName
    complete: bool


class _Estimate(NamedTuple):
    """How the need of tokens is estimated, and between which bounds."""

    per_item: int
    least: int
    most: int


LIMITS: dict[ReviewTierName, tuple[Limit, ...]] = {
    "quick": (Limit(32, 1200), Limit(22, 840), Limit(15, 580)),
    "deep": (Limit(48, 1800), Limit(33, 1260), Limit(23, 880)),
}
"""The limits of the first request, and about 70 % and 49 % of them."""
_ESTIMATES: dict[ReviewTierName, _Estimate] = {
    "quick": _Estimate(40, 900, 1600),
    "deep": _Estimate(60, 1400, 2200),
}
_BASE_TOKENS = 80
_MAX_DENSITY = 0.5
"""The most findings per sentence that are predicted."""

_T = TypeVar("_T")


def choose_limits(
    tier: ReviewTierName, sentences: int, density: float | None = None
) -> tuple[Limit, ...]:
    """Return the limits of the first request for a unit and of those that follow a cut-off.

    The smaller of table and estimate holds. `density` is the number of findings per sentence so
    far; None means that nothing is known.
    """
    need = estimate_tokens_needed(tier, sentences, density)
    return tuple(Limit(limit.items, min(limit.tokens, need)) for limit in LIMITS[tier])


def estimate_tokens_needed(
    tier: ReviewTierName, sentences: int, density: float | None = None
) -> int:
    """Estimate the tokens of a response about so many sentences."""
    estimate = _ESTIMATES[tier]
    likely = _MAX_DENSITY if density is None else min(max(0.0, density), _MAX_DENSITY)
    need = _BASE_TOKENS + round(sentences * likely * estimate.per_item)
    return min(max(need, estimate.least), estimate.most)


def compute_density(results: Iterable[tuple[int, UnitResult]]) -> float | None:
    """Return the findings per sentence of finished units, each with its number of sentences."""
    sentences = items = 0
    for count, result in results:
        sentences += count
        items += len(result.items) + len(result.carried)
    return items / sentences if sentences else None


def ask_with_limits(
    parts: Sequence[_T],
    limits: Sequence[Limit],
    ask: Callable[[Sequence[_T], Limit], AnswerState],
) -> AskedParts:
    """Ask about all parts with limits that only fall, and return what was necessary.

    A response that was cut off is followed by lower limits; they do not mend a broken one. Then the
    parts are halved until each has a complete response. A single part without one is given up, and
    so are parts whose response is unusable. The policy is `paged` when the last limit cuts off the
    response about a single part.

    Args:
        parts: The sentences or findings to ask about.
        limits: The limits from the first request on.
        ask: Asks about some parts.
    """
    level, state = 0, ask(parts, limits[0])
    while state == "cut" and level + 1 < len(limits):
        level += 1
        state = ask(parts, limits[level])
    policy: PolicyName = "downshift" if level else "first"
    if state in ("complete", "unusable"):
        return AskedParts(policy, state == "complete")
    is_complete, is_exhausted = len(parts) > 1, len(parts) == 1 and state == "cut"
    pending = _halve(parts)
    while pending:
        policy = "split"
        half = pending.pop(0)
        state = ask(half, limits[level])
        halves = _halve(half) if state in ("cut", "broken") else []
        is_complete = is_complete and (state == "complete" or bool(halves))
        is_exhausted = is_exhausted or (state == "cut" and not halves)
        pending[:0] = halves
    return AskedParts("paged" if is_exhausted else policy, is_complete)


def _halve(parts: Sequence[_T]) -> list[Sequence[_T]]:
    """Return both halves of several parts; none of a single one."""
    middle = (len(parts) + 1) // 2
    return [parts[:middle], parts[middle:]] if len(parts) > 1 else []
