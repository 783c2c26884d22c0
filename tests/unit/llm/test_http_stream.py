import gzip
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from time import sleep
from typing import Any

import pytest

from kebab.errors.catalog import ModelProtocol, ModelUnreachable, TimedOut
from kebab.errors.signal import Signal
from kebab.llm import http_stream
from kebab.llm.endpoint import parse_endpoint
from kebab.llm.http_stream import Call, Deadlines, HttpStream
from tests.fakes.waiting import PATIENCE_S, wait_until

NEVER = Deadlines(connect_s=0, first_token_s=0, total_s=0)
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
)
LARGE = 1_000_000


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


END = chunk(b"")


@dataclass
class Peer:
    """A server of one connection that plays a script, and notes what it was sent."""

    port: int
    request: bytes = b""
    left: threading.Event = field(default_factory=threading.Event)
    """Set when the client has hung up."""
    closing: threading.Event = field(default_factory=threading.Event)

    def serve(self, listener: socket.socket, script: Callable[["Peer", socket.socket], None]):
        connection, _ = listener.accept()
        with connection:
            try:
                self._read_request(connection)
                script(self, connection)
            except OSError:
                self.left.set()

    def _read_request(self, connection: socket.socket) -> None:
        """Read the head, and a body that is not large."""
        while b"\r\n\r\n" not in self.request:
            self._read(connection)
        head, _, _ = self.request.partition(b"\r\n\r\n")
        length = sum(map(int, re.findall(rb"(?i)content-length: (\d+)", head)))
        while length < LARGE and len(self.request) < len(head) + 4 + length:
            self._read(connection)

    def _read(self, connection: socket.socket) -> None:
        data = connection.recv(65536)
        if not data:
            raise ConnectionResetError
        self.request += data

    def wait_for_end(self, connection: socket.socket) -> None:
        """Read on until the client hangs up."""
        while connection.recv(65536):
            pass
        self.left.set()


@contextmanager
def peer(script: Callable[[Peer, socket.socket], None]) -> Iterator[Peer]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        served = Peer(port=listener.getsockname()[1])
        thread = threading.Thread(target=served.serve, args=(listener, script), daemon=True)
        thread.start()
        yield served
        served.closing.set()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def says(*pieces: bytes, stays: bool = False) -> Callable[[Peer, socket.socket], None]:
    def script(served: Peer, connection: socket.socket) -> None:
        for piece in pieces:
            connection.sendall(piece)
            sleep(0.005)
        if stays:
            served.wait_for_end(connection)

    return script


def drips(served: Peer, connection: socket.socket) -> None:
    connection.sendall(HEAD)
    while not served.closing.wait(0.01):
        connection.sendall(chunk(b" "))


def ask(
    served: Peer, deadlines: Deadlines = NEVER, body: bytes | None = b"{}", **headers
) -> HttpStream:
    call = Call(
        endpoint=parse_endpoint(f"http://me:secret@127.0.0.1:{served.port}"), operation="ask"
    )
    return HttpStream(call, "/api/chat", body, deadlines, headers)


def failure(stream: HttpStream, kind: type[Signal], text: str | None = None) -> Signal:
    with stream as answer, pytest.raises(kind, match=text) as raised:
        list(answer.iter_lines())
    return raised.value


def talking() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "kebab-http-stream"]


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    for thread in talking():
        thread.join(PATIENCE_S)
    assert not talking()


def test_an_endless_line_is_a_protocol_error(monkeypatch):
    monkeypatch.setattr(http_stream, "MAX_LINE_BYTES", 1000)

    with peer(says(HEAD, chunk(b"x" * 900), chunk(b"x" * 900), stays=True)) as served:
        failure(ask(served), ModelProtocol, "longer than 1000 bytes")


def test_a_compressed_body_is_not_decompressed():
    with peer(says(HEAD, chunk(gzip.compress(b"x" * 1_000_000)), END)) as served:
        failure(ask(served), ModelProtocol, "the response is compressed")


def test_an_invalid_header_is_reported_without_its_value():
    asked = ask(Peer(port=9), Authorization="Bearer 비밀")

    assert "비밀" not in str(failure(asked, ModelUnreachable, "header cannot be sent").details())


def test_connecting_has_its_own_limit():
    limits = Deadlines(connect_s=0.2, first_token_s=60, total_s=60)

    with ExitStack() as sockets:
        full = sockets.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            waiting = sockets.enter_context(socket.socket())
            waiting.settimeout(0)
            waiting.connect_ex(full.getsockname())

        asked = ask(Peer(port=full.getsockname()[1]), limits)

        failure(asked, ModelUnreachable, "connecting took too long")


def test_a_name_look_up_that_hangs_is_bounded(monkeypatch):
    done = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: done.wait(PATIENCE_S) and [])
    call = Call(endpoint=parse_endpoint("http://slow.example:1"), operation="ask")
    limits = Deadlines(connect_s=0.1, first_token_s=60, total_s=60)

    failure(HttpStream(call, "/", b"", limits), ModelUnreachable, "connecting took too long")
    done.set()


@pytest.mark.parametrize(
    ("deadlines", "operation"),
    [
        (Deadlines(connect_s=0, first_token_s=0.2, total_s=0), "first_token"),
        (Deadlines(connect_s=0, first_token_s=0.2, total_s=60), "first_token"),
        (Deadlines(connect_s=60, first_token_s=60, total_s=0.2), "answer"),
    ],
)
@pytest.mark.parametrize("script", [says(stays=True), says(HEAD, stays=True), drips])
def test_no_server_can_hold_a_caller_beyond_a_deadline(script, deadlines, operation):
    with peer(script) as served:
        late = failure(ask(served, deadlines), TimedOut).details()

    assert (late["operation"], late["deadline_ms"]) == (operation, 200)
    assert late["elapsed_ms"] >= 200


@pytest.fixture
def now(monkeypatch) -> list[float]:
    """The time of the deadlines, which passes only when a test says so."""
    now = [100.0]
    monkeypatch.setattr(http_stream, "monotonic", lambda: now[0])
    return now


def test_each_token_restarts_the_limit_for_silence(now):
    limits = Deadlines(connect_s=0, first_token_s=1.0, total_s=0)
    seen: list[bytes] = []
    heard = threading.Semaphore(0)

    def script(served: Peer, connection: socket.socket) -> None:
        connection.sendall(HEAD)
        for _ in range(8):
            now[0] += 0.8
            connection.sendall(chunk(b"token\n"))
            assert heard.acquire(timeout=PATIENCE_S)
        connection.sendall(END)

    with peer(script) as served, ask(served, limits) as answer:
        for line in answer.iter_lines():
            answer.record_token()
            seen.append(line)
            heard.release()

    assert seen == [b"token"] * 8


def test_data_that_came_in_time_may_be_read_late(now):
    limits = Deadlines(connect_s=0, first_token_s=1.0, total_s=0)

    with peer(says(HEAD, chunk(b"token\n"), END)) as served, ask(served, limits) as answer:
        lines = answer.iter_lines()
        assert next(lines) == b"token"
        wait_until(lambda: not talking())
        now[0] += 60

        assert list(lines) == []


@pytest.mark.parametrize(
    "script",
    [says(stays=True), says(HEAD, stays=True), says(HEAD, chunk(b"one\n"), stays=True)],
    ids=["before headers", "before tokens", "mid-stream"],
)
def test_leaving_closes_the_connection_at_once(script):
    with peer(script) as served:
        with ask(served):
            sleep(0.1)

        assert served.left.wait(PATIENCE_S)


def test_leaving_while_a_large_body_is_sent_closes_the_connection():
    def script(served: Peer, connection: socket.socket) -> None:
        served.closing.wait(0.2)
        served.wait_for_end(connection)

    with peer(script) as served:
        with ask(served, body=b"x" * 30_000_000):
            sleep(0.1)

        assert served.left.wait(PATIENCE_S)


def test_leaving_while_connecting_closes_the_new_connection(monkeypatch):
    look_up, left = socket.getaddrinfo, threading.Event()

    def slow(*given: Any, **named: Any) -> Any:
        assert left.wait(PATIENCE_S)
        return look_up(*given, **named)

    monkeypatch.setattr(socket, "getaddrinfo", slow)

    with peer(says(stays=True)) as served:
        with ask(served):
            pass
        left.set()

        assert served.left.wait(PATIENCE_S)


def test_leaving_during_the_tls_handshake_closes_the_connection():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        call = Call(
            endpoint=parse_endpoint(f"https://127.0.0.1:{listener.getsockname()[1]}"),
            operation="ask",
        )
        with HttpStream(call, "/", b"", NEVER):
            connection, _ = listener.accept()
            assert connection.recv(65536)
        with connection:
            connection.settimeout(PATIENCE_S)

            assert connection.recv(65536) == b""


def test_a_reader_that_stops_slows_the_server_down():
    def script(served: Peer, connection: socket.socket) -> None:
        connection.sendall(HEAD)
        connection.settimeout(0.5)
        for _ in range(4000):
            connection.sendall(chunk(b"x" * 65536))

    with peer(script) as served, ask(served) as answer:
        assert answer.head.status == 200
        stopped = served.left.wait(PATIENCE_S)

    assert stopped


def test_an_interrupt_is_raised_and_closes_the_connection():
    def script(served: Peer, connection: socket.socket) -> None:
        connection.sendall(HEAD)
        main = threading.main_thread().ident
        assert main is not None
        sleep(0.1)
        signal.pthread_kill(main, signal.SIGINT)
        served.wait_for_end(connection)

    with peer(script) as served:
        with pytest.raises(KeyboardInterrupt), ask(served) as answer:
            list(answer.iter_lines())

        assert served.left.wait(PATIENCE_S)
