"""What differs between systems; each part runs as on Windows too, with stand-ins."""

import errno
import os
import re
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from kebab import platform
from tests.fakes.waiting import read_until, wait_until
from tests.fakes.windows import ByteRangeLocks, Kernel

SYSTEMS = ("linux", "darwin", "win32")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="a primitive of POSIX")
HOLD = """
import os, sys
from kebab import platform
from tests.fakes.windows import ByteRangeLocks
from pathlib import Path
platform.SYSTEM, sys.modules["msvcrt"] = sys.argv[1], ByteRangeLocks(Path(sys.argv[3]))
file = platform.open_descriptor(sys.argv[2], os.O_RDWR)
print("locked" if platform.lock_descriptor(file) else "refused", flush=True)
sys.stdin.read()
"""


@pytest.fixture(params=SYSTEMS)
def system(request, monkeypatch, tmp_path):
    monkeypatch.setattr(platform, "SYSTEM", request.param)
    monkeypatch.setitem(sys.modules, "msvcrt", ByteRangeLocks(tmp_path / "locks"))
    return request.param


@pytest.fixture
def windows(monkeypatch):
    monkeypatch.setattr(platform, "SYSTEM", "win32")


@pytest.fixture
def kernel(windows, monkeypatch):
    """Let a test set what Windows itself offers."""
    import ctypes

    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(get_osfhandle=lambda one: one))
    windll = SimpleNamespace(kernel32=Kernel())
    monkeypatch.setattr(ctypes, "windll", windll, raising=False)
    return windll


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"one\r\ntwo\n")
    return path


@pytest.fixture
def open_twice(system, path):
    """Return a function that opens the file; all descriptors are closed at the end."""
    opened = []

    def open_again(flags=os.O_RDWR):
        opened.append(platform.open_descriptor(path, flags))
        return opened[-1]

    yield open_again
    for file in opened:
        platform.close_locked(file)


def test_a_lock_excludes_every_other_descriptor(open_twice):
    holder, other = open_twice(), open_twice()

    assert platform.lock_descriptor(holder)
    assert not platform.lock_descriptor(other)
    assert not platform.lock_descriptor(other, shared=True)


def test_shared_locks_exclude_only_the_exclusive_one(open_twice):
    readers = [open_twice(os.O_RDONLY) for _ in range(3)]

    assert all(platform.lock_descriptor(file, shared=True) for file in readers)
    assert not platform.lock_descriptor(open_twice())


def test_what_is_locked_can_be_read_and_written(open_twice):
    holder, reader = open_twice(), open_twice(os.O_RDONLY)
    platform.lock_descriptor(holder)

    platform.write_at(holder, b"ONE", 0)

    assert platform.read_at(reader, 100, 0) == b"ONE\r\ntwo\n"
    assert platform.read_at(reader, 3, 5) == b"two"


def test_a_closed_descriptor_frees_its_lock(system, path):
    for _ in range(2):
        file = platform.open_descriptor(path, os.O_RDWR)
        assert platform.lock_descriptor(file)
        platform.close_locked(file)


@pytest.mark.parametrize("name", ["linux", "win32"])
def test_the_lock_of_a_killed_process_is_free(name, path, tmp_path, monkeypatch):
    monkeypatch.setattr(platform, "SYSTEM", name)
    monkeypatch.setitem(sys.modules, "msvcrt", ByteRangeLocks(tmp_path / "locks"))
    command = [sys.executable, "-c", HOLD, name, str(path), str(tmp_path / "locks")]
    file = platform.open_descriptor(path, os.O_RDWR)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        try:
            read_until(holder.stdout, b"locked")
            assert not platform.lock_descriptor(file)
        finally:
            holder.kill()

    assert wait_until(lambda: platform.lock_descriptor(file))
    platform.close_locked(file)


def test_a_link_is_opened_only_when_it_may_be_followed(system, path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)

    os.close(platform.open_descriptor(link, os.O_RDONLY))
    with pytest.raises(OSError, match="symbolic link") as caught:
        platform.open_descriptor(link, os.O_RDONLY, follow=False)
    assert caught.value.errno == errno.ELOOP


def test_a_new_file_is_closed_to_others_and_to_child_processes(system, tmp_path):
    file = platform.open_descriptor(tmp_path / "new", os.O_RDWR | os.O_CREAT | os.O_EXCL)
    try:
        assert platform.is_private(os.fstat(file))
        assert not os.get_inheritable(file)
    finally:
        os.close(file)


@POSIX
def test_what_others_can_read_is_not_private(path):
    path.chmod(0o644)
    with path.open("rb") as file:
        assert not platform.is_private(os.fstat(file.fileno()))
        assert platform.is_own(os.fstat(file.fileno()))
        platform.make_private(file.fileno())
        assert platform.is_private(os.fstat(file.fileno()))


def test_a_file_that_another_process_has_open_is_replaced_once_it_is_closed(
    windows, path, monkeypatch
):
    replace, refusals = os.replace, [PermissionError(13, "Access is denied")] * 3

    def refuse_first(*names):
        if refusals:
            raise refusals.pop()
        replace(*names)

    monkeypatch.setattr(os, "replace", refuse_first)

    platform.rename_over(path, path.with_name("other"))

    assert not refusals
    assert path.with_name("other").read_bytes() == b"one\r\ntwo\n"


@pytest.mark.parametrize(("name", "tries"), [("linux", 1), ("win32", 2)])
def test_a_refused_replacement_is_an_error(name, tries, path, monkeypatch):
    clock, seen = iter(range(100)), []

    def refuse(*names):
        seen.append(names)
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr(platform, "SYSTEM", name)
    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))

    with pytest.raises(PermissionError) as caught:
        platform.rename_over(path, path.with_name("other"))

    assert len(seen) == tries
    assert (caught.value.strerror == platform.HELD_OPEN) is (name == "win32")


def test_a_file_and_a_folder_reach_the_disk(system, path):
    platform.sync_path(path)
    platform.sync_path(path.parent)

    assert not platform.is_on_read_only_disk(path)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_names_what_is_off(name, monkeypatch):
    monkeypatch.setattr(platform, "SYSTEM", name)

    found = " ".join(platform.list_missing_features())

    assert ("memory limits" in found) is (name != "linux")
    assert platform.can_remove_open_files() is (name != "win32")


def test_unknown_figures_are_none_or_nothing(windows, path):
    limits = (platform.read_memory_limit(), platform.read_open_files_limit())
    sizes = (platform.read_memory(), platform.read_address_space(), platform.read_peak_memory())

    assert limits == (None, None)
    assert sizes == (0, 0, 0)
    assert platform.get_pipe_size(0) == platform.get_inode(path.stat()) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says it")
def test_this_process_has_memory_cores_and_time():
    assert 1 << 20 < platform.read_memory() < platform.read_address_space() < 1 << 50
    assert platform.read_memory() <= platform.read_peak_memory() + (1 << 20)
    assert platform.read_processor_time(os.getpid()) > 0
    assert platform.count_cores() >= 1


@POSIX
@pytest.mark.parametrize("size", [100 << 20, 0])
def test_the_memory_is_limited_within_what_the_system_allows(size):
    program = (
        "import resource; from kebab.platform import limit_memory;"
        f"limit_memory({size}); print(*resource.getrlimit(resource.RLIMIT_DATA))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    soft, hard = done.stdout.split()
    assert soft == (str(size) if size else hard)


def test_windows_tells_the_processor_time_of_a_process(kernel):
    assert 0 < platform.read_processor_time(os.getpid()) <= time.process_time()

    kernel.kernel32 = SimpleNamespace(OpenProcess=lambda *_: 0)
    assert platform.read_processor_time(os.getpid()) == 0.0


def test_a_worker_whose_caller_is_gone_ends():
    with pytest.raises(SystemExit):
        platform.end_with_parent(os.getppid() + 1)


def test_a_killed_process_is_waited_for_once():
    program = [sys.executable, "-c", "import time; time.sleep(600)"]
    process = subprocess.Popen(program, **platform.separate_group())

    assert platform.wait_for_end(process, poll=True) is None
    platform.kill_tree(process)
    end = platform.wait_for_end(process)

    assert end is not None
    assert end.status == process.returncode == -signal.SIGKILL
    assert end.peak_bytes > 0


def act_once(seen):
    """Return a function for an alarm that notes its call, and asks for the next one."""

    def act():
        seen.append(threading.current_thread())
        return 0.01

    return act


@POSIX
def test_alarms_reach_the_main_thread_until_the_block_ends():
    late: list[threading.Thread] = []
    busy: list[threading.Thread] = []

    with platform.set_alarms((60.0, act_once(busy)), (0.001, act_once(late))):
        wait_until(lambda: len(late) > 1)
    with platform.set_alarms((0.001, act_once(busy)), (60.0, act_once(late))):
        wait_until(lambda: re.sub("(a)+", "b", "a" * 300_000) and len(busy) > 1)

    assert set(late + busy) == {threading.main_thread()}
    assert platform.has_alarms()
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


class Console(Kernel):
    """Has a console with this code page; 0 stands for none."""

    def __init__(self, page):
        self.page = page
        self.mode = None

    def GetConsoleOutputCP(self):  # noqa: N802 - the name of Windows
        return self.page

    def SetConsoleOutputCP(self, page):  # noqa: N802 - the name of Windows
        self.page = page

    def GetConsoleMode(self, handle, mode):  # noqa: N802 - the name of Windows
        mode._obj.value = 3
        return 1

    def SetConsoleMode(self, handle, mode):  # noqa: N802 - the name of Windows
        self.mode = mode


@pytest.mark.parametrize(("page", "during", "mode"), [(949, 65_001, 7), (0, 0, None)])
def test_a_console_shows_utf8_until_the_end(kernel, page, during, mode):
    kernel.kernel32 = console = Console(page)

    restore = platform.prepare_console()
    assert (console.page, console.mode) == (during, mode)
    restore()

    assert console.page == page


@pytest.mark.parametrize(
    ("name", "fault", "expected"),
    [
        ("linux", BrokenPipeError(), True),
        ("linux", OSError(errno.EINVAL, "Invalid argument"), False),
        ("win32", OSError(errno.EINVAL, "Invalid argument"), True),
        ("win32", OSError(errno.ENOSPC, "No space left on device"), False),
    ],
)
def test_a_closed_pipe_is_told_from_other_faults(name, fault, expected, monkeypatch):
    monkeypatch.setattr(platform, "SYSTEM", name)

    assert platform.is_broken_pipe(fault) is expected


def test_a_pipe_is_unread_once_its_reader_is_gone(system, tmp_path):
    reads, writes = os.pipe()
    try:
        assert not platform.is_reader_gone(writes)
        platform.wait_until_writable(writes)
        os.close(reads)
        assert platform.is_reader_gone(writes) is (system != "win32")
        with (tmp_path / "file").open("wb") as file:
            assert not platform.is_reader_gone(file.fileno())
    finally:
        os.close(writes)


def run_and_wait(thread):
    thread.start()
    wait_until(lambda: False)


def test_the_main_thread_is_interrupted(system):
    thread = threading.Thread(target=platform.interrupt_main_thread)
    with pytest.raises(KeyboardInterrupt):
        run_and_wait(thread)
