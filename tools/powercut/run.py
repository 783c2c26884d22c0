"""Records a run, cuts the power at its writes, and reports what the next run does not repair."""

import argparse
import json
import os
import random
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kebab.embed.registry import MODELS
from tests.fakes.console import enter_environment, run
from tests.fakes.tiny_model import install_model
from tools.powercut.check import (
    Library,
    UserFile,
    Verdict,
    compare,
    describe_library,
    judge,
    restore,
    run_apart,
)
from tools.powercut.disk import Disk, State
from tools.powercut.record import MARKS, Call, Player, RecordError, record
from tools.powercut.session import REMOVED, STEPS, TEXT
from tools.surfaces.home import build_environment

_MEMORY = Path("/dev/shm")  # noqa: S108 - only where the tool keeps its copies
_USER_FOLDERS = ("notes/", "config/", ".cursor/")
_MERGED = ".cursor/mcp.json"
_TWICE = 2


@dataclass(slots=True)
class Moment:
    """A place in the record where the power is cut, and what is known of it."""

    number: int
    run: int
    """The number of the run of a step."""
    step: str
    phase: str
    after: str


@dataclass(slots=True)
class Cut:
    """A disk after a cut, and what the person may expect of it."""

    state: State
    moment: Moment
    files: dict[str, UserFile]


@dataclass(slots=True)
class Outcome:
    """The figures of an experiment."""

    calls: int = 0
    cuts: int = 0
    states: int = 0
    failed: int = 0
    by_step: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    by_loss: Counter[str] = field(default_factory=Counter)
    doctor: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Experiment:
    """A recorded run in a folder, and the disks that a cut may leave of it."""

    def __init__(self, folder: Path, steps: Sequence[str] = ()) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        models = folder / "models"
        for number, model in enumerate(MODELS):
            install_model(model, models, seed=number + 7)
        self._environ = {
            **build_environment(self.home),
            "KEBAB_MODELS_DIR": str(models),
            "KEBAB_MODELS_EMBEDDING_THREADS": "1",
        }
        program = [sys.executable, "-m", "tools.powercut.session", str(self.home), *steps]
        self.calls = record(program, self.home, folder / "calls.log", self._environ)
        self._clean: dict[object, Library] = {}
        self._begins: dict[int, dict[str, bytes]] = {}
        self._ends: dict[int, dict[str, bytes]] = {}
        self.moments = self._play()

    def _play(self) -> list[Moment]:
        """Play the record once; return every moment for a cut."""
        disk, moments = Disk(), []
        for moment, _ in self._follow(disk):
            if moment is not None:
                moments.append(moment)
        real = {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file()
        }
        live = disk.read_live()
        for name in live.keys() | real.keys():
            if not name.endswith("-shm") and name != MARKS and live.get(name) != real.get(name):
                raise RecordError(f"the record and the disk differ: {name}")
        return moments

    def _follow(self, disk: Disk) -> Iterator[tuple[Moment | None, Disk]]:
        """Play the record on a disk; yield after each change that kebab made."""
        player, step, phase, number, run = Player(disk), "", "", 0, 0
        for call in self.calls:
            if call.paths[0] == MARKS:
                if call.name == "write":
                    phase, _, step = call.data.decode().partition(" ")
                    run += phase == "begin"
                    kept = self._begins if phase == "begin" else self._ends
                    kept[run] = self._read_user_files(disk)
                continue
            if not player.play(call):
                continue
            if phase in ("", "edit"):
                self._sync_edit(disk, call)
                continue
            number += 1
            yield Moment(number, run, step, phase, call.name), disk

    def _read_user_files(self, disk: Disk) -> dict[str, bytes]:
        files = disk.read_live().items()
        return {name: data for name, data in files if name.startswith(_USER_FOLDERS)}

    def _sync_edit(self, disk: Disk, call: Call) -> None:
        """Make what the person did durable: only the writes of kebab are examined."""
        for path in call.paths:
            for part in (path, *map(str, Path(path).parents)):
                below = "" if part == "." else part
                if disk.find(below) is not None:
                    disk.sync(below)

    def list_cuts(self, count: int, seed: int) -> Iterator[Cut]:
        """Yield different disks after cuts, about as many of each step and of each kind of loss.

        With a count of 0 all disks are yielded.
        """
        chosen = self._choose(count, seed)
        seen: set[int] = set()
        for moment, disk in self._follow(Disk()):
            if moment is None or moment.number not in chosen:
                continue
            states = list(disk.list_states(moment.number, _TWICE))
            if count:
                chance = random.Random(f"{seed} {moment.number}")  # noqa: S311 - no secret
                states = _sample(states, chosen[moment.number], chance)
            for state in states:
                if state.identity not in seen:
                    seen.add(state.identity)
                    yield Cut(state, moment, self._expect_files(moment))

    def _choose(self, count: int, seed: int) -> Counter[int]:
        """Return how many disks are wanted of each moment; half of them after other than writes."""
        if not count:
            return Counter(moment.number for moment in self.moments)
        chance = random.Random(seed)  # noqa: S311 - no secret
        groups: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
        for moment in self.moments:
            groups[moment.step, moment.after in ("pwrite64", "write")].append(moment.number)
        share = max(1, count // len(groups))
        return Counter(
            number for members in groups.values() for number in chance.choices(members, k=share)
        )

    def _expect_files(self, moment: Moment) -> dict[str, UserFile]:
        before, after = self._begins[moment.run], self._ends[moment.run]
        return {
            name: UserFile(data, frozenset({data, after[name]}), name != _MERGED)
            for name, data in before.items()
            if name in after
        }

    def check(self, cut: Cut) -> Verdict:
        """Put the disk back, run what a person runs, and judge."""
        os.chdir("/")
        restore(cut.state, self.home)
        try:
            verdict: Verdict = run_apart(lambda: self._judge(cut))
        except RuntimeError as error:
            return Verdict([str(error)])
        if not verdict.faults:
            verdict.faults += self._compare(cut, verdict.library, verdict.embedded)
        return verdict

    def _judge(self, cut: Cut) -> Verdict:
        with enter_environment(self._environ, self.home):
            return judge(self.home, cut.files)

    def _compare(self, cut: Cut, found: Library, embedded: int) -> list[str]:
        """Return how a library differs from that of a clean run over the same files."""
        has_text = any(kind == "stdin" for kind, *_ in found["documents"])
        notes = {
            path.relative_to(self.home).as_posix(): path.read_bytes()
            for path in self.home.glob("notes/**/*.md")
        }
        expected = dict(self._find_clean(notes, found["version"], has_text=has_text))
        faults = []
        if found["next"]:
            found["tables"] = [name for name in found["tables"] if found["version"] in name]
            expected["next"] = found["next"]
        order = [step.name for step in STEPS]
        at = order.index(cut.moment.step)
        if not has_text and order.index("text") < at < order.index("reset"):
            faults.append("the text from standard input is lost")
        if order.index("ask") > at and found["turns"]:
            faults.append(f"turns from nowhere: {found['turns']}")
        return [*faults, *self._check_work(cut, found, embedded), *compare(expected, found)]

    def _check_work(self, cut: Cut, found: Library, embedded: int) -> list[str]:
        """Return a fault when texts were embedded again that an earlier run has embedded."""
        notes = {
            name: data
            for name, data in self._ends.get(cut.moment.run - 1, {}).items()
            if name.startswith("notes/") and not (cut.moment.step == "rm" and name in REMOVED)
        }
        if cut.moment.step in ("first", "reset") or not notes:
            return []
        before = self._find_clean(notes, found["version"], has_text=False)
        known = {text for _, _, _, text, _ in before["chunks"]}
        new = [text for _, _, _, text, _ in found["chunks"] if text not in known]
        return [f"embedded {embedded} for {len(new)} new texts"] if embedded > len(new) else []

    def _find_clean(self, notes: Mapping[str, bytes], version: str, *, has_text: bool) -> Library:
        """Return the library of a clean run over some notes."""
        key = (tuple(sorted(notes.items())), version, has_text)
        if key not in self._clean:
            self._clean[key] = self._run_clean(notes, version, has_text=has_text)
        return self._clean[key]

    def _run_clean(self, notes: Mapping[str, bytes], version: str, *, has_text: bool) -> Library:
        model = next(model.name for model in MODELS if model.version == version)
        text = next(step.stdin for step in STEPS if step.name == "text")
        restore(State(0, "", frozenset({"notes", "data", "config", "state"}), {}), self.home)

        def work() -> Library:
            for name, data in notes.items():
                (self.home / name).parent.mkdir(parents=True, exist_ok=True)
                (self.home / name).write_bytes(data)
            environ = {**self._environ, "KEBAB_MODELS_EMBEDDING_MODEL": model}
            with enter_environment(environ, self.home):
                assert run("ingest", str(self.home / "notes")).status == 0
                if has_text:
                    line = ("ingest", "--stdin", "--title", TEXT)
                    assert run(*line, stdin=text).status == 0
            return describe_library(self.home / "data")

        library: Library = run_apart(work)
        return library


def _sample(states: Sequence[State], count: int, chance: random.Random) -> list[State]:
    """Return so many disks, each kind of loss as often."""
    kinds: defaultdict[str, list[State]] = defaultdict(list)
    for state in states:
        kinds[state.loss].append(state)
    chosen = chance.choices(sorted(kinds), k=count)
    return [chance.choice(kinds[kind]) for kind in chosen]


def run_experiment(
    folder: Path, count: int, seed: int, longest_s: float, steps: Sequence[str] = ()
) -> Outcome:
    """Record a run in an empty folder and check so many disks after cuts."""
    warnings.filterwarnings("ignore", "lancedb fork support")
    begin = time.monotonic()
    experiment = Experiment(folder, steps)
    import lancedb  # noqa: F401 - the forks then have it

    outcome = Outcome(calls=len(experiment.calls), cuts=len(experiment.moments))
    for cut in experiment.list_cuts(count, seed):
        verdict = experiment.check(cut)
        outcome.states += 1
        outcome.failed += bool(verdict.faults)
        figures = outcome.by_step[cut.moment.step]
        figures["states"] += 1
        figures["failed"] += bool(verdict.faults)
        figures["embedded"] = max(figures["embedded"], verdict.embedded)
        outcome.by_loss[cut.state.loss] += 1
        outcome.doctor[verdict.doctor[:100] or "healthy"] += 1
        if verdict.faults:
            place = f"{cut.moment.step} {cut.moment.phase} #{cut.moment.number} after {cut.moment.after}"
            outcome.faults.append(f"{place}, lost: {cut.state.loss}: {'; '.join(verdict.faults)}")
            print(outcome.faults[-1][:700], flush=True)
        if time.monotonic() - begin > longest_s:
            break
    outcome.seconds = time.monotonic() - begin
    return outcome


def main(arguments: Sequence[str]) -> int:
    """Run the program, print the figures, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.powercut")
    parser.add_argument("--states", type=int, default=500, help="disks to check; 0 means all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after this time")
    parser.add_argument("--steps", nargs="*", default=[])
    given = parser.parse_args(arguments)
    place = _MEMORY if _MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="powercut-", dir=place) as folder:
        try:
            outcome = run_experiment(
                Path(folder), given.states, given.seed, given.seconds, given.steps
            )
        except RecordError as error:
            print(error)
            return 2
    print(
        f"{outcome.calls} calls, {outcome.cuts} cuts, {outcome.states} disks, {outcome.failed} failed, {outcome.seconds:.0f} s"
    )
    for step, figures in outcome.by_step.items():
        print(step, dict(figures))
    print(outcome.by_loss)
    print(outcome.doctor)
    return bool(outcome.failed)
