import marshal
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from kebab.config.settings import Daemon, Settings, Watch
from kebab.core.progress import RunCold
from kebab.errors.catalog import StoreCorrupt
from kebab.store.sqlite.connection import get_database_path
from kebab.warm.client import ACKNOWLEDGED, ALIVE, LENGTH_BYTES, LIVE, RESULT, SHOW
from kebab.warm.worker import (
    WATCH,
    Call,
    Demand,
    KebabOpener,
    ProcessState,
    Request,
    build_demand,
    read_memory,
    read_memory_share,
    receive_call,
    receive_demand,
    replace_environment,
    send_demand,
)

CHANGING = re.compile(
    rb'(?<=_ms":)[\d.e-]+|(?<=_id":")\w+|\d{4}-\d\d-\d\dT[\d:.]+Z|[\d.]+ m?s\b'
    rb'|(?<="sqlite":)\d+'
)


@pytest.fixture
def own_environment():
    before = dict(os.environ)
    yield
    replace_environment(before)


def test_the_environment_becomes_that_of_the_client(own_environment):
    wanted = {"HOME": "/elsewhere", "PATH": os.environ["PATH"]}
    replace_environment(wanted)

    assert dict(os.environ) == wanted


def test_settings_that_switch_the_warm_process_off_run_cold(tmp_path):
    with pytest.raises(RunCold):
        KebabOpener()(Settings(daemon=Daemon(auto=False)), config_path=tmp_path / "config.toml")


@pytest.mark.parametrize("live", [False, True])
def test_a_fault_of_a_store_is_left_to_the_client_unless_it_has_shown_output(tmp_path, ends, live):
    fault = StoreCorrupt(path="/data/kebab.sqlite", cause="file is not a database")
    opener = KebabOpener()
    opener.call = Call(ends[1], REQUEST, [])
    if live:
        opener.call.collect(1, b"one\n")
        opener.call.show_output()
    settings = Settings(data_dir=str(tmp_path / "kb"))
    with (
        pytest.raises(StoreCorrupt if live else RunCold),
        opener(settings, config_path=tmp_path / "config.toml"),
    ):
        raise fault

    assert opener.distrusts is not live


def test_the_memory_of_a_process_is_known_while_it_lives():
    assert read_memory(os.getpid()) > 1_000_000
    assert read_memory(-1) == 0


def test_the_share_of_a_process_is_not_more_than_its_memory():
    assert 1_000_000 < read_memory_share(os.getpid()) <= read_memory(os.getpid()) * 1.1
    assert read_memory_share(-1) == 0


def test_a_state_is_restored():
    state = ProcessState.take()
    os.umask(0o007)
    folder = os.getcwd()  # noqa: PTH109 - a string is wanted
    try:
        state.restore()
        assert ProcessState.take() == state
        assert os.getcwd() == "/"  # noqa: PTH109 - a string is wanted
    finally:
        os.chdir(folder)


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "김치", "--json"),
        ("list", "--json"),
        ("search", "nothing-of-the-kind"),
        ("fetch", "bread.md"),
        ("schema", "--commands", "--json"),
        ("search", "--nonsense", "--json"),
        ("explain", "locked"),
    ],
)
def test_calls_with_other_environments_between_them_answer_as_cold(warm, arguments):
    warm.call("search", "bread", KEBAB_LANG="ko", TZ="Asia/Seoul", TERM="dumb")
    served, cold = warm.call(*arguments), warm.call_cold(*arguments)

    assert served.returncode == cold.returncode
    assert drop_times(served.stdout) == drop_times(cold.stdout)
    assert drop_times(served.stderr) == drop_times(cold.stderr)


def drop_times(output):
    return CHANGING.sub(b"", output)


def test_what_reads_stdin_runs_cold(warm):
    done = warm.call("search", "-", "--json", stdin=b"sourdough")

    assert done.returncode == 0
    assert b'"query":"sourdough"' in done.stdout


_FORGOTTEN_WORKER = """
import socket, sys
from kebab.warm.worker import BUSY, CallRunner, Worker

class ClosedControl(socket.socket):
    def send(self, data):
        if data == BUSY:
            raise BrokenPipeError
        return super().send(data)

listener = socket.socket(fileno=int(sys.argv[1]))
listener.setblocking(False)
ours, theirs = socket.socketpair()
control = ClosedControl(fileno=theirs.detach())
runner = CallRunner(lambda call, opener, leave: 7, lambda opener: None)
worker = Worker(listener, control, b"identity", runner, lambda: True)
worker.serve(preload=False)
"""


def test_a_worker_that_its_parent_forgot_answers_the_call_that_it_accepted(tmp_path):
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.bind(path)
        listener.listen()
        client.settimeout(20)
        client.connect(path)
        call = marshal.dumps((b"identity", [], "/", dict(os.environ), 0o22), 2)
        socket.send_fds(client, [len(call).to_bytes(4, "big") + call], [0, 1, 2])
        done = subprocess.run(
            [sys.executable, "-c", _FORGOTTEN_WORKER, str(listener.fileno())],
            pass_fds=[listener.fileno()],
            capture_output=True,
            timeout=20,
            check=False,
        )

        assert (done.returncode, done.stderr) == (0, b"")
        received = b"".join(iter(lambda: client.recv(100), b""))
        result = marshal.dumps((7, []), 2)
        assert received == ACKNOWLEDGED + RESULT + len(result).to_bytes(4, "big") + result


REQUEST = Request(b"identity", ["search", "김치"], "/", {"HOME": "/h"}, 0o22)


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def send(connection, message, descriptors=(0, 1, 2)):
    data = marshal.dumps(tuple(message), 2)
    framed = len(data).to_bytes(4, "big") + data
    if descriptors:
        socket.send_fds(connection, [framed], list(descriptors))
    else:
        connection.sendall(framed)


def test_a_call_arrives_with_its_descriptors(ends):
    send(ends[0], REQUEST)
    call = receive_call(ends[1])

    assert call is not None
    assert call.request == REQUEST
    assert [os.fstat(number).st_ino for number in call.descriptors] == [
        os.fstat(number).st_ino for number in (0, 1, 2)
    ]
    assert not any(map(os.get_inheritable, call.descriptors))
    call.close()


def test_a_long_environment_arrives_in_parts(ends):
    long = REQUEST._replace(environ={"LONG": "x" * 1_000_000})
    sender = threading.Thread(target=send, args=(ends[0], long))
    sender.start()
    call = receive_call(ends[1])
    sender.join()

    assert call is not None
    assert call.request == long
    call.close()


@pytest.mark.parametrize("descriptors", [(), (0,)])
def test_a_message_without_three_descriptors_is_refused(ends, descriptors):
    send(ends[0], REQUEST, descriptors)

    assert receive_call(ends[1]) is None


def test_a_client_that_left_or_sends_garbage_is_refused(ends):
    ends[0].sendall(b"\0\0\0\5hello")
    ends[0].close()

    assert receive_call(ends[1]) is None


def test_nothing_is_read_from_a_peer_of_another_user(ends, monkeypatch):
    monkeypatch.setattr("kebab.warm.worker.is_own_peer", lambda _: False)
    send(ends[0], REQUEST)

    assert receive_call(ends[1]) is None
    assert ends[1].recv(4, socket.MSG_DONTWAIT)


class SlowConnection:
    """A connection from which one byte at a time arrives."""

    def __init__(self, connection):
        self._connection = connection

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def recvmsg(self, _, space):
        return self._connection.recvmsg(1, space)

    def recv(self, _):
        return self._connection.recv(1)


def test_a_message_in_single_bytes_arrives(ends):
    send(ends[0], REQUEST)
    slow: Any = SlowConnection(ends[1])
    call = receive_call(slow)

    assert call is not None
    assert call.request == REQUEST
    call.close()


@pytest.fixture
def interruptible():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_of_the_client_interrupts_the_call(ends, interruptible, number):
    call = Call(ends[1], REQUEST, [])
    call.acknowledge()
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the signal comes in between
        ends[0].sendall(bytes([number]))
        time.sleep(10)

    assert call.interrupted == 1
    assert not call.is_abandoned


def test_a_client_that_leaves_interrupts_the_call(ends, interruptible):
    call = Call(ends[1], REQUEST, [])
    call.acknowledge()
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the signal comes in between
        ends[0].close()
        time.sleep(10)


def test_a_client_that_waits_sees_the_output_so_far(ends, interruptible):
    call = Call(ends[1], REQUEST, [])
    written = []
    call.write_live = lambda stream, data: written.append((stream, data))
    call.acknowledge()
    call.collect(1, b"one\n")
    ends[0].sendall(SHOW)
    deadline = time.monotonic() + 10
    while not written and time.monotonic() < deadline:
        time.sleep(0.01)

    assert written == [(1, b"one\n")]
    assert ends[0].recv(10) == ACKNOWLEDGED + LIVE + ALIVE


def test_a_call_with_nothing_to_show_says_that_it_is_alive(ends, interruptible):
    call = Call(ends[1], REQUEST, [])
    call.acknowledge()
    ends[0].settimeout(10)
    assert ends[0].recv(1) == ACKNOWLEDGED
    ends[0].sendall(SHOW)

    assert ends[0].recv(10) == ALIVE


def test_nothing_comes_after_the_result(ends, interruptible):
    call = Call(ends[1], REQUEST, [])
    call.acknowledge()
    call.send_result(0)
    before = ends[0].recv(1000)
    ends[0].sendall(SHOW)
    time.sleep(0.1)
    ends[1].close()

    assert before.startswith(ACKNOWLEDGED + RESULT)
    assert ends[0].recv(10) == b""


def test_output_is_kept_for_the_result_in_its_order(ends):
    call = Call(ends[1], REQUEST, [])
    assert call.collect(2, b"warning\n")
    assert call.collect(1, b"hit\n")
    call.send_result(1)
    data = ends[0].recv(1000)

    assert data[:1] == RESULT
    assert marshal.loads(data[5:]) == (1, [(2, b"warning\n"), (1, b"hit\n")])


def test_a_live_call_writes_itself(ends):
    call = Call(ends[1], REQUEST, [])
    written = []
    call.write_live = lambda stream, data: written.append((stream, data))
    call.show_output()
    assert call.collect(1, b"one\n")
    call.show_output()

    assert not call.collect(1, b"two\n")
    assert written == [(1, b"one\n")]
    assert ends[0].recv(10) == LIVE


def test_a_live_call_is_not_run_again(ends):
    call = Call(ends[1], REQUEST, [])
    call.collect(1, b"one\n")
    call.show_output()
    call.send_cold()

    assert ends[0].recv(10) == LIVE


@pytest.fixture
def settings(tmp_path):
    database = get_database_path(tmp_path / "kb")
    database.parent.mkdir(parents=True)
    database.touch()
    return Settings(data_dir=str(tmp_path / "kb"), watch=Watch(auto=True))


def test_settings_without_a_watcher_want_none(tmp_path):
    assert build_demand(Settings(), tmp_path / "config.toml", {}) is None


def test_a_knowledge_base_without_an_index_wants_none(tmp_path):
    settings = Settings(data_dir=str(tmp_path), watch=Watch(auto=True))

    assert build_demand(settings, tmp_path / "config.toml", {}) is None


def test_paths_of_a_demand_are_absolute(settings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    environ = {"KEBAB_WORKSPACE": "notes", "LANG": "C"}
    demand = build_demand(settings, Path("own.toml"), environ)

    assert demand == Demand(
        f"{tmp_path}/kb",
        ["--data-dir", f"{tmp_path}/kb", "--config", f"{tmp_path}/own.toml"],
        {"KEBAB_WORKSPACE": f"{tmp_path}/notes", "LANG": "C"},
    )


def test_a_demand_arrives_whole():
    demand = Demand("/데이터", ["--data-dir", "/데이터"], {f"V{n}": "x" * 1000 for n in range(50)})
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send_demand(theirs, demand)

        assert ours.recv(1) == WATCH
        assert receive_demand(ours) == demand


def test_a_worker_that_ends_amid_a_demand_is_noticed():
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            theirs.sendall((100).to_bytes(LENGTH_BYTES, "big") + b"half")
        with pytest.raises(ConnectionError):
            receive_demand(ours)
