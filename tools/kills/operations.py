"""Kills a command at a random moment or write, and judges what the next run makes of what is left.

The commands are forks of this program, so that a kill costs half a second and not the start of a
process. Each step of the session of `tools.kills.session` is killed, and a watcher after an edit.
"""

import os
import random
import select
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.main import main
from kebab.store.lance import LanceTable
from kebab.store.published import Dataset
from kebab.store.sqlite import connection
from kebab.store.sqlite.connection import Transactions
from kebab.store.sqlite.lock import WriterLock
from kebab.store.vectors import LanceVectors
from tests.fakes.console import enter_environment
from tools.fatal_writes import count_writes
from tools.kills.check import FOLDERS, USER_FOLDERS, Lab, Situation, Verdict, run_apart
from tools.kills.session import STEPS, Step, run_lines, write_note

WATCH = "watch"
_LONGEST_S = 60.0
_AT_WRITES = 0.5
"""The share of kills at a write; the others come at a moment."""
_LATEST = 1.1
"""The latest moment of a kill, as a share of the time that the undisturbed command took."""
_WATCHED_STEP = "edit"
"""The step whose home the watcher finds."""
_WATCH_S = 0.8
"""The longest time from an edit to the kill of the watcher, which waits a tenth of a second."""


_WRITES: tuple[tuple[Any, str], ...] = (
    *((os, name) for name in ("fsync", "replace", "rename", "unlink", "mkdir", "rmdir", "pwrite")),
    *((LanceTable, name) for name in ("add", "compact")),
    *((LanceVectors, name) for name in ("_save_snapshot", "rebuild", "save")),
    *((Dataset, name) for name in ("add", "delete", "maintain")),
    (Transactions, "_commit"),
    (connection, "truncate_log"),
    (WriterLock, "_write"),
)
"""The functions that write; a kill comes before or after one of their calls."""


class Kill(NamedTuple):
    """A killed command: whether it had begun and not ended, and what was wrong afterwards."""

    operation: str
    is_within: bool
    verdict: Verdict


class _State(NamedTuple):
    """The home before a step, and what the person has before, after and earlier."""

    folder: Path
    situation: Situation
    seconds: float
    writes: int


class Operations:
    """The steps of the session, each with the home that it finds.

    Args:
        folder: An empty folder.
        chance: The source of choices.
        names: The operations that are killed; all by default.
    """

    def __init__(self, folder: Path, chance: random.Random, names: Sequence[str] = ()) -> None:
        self._lab = Lab(folder)
        self._chance = chance
        self._states: dict[str, _State] = {}
        self._steps = {step.name: step for step in STEPS}
        (self._lab.home / "notes").mkdir()
        previous: dict[str, bytes] = {}
        wanted = set(names) - {WATCH} | ({_WATCHED_STEP} if WATCH in names else set())
        for step in STEPS:
            if not names or not wanted <= self._states.keys():
                previous = self._prepare(step, folder / step.name, previous)
        self.names = names or [*self._states, WATCH]

    def _prepare(self, step: Step, kept: Path, previous: dict[str, bytes]) -> dict[str, bytes]:
        """Keep the home before a step, run the step, and return the files of the person then."""
        home = self._lab.home
        for _ in range(step.repeats):
            step.edit(home)
            shutil.rmtree(kept, ignore_errors=True)
            for name in FOLDERS:
                if (home / name).is_dir():
                    shutil.copytree(home / name, kept / name)
            before, begin = self._read_files(), time.monotonic()
            writes: int = run_apart(lambda: self._run(step))
            seconds = time.monotonic() - begin
            after = self._read_files()
            situation = Situation(step.name, before, after, previous)
            self._states[step.name] = _State(kept, situation, seconds, writes)
            previous = after
        return previous

    def _read_files(self) -> dict[str, bytes]:
        home = self._lab.home
        return {
            name: path.read_bytes()
            for path in home.rglob("*")
            if path.is_file() and (name := str(path.relative_to(home))).startswith(USER_FOLDERS)
        }

    def _run(self, step: Step, dies_at: int = 0) -> int:
        """Run a step in this process; return the number of its writes."""
        read_count = count_writes(_WRITES, dies_at)
        with enter_environment(self._lab.environ, self._lab.home):
            run_lines(self._lab.home, step)
        return read_count()

    def kill(self, name: str) -> Kill:
        """Kill an operation once and judge what is left."""
        state = self._states[_WATCHED_STEP if name == WATCH else name]
        self._lab.clear()
        shutil.copytree(state.folder, self._lab.home, dirs_exist_ok=True)
        situation = state.situation
        if name == WATCH:
            is_within = self._kill_watcher()
            files = self._read_files()
            situation = situation._replace(before=files, after=files)
        else:
            is_within = self._kill_step(self._steps[name], state)
        return Kill(name, is_within, self._lab.check(situation))

    def _kill_step(self, step: Step, state: _State) -> bool:
        """Kill a step at a write or at a moment, by turns."""
        if self._chance.random() < _AT_WRITES and state.writes:
            at = self._chance.randint(1, state.writes)
            return self._kill_fork(lambda: self._run(step, at), None)
        delay = self._chance.uniform(0, state.seconds * _LATEST)
        return self._kill_fork(lambda: self._run(step), lambda: time.sleep(delay))

    def _kill_fork(self, work: Callable[[], object], wait: Callable[[], object] | None) -> bool:
        """Run a function in a fork and kill it after a wait; return whether it was still at work.

        Without `wait` it kills itself.

        Raises:
            RuntimeError: The function failed, or its children outlive it.
        """
        pid = os.fork()
        if not pid:
            status = 1
            try:
                os.setsid()
                work()
                status = 0
            finally:
                os._exit(status)
        if wait is not None:
            wait()
            os.kill(pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status not in (0, -signal.SIGKILL):
            raise RuntimeError(f"the command ended with {status}")
        _wait_for_children(pid)
        return status != 0

    def _kill_watcher(self) -> bool:
        """Start a watcher, edit a file when it watches, and kill it soon after that."""
        reading, writing = os.pipe()
        home = self._lab.home

        def watch() -> None:
            null = os.open(os.devnull, os.O_WRONLY)
            channels = OutputChannels(
                OutputChannel(writing, "<stdout>"), OutputChannel(null, "<stderr>")
            )
            environ = {**self._lab.environ, "KEBAB_WATCH_DEBOUNCE_MS": "100"}
            with enter_environment(environ, home):
                main(("watch", str(home / "notes"), "--stream"), channels)

        def wait() -> None:
            seen = b""
            while b"started" not in seen:
                ready, _, _ = select.select([reading], [], [], _LONGEST_S)
                if not ready:
                    return
                seen += os.read(reading, 65_536)
            write_note(home, "f0/watched.md", str(self._chance.random()))
            time.sleep(self._chance.uniform(0, _WATCH_S))

        try:
            return self._kill_fork(watch, wait)
        finally:
            os.close(reading)
            os.close(writing)


def _wait_for_children(group: int) -> None:
    """Wait until the workers of a killed process have ended.

    Raises:
        RuntimeError: They do not end; then they are killed.
    """
    deadline = time.monotonic() + _LONGEST_S
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.005)
    os.killpg(group, signal.SIGKILL)
    raise RuntimeError("a worker outlives the killed process")


def kill_operations(
    folder: Path,
    count: int,
    seed: int,
    names: Sequence[str] = (),
    longest_s: float = float("inf"),
) -> Iterator[Kill]:
    """Yield so many kills, of all operations by turns, or fewer when the time is over.

    A kill that came before or after the work of the operation is yielded too.
    """
    end = time.monotonic() + longest_s
    chance = random.Random(seed)  # noqa: S311 - no secret
    operations = Operations(folder, chance, names)
    for number in range(count):
        if time.monotonic() > end:
            return
        yield operations.kill(operations.names[number % len(operations.names)])


def count_kills(kills: Iterator[Kill], report: Callable[[str], None]) -> dict[str, Counter[str]]:
    """Return the figures of each operation."""
    table: dict[str, Counter[str]] = {}
    for kill in kills:
        counts = table.setdefault(kill.operation, Counter())
        counts["kills"] += 1
        counts["within"] += kill.is_within
        for name in ("lost", "doubled", "wrong"):
            counts[name] += bool(getattr(kill.verdict, name))
        if kill.verdict.faults:
            report(f"{kill.operation}: {'; '.join(kill.verdict.faults)}")
    return table
