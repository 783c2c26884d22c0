"""A running watcher: real processes, real files, real notifications."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from kebab.errors.catalog import Locked
from kebab.store.sqlite.lock import WriterLock
from tests.fakes.console import enter_environment, run
from tests.fakes.waiting import PATIENCE_S, wait_until

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify")


class Watched:
    """A folder with a watcher over it."""

    def __init__(self, folder):
        self.notes = folder / "notes"
        self.data = folder / "data"
        self.home = folder / "home"
        self.events = []
        self._arrived: queue.Queue[Any] = queue.Queue()
        self._reader: Any = None
        self.process: Any = None
        self.notes.mkdir()
        self.home.mkdir()

    def environment(self):
        keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        own = {"HOME": str(self.home), "KEBAB_OFFLINE": "1", "KEBAB_WATCH_DEBOUNCE_MS": "100"}
        return {**keep, **own, "PYTHONPATH": str(ROOT)}

    def words(self, *arguments):
        return [sys.executable, "-m", "kebab", "--data-dir", str(self.data), *arguments]

    def start(self, *arguments):
        self.process = subprocess.Popen(
            self.words("watch", "--stream", *arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.environment(),
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.wait_for("started")

    def _read(self):
        for line in self.process.stdout:
            self._arrived.put(json.loads(line))
        self._arrived.put(None)

    def wait_for(self, kind):
        """Return the next event of a kind."""
        while True:
            event = self._arrived.get(timeout=PATIENCE_S)
            assert event is not None, f"the watcher ended before `{kind}`: {self.events}"
            self.events.append(event)
            if event["kind"] == kind:
                return event

    def run(self, *arguments, data=None):
        """Return what a command prints; it runs in the process of the test, to save time.

        While the watcher writes, the command is run again.
        """

        def try_once():
            with enter_environment(self.environment(), self.notes):
                ran = run("--data-dir", str(data or self.data), *arguments, "--json")
            reply = json.loads(ran.out or ran.err.splitlines()[-1])
            is_locked = reply.get("code") == "locked"
            assert is_locked or ran.status == 0, reply
            return None if is_locked else reply

        return wait_until(try_once)

    def read_index(self, data=None):
        """Return the documents of the index with their texts."""
        from tests.e2e.watch_index import read_texts

        return read_texts(data or self.data)

    def read_fresh_index(self):
        """Return the same of a new index of the files as they are."""
        fresh = self.data.with_name(f"fresh{time.monotonic_ns()}")
        self.run("ingest", str(self.notes), data=fresh)
        return self.read_index(fresh)

    def wait_until_current(self):
        """Wait until the index is what a new one would be."""
        expected = self.read_fresh_index()
        wait_until(lambda: self.read_index() == expected)

    def write(self, name, text):
        path = self.notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def stop(self, number=signal.SIGINT):
        """End the watcher between two runs; return its exit status and its last event."""
        with _take_lock(self.data):
            self.process.send_signal(number)
            status = self.process.wait(timeout=PATIENCE_S)
        last = self.wait_for("ended")
        return status, last["summary"]

    @contextmanager
    def paused(self):
        """Let the watcher see all changes of the block at once, however slow this process is."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def end(self):
        """Leave no process and no pipe behind."""
        if self.process:
            self.process.kill()
            self.process.wait(timeout=PATIENCE_S)
            if self._reader:
                self._reader.join(PATIENCE_S)
            self.process.stdout.close()


def is_watched(pid, folder):
    """Return whether the kernel tells a process of changes in a folder."""
    sign = f"ino:{folder.stat().st_ino:x} "
    for entry in Path(f"/proc/{pid}/fdinfo").iterdir():
        with suppress(OSError):  # the file was closed meanwhile
            if sign in entry.read_text():
                return True
    return False


@pytest.fixture
def watched(tmp_path):
    watched = Watched(tmp_path)
    yield watched
    watched.end()


def save_in_place(path, text):
    """Save as VS Code does: truncate and write."""
    path.write_text(text, encoding="utf-8")


def save_by_rename(path, text):
    """Save as many editors do: write beside the file and rename over it."""
    beside = path.with_name(f".{path.name}.tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def save_like_vim(path, text):
    """Save as vim does: try the folder, move the file aside, write, delete the old one."""
    (path.parent / "4913").touch()
    (path.parent / "4913").unlink()
    path.rename(f"{path}~")
    path.write_text(text, encoding="utf-8")
    Path(f"{path}~").unlink()


def test_a_saved_file_is_updated_whatever_the_editor_does(watched):
    path = watched.write("a.md", "# A\n\nfirst\n")
    watched.start(str(watched.notes))
    doc_id = watched.run("list")["documents"][0]["doc_id"]

    for number, save in enumerate((save_in_place, save_by_rename, save_like_vim)):
        with watched.paused():
            save(path, f"# A\n\nversion {number} zebra\n")
        items = watched.wait_for("indexed")["report"]["items"]
        assert [(one["kind"], one["doc_path"]) for one in items] == [("updated", "a.md")]
        assert watched.run("search", f"version {number} zebra")["hits"]
    assert watched.run("list")["documents"][0]["doc_id"] == doc_id

    status, summary = watched.stop()
    assert (status, summary["runs"], summary["interrupted"]) == (0, 4, False)


def test_new_folders_moves_removals_and_ignore_files_are_followed(watched):
    watched.write("a.md", "# A\n")
    watched.start(str(watched.notes))

    watched.write("new/deep/b.md", "# B\n")
    watched.wait_until_current()
    watched.write("new/deep/c.md", "# C\n")
    watched.wait_until_current()
    (watched.notes / "new").rename(watched.notes / "moved")
    watched.wait_until_current()
    watched.write("moved/deep/d.md", "# D\n")
    watched.wait_until_current()
    watched.write("moved/.gitignore", "c.md\n")
    watched.wait_until_current()
    (watched.notes / "moved/deep/b.md").unlink()
    watched.wait_until_current()

    assert watched.stop(signal.SIGTERM)[0] == 0


def _take_lock(data):
    """Take the lock of the writer as soon as the watcher's own run leaves it."""

    def take():
        with suppress(Locked):
            return WriterLock(data)

    return wait_until(take)


def test_without_a_path_every_source_is_watched_and_new_ones_join(watched, tmp_path):
    watched.write("a.md", "# A\n")
    watched.run("ingest", str(watched.notes))
    watched.start()
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.md").write_text("# X\n", encoding="utf-8")
    watched.run("ingest", str(other))
    wait_until(lambda: is_watched(watched.process.pid, other))

    (other / "y.md").write_text("# Y\n", encoding="utf-8")
    wait_until(lambda: sorted(watched.read_index()) == ["a.md", "x.md", "y.md"])


def test_a_reader_that_goes_away_ends_the_watcher(watched):
    watched.write("a.md", "# A\n")
    process: Any = subprocess.Popen(
        watched.words("watch", str(watched.notes), "--stream"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=watched.environment(),
    )
    watched.process = process
    process.stdout.readline()
    process.stdout.close()

    assert process.wait(timeout=PATIENCE_S) == 141
