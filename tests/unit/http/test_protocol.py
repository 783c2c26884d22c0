"""Connections that are framed wrongly, too large, too slow, or too many."""

import json
import socket
import threading
from functools import partial

import pytest

from kebab.http import protocol
from kebab.http.guard import MOST_REQUEST_BYTES, Admission
from kebab.http.server import Address, HttpServer, open_listener
from tests.fakes.waiting import PATIENCE_S, wait_until
from tests.unit.http.conftest import BEARER, TOKEN, read_until
from tools.surfaces.framing_attacks import (
    find_fault,
    list_attacks,
    list_early_closes,
    read_answers,
    send_attack,
)

HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n"
LAST = HEALTH + b"Connection: close\r\n\r\n"
POST = (
    b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
    + BEARER["Authorization"].encode()
    + b"\r\nContent-Type: application/json\r\n"
)
LENGTH = b"Content-Length: 100\r\n\r\n"


def test_what_is_framed_wrongly_is_refused_and_the_next_request_is_answered(serve):
    address, _ = serve()

    faults = [fault for attack in list_attacks(TOKEN) if (fault := find_fault(address, attack))]
    assert not faults, "\n".join(faults)


def test_a_client_that_leaves_early_leaves_nothing_behind(serve):
    address, server = serve()
    for raw in list_early_closes(TOKEN):
        with socket.create_connection(address, timeout=PATIENCE_S) as connection:
            connection.sendall(raw)

    wait_until(lambda: not server.server_state.connections)
    assert [*read_answers(send_attack(address, LAST))] == [(200, "")]


@pytest.mark.parametrize(
    ("sent", "answers"),
    [
        (b"", []),
        (b"G", [(408, "timeout")]),
        (HEALTH, [(408, "timeout")]),
        (HEALTH + b"\r\n" + HEALTH, [(200, ""), (408, "timeout")]),
        (POST + LENGTH, [(408, "timeout")]),
        (POST + LENGTH + b'{"query', [(408, "timeout")]),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n", [(408, "timeout")]),
        # The answer does not wait for the body, and the body never comes.
        (POST.replace(TOKEN.encode(), b"wrong") + LENGTH, [(401, "unauthorized")]),
    ],
)
def test_a_request_that_does_not_arrive_in_time_is_ended(serve, monkeypatch, sent, answers):
    for name in ("HEAD_S", "BODY_S", "LINGER_S"):
        monkeypatch.setattr(protocol, name, 0.1)
    address, server = serve()

    assert [*read_answers(send_attack(address, sent))] == answers
    wait_until(lambda: not server.server_state.connections)


@pytest.mark.parametrize("start", [HEALTH, POST + LENGTH], ids=["head", "body"])
def test_a_byte_now_and_then_does_not_move_the_deadline(serve, monkeypatch, start):
    for name in ("HEAD_S", "BODY_S"):
        monkeypatch.setattr(protocol, name, 0.3)
    address, _ = serve()
    with socket.create_connection(address, timeout=0.02) as connection:
        connection.sendall(start)

        def drip():
            try:
                connection.send(b"x")
                return connection.recv(65_536)
            except TimeoutError:
                return b""

        assert wait_until(drip).startswith(b"HTTP/1.1 408 ")


def test_a_client_that_does_not_read_its_answer_is_disconnected(monkeypatch):
    monkeypatch.setattr(protocol, "WRITE_S", 0.1)
    written = []

    async def answer(scope, receive, send):
        if scope["type"] == "lifespan":
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(400):
            await send({"type": "http.response.body", "body": b"x" * 100_000, "more_body": True})
            written.append(1)
        await send({"type": "http.response.body", "body": b""})

    listener = open_listener(Address("127.0.0.1", 0))
    server = HttpServer(answer, lambda: None)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        with socket.create_connection(listener.getsockname(), timeout=PATIENCE_S) as connection:
            connection.sendall(HEALTH + b"\r\n")
            wait_until(lambda: written and not server.server_state.connections)
    finally:
        server.should_exit = server.force_exit = True
        thread.join(PATIENCE_S)


def test_a_short_answer_that_nobody_reads_ends_the_connection(serve, monkeypatch):
    monkeypatch.setattr(protocol, "WRITE_S", 0.1)
    address, server = serve()
    with socket.create_connection(address, timeout=PATIENCE_S) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        request = HEALTH + b"\r\n"

        def send_more():
            try:
                connection.sendall(request * 1_000)
            except OSError:
                return True
            return not server.server_state.connections

        connection.settimeout(0.5)
        wait_until(send_more)


def test_idle_connections_make_room_for_a_new_one_the_oldest_first(serve, monkeypatch):
    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 3)
    address, server = serve()
    idle = [socket.create_connection(address, timeout=PATIENCE_S) for _ in range(3)]
    try:
        wait_until(lambda: len(server.server_state.connections) == 3)

        assert [*read_answers(send_attack(address, LAST))] == [(200, "")]
        assert is_ended(idle[0])
        idle[2].sendall(LAST)
        assert b" 200 OK" in read_until(idle[2], b"\r\n\r\n")
    finally:
        for one in idle:
            one.close()


def is_ended(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def has_asked(pool, count):
    return len(pool.asked) == count


def test_a_server_that_is_busy_on_all_connections_says_so(serve, send, pool, monkeypatch):
    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 2)
    address, _ = serve(deadline_s=0)
    for count in (1, 2):
        send(address, "/v1/search", {"query": "stuck"})
        wait_until(partial(has_asked, pool, count))

    assert [*read_answers(send_attack(address, LAST))] == [(503, "server_busy")]


def test_a_refused_name_is_not_repeated_in_full(serve):
    address, _ = serve()
    raw = send_attack(address, LAST.replace(b"localhost", b"a" * 10_000))

    error = json.loads(raw.partition(b"\r\n\r\n")[2])
    assert len(error["details"]["cause"]) < 400
    assert error["details"]["cause"].endswith("…")


def test_only_a_request_with_a_file_takes_a_large_body():
    admission = Admission(
        token=TOKEN,
        hosts=(),
        any_address=False,
        max_body_bytes=40_000_000,
        open_paths=(),
        large_paths={"/v1/ingest_text"},
    )

    assert admission.get_limit("/v1/ingest_text") == 40_000_000
    assert admission.get_limit("/v1/search") == MOST_REQUEST_BYTES
