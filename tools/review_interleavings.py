"""Requests the pages of reviews in random order, repeats them, and kills the processes at random.

    python -m tools.review_interleavings --count 1000 --seed 1

Each interleaving reviews some documents. A step requests the next page or an earlier one, sometimes
in two processes at once, and sometimes kills the process with SIGKILL at a random moment. In the
end the pages must hold the items of an undisturbed run, each once and in its order, and a cursor
must always have given the same page. The processes are forks of this program, so a step takes
milliseconds; the language model is a scripted one.
"""

import argparse
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple
from unittest.mock import patch

import msgspec

from kebab.app.context import AppContext
from kebab.app.review import review
from kebab.config.load import load_settings
from kebab.core.answers import LanguageModel
from kebab.core.progress import Cancel
from kebab.wire.review import AgentItems, ReviewRequest
from tools.misspelling_model import MisspellingModel

Tier = Literal["quick", "deep"]
BuildModel = Callable[[int], LanguageModel]

_NOTES = {
    "a.md": "# Baking\n\nPut the the oven on, wich is hot. Put teh dough in. You recieve bread.\n\n"
    "It rests for an hour. Then teh loaf is done, wich is good. Nobody saw teh cat.\n",
    "b.md": "---\r\ntitle: Smile\r\n---\r\n\U0001f600 We recieve mail. All is well here.\r\n\r\n"
    "```\r\nteh code\r\n```\r\n\r\nSee the the sea. \U0001f469\u200d\U0001f467 saw teh sun.\r\n",
    "c.md": "All is well. Nothing is wrong here.\n",
    "d.md": "그것은 안되요. 오늘은 날씨가 좋다. 이것도 안되요.\n\n"
    + "".join(f"Sentence {number} has teh word in it. " for number in range(6))
    + "\n",
}
_LIMITS = (1, 2, 3, 3, 5, 5, 8, 1000, 1000)
_REPEAT_SHARE, _KILL_SHARE, _TWICE_SHARE = 0.25, 0.35, 0.1
_LAB_RUNS = 10
"""So many interleavings share a data directory, so that some kills hit its creation."""
_STEP_S = 60.0
_MAX_STEPS = 500
_MODEL_S = 0.001


class Outcome(NamedTuple):
    """What happened."""

    counts: Counter[str]
    faults: list[str]
    seconds: float


class _Process(NamedTuple):
    pid: int
    output: int


class Lab:
    """Folders with documents and a data directory, and processes that review them."""

    def __init__(self, folder: Path, build_model: BuildModel) -> None:
        self._folder = folder
        self._build_model = build_model
        self.files = [folder / name for name in _NOTES]
        for file, text in zip(self.files, _NOTES.values(), strict=True):
            file.write_bytes(text.encode())
        self.typical_s = 0.05
        """How long a request takes that is not killed."""

    def clear(self) -> None:
        """Delete the data directory."""
        shutil.rmtree(self._folder / "data", ignore_errors=True)

    def start(self, request: ReviewRequest, seed: int) -> _Process:
        """Start a process that answers a request."""
        output, own = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(output)
            status = 1
            try:
                _write(own, msgspec.json.encode(self.review(request, seed)))
                status = 0
            except BaseException as fault:  # noqa: BLE001 - the parent reports it
                _write(own, f"{type(fault).__name__}: {fault}".encode())
            finally:
                os._exit(status)
        os.close(own)
        return _Process(pid, output)

    def finish(self, process: _Process, kill_after_s: float | None = None) -> AgentItems | None:
        """Return the page of a process; None when it was killed before it answered.

        Raises:
            RuntimeError: The process failed, or did not end.
        """
        limit = _STEP_S if kill_after_s is None else kill_after_s
        ready, _, _ = select.select([process.output], [], [], limit)
        if not ready:
            os.kill(process.pid, signal.SIGKILL)
        with os.fdopen(process.output, "rb") as pipe:
            data = pipe.read()
        _, status = os.waitpid(process.pid, 0)
        if not ready and kill_after_s is not None:
            return None
        if not ready or os.waitstatus_to_exitcode(status):
            raise RuntimeError(data.decode() or "no answer in time")
        return msgspec.json.decode(data, type=AgentItems)

    def review(self, request: ReviewRequest, seed: int) -> AgentItems:
        """Answer a request in this process."""
        flags = {"data_dir": str(self._folder / "data"), "offline": True}
        settings = load_settings(environ={}, flags=flags)
        context = AppContext(settings, config_path=self._folder / "config.toml")
        model = self._build_model(seed)
        with patch("kebab.app.review_start.build_language_model", lambda *_, **__: model):
            try:
                reply = review(context, request, lambda _: None, Cancel())
            finally:
                context.close()
        assert isinstance(reply, AgentItems), reply
        return reply


def _write(channel: int, data: bytes) -> None:
    while data:
        data = data[os.write(channel, data) :]


class Reader:
    """Reads the pages of one review, and remembers every page of it."""

    def __init__(self, lab: Lab, tier: Tier, chance: random.Random, counts: Counter[str]) -> None:
        self._lab = lab
        self._chance = chance
        self._counts = counts
        self._first = ReviewRequest(
            names=[str(file) for file in lab.files], tier=tier, limit=chance.choice(_LIMITS)
        )
        self._run: str | None = None
        self._pages: dict[str | None, bytes] = {}
        self.uids: list[str] = []

    def read(self) -> str | None:
        """Read all pages; return what was wrong, if anything."""
        cursor: str | None = None
        for _ in range(_MAX_STEPS):
            known = [None, *self._pages] if self._run else [None]
            again = len(known) > 1 and self._chance.random() < _REPEAT_SHARE
            chosen = self._chance.choice(known) if again else cursor
            self._counts["repeats"] += again
            for page in self._request(chosen):
                if self._run is None:
                    self._run = page.run_id
                content = _get_content(page)
                if self._pages.setdefault(chosen, content) != content:
                    return f"two pages for one cursor: {chosen}"
                if chosen == cursor:
                    self.uids += [item.uid for item in page.items]
                    cursor = page.next_cursor
                    if cursor is None:
                        return None
        return "the pages do not end"

    def _request(self, cursor: str | None) -> list[AgentItems]:
        """Return the pages of one or two processes; a killed one has none."""
        request = self._first
        if self._run is not None:
            request = ReviewRequest(run_id=self._run, cursor=cursor)
        twice = self._run is not None and self._chance.random() < _TWICE_SHARE
        count = 1 + twice
        self._counts["requests"] += count
        self._counts["pairs"] += twice
        begin = time.monotonic()
        running = [self._lab.start(request, self._chance.randrange(2**32)) for _ in range(count)]
        kills = self._chance.random() < _KILL_SHARE
        limit = self._chance.uniform(0, 1.3 * self._lab.typical_s) if kills else None
        replies = [self._lab.finish(process, limit) for process in running]
        pages = [page for page in replies if page is not None]
        self._counts["kills"] += count - len(pages)
        if not kills:
            self._lab.typical_s = 0.9 * self._lab.typical_s + 0.1 * (time.monotonic() - begin)
        return pages


def _get_content(page: AgentItems) -> bytes:
    """Return what a cursor always gives; how far the run is, and how it went, may change."""
    parts = (page.chunk_id, page.document, page.items, page.citations, page.next_cursor)
    return msgspec.json.encode((*parts, page.has_more, page.stats))


def run_interleavings(
    count: int, seed: int, build_model: BuildModel, report: Callable[[str], None] = lambda _: None
) -> Outcome:
    """Run so many interleavings, and compare each with an undisturbed run."""
    begin = time.monotonic()
    counts: Counter[str] = Counter()
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder), build_model)
        # What the processes import is then in the memory of this one.
        lab.review(ReviewRequest(names=[str(file) for file in lab.files]), 0)
        tiers: Sequence[Tier] = ("quick", "deep")
        wanted = {tier: _read_undisturbed(lab, tier) for tier in tiers}
        for number in range(count):
            if number % _LAB_RUNS == 0:
                lab.clear()
            chance = random.Random(f"{seed}/{number}")  # noqa: S311 - no secret
            tier = chance.choice(tiers)
            reader = Reader(lab, tier, chance, counts)
            try:
                fault = reader.read()
            except RuntimeError as failure:
                fault = str(failure)
            if fault is None and reader.uids != wanted[tier]:
                fault = f"{len(reader.uids)} items instead of {len(wanted[tier])}"
            counts["interleavings"] += 1
            counts["items"] += len(reader.uids)
            if fault is not None:
                faults.append(f"seed {seed}, interleaving {number}, {tier}: {fault}")
                report(faults[-1])
    return Outcome(counts, faults, time.monotonic() - begin)


def _read_undisturbed(lab: Lab, tier: Tier) -> list[str]:
    request = ReviewRequest(names=[str(file) for file in lab.files], tier=tier, limit=1000)
    uids: list[str] = []
    while True:
        page = lab.finish(lab.start(request, 0))
        assert page is not None
        uids += [item.uid for item in page.items]
        if page.next_cursor is None:
            return uids
        request = ReviewRequest(run_id=page.run_id, cursor=page.next_cursor)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> int:
    """Run the program, print the figures, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.review_interleavings")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    outcome = run_interleavings(given.count, given.seed, lambda _: MisspellingModel(_MODEL_S), _say)
    _say(", ".join(f"{name}: {number}" for name, number in outcome.counts.items()))
    _say(f"faults: {len(outcome.faults)}, seconds: {outcome.seconds:.0f}")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
