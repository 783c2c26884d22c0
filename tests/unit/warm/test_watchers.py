import os
import selectors
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kebab.store.sqlite.connection import get_database_path
from kebab.warm.watchers import MOST_WATCHERS, Watchers, _find_error
from kebab.warm.worker import Demand

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no warm process")

SLEEP = "import time; time.sleep(60)"
STUBBORN = "import signal; signal.signal(15, signal.SIG_IGN); " + SLEEP
FAIL = """print('{"kind":"indexed"}')
print('{"kind":"ended","error":{"code":"not_indexed"}}')
raise SystemExit(2)
"""
CRASH = "import os; os.kill(os.getpid(), 9)"


class Desk:
    """Watchers over programs of the test, with a clock of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.program = SLEEP
        self.now = 1000.0
        self.started = []
        self.selector = selectors.DefaultSelector()
        self.watchers = Watchers(self.selector, self.spawn, lambda: self.now)

    def spawn(self, demand, output):
        self.started.append(demand)
        words = [sys.executable, "-S", "-c", self.program]
        actions = [(os.POSIX_SPAWN_DUP2, output, 1)]
        return os.posix_spawn(sys.executable, words, os.environ, file_actions=actions)

    def demand(self, name="kb", **environ):
        database = get_database_path(self.folder / name)
        database.parent.mkdir(parents=True, exist_ok=True)
        database.touch()
        return Demand(str(self.folder / name), [], environ)

    def read_status(self):
        (found,) = self.watchers.describe()
        return found

    def wait_for_end(self):
        """Reap the only watcher, as the parent does."""
        pid = self.read_status()["pid"]
        assert self.watchers.note_end(*os.waitpid(pid, 0))


@pytest.fixture
def desk(tmp_path):
    made = Desk(tmp_path)
    yield made
    made.watchers.end()
    made.selector.close()


def test_a_knowledge_base_has_one_watcher(desk):
    desk.watchers.want(desk.demand())
    desk.watchers.want(desk.demand())

    assert len(desk.started) == 1
    assert desk.watchers.are_running
    assert desk.read_status()["memory_bytes"] > 0


def test_one_that_crashes_starts_again_later_each_time(desk):
    desk.program = CRASH
    desk.watchers.want(desk.demand())
    for pause in (1, 2, 4):
        desk.wait_for_end()
        before = len(desk.started)
        desk.now += pause - 0.1
        desk.watchers.keep()
        assert len(desk.started) == before
        desk.now += 0.2
        desk.watchers.keep()
        assert len(desk.started) == before + 1


def test_one_that_always_crashes_gives_up(desk):
    desk.program = CRASH
    desk.watchers.want(desk.demand())
    for _ in range(4):
        desk.wait_for_end()
        desk.now += 61
        desk.watchers.keep()
        desk.now -= 60.5
    desk.wait_for_end()
    desk.now += 200
    desk.watchers.want(desk.demand())

    assert desk.read_status()["error"] == "internal"
    assert len(desk.started) == 5


def test_one_that_cannot_work_waits_for_a_call_after_some_minutes(desk):
    desk.program = FAIL
    desk.watchers.want(desk.demand())
    desk.wait_for_end()
    assert desk.read_status() == {
        "data_dir": str(desk.folder / "kb"),
        "pid": None,
        "memory_bytes": 0,
        "error": "not_indexed",
    }
    desk.now += 290
    desk.watchers.want(desk.demand())
    desk.now += 20
    desk.watchers.keep()
    assert (len(desk.started), desk.watchers.are_running) == (1, False)
    desk.program = SLEEP
    desk.watchers.want(desk.demand(KEBAB_OFFLINE="1"))

    assert desk.started[-1].environ == {"KEBAB_OFFLINE": "1"}
    assert desk.read_status()["error"] is None


def test_one_whose_index_is_gone_ends(desk):
    demand = desk.demand()
    desk.watchers.want(demand)
    get_database_path(Path(demand.data_dir)).unlink()
    desk.watchers.keep()
    desk.wait_for_end()

    assert desk.watchers.describe() == []


def test_one_more_than_the_most_replaces_the_one_called_for_least_recently(desk):
    for number in range(MOST_WATCHERS):
        desk.now += 1
        desk.watchers.want(desk.demand(f"kb{number}"))
    desk.now += 1
    desk.watchers.want(desk.demand("kb0"))
    pids = {one["data_dir"]: one["pid"] for one in desk.watchers.describe()}
    desk.watchers.want(desk.demand("new"))
    desk.watchers.note_end(*os.waitpid(pids[str(desk.folder / "kb1")], 0))
    left = {Path(one["data_dir"]).name for one in desk.watchers.describe()}

    assert left == {"kb0", "kb2", "kb3", "new"}


def test_the_end_leaves_no_process(desk, monkeypatch):
    monkeypatch.setattr("kebab.warm.watchers._PATIENCE_S", (0.3, 0.2, 5.0))
    desk.program = STUBBORN
    desk.watchers.want(desk.demand())
    pid = desk.read_status()["pid"]
    time.sleep(0.2)
    desk.watchers.end()

    assert desk.watchers.describe() == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_system_that_starts_no_process_is_tried_again(desk):
    def refuse(demand, output):
        raise BlockingIOError

    watchers = Watchers(desk.selector, refuse, lambda: desk.now)
    watchers.want(desk.demand())

    assert not watchers.are_running


def test_another_process_is_none_of_them(desk):
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])

    assert not desk.watchers.note_end(*os.waitpid(process.pid, 0))
    process.returncode = 0


@pytest.mark.parametrize("tail", [b"", b"half a line", b"[]", b'{"error": null}', b'{"error": 3}'])
def test_output_without_an_error_has_no_code(tail):
    assert _find_error(tail) is None


def test_much_output_never_stops_a_watcher(desk):
    desk.program = "print('x' * 300_000)\n" + FAIL
    desk.watchers.want(desk.demand())
    pid = desk.read_status()["pid"]
    deadline = time.monotonic() + 20
    ended, status = 0, 0
    while not ended and time.monotonic() < deadline:
        for key, _ in desk.selector.select(0.1):
            key.data()
        ended, status = os.waitpid(pid, os.WNOHANG)
    assert os.WEXITSTATUS(status) == 2
    assert desk.watchers.note_end(ended, status)
    assert desk.read_status()["error"] == "not_indexed"


def test_one_that_wrote_and_ended_at_once_is_read_once(desk):
    desk.program = FAIL
    desk.watchers.want(desk.demand())
    ((ready, _),) = desk.selector.select(20)
    desk.wait_for_end()
    ready.data()

    assert desk.read_status()["error"] == "not_indexed"
