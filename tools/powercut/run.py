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
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tools.powercut.check import USER_FOLDERS, Lab, Situation, Verdict
from tools.powercut.disk import Disk, State
from tools.powercut.record import MARKS, Call, Player, RecordError, record

_MEMORY = Path("/dev/shm")  # noqa: S108 - only where the copies are kept
_AGE_NS = 3600 * 10**9
"""How long ago a file was written whose time no program has asked for."""
_CHANCES = 2
"""How often chance decides what is left after one cut."""
_WRITES = ("write", "writev", "pwrite64")


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
    """A recorded run in an empty folder, and the disks that a cut may leave of it.

    Raises:
        RecordError: The run cannot be recorded, or the model of the disk does not reproduce it.
    """

    def __init__(self, folder: Path, steps: Sequence[str] = ()) -> None:
        self.lab = Lab(folder)
        home = self.lab.home
        program = [sys.executable, "-m", "tools.powercut.session", str(home), *steps]
        self.calls = record(program, home, folder / "calls.log", self.lab.environ)
        self._begins: dict[int, dict[str, bytes]] = {}
        self._ends: dict[int, dict[str, bytes]] = {0: {}}
        disk = Disk()
        self.moments = list(self._play(disk))
        self._verify(disk)

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
        chosen, seen, disk = self._choose(count, seed), set[int](), Disk()
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
        if not count:
            return Counter(moment.number for moment in self.moments)
        chance = random.Random(seed)  # noqa: S311 - no secret
        groups: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
        for moment in self.moments:
            groups[moment.step, moment.call in _WRITES].append(moment.number)
        share = max(1, count // len(groups))
        return Counter(
            number for members in groups.values() for number in chance.choices(members, k=share)
        )

    def check(self, cut: Cut) -> Verdict:
        """Put the disk back, run what a person runs, and judge."""
        self.lab.clear()
        restore(cut.state, self.lab.home)
        run = cut.moment.run
        before, after, previous = self._begins[run], self._ends[run], self._ends[run - 1]
        return self.lab.check(Situation(cut.moment.step, before, after, previous))


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


def run_experiment(
    folder: Path,
    count: int,
    seed: int,
    *,
    steps: Sequence[str] = (),
    longest_s: float = float("inf"),
    report: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Record a run in an empty folder, and check so many disks after cuts."""
    begin = time.monotonic()
    experiment = Experiment(folder, steps)
    import lancedb  # noqa: F401 - so that the forks need not import it

    warnings.filterwarnings("ignore", "lancedb fork support")
    outcome = Outcome(calls=len(experiment.calls), moments=len(experiment.moments))
    for cut in experiment.list_cuts(count, seed):
        verdict = experiment.check(cut)
        outcome.states += 1
        for counts in (outcome.steps[cut.moment.step], outcome.losses[cut.state.loss]):
            counts["disks"] += 1
            for name in ("lost", "doubled", "wrong"):
                counts[name] += bool(getattr(verdict, name))
        outcome.steps[cut.moment.step]["healthy"] += not verdict.doctor
        if verdict.faults:
            place = f"{cut.moment.step}, after `{cut.moment.call}` {cut.moment.number}"
            outcome.faults.append(f"{place}, lost: {cut.state.loss}: {'; '.join(verdict.faults)}")
            report(outcome.faults[-1])
        outcome.seconds = time.monotonic() - begin
        if outcome.seconds > longest_s:
            break
    return outcome


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> int:
    """Run the program, print the figures, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.powercut")
    parser.add_argument("--states", type=int, default=500, help="disks to check; 0 means all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after this time")
    parser.add_argument("--steps", nargs="*", default=[], help="steps of the session; all of them")
    given = parser.parse_args(arguments)
    place = _MEMORY if _MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="powercut-", dir=place) as folder:
        try:
            outcome = run_experiment(
                Path(folder),
                given.states,
                given.seed,
                steps=given.steps,
                longest_s=given.seconds,
                report=lambda line: _print(line.replace(folder, "")),
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
