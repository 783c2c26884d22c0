"""What the systems of POSIX do."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kebab import platform
from kebab.config.load import keep_copy, replace_settings_file
from kebab.review.items import FixedFile, write_file
from kebab.server.guard import TOKEN_NAME, load_token
from kebab.wire.review import AppliedFile
from tests.fakes.waiting import read_until, wait_until

CLIENT = "lance_namespace_urllib3_client"

HOLD = """
import os, sys
from kebab import platform
file = os.open(sys.argv[1], os.O_RDWR)
print("locked" if platform.lock_descriptor(file) else "refused", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"one\n")
    return path


@pytest.fixture
def open_twice(path):
    """Return a function that opens the file; all descriptors are closed at the end."""
    opened = []

    def open_again(flags=os.O_RDWR):
        opened.append(os.open(path, flags))
        return opened[-1]

    yield open_again
    for file in opened:
        os.close(file)


def test_a_lock_excludes_every_other_descriptor(open_twice):
    holder, other = open_twice(), open_twice()

    assert platform.lock_descriptor(holder)
    assert not platform.lock_descriptor(other)
    assert not platform.lock_descriptor(other, shared=True)


def test_shared_locks_exclude_only_the_exclusive_one(open_twice):
    readers = [open_twice(os.O_RDONLY) for _ in range(3)]

    assert all(platform.lock_descriptor(file, shared=True) for file in readers)
    assert not platform.lock_descriptor(open_twice())


def test_the_lock_of_a_killed_process_is_free(open_twice, path):
    command, file = [sys.executable, "-c", HOLD, str(path)], open_twice()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        try:
            read_until(holder.stdout, b"locked")
            assert not platform.lock_descriptor(file)
        finally:
            holder.kill()

    assert wait_until(lambda: platform.lock_descriptor(file))


def test_what_others_can_read_is_not_private(path):
    path.chmod(0o644)
    with path.open("rb") as file:
        assert not platform.is_private(os.fstat(file.fileno()))
        path.chmod(0o600)
        assert platform.is_private(os.fstat(file.fileno()))


def test_a_file_and_a_folder_reach_the_disk(path):
    platform.sync_path(path)
    platform.sync_path(path.parent)

    assert not platform.is_on_read_only_disk(path)


@pytest.mark.parametrize("name", ["linux", "darwin"])
def test_a_system_names_what_is_off(name, monkeypatch):
    monkeypatch.setattr(platform, "SYSTEM", name)

    found = " ".join(platform.list_missing_features())

    assert ("memory limits" in found) is (name != "linux")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says it")
def test_this_process_has_memory_cores_and_time():
    assert 1 << 20 < platform.read_memory() < platform.read_address_space() < 1 << 50
    assert platform.read_memory() <= platform.read_peak_memory() + (1 << 20)
    assert platform.read_processor_time(os.getpid()) > 0
    assert platform.count_cores() >= 1


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


def test_a_worker_whose_caller_is_gone_ends():
    with pytest.raises(SystemExit):
        platform.end_with_parent(os.getppid() + 1)


def test_a_killed_process_is_waited_for_once():
    program = [sys.executable, "-c", "import time; time.sleep(600)"]
    process = subprocess.Popen(program, start_new_session=True)

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


def test_alarms_reach_the_main_thread_until_the_block_ends():
    late: list[threading.Thread] = []
    busy: list[threading.Thread] = []

    with platform.set_alarms((60.0, act_once(busy)), (0.001, act_once(late))):
        wait_until(lambda: len(late) > 1)
    with platform.set_alarms((0.001, act_once(busy)), (60.0, act_once(late))):
        wait_until(lambda: re.sub("(a)+", "b", "a" * 300_000) and len(busy) > 1)

    assert set(late + busy) == {threading.main_thread()}
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


def test_a_pipe_is_unread_once_its_reader_is_gone(tmp_path):
    reads, writes = os.pipe()
    try:
        assert not platform.is_reader_gone(writes)
        os.close(reads)
        assert platform.is_reader_gone(writes)
        with (tmp_path / "file").open("wb") as file:
            assert not platform.is_reader_gone(file.fileno())
    finally:
        os.close(writes)


def run_and_wait(thread):
    thread.start()
    wait_until(lambda: False)


def test_the_main_thread_is_interrupted():
    thread = threading.Thread(target=platform.interrupt_main_thread)
    with pytest.raises(KeyboardInterrupt):
        run_and_wait(thread)


def test_lance_uses_two_threads_unless_the_user_sets_another_number(monkeypatch):
    monkeypatch.setenv("LANCE_CPU_THREADS", "7")
    monkeypatch.delenv("LANCE_IO_THREADS", raising=False)

    platform.limit_lance_threads()

    assert (os.environ["LANCE_CPU_THREADS"], os.environ.pop("LANCE_IO_THREADS")) == ("7", "2")


def test_the_rest_client_of_lance_is_a_package_whose_code_has_not_run(monkeypatch):
    monkeypatch.setitem(sys.modules, CLIENT, None)
    del sys.modules[CLIENT]

    platform.skip_lance_rest_client()

    client = sys.modules[CLIENT]
    assert client.__path__
    assert not hasattr(client, "ApiClient")


def test_a_rest_client_that_is_loaded_stays(monkeypatch):
    loaded = type(sys)(CLIENT)
    monkeypatch.setitem(sys.modules, CLIENT, loaded)
    platform.skip_lance_rest_client()
    assert sys.modules[CLIENT] is loaded


def test_the_command_line_of_httpx_cannot_be_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx._main", None)
    del sys.modules["httpx._main"]
    platform.skip_httpx_command_line()
    with pytest.raises(ImportError):
        __import__("httpx._main")


def test_a_server_of_mcp_loads_no_client():
    program = "import sys, kebab.server.mcp; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert {"mcp.client", "mcp.server.mcpserver", "httpx2"}.isdisjoint(done.stdout.decode().split())


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """Return the list of syncs and renames below the folder, as (what, name) in their order."""
    found = []

    def name(path):
        return Path(os.fsdecode(path)).relative_to(tmp_path).as_posix()

    def watch(module, attribute, describe):
        real = getattr(module, attribute)

        def noted(*arguments):
            result = real(*arguments)
            found.append(describe(*arguments))
            return result

        monkeypatch.setattr(module, attribute, noted)

    watch(os, "fsync", lambda file: ("sync", name(Path(f"/proc/self/fd/{file}").readlink())))
    watch(os, "replace", lambda _, target: ("rename", name(target)))
    return found


def replace_settings(folder):
    replace_settings_file(folder / "file", b"new")


def copy_settings(folder):
    keep_copy(folder / "file", "new")


def write_token(folder):
    load_token(folder)


def apply_fixes(folder):
    write_file(
        FixedFile(
            path=folder / "file",
            before=b"old",
            after=b"new",
            reply=AppliedFile(file="file", backup=None, applied=1, overlapping=0, diff=""),
            refused=0,
        )
    )


@pytest.mark.parametrize(
    ("write", "names"),
    [
        (replace_settings, ["file"]),
        (copy_settings, []),
        (write_token, [TOKEN_NAME]),
        (apply_fixes, ["file"]),
    ],
)
def test_a_file_is_synced_before_its_name_and_its_folder_after(tmp_path, calls, write, names):
    (tmp_path / "file").write_bytes(b"old")

    write(tmp_path)

    assert [name for what, name in calls if what == "rename"] == names
    first, last = calls[0], calls[-1]
    assert first[0] == "sync"
    assert first[1] != "."
    assert last == ("sync", ".")


def test_the_copy_of_an_original_has_its_name_before_the_original_is_replaced(tmp_path, calls):
    (tmp_path / "file").write_bytes(b"old")

    apply_fixes(tmp_path)

    renamed = calls.index(("rename", "file"))
    assert calls[:renamed].index(("sync", "file.orig")) < calls[:renamed].index(("sync", "."))


def test_a_file_stays_as_it_was_when_its_draft_fails(tmp_path):
    target = tmp_path / "a.txt"
    target.write_bytes(b"old")

    def fail_in_the_middle():
        with platform.replace_file(target) as draft:
            draft.write(b"new")
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - its own
        fail_in_the_middle()
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_a_lock_is_held_by_one_at_a_time_and_freed_at_its_end(tmp_path):
    path = tmp_path / "x.lock"
    with platform.hold_lock(path) as first, platform.hold_lock(path, wait=False) as second:
        assert (first, second) == (True, False)
    with platform.hold_lock(path, wait=False) as third:
        assert third
