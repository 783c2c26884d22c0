import os
import subprocess
import sys

import pytest

from kebab.errors import log as module
from kebab.errors.log import FILES, append_line, read_lines

WRITER = """
import sys
from pathlib import Path
from kebab.errors import log
log.MAX_BYTES = 10_000
for number in range(100):
    assert log.append_line(Path(sys.argv[1]), f"{sys.argv[2]} {number:03} {'x' * 60}".encode())
"""


@pytest.fixture
def log(tmp_path):
    return tmp_path / "state" / "kebab.log"


def mode(path):
    return path.stat().st_mode & 0o777


def test_only_the_owner_can_read_the_log(log):
    assert append_line(log, b"one")
    assert append_line(log, b"two")

    assert log.read_bytes() == b"one\ntwo\n"
    assert (mode(log), mode(log.parent)) == (0o600, 0o700)


def test_a_full_file_is_rotated_and_the_oldest_is_deleted(log, monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES", 20)
    for number in range(20):
        assert append_line(log, b"line %02d" % number)

    files = sorted(path.name for path in log.parent.iterdir() if "lock" not in path.name)
    assert files == ["kebab.log", "kebab.log.1", "kebab.log.2"]
    assert len(files) == FILES
    assert [line.strip() for line in read_lines(log)] == [
        b"line 18",
        b"line 19",
        b"line 16",
        b"line 17",
        b"line 14",
        b"line 15",
    ]


def test_concurrent_processes_lose_and_mix_no_lines(log):
    names = ["a", "b", "c"]
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(log), name]) for name in names]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]

    wanted = {f"{name} {number:03} {'x' * 60}" for name in names for number in range(100)}
    found = [line.decode().removesuffix("\n") for line in read_lines(log)]

    assert sorted(found) == sorted(wanted)
    assert (log.parent / "kebab.log.1").exists()


def test_a_link_instead_of_the_log_is_not_followed(log, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    log.parent.mkdir()
    log.symlink_to(victim)

    assert not append_line(log, b"one")
    assert victim.read_text() == "precious"


def test_a_pipe_instead_of_the_log_does_not_block(log):
    log.parent.mkdir()
    os.mkfifo(log)

    assert not append_line(log, b"one")
    assert list(read_lines(log)) == []
