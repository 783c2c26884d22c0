"""Edits and searches at the same time on every surface, and reports drift minute by minute.

    python -m tools.surfaces.mixed_load --minutes 10 [--notes FOLDER] [--models FOLDER]

`kebab watch` keeps the index current while notes are edited. One thread for each of the warm
command line, HTTP and MCP asks questions, and searches for a word that an edit brought in, which
must be the first hit, or that it took out, which must be absent. An edit has some seconds to become
visible. A row for each minute has the latencies, the time until an edit is visible, the faults, and
the memory of the processes.
"""

import argparse
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec

from tools.surfaces.clients import CommandClient, Node, run_process
from tools.surfaces.edits import Edit, EditedNotes, find_faults, find_old_faults
from tools.surfaces.home import Home, build_environment
from tools.surfaces.mcp_client import McpClient
from tools.surfaces.servers import (
    measure_memory,
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

QUESTIONS = (
    "how do I restore a backup",
    "백업은 어떻게 복원하나요",
    "sourdough starter",
    "what happened in the incident",
    "restic check",
    "tomatoes in the garden",
)
_MINUTE_S = 60.0
Search = Callable[[str], Node]


@dataclass(slots=True)
class Minute:
    """What was measured in a minute."""

    latencies: dict[str, list[float]] = field(default_factory=dict)
    visible: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    memory: dict[str, float] = field(default_factory=dict)

    def format_row(self, number: int) -> str:
        """Return the row of the table: milliseconds, seconds, and MB."""
        speeds = "  ".join(
            f"{name} {len(taken):4} x {_get_share(taken, 0.5):4.0f}/{_get_share(taken, 0.99):5.0f}"
            for name, taken in sorted(self.latencies.items())
        )
        seen = f"{_get_share(self.visible, 0.5):.1f}/{max(self.visible, default=0):.1f} s"
        memory = "  ".join(f"{name} {size:.0f}" for name, size in sorted(self.memory.items()))
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

    def add_call(self, surface: str, seconds: float) -> None:
        """Add the latency of a call."""
        with self._lock:
            self._minute.latencies.setdefault(surface, []).append(seconds * 1000)

    def add_faults(self, surface: str, *faults: str) -> None:
        """Add faults."""
        with self._lock:
            self._minute.faults += [f"{surface}: {fault}" for fault in faults]

    def add_visible(self, seconds: float) -> None:
        """Add the time until an edit was visible."""
        with self._lock:
            self._minute.visible.append(seconds)


def search_repeatedly(load: Load, surface: str, search: Search, pause_s: float, seed: int) -> None:
    """Search until the load stops; every second search is for the word of an edit."""
    chance = random.Random(seed)  # noqa: S311 - the same seed asks the same questions
    while not load.stopped.wait(pause_s):
        settled = load.notes.list_settled(VISIBLE_S)
        edit = chance.choice(settled) if settled and chance.randrange(2) else None
        wants_old = bool(edit and edit.old and chance.randrange(2))
        query = chance.choice(QUESTIONS)
        if edit is not None:
            query = edit.old if wants_old and edit.old else edit.word
        try:
            reply = _time_search(load, surface, search, query)
        except Exception as fault:  # noqa: BLE001 - the load goes on, and the fault is reported
            load.add_faults(surface, f"{query}: {type(fault).__name__}: {str(fault)[:300]}")
            continue
        if edit is not None and load.notes.is_last(edit):
            load.add_faults(surface, *(find_old_faults if wants_old else find_faults)(reply, edit))


def _time_search(load: Load, surface: str, search: Search, query: str) -> Node:
    started = time.monotonic()
    reply = search(query)
    load.add_call(surface, time.monotonic() - started)
    return reply


def edit_repeatedly(load: Load, search: Search, pause_s: float) -> None:
    """Edit until the load stops, and measure how long each edit takes to become visible."""
    while not load.stopped.wait(pause_s):
        edit = load.notes.edit()
        while not _is_visible(search, edit) and not load.stopped.wait(0.1):
            if time.monotonic() - edit.written > VISIBLE_S:
                load.add_faults("edit", f"{edit.path} is not visible after {VISIBLE_S:.0f} s")
                break
        else:
            load.add_visible(time.monotonic() - edit.written)


def _is_visible(search: Search, edit: Edit) -> bool:
    try:
        return not list(find_faults(search(edit.word), edit))
    except Exception:  # noqa: BLE001 - the threads that search report it
        return False


def search_with_mcp(client: McpClient, query: str) -> Node:
    """Return the hits of a search with the tool, with paths as other surfaces have them."""
    result = client.call("search", {"queries": query, "detail": "ids"})
    if result.failed:
        raise RuntimeError(result.reply)
    hits = [{"doc_path": hit["ref"].partition("#")[0]} for hit in result.reply["hits"]]
    return {"hits": hits}


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
        mcp = stack.enter_context(McpClient(environment, home.folder))
        lines = CommandClient(run)
        searches: dict[str, Search] = {
            "warm": lambda query: lines.ask("search", _encode(query)).reply,
            "http": lambda query: http.ask("search", _encode(query)).reply,
            "mcp": lambda query: search_with_mcp(mcp, query),
        }
        works = [
            partial(search_repeatedly, load, name, search, options.pause, number)
            for number, (name, search) in enumerate(searches.items())
        ]
        works.append(partial(edit_repeatedly, load, searches["http"], options.edit_pause))
        with run_threads(load, works):
            faults = _report_minutes(load, home.folder, options.minutes)
    left = wait_until_gone(home.folder)
    _print(f"processes left: {list(left.values()) or 'none'}")
    return faults + len(left)


def _report_minutes(load: Load, home: Path, minutes: int) -> int:
    faults = 0
    for number in range(1, minutes + 1):
        time.sleep(_MINUTE_S)
        minute = load.take_minute()
        minute.memory = measure_memory(home)
        _print(minute.format_row(number))
        for fault in minute.faults:
            _print(f"     {fault}")
        faults += len(minute.faults)
    return faults


def _encode(query: str) -> bytes:
    return msgspec.json.encode({"query": query, "detail": "ids"})


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
