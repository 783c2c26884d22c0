import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.powercut.disk import Disk
from tools.powercut.record import Call, Player, RecordError, parse, record

ROOT = Path("/home/me")
PROGRAM = """
import os, sys
root = sys.argv[1]
os.mkdir(root + "/d")
with open(root + "/d/é", "wb") as file:
    file.write(b'a"b\\n\\0')
    file.flush()
    os.fsync(file.fileno())
    file.write(b"more")
both = os.open(root + "/d/x", os.O_RDWR | os.O_CREAT)
os.pwrite(both, b"hello", 3)
os.ftruncate(both, 6)
os.lseek(both, 2, os.SEEK_SET)
os.write(both, b"at")
os.rename(root + "/d/x", root + "/y")
os.write(both, b"!")
log = os.open(root + "/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(log, b"1")
os.write(log, b"2")
os.link(root + "/log", root + "/d/same")
os.unlink(root + "/log")
os.unlink(root + "/d/é")
held = os.open(root, os.O_RDONLY)
os.mkdir("below", dir_fd=held)
os.fsync(held)
"""


def encode(text):
    return "".join(f"\\x{byte:02x}" for byte in text.encode())


def read(*lines):
    return list(parse([f"{line}\n" for line in lines], ROOT))


def find_obstacle():
    """Return why nothing can be recorded here; None where it can."""
    tracer = shutil.which("strace")
    if tracer is None:
        return "`strace` is not installed"
    tried = subprocess.run([tracer, "-f", "true"], capture_output=True, check=False)
    return None if tried.returncode == 0 else "`strace` may not trace here"


needs_strace = pytest.mark.skipif(find_obstacle() is not None, reason=str(find_obstacle()))


def test_a_call_that_two_lines_describe_is_read_as_one():
    path, data = encode("/home/me/a"), encode("xy")
    begun = f'7 write(3<{path}>, "{data}", 2 <unfinished ...>'

    found = read(begun, "8 getpid() = 8", f"7 <... write resumed>) = 2 {path}")

    assert found == [Call("write", ("a",), 3, b"xy", 2)]


@pytest.mark.parametrize(
    "line",
    [
        f'7 mkdir("{encode("/home/me/a")}", 0777) = -1 EEXIST (File exists)',
        f'7 mkdir("{encode("/home/other")}", 0777) = 0',
        f'7 write(3<{encode("/home/me/a")}>(deleted), "{encode("x")}", 1) = 1',
        f"7 --- SIGCHLD {encode('/home/me/a')} ---",
    ],
)
def test_calls_that_change_nothing_in_the_folder_are_left_out(line):
    assert read(line) == []


def test_a_name_from_elsewhere_is_refused():
    paths = f'"{encode("/elsewhere/a")}", "{encode("/home/me/a")}"'
    with pytest.raises(RecordError, match="over the border"):
        read(f"7 rename({paths}) = 0")


def test_a_call_that_the_model_does_not_know_is_refused():
    with pytest.raises(RecordError, match="fallocate"):
        Player(Disk()).play(Call("fallocate", ("a",)))


def test_without_the_recorder_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RecordError, match="apt-get install strace"):
        record(["true"], tmp_path, tmp_path / "log", {})


@needs_strace
def test_a_failed_program_is_an_error(tmp_path):
    with pytest.raises(RecordError, match="unknown step"):
        record(
            [sys.executable, "-S", "-c", "raise SystemExit('unknown step')"],
            tmp_path,
            tmp_path / "log",
            {},
        )


@needs_strace
def test_the_record_of_a_real_program_leads_to_the_same_files(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    calls = record(
        [sys.executable, "-S", "-c", PROGRAM, str(root)], root, tmp_path / "log", {"LANG": "C"}
    )
    disk = Disk()
    player = Player(disk)
    for call in calls:
        player.play(call)

    real = {
        str(one.relative_to(root)): one.read_bytes() for one in root.rglob("*") if one.is_file()
    }
    assert disk.read_live() == real
    assert real == {"y": b"\0\0at!l", "d/same": b"12"}
    assert disk.find("below") is not None
    lost = {state.loss: state for state in disk.list_states(1, 0)}["all"]
    assert {path: file.read() for path, file in lost.files.items()} == {"y": b""}
