"""Edits and reads at the same time on every surface for an hour, and tells what grows.

    python -m tools.surfaces.mixed_load --minutes 60 [--notes FOLDER] [--models FOLDER]

`kebab watch` keeps the index current while notes are edited. One thread for each of the warm
command line, HTTP and MCP calls what `tools.surfaces.load_calls` lists: searches for a word that an
edit brought in, which must be the first hit, or that it took out, which must be absent, other reads
of the same notes, answers, sessions, reviews, health checks, and wrong requests. An edit has some
seconds to become visible. The client of MCP leaves now and then, by closing its input or by killing
the server; workers of the warm process are killed.

A row for each minute has the latencies, the time until an edit is visible, the faults, and the
memory. `--table FILE` keeps every measurement of every minute: also descriptors, threads, mapped
files, processor time, and the files of the home. In the end a table says which of them grow, and
how far each follows the load of the machine, which explains a growth of times. `probe ms` is a
fixed piece of work.
"""

import argparse
import csv
import hashlib
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tools.surfaces.clients import CommandClient, Node, run_process
from tools.surfaces.drift import LOAD, find_trends
from tools.surfaces.edits import Edit, EditedNotes, find_faults
from tools.surfaces.home import Home, build_environment
from tools.surfaces.load_calls import Ask, ask_surface, ask_tool, choose_call
from tools.surfaces.mcp_client import McpClient
from tools.surfaces.resources import (
    list_servers,
    measure_folders,
    measure_processes,
    read_processor_ms,
)
from tools.surfaces.servers import (
    ask_warm_process,
    run_http_server,
    run_server,
    use_warm_process,
    wait_until_gone,
)

ROOT = Path(__file__).parents[2]
NOTES = ROOT / "samples" / "notes"
EDITED = 20
VISIBLE_S = 15.0
"""How long an edit may take to become visible."""

WARM_UP = 8
"""The minutes that the verdict leaves out: caches fill, and memory grows to its size."""

_CALLS_OF_A_CLIENT = 60
"""After so many calls the client of MCP leaves and another comes."""
_KILL_PAUSE_S = 20.0
_PROBE_BYTES = 4_000_000
_MINUTE_S = 60.0


@dataclass(slots=True)
class Minute:
    """What was measured in a minute."""

    latencies: dict[str, list[float]] = field(default_factory=dict)
    visible: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    kills: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    resources: dict[str, float] = field(default_factory=dict)

    def list_values(self) -> dict[str, float]:
        """Return every measurement of the minute by its name."""
        speeds = {f"{name} ms": _get_share(one, 0.5) for name, one in self.latencies.items()}
        slowest = {f"{name} p95 ms": _get_share(one, 0.95) for name, one in self.latencies.items()}
        seen = {"visible ms": 1000 * _get_share(self.visible, 0.5)} if self.visible else {}
        events = {"faults": len(self.faults), "kills": self.kills}
        return {**speeds, **slowest, **seen, **events, **self.resources}

    def format_row(self, number: int) -> str:
        """Return the row of the table: milliseconds, seconds, and MB."""
        speeds = "  ".join(
            f"{name} {len(taken):4} x {_get_share(taken, 0.5):4.0f}/{_get_share(taken, 0.99):5.0f}"
            for name, taken in sorted(self.latencies.items())
        )
        seen = f"{_get_share(self.visible, 0.5):.1f}/{max(self.visible, default=0):.1f} s"
        memory = "  ".join(
            f"{name.removesuffix(' MB')} {size:.0f}"
            for name, size in sorted(self.resources.items())
            if name.endswith(" MB")
        )
        return f"{number:3}  {speeds}  visible {seen}  faults {len(self.faults)}  MB: {memory}"


class Load:
    """Collects what the threads of a run measure."""

    def __init__(self, notes: EditedNotes) -> None:
        self.notes = notes
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._minute = Minute()

    def take_minute(self) -> Minute:
        """Return what was measured since the last call."""
        with self._lock:
            minute, self._minute = self._minute, Minute()
        return minute

    def add_call(self, surface: str, name: str, seconds: float) -> None:
        """Add the latency of a call; only searches are compared between minutes."""
        with self._lock:
            self._minute.calls[surface] = self._minute.calls.get(surface, 0) + 1
            if name == "search":
                self._minute.latencies.setdefault(surface, []).append(seconds * 1000)

    def add_faults(self, surface: str, *faults: str) -> None:
        """Add faults."""
        with self._lock:
            self._minute.faults += [f"{surface}: {fault}" for fault in faults]

    def add_kill(self) -> None:
        """Add the kill of a worker."""
        with self._lock:
            self._minute.kills += 1

    def add_visible(self, seconds: float) -> None:
        """Add the time until an edit was visible."""
        with self._lock:
            self._minute.visible.append(seconds)


def call_repeatedly(load: Load, surface: str, ask: Ask, pause_s: float, seed: int) -> None:
    """Call until the load stops; what a call says of an edit counts if no other edit followed."""
    chance = random.Random(seed)  # noqa: S311 - the same seed asks the same questions

    def ask_timed(operation: str, fields: Mapping[str, object]) -> Node:
        started = time.monotonic()
        reply = ask(operation, fields)
        load.add_call(surface, operation, time.monotonic() - started)
        return reply

    while not load.stopped.wait(pause_s):
        settled = load.notes.list_settled(VISIBLE_S)
        if not settled:
            continue
        call, edit = choose_call(chance, tools=surface == "mcp"), chance.choice(settled)
        try:
            faults = [*call.run(ask_timed, chance, edit, surface)]
        except Exception as fault:  # noqa: BLE001 - the load goes on, and the fault is reported
            faults = [f"{type(fault).__name__}: {str(fault)[:300]}"]
        if load.notes.is_last(edit):
            load.add_faults(surface, *(f"{call.name}: {fault}" for fault in faults))


class ChangingMcpClient:
    """A client of MCP that leaves after some calls, every second time by killing the server."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._start = partial(McpClient, environment, folder)
        self._client: McpClient | None = None
        self._calls = self._leaves = 0

    def ask(self, operation: str, fields: Mapping[str, object]) -> Node:
        """Return the answer of a tool."""
        if self._client is not None and self._calls % _CALLS_OF_A_CLIENT == 0:
            self.leave(kill=bool(self._leaves % 2))
        self._client = self._client or self._start()
        self._calls += 1
        return ask_tool(self._client, operation, fields)

    def leave(self, *, kill: bool = False) -> None:
        """End the server."""
        if self._client is not None:
            if kill:
                self._client.process.kill()
            self._client.__exit__()
            self._client = None
            self._leaves += 1


def kill_repeatedly(load: Load, home: Path, seed: int) -> None:
    """Kill a worker of the warm process now and then; no answer may be lost by that."""
    chance = random.Random(seed)  # noqa: S311 - the same seed kills in the same order
    while not load.stopped.wait(_KILL_PAUSE_S):
        status = ask_warm_process(home)
        if status is not None and status["workers"]:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(status["workers"])["pid"], signal.SIGKILL)
                load.add_kill()


def edit_repeatedly(load: Load, ask: Ask, pause_s: float) -> None:
    """Edit until the load stops, and measure how long each edit takes to become visible."""
    while not load.stopped.wait(pause_s):
        edit = load.notes.edit()
        while not _is_visible(ask, edit) and not load.stopped.wait(0.1):
            if time.monotonic() - edit.written > VISIBLE_S:
                load.add_faults("edit", f"{edit.path} is not visible after {VISIBLE_S:.0f} s")
                break
        else:
            load.add_visible(time.monotonic() - edit.written)


def _is_visible(ask: Ask, edit: Edit) -> bool:
    try:
        return not list(find_faults(ask("search", {"query": edit.word, "detail": "ids"}), edit))
    except Exception:  # noqa: BLE001 - the threads that search report it
        return False


@contextmanager
def run_threads(load: Load, works: Sequence[Callable[[], None]]) -> Iterator[None]:
    """Run functions in threads until the context ends."""
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        load.stopped.set()
        for thread in threads:
            thread.join(VISIBLE_S * 2)


def run_load(options: argparse.Namespace, folder: Path) -> int:
    """Run the load in a folder; return the number of faults."""
    (folder / "home").mkdir()
    environment = build_environment(folder / "home", options.models)
    environment |= {"KEBAB_DAEMON_AUTO": "true", "KEBAB_WATCH_DEBOUNCE_MS": "300"}
    environment["PYTHONPATH"] = str(ROOT)
    run = partial(run_process, environment=environment, folder=folder / "home")
    home = Home(folder / "home", options.notes, run)
    notes = EditedNotes(home.notes / "edited", home.notes, EDITED, options.seed)
    home.prepare()
    load = Load(notes)
    with ExitStack() as stack:
        stack.enter_context(use_warm_process(environment, home.folder))
        stack.enter_context(run_server(("watch",), environment, home.folder))
        http = stack.enter_context(run_http_server(environment, home.folder))
        mcp = ChangingMcpClient(environment, home.folder)
        stack.callback(mcp.leave)
        surfaces: dict[str, Ask] = {
            "warm": partial(ask_surface, CommandClient(run)),
            "http": partial(ask_surface, http),
            "mcp": mcp.ask,
        }
        works = [
            partial(call_repeatedly, load, name, ask, options.pause, options.seed + number)
            for number, (name, ask) in enumerate(surfaces.items())
        ]
        works.append(partial(edit_repeatedly, load, surfaces["http"], options.edit_pause))
        works.append(partial(kill_repeatedly, load, home.folder, options.seed))
        with run_threads(load, works):
            rows = report_minutes(load, home.folder, options.minutes)
    left = wait_until_gone(home.folder)
    _print(f"processes left: {list(left.values()) or 'none'}")
    if options.table:
        _write_table(options.table, rows)
    trends = find_trends(rows, WARM_UP)
    _print(f"medians of the first and the last third after {WARM_UP} minutes, and the change")
    for trend in trends:
        _print(trend.format_row())
    growing = [trend.name for trend in trends if trend.verdict == "grows"]
    _print(f"growing: {', '.join(growing) or 'nothing'}")
    return int(sum(row["faults"] for row in rows)) + len(left)


def report_minutes(load: Load, home: Path, minutes: int) -> list[dict[str, float]]:
    """Print a row for each minute, and return the measurements."""
    rows: list[dict[str, float]] = []
    used: dict[int, float] = {}
    for number in range(1, minutes + 1):
        load.stopped.wait(_MINUTE_S)
        minute = load.take_minute()
        servers = list_servers(home)
        before, used = used, read_processor_ms(servers)
        minute.resources = {
            **measure_processes(servers),
            **measure_folders(home),
            **_share_processor(servers, before, used, minute.calls),
            "probe ms": _probe(),
            LOAD: os.getloadavg()[0],
        }
        _print(minute.format_row(number))
        for fault in minute.faults:
            _print(f"     {fault}")
        rows.append(minute.list_values())
    return rows


def _share_processor(
    servers: Mapping[int, str],
    before: Mapping[int, float],
    used: Mapping[int, float],
    calls: Mapping[str, int],
) -> dict[str, float]:
    """Return the processor time of each kind of processes for each of its calls.

    The watcher has no calls, so it counts for the minute. A process that is new has no share yet.
    """
    totals: dict[str, float] = {}
    for process, kind in servers.items():
        if process in before and process in used:
            totals[kind] = totals.get(kind, 0.0) + used[process] - before[process]
    return {
        f"{kind} processor ms": total / max(1, calls.get(kind, 1)) for kind, total in totals.items()
    }


def _probe() -> float:
    """Return the milliseconds of a fixed piece of work, the best of some."""
    data = bytes(_PROBE_BYTES)
    times = []
    for _ in range(5):
        started = time.perf_counter()
        hashlib.sha256(data).digest()
        times.append((time.perf_counter() - started) * 1000)
    return min(times)


def _write_table(path: Path, rows: Sequence[Mapping[str, float]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, sorted({name for row in rows for name in row}))
        table.writeheader()
        table.writerows(rows)


def _get_share(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of the values lies; 0 without values."""
    if len(values) < 2:  # noqa: PLR2004 - `quantiles` needs two
        return max(values, default=0.0)
    return statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]


def main() -> int:
    """Run the program; the exit status is 1 after a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--notes", type=Path, default=NOTES, help="the notes, which are copied")
    parser.add_argument("--models", type=Path, help="a folder with embedding models")
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two searches")
    parser.add_argument("--edit-pause", type=float, default=2.0, help="seconds between two edits")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", type=Path, help="a CSV file for all measurements")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kebab-load-"))
    try:
        return bool(run_load(options, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the output of the program


if __name__ == "__main__":
    sys.exit(main())
