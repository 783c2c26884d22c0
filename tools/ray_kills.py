"""Kills the parts of an ingest on a cluster at random moments, and compares what is stored.

    python -m tools.ray_kills --kills 200 --seed 1

A Ray cluster of two nodes on this machine reads notes with a tiny model. In every round some notes
change, are added or deleted. While `kebab ingest --ray` works on them, processes of the nodes, the
second node and the driver are killed or interrupted. A last run without kills completes the round.
Then the knowledge base must hold what a local ingest of the same notes holds: documents, passages
and their ids, and equal vectors.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from subprocess import Popen
from typing import Any

import numpy as np

from kebab.core.ids import Key
from kebab.store.lance.vectors import LanceVectors
from kebab.store.sqlite.reader import SqliteReader
from tests.e2e.conftest import build_cli
from tests.e2e.crash_driver import dump_library
from tests.fakes.ray_cluster import RayNodes

NOTES = 60
_CHANGED = 25
_RUN_S = 600
_LONGEST_WAIT_S = 3.0
_CLOSE = 1e-5
_TARGETS = (*["worker"] * 5, *["node"] * 2, "driver", "interrupt")
_WORDS = ("bread", "cat", "dog", "eating", "food", "man", "mat", "park", "piece", "runs", "sleeps")


class Cluster:
    """The notes, a knowledge base that the cluster fills, and one that this machine fills."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.nodes, self.chance = RayNodes(), chance
        self.nodes.add_node()
        self.cli = build_cli(folder)
        self.cli.environment |= self.nodes.environment
        self.cli.install_models()
        self.kills: Counter[str] = Counter()

    def change_notes(self) -> None:
        """Write some notes anew, and delete one."""
        for number in self.chance.sample(range(NOTES), _CHANGED):
            parts = [
                f"## Part {part}\n\n{' '.join(self.chance.choices(_WORDS, k=150))}.\n"
                for part in range(6)
            ]
            self.cli.write(f"{number:03}.md", f"# Note {number}\n\n" + "\n".join(parts))
        with suppress(FileNotFoundError):
            (self.cli.notes / f"{self.chance.randrange(NOTES):03}.md").unlink()

    def start(self, data: str, *arguments: str) -> Popen[bytes]:
        """Start an ingest of the notes."""
        return self.cli.start("--data-dir", data, "ingest", self.cli.notes, "--json", *arguments)

    def finish(self, data: str, *arguments: str) -> None:
        """Ingest without kills."""
        process = self.start(data, *arguments)
        out, err = process.communicate(timeout=_RUN_S)
        if process.returncode:
            raise AssertionError(f"an ingest without kills failed: {out!r} {err!r}")

    def kill_parts(self, process: Popen[bytes]) -> None:
        """Kill parts of the work until the driver ends, from when the nodes work on."""
        while process.poll() is None and not self.nodes.list_workers():
            time.sleep(0.05)
        while process.poll() is None:
            time.sleep(self.chance.uniform(0, _LONGEST_WAIT_S))
            target = self.chance.choice(_TARGETS)
            if target == "worker":
                workers = self.nodes.list_workers()
                if not workers:
                    continue
                with suppress(ProcessLookupError):
                    os.kill(self.chance.choice(workers), signal.SIGKILL)
            elif target == "node":
                self.nodes.kill_node()
                self.nodes.add_node()
            elif process.poll() is None:
                process.send_signal(signal.SIGKILL if target == "driver" else signal.SIGINT)
            self.kills[target] += 1
        _, err = process.communicate(timeout=_RUN_S)
        if b"Traceback" in err:
            raise AssertionError(err.decode())

    def run_round(self) -> None:
        """Change notes, kill an ingest of them, complete it, and compare."""
        self.change_notes()
        self.finish("local")
        self.kill_parts(self.start("cluster", "--ray", self.nodes.address))
        self.finish("cluster", *self.chance.choice(((), ("--ray", self.nodes.address))))
        folder = self.cli.folder
        check_state(read_state(folder / "cluster"), read_state(folder / "local"))


def read_state(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a knowledge base holds, without the vectors, and the vectors by chunk."""
    state = dump_library(path)
    with SqliteReader(path) as reader:
        stored = LanceVectors(path, state["version"], 384)
        keys = sorted(set(map(Key, stored.list_keys())))
        ids = {chunk.key: chunk.chunk_id for chunk in reader.load_chunks(keys)}
        vectors = stored.get(keys)
    del state["vectors"], state["nearest"]
    return state, {ids[key]: vectors[key] for key in keys}


def check_state(
    found: tuple[dict[str, Any], dict[str, Any]], expected: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    """Raise an `AssertionError` unless two knowledge bases hold the same, with all vectors."""
    (state, vectors), (wanted, others) = found, expected
    if state["pending"]:
        raise AssertionError(f"{state['pending']} passages have no vector")
    if state != wanted or vectors.keys() != others.keys():
        raise AssertionError("the stores differ")
    if any(np.abs(vectors[one] - others[one]).max() > _CLOSE for one in vectors):
        raise AssertionError("the vectors differ")


def main() -> int:
    """Run rounds until so many kills were done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)  # noqa: S311 - kills need no secrets
    with tempfile.TemporaryDirectory(prefix="ray-kills-") as name:
        cluster = Cluster(Path(name), chance)
        try:
            rounds = 0
            while cluster.kills.total() < arguments.kills:
                cluster.run_round()
                rounds += 1
                sys.stderr.write(f"{rounds} {dict(cluster.kills)}\n")
        finally:
            cluster.nodes.close()
    sys.stdout.write(f"{rounds} rounds, 0 differences: {dict(cluster.kills)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
