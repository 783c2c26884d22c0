"""Servers of objects on this machine: a static web server, moto's S3, and faults before both."""

import contextlib
import http.client
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kebab.store.objects import ObjectStore

if TYPE_CHECKING:
    import pytest


class WritableStore(ObjectStore):
    """A store in which a test can write objects, and delete them."""

    def write(self, name: str, data: bytes) -> None:
        with self._translate(name, "write"):
            self._open().put(name, data, use_multipart=False)

    def delete(self, name: str) -> None:
        self._open().delete(name)


BUCKET = "team-bucket"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "somebody",
    "AWS_SECRET_ACCESS_KEY": "very-secret-words",
    "AWS_REGION": "us-east-1",
}
SLOW_S = 0.3
CODES = {"expired": (400, "ExpiredToken"), "skewed": (403, "RequestTimeTooSkewed")}
"""The answers of S3 to expired credentials, and to a request of a clock that is wrong."""


def _start_thread(server: ThreadingHTTPServer) -> None:
    """Let a server answer; it notices within a hundredth of a second that it is shut down."""
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()


class _QuietFiles(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Write nothing."""


class FaultyProxy:
    """Passes requests on to a server on this machine, and spoils those that `faults` chooses.

    `faults` maps a part of a path to one of `503`, `403`, `404`, `expired`, `skewed`, `slow`,
    `truncated`, `reset` and `changed`; `methods` are the methods that are spoilt. A request whose
    reply is `reset` has been done.
    """

    def __init__(self, port: int) -> None:
        self.faults: dict[str, str] = {}
        self.methods = {"GET", "HEAD", "PUT"}
        self.seen: list[tuple[str, str]] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Write nothing."""

            def do_GET(self) -> None:
                proxy.answer(self, port)

            do_PUT = do_POST = do_DELETE = do_HEAD = do_GET  # noqa: N815

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        _start_thread(self._server)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Any, port: int) -> None:
        """Answer one request."""
        self.seen.append((request.command, request.path))
        fault = next((one for part, one in self.faults.items() if part in request.path), "")
        fault = fault if request.command in self.methods else ""
        length = int(request.headers.get("Content-Length") or 0)
        body = request.rfile.read(length) if length else None
        if fault.isdigit() or fault in CODES:
            status, code = CODES.get(fault) or (int(fault), "Fault")
            headers, data = [], f"<Error><Code>{code}</Code></Error>".encode()
        else:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request(request.command, request.path, body, dict(request.headers))
            reply = connection.getresponse()
            status, headers, data = reply.status, reply.getheaders(), reply.read()
            connection.close()
        if fault == "reset":
            # Closing at once, without the usual end, resets the connection.
            linger = struct.pack("ii", 1, 0)
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            request.close_connection = True
            return
        if fault == "slow":
            time.sleep(SLOW_S)
        if fault == "changed" and data:
            data = bytes([data[0] ^ 1]) + data[1:]
        request.send_response(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                request.send_header(name, value)
        given = dict(headers).get("Content-Length") if request.command == "HEAD" else None
        request.send_header("Content-Length", given or str(len(data)))
        request.end_headers()
        if request.command == "HEAD":
            return
        with contextlib.suppress(OSError):
            request.wfile.write(data[: len(data) // 2] if fault == "truncated" else data)
        request.close_connection = fault == "truncated"


@contextmanager
def serve_folder(folder: Path) -> Iterator[FaultyProxy]:
    """Serve a folder as static files."""
    handler = partial(_QuietFiles, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    _start_thread(server)
    proxy = FaultyProxy(server.server_address[1])
    try:
        yield proxy
    finally:
        proxy.close()
        server.shutdown()
        server.server_close()


@cache
def _start_s3() -> int:
    """Return the port of the S3 that all tests of this process use."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    return int(server.get_host_and_port()[1])


@contextmanager
def serve_s3() -> Iterator[FaultyProxy]:
    """Serve an empty S3 bucket; the ones before it are gone."""
    port = _start_s3()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/moto-api/reset")
    connection.getresponse().read()
    connection.request("PUT", f"/{BUCKET}")
    connection.getresponse().read()
    connection.close()
    proxy = FaultyProxy(port)
    try:
        yield proxy
    finally:
        proxy.close()


def use_s3(server: FaultyProxy, monkeypatch: "pytest.MonkeyPatch") -> None:
    """Let clients of S3 reach a server, which spoils no request until a test says so."""
    server.faults.clear()
    server.methods = {"GET", "HEAD", "PUT"}
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.port}")
