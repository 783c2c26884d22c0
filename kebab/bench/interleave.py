"""Runs candidates in turns, A B A B, so that a slow minute of the machine affects all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from kebab.bench.sandbox import Command, Outcome


@dataclass(slots=True)
class Sample:
    """The measured values of one candidate, or the reason why there are none."""

    values: list[float] = field(default_factory=list)
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A command to measure. `build_command` takes the number of the turn; turn 0 is a warm-up.

    `find_fault` returns why a run does not count: a command that fails fast is not a fast command.
    """

    name: str
    build_command: Callable[[int], Command]
    find_fault: Callable[[Outcome], str | None] = Outcome.describe_failure
    read_value: Callable[[Outcome], float] = attrgetter("seconds")


def build_repeated_candidate(name: str, command: Command) -> Candidate:
    """Return a candidate that runs the same command in every turn."""
    return Candidate(name=name, build_command=lambda _: command)


def run_interleaved(
    candidates: Sequence[Candidate],
    turns: int,
    run: Callable[[Command], Outcome],
    report_turn: Callable[[int, int], None],
) -> dict[str, Sample]:
    """Return the values of each candidate by name; a candidate that fails does not run again.

    Every other turn runs in reverse order. A process can slow down or speed up the next one, for
    example by warming the processor, and this must not always affect the same candidate.
    """
    samples = {candidate.name: Sample() for candidate in candidates}
    for turn in range(turns + 1):
        report_turn(turn, turns)
        for one in candidates if turn % 2 else reversed(candidates):
            sample = samples[one.name]
            if sample.fault is None:
                _add_value(one, turn, run(one.build_command(turn)), sample)
    return samples


def _add_value(one: Candidate, turn: int, outcome: Outcome, sample: Sample) -> None:
    sample.fault = one.find_fault(outcome)
    if sample.fault is not None:
        sample.values.clear()
    elif turn > 0:
        sample.values.append(one.read_value(outcome))
