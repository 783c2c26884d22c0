import marshal
import os
import signal
import socket
import threading
import time
from typing import Any

import pytest

from kebab.warm.client import ACKNOWLEDGED, ALIVE, LIVE, RESULT, SHOW
from kebab.warm.worker import Call, Request, receive_call

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
