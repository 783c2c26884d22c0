import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kebab.errors.catalog import Locked
from kebab.store.sqlite.lock import IngestState, Writer, WriterLock, read_writer

ROOT = Path(__file__).parents[4]
HOLD = """
import sys, time
from pathlib import Path
from kebab.store.sqlite.lock import WriterLock
lock = WriterLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_writer_is_refused_at_once_with_the_pid_of_the_first(tmp_path):
    with WriterLock(tmp_path), pytest.raises(Locked) as caught:
        WriterLock(tmp_path)
    assert caught.value.holder_pid == os.getpid()
    assert caught.value.path == str(tmp_path / "writer.lock")


def test_a_lock_is_freed_when_its_owner_is_collected(tmp_path):
    forgotten = WriterLock(tmp_path)
    del forgotten

    with WriterLock(tmp_path):
        pass


def test_a_lock_is_freed_although_its_file_cannot_be_written(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patch:
        lock = WriterLock(tmp_path)
        patch.setattr(os, "ftruncate", refuse)
        lock.close()
    WriterLock(tmp_path).close()


def test_the_holder_is_read_without_creating_anything(tmp_path):
    assert read_writer(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    with WriterLock(tmp_path):
        assert read_writer(tmp_path) == Writer(os.getpid(), None)
    assert read_writer(tmp_path) is None


def test_the_progress_of_a_writer_is_read_beside_its_pid(tmp_path):
    states = [IngestState(1.5), IngestState(1.5, 12_345, 99_999, "chunks"), IngestState(1.5, 1, 2)]

    with WriterLock(tmp_path) as lock:
        assert read_writer(tmp_path) == Writer(os.getpid(), None)
        for state in states:
            lock.publish(state)
            assert read_writer(tmp_path) == Writer(os.getpid(), state)
        with pytest.raises(Locked) as caught:
            WriterLock(tmp_path)

    assert caught.value.holder_pid == os.getpid()
    assert read_writer(tmp_path) is None


def test_the_progress_of_a_killed_writer_does_not_count(tmp_path):
    script = HOLD.replace(
        "print(",
        "from kebab.store.sqlite.lock import IngestState; lock.publish(IngestState(1.0)); print(",
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert read_writer(tmp_path) == Writer(process.pid, IngestState(1.0))
        process.kill()

    assert (tmp_path / "writer.lock").stat().st_size > 0
    assert read_writer(tmp_path) is None
