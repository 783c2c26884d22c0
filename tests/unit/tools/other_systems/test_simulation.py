import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.other_systems.simulation import ByteRangeLocks, build_environment


def run(folder, program, system="win32"):
    """Run a program as a module of kebab that sees another system; return what it prints."""
    environment = build_environment(system, folder, os.environ)
    code = f"__name__ = 'kebab.probe'\nimport os, sys\ntry:\n    {program}\n"
    code += "except Exception as fault:\n    print(type(fault).__name__, fault)"
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, cwd=folder
    ).stdout


def test_kebab_sees_another_system_and_libraries_do_not(tmp_path):
    (tmp_path / "held").touch()
    program = (
        "import shutil; held = open('held'); print(sys.platform, hasattr(os, 'fork'),"
        " hasattr(shutil.os, 'fork')); os.replace('held', 'moved')"
    )

    first, second = run(tmp_path, program).splitlines()

    assert first == "win32 False True"
    assert second.startswith("PermissionError")
    assert "has the file open" in second


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        ("import fcntl", "ModuleNotFoundError"),
        ("os.open('.', os.O_RDONLY)", "PermissionError"),
        ("open('a:b', 'w')", "OSError"),
        ("os.kill(os.getpid(), 0)", "AssertionError"),
        ("import subprocess; subprocess.Popen(['x'], pass_fds=(1,))", "ValueError"),
    ],
)
def test_what_fails_on_windows_fails(program, fault, tmp_path):
    assert run(tmp_path, program).startswith(fault)


def test_locks_are_of_a_descriptor_and_not_of_content(tmp_path):
    locks = ByteRangeLocks(tmp_path / "locks")
    path = Path(tmp_path, "file")
    path.write_bytes(b"content")
    one, other = (os.open(path, os.O_RDWR) for _ in range(2))
    with pytest.raises(AssertionError, match="readers"):
        locks.locking(one, locks.LK_NBLCK, 10)
    for file in (one, other):
        os.lseek(file, 100, os.SEEK_SET)

    locks.locking(one, locks.LK_NBLCK, 10)
    with pytest.raises(PermissionError):
        locks.locking(other, locks.LK_NBLCK, 1)
    locks.close(one)
    locks.locking(other, locks.LK_NBLCK, 1)
    locks.locking(other, locks.LK_UNLCK, 1)

    locks.close(other)
