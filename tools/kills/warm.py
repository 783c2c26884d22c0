"""Kills the warm process at random moments, and compares every answer with that of a cold call.

Calls run one after another. Another thread waits until the
process is ready and a call begins, and kills the parent or a worker within that call; a third one
edits a file and ingests it. At the end the last edit must be in the index.
"""

import math
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from kebab.warm.start import ask_status, find_own_socket, is_listening

CALLS: tuple[tuple[str, ...], ...] = (
    ("search", "sourdough", "--json"),
    ("search", "no such words at all", "--json"),
    ("search", "bread", "-n", "3"),
    ("grep", "needs", "--json"),
    ("list", "--json"),
    ("fetch", "bread.md", "--json"),
    ("ask", "--extractive", "what does sourdough need", "--json"),
    ("fetch", "nowhere.md", "--json"),
    ("search", "--nonsense", "--json"),
)
_CHANGING = re.compile(
    rb'"(timestamp|timing_ms|\w+_ms|corpus_revision|correlation_id|trace_id|created_at|checked_at|indexed_at'
    rb'|revision)":("[^"]*"|[\d.]+|null|\{[^}]*\})'
)
_INDEXING = re.compile(
    rb',"indexing":(null|\{[^}]*\})|^note: an ingest is running:.*\n', re.MULTILINE
)
_LONGEST_PAUSE_S = 0.3
"""The longest time from the moment that the process is ready to the call that is disturbed."""
_LONGEST_CALL_S = 0.12
"""The longest time from the begin of a call to the kill; most warm calls take about as long."""
_EDIT_PAUSE_S = 1.0
_POLL_S = 0.02
_PARENT_SHARE = 0.1
"""The share of kills that hit the parent, after which calls run cold until there is a new one."""
_CLIENT = """
import os, sys
from kebab.cli import main

report, run_warm = int(sys.argv.pop(1)), main.run_warm
os.set_inheritable(report, False)

def run_and_report(arguments):
    status = run_warm(arguments)
    os.write(report, b"cold" if status is None else b"warm")
    return status

main.run_warm = run_and_report
main.run()
"""
"""The command line, which also tells whether the warm process answered."""
_START_S, _STOP_S, _CALL_S = 1.0, 60.0, 120.0


class Outcome(NamedTuple):
    """What happened."""

    calls: int
    warm_calls: int
    """Those that the warm process answered."""
    kills: int
    kills_within_calls: int
    edits: int
    faults: list[str]


def run_kills(folder: Path, count: int, seed: int, longest_s: float = math.inf) -> Outcome:
    """Run calls until there were `count` kills; `folder` has a short path and is empty."""
    experiment = Experiment(folder, seed)
    deadline = time.monotonic() + longest_s
    experiment.edit()
    expected = {call: experiment.call(call, warm=False) for call in CALLS}
    with experiment.disturb(count):
        while experiment.kills < count and not experiment.faults and time.monotonic() < deadline:
            experiment.check(experiment.choose_call(), expected)
    experiment.check_edits()
    experiment.stop()
    return Outcome(
        experiment.calls,
        experiment.warm_calls,
        experiment.kills,
        experiment.kills_within_calls,
        experiment.edits,
        experiment.faults,
    )


class Experiment:
    """A knowledge base with a warm process of its own."""

    def __init__(self, folder: Path, seed: int, more: Mapping[str, str] | None = None) -> None:
        self.kills = self.kills_within_calls = self.calls = self.warm_calls = self.edits = 0
        self.faults: list[str] = []
        self._random = random.Random(seed)  # noqa: S311 - no secret
        self._notes = folder / "notes"
        self._changing = folder / "changing"
        for made in (self._notes, self._changing, folder / "run"):
            made.mkdir(mode=0o700)
        (self._notes / "bread.md").write_text("# Bread\n\nSourdough needs time.\n", "utf-8")
        places = ("CONFIG", "DATA", "CACHE", "STATE")
        kept = {name: text for name, text in os.environ.items() if not name.startswith("KEBAB_")}
        self._environ: Mapping[str, str] = {
            **kept,
            **{f"XDG_{place}_HOME": str(folder / place.lower()) for place in places},
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "KEBAB_OFFLINE": "true",
            **(more or {}),
        }
        self._stopping = False
        self._began = threading.Event()
        """Set while a call runs."""

    def run(self, words: Sequence[str], *, warm: bool) -> "subprocess.CompletedProcess[bytes]":
        """Run a command line, where the warm process may serve it if `warm`."""
        environ = {**self._environ, "KEBAB_DAEMON_AUTO": "true" if warm else "false"}
        reading, writing = os.pipe()
        line = [sys.executable, "-c", _CLIENT, str(writing), *words]
        try:
            done = subprocess.run(  # noqa: S603 - kebab itself
                line,
                env=environ,
                capture_output=True,
                check=False,
                timeout=_CALL_S,
                pass_fds=[writing],
            )
        finally:
            os.close(writing)
            with open(reading, "rb") as report:  # noqa: PTH123 - a descriptor
                self.warm_calls += report.read(4) == b"warm"
        return done

    def call(self, words: Sequence[str], *, warm: bool) -> tuple[int, bytes, bytes]:
        """Return the status and the output of a call, without what differs from run to run."""
        done = self.run((*words, *_restrict(words)), warm=warm)
        return done.returncode, _drop_changing(done.stdout), _drop_changing(done.stderr)

    def choose_call(self) -> tuple[str, ...]:
        """Return the next call."""
        return self._random.choice(CALLS)

    def check(
        self, words: tuple[str, ...], expected: Mapping[tuple[str, ...], tuple[int, bytes, bytes]]
    ) -> None:
        """Compare the answer of a call with the cold one."""
        self.calls += 1
        self._began.set()
        answer = self.call(words, warm=True)
        self._began.clear()
        if answer != expected[words]:
            self.faults.append(f"{words}: {answer} instead of {expected[words]}")

    def ingest(self) -> None:
        """Ingest both folders."""
        done = self.run(("ingest", str(self._notes), str(self._changing), "--json"), warm=True)
        if done.returncode:
            self.faults.append(f"ingest: {done.returncode} {done.stderr!r}")

    @contextmanager
    def disturb(self, count: int) -> Iterator[None]:
        """Kill and edit in threads while the block runs."""
        threads = [
            threading.Thread(target=self._kill_often, args=(count,)),
            threading.Thread(target=self._edit_often),
        ]
        for one in threads:
            one.start()
        try:
            yield
        finally:
            self._stopping = True
            for one in threads:
                one.join()

    def _kill_often(self, count: int) -> None:
        while self.kills < count and not self._stopping:
            victims = self._find_victims()
            time.sleep(self._random.uniform(0, _LONGEST_PAUSE_S))
            if victims and self._began.wait(_POLL_S):
                time.sleep(self._random.uniform(0, _LONGEST_CALL_S))
                self._kill(victims)

    def _find_victims(self) -> list[int]:
        """Return the ids of the parent and of its workers; none while it is not ready."""
        path = find_own_socket(self._environ)
        status = ask_status(path) if path else None
        if status is None or not status["workers"]:
            time.sleep(_POLL_S)
            return []
        return [status["pid"], *(worker["pid"] for worker in status["workers"])]

    def _kill(self, victims: Sequence[int]) -> None:
        """Kill one of them, rarely the first."""
        parent, *workers = victims
        hits_parent = self._random.random() < _PARENT_SHARE
        victim = parent if hits_parent else self._random.choice(workers)
        number = self._random.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
        within = self._began.is_set()
        with suppress(ProcessLookupError):
            os.kill(victim, number)
            self.kills += 1
            self.kills_within_calls += within

    def _edit_often(self) -> None:
        while not self._stopping:
            self.edit()
            time.sleep(_EDIT_PAUSE_S)

    def edit(self) -> None:
        """Change a file and ingest it; the statistics of the index, and so all scores, stay."""
        self.edits += 1
        text = f"# Edit\n\nzebra{self.edits:06}word\n"
        (self._changing / "edit.md").write_text(text, "utf-8")
        self.ingest()

    def check_edits(self) -> None:
        """Look for the last edit in the index."""
        done = self.run(("grep", f"zebra{self.edits:06}word", "--json"), warm=False)
        listed = self.run(("search", f"zebra{self.edits:06}word", "--json"), warm=False)
        if done.returncode or b"edit.md" not in listed.stdout:
            self.faults.append(f"edit {self.edits} is lost")

    def stop(self) -> None:
        """End the warm process; one that only begins is waited for."""
        deadline = time.monotonic() + _STOP_S
        while time.monotonic() < deadline:
            self.run(("serve", "--stop"), warm=True)
            time.sleep(_START_S)
            path = find_own_socket(self._environ)
            if path is None or not is_listening(path):
                return
        self.faults.append("the warm process does not end")


def _drop_changing(output: bytes) -> bytes:
    return _CHANGING.sub(rb'"\1":0', _INDEXING.sub(b"", output))


def _restrict(words: Sequence[str]) -> tuple[str, ...]:
    """Return a filter that leaves the edits out."""
    takes_filter = words[0] in ("search", "grep", "list", "ask")
    return ("--source", "notes") if takes_filter else ()
