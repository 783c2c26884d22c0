import os

import pytest

from kebab.store import stamps
from kebab.store.stamps import FileState, stamp_file


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(stamps, "_SETTLING_NS", -(10**12))
    path = tmp_path / "file"
    path.write_bytes(b"one")
    return path


def write_over(path):
    """Change the bytes, and neither the size nor the time of the last write."""
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_bytes(b"two")
    os.utime(path, ns=times)


CHANGES = {
    "replaced": lambda path: (path.rename(f"{path}.old"), path.write_bytes(b"one")),
    "cut off": lambda path: os.truncate(path, 1),
    "written over": write_over,
    "deleted": os.unlink,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_state_holds_until_the_file_changes(change, file):
    state = FileState([str(file)])
    assert state.holds()
    CHANGES[change](file)

    assert not state.holds()


def test_the_owner_of_a_log_and_the_contents_of_mapped_memory_do_not_count(file, tmp_path):
    memory = tmp_path / "memory"
    memory.write_bytes(b"one")
    state = FileState([], logs=[str(file)], mapped=[str(memory)])
    os.chown(file, os.getuid(), os.getgid())
    memory.write_bytes(b"two")
    assert state.holds()
    file.write_bytes(b"longer")

    assert not state.holds()


def test_a_state_of_a_file_that_changed_just_now_is_not_relied_on(file, monkeypatch):
    monkeypatch.setattr(stamps, "_SETTLING_NS", 10**15)

    assert not FileState([str(file)]).holds()


def test_a_missing_file_is_a_state_too(file, tmp_path):
    other = tmp_path / "other"
    state = FileState([str(other)])
    assert state.holds()
    assert stamp_file(str(other)) is None
    other.touch()

    assert not state.holds()
