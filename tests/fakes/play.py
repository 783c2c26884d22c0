"""Real HTTP on loopback that plays what it is told: pauses, pieces, cuts, and who hung up when."""

import json
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from typing import Any, Literal, TypeAlias

_POLL_S = 0.01
_RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Pause:
    """The server says nothing for so long, and notices when the client hangs up meanwhile."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """One response.

    Each part is one network write, and one chunk when there is no `length`. The headers come
    after `held_s`. With `cut` the connection ends where the body should go on, with `reset`
    rudely.
    """

    parts: Iterable[bytes | Pause]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    held_s: float = 0.0
    end: Literal["whole", "cut", "reset"] = "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request, and what became of it."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By their names in lower case."""
    raw: bytes
    hung_up: threading.Event = field(default_factory=threading.Event)
    """The client was gone before the server was done."""
    over: threading.Event = field(default_factory=threading.Event)
    """The server has done with it, one way or the other."""

    @property
    def body(self) -> Any:
        """The JSON that was sent; None when there was none."""
        with suppress(ValueError):
            return json.loads(self.raw)
        return None


Script: TypeAlias = Callable[[Asked], Play]


class Stage:
    """A server that is at work: where it listens, what it was asked, and how it ends."""

    def __init__(self, script: Script) -> None:
        self.asked: list[Asked] = []
        self.hung_up = threading.Event()
        """Some client was gone before the server was done."""
        self.closing = threading.Event()
        self.faults: list[BaseException] = []
        self.script = script
        self._server = _Server(self)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        """End every connection and every thread."""
        self.closing.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()


@contextmanager
def stage(script: Script) -> Iterator[Stage]:
    """Serve until the block ends; a mistake of the script is raised then."""
    open_stage = Stage(script)
    try:
        yield open_stage
    finally:
        open_stage.close()
    if open_stage.faults:
        raise open_stage.faults[0]


@dataclass
class Staged:
    """A fake server: where it listens, and what it was asked."""

    _stage: Stage | None = field(default=None, init=False)

    @property
    def stage(self) -> Stage:
        """The server at work."""
        assert self._stage, "not serving"
        return self._stage

    @property
    def asked(self) -> list[Asked]:
        """Every request, in order."""
        return self.stage.asked

    @property
    def hung_up(self) -> threading.Event:
        """Set when some client was gone before the server was done."""
        return self.stage.hung_up


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 64

    def __init__(self, owner: Stage) -> None:
        self.owner = owner
        self.rude: set[socket.socket] = set()
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        if request in self.rude:
            self.rude.discard(request)
            request.close()
        else:
            super().shutdown_request(request)

    def hang_up(self) -> None:
        """End what is still connected."""
        for one in list(self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hangs up is part of the play."""


class _HungUp(Exception):  # noqa: N818 - nothing is wrong
    """The client is gone."""


class _Closing(Exception):  # noqa: N818 - nothing is wrong
    """The server closes."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server  # type: ignore[mutable-override]  # always the one above

    def _serve(self) -> None:
        owner = self.server.owner
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(method=self.command, path=self.path, headers=headers, raw=sent)
        owner.asked.append(asked)
        try:
            assert "transfer-encoding" not in headers, "chunked requests are not understood"
            self._play(owner.script(asked))
        except (_HungUp, ConnectionError):
            if not owner.closing.is_set():
                asked.hung_up.set()
                owner.hung_up.set()
            self.close_connection = True
        except _Closing:
            self.close_connection = True
        except BaseException as fault:
            owner.faults.append(fault)
            raise
        finally:
            asked.over.set()

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815

    def _play(self, play: Play) -> None:
        self._rest(play.held_s)
        self.send_response(play.status)
        for name, value in play.headers.items():
            self.send_header(name, value)
        if play.length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(play.length))
        self.end_headers()
        if self.command == "HEAD":
            return
        for part in play.parts:
            if isinstance(part, Pause):
                self._rest(part.seconds)
            else:
                self._send(part, chunked=play.length is None)
        if play.end != "whole":
            self.close_connection = True
        elif play.length is None:
            self.wfile.write(b"0\r\n\r\n")
        if play.end == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.server.rude.add(self.connection)

    def _send(self, part: bytes, *, chunked: bool) -> None:
        if part:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part) if chunked else part)

    def _rest(self, seconds: float) -> None:
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0:
            if self.server.owner.closing.wait(min(left, _POLL_S)):
                raise _Closing
            readable, _, _ = select.select([self.connection], [], [], 0)
            if bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b"":
                raise _HungUp

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Say nothing."""
