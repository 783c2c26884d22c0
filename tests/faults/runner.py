"""Runs faults one by one, judges them, and looks at the library that the next run leaves."""

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from tests.fakes.console import CommandResult, run
from tests.faults import damage
from tests.faults.grid import Grid, Size, choose_by_turns, is_selected
from tests.faults.judge import Case, judge_run
from tests.faults.ledger import Ledger
from tests.faults.scripts import COMMANDS as ASKING
from tests.faults.scripts import Script, list_scripts
from tests.faults.session import Command
from tests.faults.stage import Stage
from tests.faults.world import Injection

LONGEST_S = 20.0
"""A run that takes longer hangs: every limit of the session is far below."""

_PASSING_FILES = ("-wal", "-shm", "writer.lock")

Library = dict[str, Any]


class Runner:
    """The whole grid over one stage; `wanted` leaves only what has it in its name."""

    def __init__(self, stage: Stage, size: Size, wanted: str = "") -> None:
        self.ledger = Ledger()
        self._grid = Grid(stage.clocks, size)
        self._stage = stage
        self._size = size
        self._wanted = wanted
        self._clean: dict[str, CommandResult] = {}
        self._allowed: dict[str, list[Library]] = {}
        self._files: dict[str, Library] = {}

    def all(self) -> Ledger:
        """Run everything."""
        begun = time.perf_counter()
        for command in self._stage.session:
            self.command(command)
        self.scripts()
        self.damages()
        self.ledger.seconds = time.perf_counter() - begun
        return self.ledger

    def command(self, command: Command) -> None:
        """Run a command with each fault of the grid."""
        calls = self._rehearse(command)
        for one in self._grid.list_injections(command.name, calls, writes=command.writes):
            self._one(command, one)

    def scripts(self) -> None:
        """Let the server say everything that it can say wrong."""
        asking = [one for one in self._stage.session if one.name in ASKING]
        for script in list_scripts():
            for command in asking:
                if is_selected(f"{command.name} {script.name}", self._size.scripts):
                    self._one(command, script.injection, script)

    def damages(self) -> None:
        """Let commands meet damaged files."""
        self._stage.homes.restore("ready")
        meeting = [one for one in self._stage.session if one.name in damage.COMMANDS]
        for path, injection in damage.list_damages(self._stage.homes):
            for command in choose_by_turns(str(injection), meeting, self._size.damages):
                self._damage(command, injection, path)

    def _rehearse(self, command: Command) -> Counter[str]:
        """Run a command that nothing befalls; return how often each point was passed."""
        stage = self._stage
        stage.restore(command)
        clean = self._clean[command.name] = stage.run(command, watched=True)
        assert clean.status == command.status, (command.name, clean)
        calls = Counter(stage.world.calls)
        ends = [stage.recovered(command)] if command.writes else []
        stage.restore(command)
        ends.append(stage.recovered(command))
        self._allowed[command.name] = [one for one in ends if not isinstance(one, str)]
        assert len(self._allowed[command.name]) == len(ends), ends
        return +calls

    def _one(self, command: Command, injection: Injection, script: Script | None = None) -> None:
        """Run a command with one fault."""
        case = Case(command, injection, self._clean[command.name])
        if self._wanted not in str(case):
            return
        self._stage.restore(command)
        begun = time.perf_counter()
        if script is None:
            ran = self._stage.run(command, injection)
        else:
            ran = self._stage.run(command, says=script.says, settings=script.settings)
        took = time.perf_counter() - begun
        if script is None and not self._stage.world.fired:
            self.ledger.missed += 1
            return
        verdict = judge_run(case, ran)
        if took > LONGEST_S:
            verdict.broken.append(f"hang: {took:.0f} s")
        verdict.broken += self._after(case)
        self.ledger.note(verdict, injection.family)

    def _damage(self, command: Command, injection: Injection, path: Any) -> None:
        """Run a command over a damaged file, and then what mends it."""
        case = Case(command, injection, self._clean[command.name])
        if self._wanted not in str(case):
            return
        stage = self._stage
        stage.restore(command)
        injection.fault.act(path)
        verdict = judge_run(case, stage.run(command))
        if stage.homes.models in path.parents:
            stage.homes.mend_models()
        verdict.broken += self._remedied(command)
        self.ledger.note(verdict, injection.family)

    def _after(self, case: Case) -> Iterable[str]:
        """Return what is wrong with the library that the next clean run leaves."""
        command = case.command
        # What nothing was written to is as the rehearsal found it; a log of SQLite may hold writes.
        passing = _PASSING_FILES if not command.writes else _PASSING_FILES[1:]
        changed = self._stage.homes.changed("config", "data")
        if all(name.endswith(passing) for name in changed):
            return []
        found = self._stage.recovered(command, look=is_selected(str(case), self._size.doctor))
        if isinstance(found, str):
            return [f"recovery: {found}"]
        if case.injection.family == "server":
            found = {**found, "turns": self._allowed[command.name][-1]["turns"]}
        return self._differences(command, found)

    def _remedied(self, command: Command) -> Iterable[str]:
        """Return what is wrong after what doctor and the hints advise, the mildest first."""
        found: Library | str = ""
        for remedy in ((), ("init", "--force"), (*_AGAIN, "--force"), ("reset", "--yes")):
            if remedy:
                run(*(str(self._stage.homes.notes) if one is _NOTES else one for one in remedy))
            found = self._stage.recovered(command)
            if not isinstance(found, str):
                # Sessions and texts lie in the database alone, and go with it.
                return self._differences(command, found) and self._poorer(found)
        return [f"recovery: {found}"]

    def _poorer(self, found: Library) -> list[str]:
        """Return how a library differs from what files alone say, with or without the texts."""
        ready, plain = (self._from_files(home) for home in ("ready", "plain"))
        told = {**found, "turns": []}
        return [] if told in (ready, plain) else [f"library: {describe_difference(plain, told)}"]

    def _from_files(self, home: str) -> Library:
        if home not in self._files:
            command = Command("files", (), home)
            self._stage.restore(command)
            found = self._stage.recovered(command)
            assert not isinstance(found, str), found
            self._files[home] = {**found, "turns": []}
        return self._files[home]

    def _differences(self, command: Command, found: Library) -> list[str]:
        """Return how a library differs from all that it may be."""
        allowed = self._allowed[command.name]
        return [] if found in allowed else [f"library: {describe_difference(allowed[-1], found)}"]


_NOTES = "NOTES"
_AGAIN = ("ingest", _NOTES)


def describe_difference(expected: Library, found: Library) -> str:
    """Return where two libraries differ."""
    names = sorted(
        name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)
    )
    return "; ".join(f"{name}: {_compare(expected.get(name), found.get(name))}" for name in names)


def _compare(expected: Any, found: Any) -> str:
    if not isinstance(expected, list) or not isinstance(found, list):
        return f"{expected} became {found}"
    lost = [one for one in expected if one not in found]
    more = [one for one in found if one not in expected]
    return f"lost {lost}, more {more}, of {len(expected)} {len(found)}"[:800]
