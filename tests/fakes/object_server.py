"""Servers of objects on this machine, which can fail: a static web server, and a bucket of S3."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import formatdate
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from kebab.store import objects

if TYPE_CHECKING:
    import pytest


class WritableStore(objects.ObjectStore):
    """A store in which a test can write objects, and delete them."""

    def write(self, name: str, data: bytes) -> None:
        with self._translate(name, "write"):
            self._store.put(name, data, use_multipart=False)

    def delete(self, name: str) -> None:
        self._store.delete(name)


BUCKET = "team-bucket"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "somebody",
    "AWS_SECRET_ACCESS_KEY": "very-secret-words",
    "AWS_REGION": "us-east-1",
}
CODES = {"expired": (400, "ExpiredToken"), "skewed": (403, "RequestTimeTooSkewed")}
"""The answers of S3 to expired credentials, and to a request of a clock that is wrong."""


class Request(NamedTuple):
    """What a client sent; the path keeps its query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Reply(NamedTuple):
    """What a client gets."""

    status: int
    data: bytes = b""
    headers: Mapping[str, str] = {}


def refuse(status: int, code: str) -> Reply:
    """Return an error as S3 words it."""
    return Reply(status, f"<Error><Code>{code}</Code></Error>".encode())


class Stored(NamedTuple):
    """An object, its tag, and when it was written: in seconds, each later than the ones before."""

    data: bytes
    tag: str
    written: int

    def build_headers(self) -> dict[str, str]:
        return {"ETag": self.tag, "Last-Modified": formatdate(self.written, usegmt=True)}


class Bucket:
    """A bucket of S3 in memory, by the words of S3's reference.

    It has what obstore and LanceDB ask for here; copies, parts and ranges are not implemented.
    """

    def __init__(self) -> None:
        self._objects: dict[str, Stored] = {}
        self._now = 1_750_000_000
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Reply:
        """Answer one request."""
        url = urlsplit(request.path)
        name = unquote(url.path).removeprefix(f"/{BUCKET}").removeprefix("/")
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        with self._lock:
            if "list-type" in query:
                return self._list(query)
            if "delete" in query:
                return self._delete_all(request.body)
            if (
                query
                or request.method not in ("GET", "HEAD", "PUT")
                or request.headers.get("Range")
            ):
                return refuse(501, "NotImplemented")
            if request.method == "PUT":
                return self._put(request, name)
            if name not in self._objects:
                return refuse(404, "NoSuchKey")
            found = self._objects[name]
            return Reply(200, found.data, found.build_headers())

    def _put(self, request: Request, name: str) -> Reply:
        """Write an object, unless the condition does not hold."""
        old = self._objects.get(name)
        needed = request.headers.get("If-Match")
        if needed and old is None:
            return refuse(404, "NoSuchKey")
        unfit = needed and old is not None and needed != old.tag
        if unfit or (old is not None and request.headers.get("If-None-Match") == "*"):
            return refuse(412, "PreconditionFailed")
        self._now += 1
        new = Stored(request.body, f'"{md5(request.body).hexdigest()}"', self._now)
        self._objects[name] = new
        return Reply(200, b"", new.build_headers())

    def _list(self, query: Mapping[str, str]) -> Reply:
        """List objects, and with a delimiter the folders, all on one page."""
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("start-after", "")
        rows, folders = [], set()
        for name, found in sorted(self._objects.items()):
            if not name.startswith(prefix) or name <= after:
                continue
            folder, inside, _ = name[len(prefix) :].partition(delimiter or "\0")
            if inside:
                folders.add(f"{prefix}{folder}{delimiter}")
                continue
            written = datetime.fromtimestamp(found.written, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            rows.append(
                f"<Contents><Key>{escape(name)}</Key><Size>{len(found.data)}</Size>"
                f"<LastModified>{written}</LastModified><ETag>{escape(found.tag)}</ETag></Contents>"
            )
        rows += [
            f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>"
            for one in sorted(folders)
        ]
        return Reply(200, f"<ListBucketResult>{''.join(rows)}</ListBucketResult>".encode())

    def _delete_all(self, body: bytes) -> Reply:
        names = [one.text or "" for one in ET.fromstring(body).iterfind(".//{*}Key")]
        for name in names:
            self._objects.pop(name, None)
        done = "".join(f"<Deleted><Key>{escape(name)}</Key></Deleted>" for name in names)
        return Reply(200, f"<DeleteResult>{done}</DeleteResult>".encode())


def build_folder_answer(folder: Path) -> Callable[[Request], Reply]:
    """Return what a static web server answers."""

    def answer(request: Request) -> Reply:
        path = folder / unquote(urlsplit(request.path).path).lstrip("/")
        if request.method not in ("GET", "HEAD"):
            return Reply(501)
        if not path.is_file():
            return Reply(404)
        modified = formatdate(path.stat().st_mtime, usegmt=True)
        return Reply(200, path.read_bytes(), {"Last-Modified": modified})

    return answer


class FaultyServer:
    """Answers requests, and spoils those that `faults` chooses.

    `faults` maps a part of a path to one of `503`, `403`, `404`, `expired`, `skewed`, `truncated`
    and `reset`; `methods` are the methods that are spoilt. A request whose reply is `reset` has
    been done.
    """

    def __init__(self, answer: Callable[[Request], Reply]) -> None:
        self.faults: dict[str, str] = {}
        self.methods = {"GET", "HEAD", "PUT"}
        self.seen: list[tuple[str, str]] = []
        self._answer = answer
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Write nothing."""

            def do_GET(self) -> None:
                outer.handle(self)

            do_PUT = do_POST = do_DELETE = do_HEAD = do_GET  # noqa: N815

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        # It notices within a hundredth of a second that it is shut down.
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def handle(self, request: Any) -> None:
        """Answer one request."""
        self.seen.append((request.command, request.path))
        fault = next((one for part, one in self.faults.items() if part in request.path), "")
        fault = fault if request.command in self.methods else ""
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        if fault.isdigit() or fault in CODES:
            reply = refuse(*(CODES.get(fault) or (int(fault), "Fault")))
        else:
            asked = Request(request.command, request.path, request.headers, body)
            reply = self._answer(asked)
        if fault == "reset":
            # Closing at once, without the usual end, resets the connection.
            linger = struct.pack("ii", 1, 0)
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            request.close_connection = True
            return
        data = reply.data
        request.send_response(reply.status)
        for name, value in reply.headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        if request.command == "HEAD":
            return
        with contextlib.suppress(OSError):
            request.wfile.write(data[: len(data) // 2] if fault == "truncated" else data)
        request.close_connection = fault == "truncated"


@contextmanager
def serve(answer: Callable[[Request], Reply]) -> Iterator[FaultyServer]:
    """Let a server answer until the end."""
    server = FaultyServer(answer)
    try:
        yield server
    finally:
        server.close()


def serve_folder(folder: Path) -> contextlib.AbstractContextManager[FaultyServer]:
    """Serve a folder as static files."""
    return serve(build_folder_answer(folder))


def serve_s3() -> contextlib.AbstractContextManager[FaultyServer]:
    """Serve an empty bucket of S3."""
    return serve(Bucket().answer)


def use_s3(server: FaultyServer, monkeypatch: "pytest.MonkeyPatch", retries: int = 0) -> None:
    """Let clients of S3 reach a server, which spoils no request until a test says so."""
    monkeypatch.setattr(objects, "_RETRIES", retries)
    server.faults.clear()
    server.methods = {"GET", "HEAD", "PUT"}
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.port}")
