import os
import subprocess
import sys
from pathlib import Path

import pytest

from kebab.app import audit_log as module
from kebab.app.audit_log import FILES, MAX_LINE_BYTES, append_line, read_lines

WRITER = """
import sys
from pathlib import Path
from kebab.app import audit_log as log
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


def test_permissions_of_an_open_log_are_restricted(log):
    log.parent.mkdir(mode=0o755)
    log.touch(mode=0o644)

    assert append_line(log, b"one")
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


def test_a_truncated_line_does_not_damage_the_next_line(log):
    append_line(log, b"one")
    with log.open("ab") as file:
        file.write(b"half a li")

    assert append_line(log, b"two")
    assert log.read_bytes() == b"one\nhalf a li\ntwo\n"


def test_a_lock_that_is_never_released_blocks_no_line(log, monkeypatch):
    import fcntl

    monkeypatch.setattr(module, "_LOCK_TIMEOUT_S", 0.0)
    append_line(log, b"one")
    with (log.parent / "kebab.log.lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert append_line(log, b"two")

    assert log.read_bytes() == b"one\ntwo\n"


def test_a_link_instead_of_the_log_is_not_followed(log, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    log.parent.mkdir()
    log.symlink_to(victim)

    assert not append_line(log, b"one")
    assert victim.read_text() == "precious"


def test_a_link_instead_of_the_lock_is_not_followed(log, tmp_path):
    log.parent.mkdir()
    (log.parent / "kebab.log.lock").symlink_to(tmp_path / "new")

    assert not append_line(log, b"one")
    assert not (tmp_path / "new").exists()


def test_a_pipe_instead_of_the_log_does_not_block(log):
    log.parent.mkdir()
    os.mkfifo(log)

    assert not append_line(log, b"one")
    assert list(read_lines(log)) == []


@pytest.mark.parametrize("prepare", [Path.touch, lambda path: path.chmod(0o500)])
def test_a_read_only_folder_raises_no_error(tmp_path, prepare, monkeypatch):
    if prepare is Path.touch:
        (tmp_path / "state").touch()
    else:
        monkeypatch.setattr(os, "open", _refuse)

    assert not append_line(tmp_path / "state" / "kebab.log", b"one")


def test_a_full_disk_raises_no_error(log, monkeypatch):
    monkeypatch.setattr(os, "write", _refuse)

    assert not append_line(log, b"one")


def test_a_missing_log_has_no_lines(log):
    assert list(read_lines(log)) == []


def test_an_unreadable_log_is_an_error(log, monkeypatch):
    append_line(log, b"one")
    monkeypatch.setattr(os, "open", _refuse)

    with pytest.raises(OSError, match="No space"):
        list(read_lines(log))


def test_an_endless_line_is_read_in_pieces(log):
    append_line(log, b"x" * (MAX_LINE_BYTES + 10))

    assert max(map(len, read_lines(log))) == MAX_LINE_BYTES + 1


def _refuse(*_, **__):
    raise OSError(28, "No space left on device")
