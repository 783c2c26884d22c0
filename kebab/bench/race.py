"""Contestants run in turns, A B A B, so that a slow minute of the machine hits all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from kebab.bench.process import Outcome

Command: TypeAlias = Sequence[str]
Turn: TypeAlias = Callable[[int, int], None]
_TOLD = 300


@dataclass(slots=True)
class Sample:
    """The readings of one contestant, or why there are none."""

    values: list[float] = field(default_factory=list)
    fault: str | None = None


def failed(outcome: Outcome) -> str | None:
    """Return why a run does not count, or None when it does."""
    if outcome.status == 0:
        return None
    said = outcome.err.decode(errors="replace").strip()[-_TOLD:]
    return f"exit status {outcome.status}: {said}" if said else f"exit status {outcome.status}"


def seconds(outcome: Outcome) -> float:
    """Return how long a run took."""
    return outcome.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """Something to measure. `command` takes the number of the turn; turn 0 only warms up.

    `fault` tells why a run does not count, for a command that fails fast is not a fast command.
    """

    name: str
    command: Callable[[int], Command]
    fault: Callable[[Outcome], str | None] = failed
    reading: Callable[[Outcome], float] = seconds


def steady(name: str, command: Command) -> Contestant:
    """Return a contestant that runs the same command in every turn."""
    return Contestant(name=name, command=lambda _: command)


def race(
    contestants: Sequence[Contestant], turns: int, run: Callable[[Command], Outcome], tell: Turn
) -> dict[str, Sample]:
    """Return the readings of each contestant by name; one that fails leaves the race.

    Every other turn runs backwards: what a process leaves behind, a warm processor for one, would
    else always help or hinder the same one that follows.
    """
    samples = {one.name: Sample() for one in contestants}
    for turn in range(turns + 1):
        tell(turn, turns)
        for one in contestants if turn % 2 else reversed(contestants):
            sample = samples[one.name]
            if sample.fault is None:
                _take(one, turn, run(one.command(turn)), sample)
    return samples


def _take(one: Contestant, turn: int, outcome: Outcome, sample: Sample) -> None:
    sample.fault = one.fault(outcome)
    if sample.fault is not None:
        sample.values.clear()
    elif turn > 0:
        sample.values.append(one.reading(outcome))
