"""Records a run, cuts the power at its writes, and reports what the next run does not repair.

    python -m tools.powercut --states 500

Every check takes about half a second. The exit status is 1 when any disk was not repaired, and 2
when the run cannot be recorded.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tools.powercut.check import USER_FOLDERS, Lab, Situation, Verdict
from tools.powercut.disk import Disk, State
from tools.powercut.record import MARKS, WRITES, Call, Player, RecordError, record
from tools.powercut.session import AGAIN, STEPS

_MEMORY = Path("/dev/shm")  # noqa: S108 - only where the copies are kept
_AGE_NS = 3600 * 10**9
"""How long ago a file was written whose time no program has asked for."""
_CHANCES = 2
"""How often chance decides what is left after one cut."""
_STATES_OF_REPAIR = 10
"""How many disks are checked after cuts of one repair."""


class Moment(NamedTuple):
    """A call after which the power can be cut."""

    number: int
    run: int
    """The number of the run of a step."""
    step: str
    call: str


class Cut(NamedTuple):
    """A disk after a cut."""

    moment: Moment
    state: State


@dataclass(slots=True)
class Outcome:
    """The figures of an experiment."""

    calls: int = 0
    moments: int = 0
    states: int = 0
    steps: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    losses: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Experiment:
    """A recorded run, and the disks that a cut may leave of it.

    Only the named steps are cut, all by default; the record ends with the last of them. With
    `start` the run begins with the disk of an earlier cut, in this situation of the person.

    Raises:
        RecordError: The run cannot be recorded, or the model of the disk does not reproduce it.
    """

    def __init__(
        self, lab: Lab, steps: Sequence[str] = (), start: tuple[State, Situation] | None = None
    ) -> None:
        self.lab = lab
        self._start = start
        self._steps = steps
        names = [step.name for step in STEPS]
        last = max(map(names.index, steps)) if steps and start is None else -1
        home = lab.home
        lab.clear()
        if start is not None:
            restore(start[0], home)
        program = [sys.executable, "-m", "tools.powercut.session", str(home)]
        program += [AGAIN.name] if start else names[: last + 1]
        self.calls = record(program, home, home.with_name("calls.log"), lab.environ)
        self._begins: dict[int, dict[str, bytes]] = {}
        self._ends: dict[int, dict[str, bytes]] = {0: {}}
        disk = self._load_disk()
        self.moments = list(self._play(disk))
        self._verify(disk)

    def _load_disk(self) -> Disk:
        """Return the disk at the begin of the record."""
        disk = Disk()
        if self._start is not None:
            state, _ = self._start
            for path in sorted(state.folders):
                disk.create(path, is_folder=True)
            for path, content in state.files.items():
                disk.create(path)
                disk.write(path, 0, content.read())
            disk.sync_all()
        return disk

    def _verify(self, disk: Disk) -> None:
        """Refuse a record whose end is not the home as it is now."""
        home = self.lab.home
        real = {
            str(path.relative_to(home)): path.read_bytes()
            for path in home.rglob("*")
            if path.is_file()
        }
        live = disk.read_live()
        # The index of the log is mapped memory, which SQLite builds again after a cut.
        for name in live.keys() | real.keys():
            if not name.endswith("-shm") and name != MARKS and live.get(name) != real.get(name):
                raise RecordError(f"the record and the disk differ: {name}")

    def _play(self, disk: Disk) -> Iterator[Moment]:
        """Play the record on a disk; yield after each change that kebab made."""
        player, phase, step, number, run = Player(disk), "edit", "", 0, 0
        for call in self.calls:
            if call.paths[0] == MARKS:
                if call.name == "write":
                    phase, _, step = call.data.decode().partition(" ")
                    run += phase == "begin"
                    kept = self._begins if phase == "begin" else self._ends
                    kept[run] = _select_user_files(disk)
            elif player.play(call):
                if phase == "edit":
                    _sync_edit(disk, call)
                else:
                    number += 1
                    yield Moment(number, run, step, call.name)

    def list_cuts(self, count: int, seed: int) -> Iterator[Cut]:
        """Yield different disks after cuts, about as many of each step and of each kind of loss.

        With a count of 0 all disks are yielded.
        """
        chosen, seen, disk = self._choose(count, seed), set[int](), self._load_disk()
        for moment in self._play(disk):
            if moment.number not in chosen:
                continue
            states = list(disk.list_states(moment.number, _CHANCES))
            if count:
                chance = random.Random(f"{seed} {moment.number}")  # noqa: S311 - no secret
                states = _sample(states, chosen[moment.number], chance)
            for state in states:
                if state.identity not in seen:
                    seen.add(state.identity)
                    yield Cut(moment, state)

    def _choose(self, count: int, seed: int) -> Counter[int]:
        """Return how many disks are wanted of each moment; half of them after other than writes."""
        chance = random.Random(seed)  # noqa: S311 - no secret
        groups: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
        for moment in self.moments:
            if self._steps and moment.step not in self._steps:
                continue
            groups[moment.step, moment.call in WRITES].append(moment.number)
        if not count:
            return Counter(number for members in groups.values() for number in members)
        share = max(1, count // len(groups))
        return Counter(
            number for members in groups.values() for number in chance.choices(members, k=share)
        )

    def describe_situation(self, cut: Cut) -> Situation:
        """Return what the person had when the power was cut."""
        if self._start is not None:
            return self._start[1]
        run = cut.moment.run
        return Situation(cut.moment.step, self._begins[run], self._ends[run], self._ends[run - 1])

    def check(self, cut: Cut) -> Verdict:
        """Put the disk back, run what a person runs, and judge."""
        self.lab.clear()
        restore(cut.state, self.lab.home)
        return self.lab.check(self.describe_situation(cut))


def restore(state: State, home: Path) -> None:
    """Write what is left on the disk into a home."""
    for folder in sorted(state.folders):
        (home / folder).mkdir(mode=0o700, exist_ok=True)
    for path, content in state.files.items():
        target = home / path
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content.read())
        mtime_ns = content.mtime_ns or time.time_ns() - _AGE_NS
        os.utime(target, ns=(mtime_ns, mtime_ns))


def _select_user_files(disk: Disk) -> dict[str, bytes]:
    files = disk.read_live().items()
    return {name: data for name, data in files if name.startswith(USER_FOLDERS)}


def _sync_edit(disk: Disk, call: Call) -> None:
    """Make what the person did durable: only the writes of kebab are examined."""
    for path in call.paths:
        for part in (path, *map(str, Path(path).parents)):
            below = "" if part == "." else part
            if disk.find(below) is not None:
                disk.sync(below)


def _sample(states: Sequence[State], count: int, chance: random.Random) -> list[State]:
    """Return so many disks, each kind of loss as often."""
    kinds: defaultdict[str, list[State]] = defaultdict(list)
    for state in states:
        kinds[state.loss].append(state)
    chosen = chance.choices(sorted(kinds), k=count)
    return [chance.choice(kinds[kind]) for kind in chosen]


class Series:
    """Checks disks and counts; `report` receives each fault."""

    def __init__(self, longest_s: float, report: Callable[[str], None]) -> None:
        self.outcome = Outcome()
        self._begin = time.monotonic()
        self._longest_s = longest_s
        self._report = report

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.outcome.seconds > self._longest_s

    def check(self, experiment: Experiment, count: int, seed: int) -> list[Cut]:
        """Check so many disks; return the cuts after which doctor found something."""
        outcome, unhealthy = self.outcome, []
        outcome.calls += len(experiment.calls)
        outcome.moments += len(experiment.moments)
        for cut in experiment.list_cuts(count, seed):
            verdict = experiment.check(cut)
            self._count(cut, verdict)
            if verdict.doctor:
                unhealthy.append(cut)
            outcome.seconds = time.monotonic() - self._begin
            if self.is_over:
                break
        return unhealthy

    def _count(self, cut: Cut, verdict: Verdict) -> None:
        moment, loss = cut.moment, cut.state.loss
        self.outcome.states += 1
        for counts in (self.outcome.steps[moment.step], self.outcome.losses[loss]):
            counts["disks"] += 1
            for name in ("lost", "doubled", "wrong"):
                counts[name] += bool(getattr(verdict, name))
        self.outcome.steps[moment.step]["healthy"] += not verdict.doctor
        if verdict.faults:
            place = f"{moment.step}, after `{moment.call}` {moment.number}, lost: {loss}"
            self.outcome.faults.append(f"{place}: {'; '.join(verdict.faults)}")
            self._report(self.outcome.faults[-1])


def run_experiment(
    folder: Path, given: argparse.Namespace, report: Callable[[str], None] = lambda _: None
) -> Outcome:
    """Record a run in an empty folder, and check disks after cuts, and after cuts of the repair."""
    series = Series(given.seconds, report)
    first = Experiment(Lab(folder), given.steps)
    unhealthy = series.check(first, given.states, given.seed)
    chance = random.Random(given.seed)  # noqa: S311 - no secret
    for cut in chance.sample(unhealthy, min(given.again, len(unhealthy))):
        if series.is_over:
            break
        start = (cut.state, first.describe_situation(cut))
        again = Experiment(first.lab, start=start)
        series.check(again, _STATES_OF_REPAIR, given.seed)
    return series.outcome


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> int:
    """Run the program, print the figures, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.powercut")
    parser.add_argument("--states", type=int, default=500, help="disks to check; 0 means all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after this time")
    parser.add_argument(
        "--again", type=int, default=0, help="repairs that are recorded and cut too"
    )
    parser.add_argument(
        "--steps", nargs="*", default=[], help="cut only these steps of the session"
    )
    given = parser.parse_args(arguments)
    place = _MEMORY if _MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="powercut-", dir=place) as folder:
        try:
            outcome = run_experiment(
                Path(folder), given, lambda line: _print(line.replace(folder, ""))
            )
        except RecordError as error:
            _print(str(error))
            return 2
    for title, rows in (("step", outcome.steps), ("what the cut lost", outcome.losses)):
        _print(f"\n| {title} | disks | doctor healthy | lost | doubled | wrong |")
        _print("|---|---|---|---|---|---|")
        for name, counts in rows.items():
            healthy = counts["healthy"] if title == "step" else ""
            cells = (name, counts["disks"], healthy, counts["lost"], counts["doubled"])
            _print(f"| {' | '.join(map(str, cells))} | {counts['wrong']} |")
    _print(
        f"\n{outcome.calls} calls, {outcome.moments} moments, {outcome.states} disks,"
        f" {len(outcome.faults)} not repaired, {outcome.seconds:.0f} s"
    )
    return bool(outcome.faults)
