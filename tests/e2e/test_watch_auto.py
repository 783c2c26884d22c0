"""The warm process with `watch.auto`: a saved file is found, and the end leaves no process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.console import environment
from tests.fakes.waiting import wait_until
from tests.fakes.warm import open_runtime_folder, run_call

DEADLINE_S = 60.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify and /proc")


@pytest.fixture
def environ(tmp_path):
    with open_runtime_folder() as runtime:
        made = environment(tmp_path) | {
            "PYTHONPATH": os.getcwd(),  # noqa: PTH109 - a string is wanted
            "XDG_RUNTIME_DIR": str(runtime),
            "KEBAB_DAEMON_AUTO": "true",
            "KEBAB_WATCH_AUTO": "true",
            "KEBAB_WATCH_DEBOUNCE_MS": "50",
        }
        try:
            yield made
        finally:
            run_call(made, "serve", "--stop")


def read_status(environ):
    return json.loads(run_call(environ, "serve", "--status", "--json").stdout)


def list_pids(environ):
    status = read_status(environ)
    watchers = [one["pid"] for one in status["watchers"]]
    return watchers and [status["pid"], *watchers, *(one["pid"] for one in status["workers"])]


def has_hits(environ, word):
    reply = json.loads(run_call(environ, "search", word, "--json").stdout)
    return bool(reply["hits"])


def is_gone(pid):
    try:
        return "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True


def test_one_search_starts_a_watcher_that_ends_with_the_warm_process(environ, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "bread.md").write_text("# Bread\n\nSourdough needs time.\n", encoding="utf-8")
    assert run_call(environ, "ingest", str(notes)).returncode == 0
    assert has_hits(environ, "sourdough")
    wait_until(lambda: list_pids(environ))
    (notes / "soup.md").write_text("# Soup\n\nMulligatawny is hot.\n", encoding="utf-8")
    wait_until(lambda: has_hits(environ, "mulligatawny"))

    pids = list_pids(environ)
    assert run_call(environ, "serve", "--stop").returncode == 0
    wait_until(lambda: all(map(is_gone, pids)))
    assert read_status(environ)["watchers"] == []


def test_a_watcher_ends_with_a_killed_warm_process(environ, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "bread.md").write_text("Sourdough needs time.\n", encoding="utf-8")
    assert run_call(environ, "ingest", str(tmp_path / "notes")).returncode == 0
    line = [sys.executable, "-m", "kebab", "serve"]
    with subprocess.Popen(line, env=environ, stderr=subprocess.DEVNULL) as process:
        try:
            pids = wait_until(lambda: list_pids(environ))
        finally:
            process.kill()
    wait_until(lambda: all(map(is_gone, pids)))
