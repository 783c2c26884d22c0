import marshal
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from kebab.warm import client
from kebab.warm import client as place
from kebab.warm.client import ALIVE, RESULT, is_warm_call, run_warm

ON = {"HOME": "/h"}


@pytest.mark.parametrize(
    ("arguments", "warm"),
    [
        (["search", "bread"], True),
        (["--json", "--data-dir", "ingest", "search", "bread"], True),
        (["session", "list"], True),
        (["session", "rm", "talk"], False),
        (["source", "rm", "notes"], False),
        (["ingest", "notes"], False),
        (["search", "--in", "notes", "bread"], False),
        (["search", "--in=notes", "bread"], False),
        (["search", "-i"], False),
        (["--help"], False),
        ([], False),
    ],
)
def test_only_commands_that_read_are_handed_over(arguments, warm):
    assert is_warm_call(arguments, ON) is warm


@pytest.mark.parametrize("off", ["0", "false", "FALSE", "no", "off"])
def test_the_variable_switches_it_off(off):
    assert not is_warm_call(["search"], {"KEBAB_DAEMON_AUTO": off})
    assert is_warm_call(["search"], {"KEBAB_DAEMON_AUTO": "true"})


def test_the_client_imports_neither_typing_nor_socket_nor_click():
    program = (
        "import os, sys; before = set(sys.modules); import kebab.cli.main, _socket;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={**os.environ, "PYTHONPATH": os.getcwd()},  # noqa: PTH109 - a string is wanted
        capture_output=True,
        text=True,
        check=True,
    )

    assert set(done.stdout.split()) <= {
        "_socket",
        "gc",
        "kebab",
        "kebab.cli",
        "kebab.cli.main",
        "kebab.config",
        "kebab.config.sockets",
        "kebab.warm",
        "kebab.warm.client",
        "marshal",
        "time",
    }


def test_a_warm_call_answers_as_a_cold_one(warm):
    before = warm.count_calls()
    served, cold = (call("search", "sourdough") for call in (warm.call, warm.call_cold))

    assert warm.count_calls() == before + 1
    assert (served.returncode, served.stdout, served.stderr) == (
        cold.returncode,
        cold.stdout,
        cold.stderr,
    )
    assert b"Sourdough needs time" in served.stdout


def test_a_worker_that_dies_costs_nothing(warm):
    for pid in warm.wait_until_idle():
        os.kill(pid, signal.SIGKILL)
    done = warm.call("search", "sourdough", "--json")

    assert (done.returncode, done.stderr) == (0, b"")
    assert warm.wait_until_idle()


@pytest.fixture
def impatient(monkeypatch):
    """Return the ends of a connection whose client gives a worker up after two questions."""
    monkeypatch.setattr(client, "_MOST_UNANSWERED", 2)
    monkeypatch.setattr(client, "_SHOW_S", 0.02)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_a_worker_that_answers_nothing_is_given_up(impatient):
    with pytest.raises(client._ColdError):
        client._Waiting(impatient[0], "/socket").wait()

    assert impatient[1].recv(10) == client.SHOW * 2


def test_a_silent_worker_that_is_alive_is_waited_for(impatient):
    def work():
        for _ in range(8):
            assert impatient[1].recv(1) == client.SHOW
            impatient[1].sendall(ALIVE)
        data = marshal.dumps((1, []), 2)
        impatient[1].sendall(RESULT + len(data).to_bytes(4, "big") + data)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        assert client._Waiting(impatient[0], "/socket").wait() == 1
    finally:
        worker.join()


def test_a_server_of_another_user_gets_nothing(runtime, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setattr("kebab.warm.client.is_own_peer", lambda _: False)
    path = place.find_socket(os.environ, place.compute_identity(os.environ))
    assert path is not None
    (runtime / "kebab").mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        assert run_warm(["search", "bread"]) is None
        connection = listener.accept()[0]
        with connection:
            assert connection.recv(1) == b""


def test_what_the_interpreter_read_at_its_start_and_the_home_are_the_identity():
    one = client.compute_identity({"LANG": "C.UTF-8", "HOME": "/h"})

    assert client.compute_identity({"LANG": "C.UTF-8", "HOME": "/h", "TERM": "dumb"}) == one
    assert client.compute_identity({"LANG": "ko_KR.UTF-8", "HOME": "/h"}) != one
    assert client.compute_identity({"LANG": "C.UTF-8", "HOME": "/elsewhere"}) != one


def test_the_name_of_a_socket_is_the_same_in_every_process():
    environ = {"XDG_RUNTIME_DIR": "/run/user/7"}

    assert client.find_socket(environ, b"identity") == client.find_socket(environ, b"identity")
    assert client.find_socket(environ, b"identity") != client.find_socket(environ, b"another")
    assert str(client.find_socket(environ, b"identity")).startswith("/run/user/7/kebab/")


def test_a_path_that_is_too_long_for_a_socket_is_none():
    assert client.find_socket({"XDG_RUNTIME_DIR": "/" + "x" * 200}, b"identity") is None


@pytest.mark.skipif(sys.platform != "linux", reason="SO_PEERCRED")
def test_only_a_peer_of_this_user_is_an_own_one(monkeypatch):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert client.is_own_peer(ours)
        monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
        assert not client.is_own_peer(ours)
