"""Real processes on a real Ray cluster of two nodes: what it makes is what one machine makes."""

import os
import signal
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from kebab.core.chunks import Key
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.vectors import LanceVectors
from tests.e2e.conftest import Outcome, build_cli
from tests.e2e.crash_driver import dump_library
from tests.fakes.ray_cluster import RayNodes

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray: pip install 'kebab[ray]'"),
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes in /proc"),
    pytest.mark.xdist_group("ray"),
    pytest.mark.timeout(900),
]
NOTES = 60
WORDS = ("bread", "cat", "dog", "eating", "food", "man", "mat", "park", "piece", "runs", "sleeps")
RUN_S = 400
CLOSE = 1e-5
QUERY = "the cat sleeps on the mat"


@pytest.fixture(scope="module")
def nodes():
    made = RayNodes()
    try:
        made.add_node()
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, nodes):
    """A kebab with tiny models and notes; one of them no parser can read."""
    made = build_cli(tmp_path_factory.mktemp("ray"))
    made.environment |= nodes.environment
    made.own_process = False  # of what uses no cluster, to save time
    made.install_models()
    chance = np.random.default_rng(7)
    for number in range(NOTES):
        parts = [
            f"## Part {part}\n\n{' '.join(chance.choice([*WORDS], 150))} {number}.\n"
            for part in range(6)
        ]
        made.write(f"{number:03}.md", f"# Note {number}\n\n" + "\n".join(parts))
    made.write("broken.pdf", "%PDF-1.4 broken")
    return made


@pytest.fixture(scope="module")
def expected(folder):
    assert ingest_here(folder, "local")["errors"] == 1
    return read_state(folder, "local")


def start(folder, data, *arguments):
    command = ("--data-dir", data, "ingest", folder.notes, "--json", *arguments)
    return folder.start(*command)


def finish(process):
    out, err = process.communicate(timeout=RUN_S)
    assert b"Traceback" not in out + err
    return Outcome(process.returncode, out, err)


def ingest_here(folder, data):
    return folder.json("--data-dir", data, "ingest", folder.notes)


def read_library(path):
    """Return what a knowledge base holds, without the vectors, and the vectors by chunk."""
    state = dump_library(path)
    with SqliteReader(path) as reader:
        stored = LanceVectors(path, state["version"], 384)
        keys = sorted(set(map(Key, stored.list_keys())))
        ids = {chunk.key: chunk.chunk_id for chunk in reader.load_chunks(keys)}
        vectors = stored.get(keys)
    del state["vectors"], state["nearest"]
    return state, {ids[key]: vectors[key] for key in keys}


def check_state(found, expected):
    """Two knowledge bases hold the same, with all vectors."""
    (state, vectors), (wanted, others) = found, expected
    assert not state["pending"]
    assert state == wanted
    assert vectors.keys() == others.keys()
    assert all(np.abs(vectors[one] - others[one]).max() <= CLOSE for one in vectors)


def read_state(folder, data):
    """Return what is stored with the ranking of a query, and the vectors by chunk."""
    state, vectors = read_library(folder.folder / data)
    page = folder("--data-dir", data, "search", QUERY, "--json", status=1).reply
    return {**state, "hits": [(hit["chunk_id"], hit["rank"]) for hit in page["hits"]]}, vectors


def wait_for(find, process):
    """Return what is found while a run works."""
    deadline = time.monotonic() + RUN_S
    while not (found := find()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def test_a_cluster_makes_what_one_machine_makes_though_a_worker_and_a_node_are_killed(
    folder, nodes, expected
):
    process = start(folder, "both", "--ray", nodes.address)
    os.kill(wait_for(nodes.list_workers, process)[0], signal.SIGKILL)
    time.sleep(1)
    nodes.kill_node()
    outcome = finish(process)

    assert "nodes: 2, cores: 2" in outcome.err.decode()
    assert (outcome.reply["new"], outcome.reply["errors"]) == (NOTES, 1)
    check_state(read_state(folder, "both"), expected)


def test_the_run_after_a_stopped_driver_completes_its_work(folder, nodes, expected):
    process = start(folder, "driver", "--ray", nodes.address)
    wait_for(nodes.list_workers, process)
    process.send_signal(signal.SIGINT)
    assert finish(process).reply["cancelled"] is True

    ingest_here(folder, "driver")  # with or without a cluster
    check_state(read_state(folder, "driver"), expected)
