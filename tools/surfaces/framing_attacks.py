"""Sends requests that are framed wrongly to an HTTP server, and checks that it goes on.

    python -m tools.surfaces.framing_attacks

Each attack is bytes of one connection. uvicorn refuses them, or answers what h11 reads in them. No
answer may be a failure of the server, and after each attack the server has to answer `/v1/health`
on a new connection.
"""

import re
import socket
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

_PATIENCE_S = 30.0
_PATH = "/v1/list"


class Attack(NamedTuple):
    """What is sent."""

    name: str
    raw: bytes


_SMUGGLED = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
_CLOSE = b"Connection: close\r\n"
_LAST = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n" + _CLOSE + b"\r\n"


_GET = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n"
_CHUNKED = b"Transfer-Encoding: chunked\r\n"


def _end_line(start: bytes, *headers: bytes) -> bytes:
    return b"\r\n".join((start, b"Host: localhost", *headers)) + b"\r\n\r\n"


def _build_bearer(token: str) -> bytes:
    return f"Authorization: Bearer {token}\r\n".encode()


def _build_post(token: str, headers: bytes, sent: bytes = b"{}") -> bytes:
    """Return a request with a body, and what may be smuggled behind it."""
    start = f"POST {_PATH} HTTP/1.1\r\nHost: localhost\r\n".encode() + _build_bearer(token)
    return start + b"Content-Type: application/json\r\n" + headers + b"\r\n" + sent + _SMUGGLED


def _list_wrong_frames(token: str) -> dict[str, bytes]:
    """Return requests that are no valid HTTP/1.1, or that others read differently."""
    get, chunked, line, bearer = _GET, _CHUNKED, _end_line, _build_bearer(token)
    body = partial(_build_post, token)
    return {
        "length and chunks": body(b"Content-Length: 2\r\n" + chunked, b"0\r\n\r\n"),
        "chunks and length": body(chunked + b"Content-Length: 5\r\n", b"0\r\n\r\n"),
        "two lengths": body(b"Content-Length: 2\r\nContent-Length: 46\r\n"),
        "the same length twice": body(b"Content-Length: 2\r\ncontent-length: 2\r\n"),
        "a list of lengths": body(b"Content-Length: 2, 2\r\n"),
        "a signed length": body(b"Content-Length: +2\r\n"),
        "a negative length": body(b"Content-Length: -1\r\n"),
        "a hexadecimal length": body(b"Content-Length: 0x2\r\n"),
        "a length of other digits": body("Content-Length: ２\r\n".encode()),
        "an empty length": body(b"Content-Length:\r\n"),
        "two codings": body(b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n"),
        "chunks twice": body(chunked * 2, b"0\r\n\r\n"),
        "an unknown coding": body(b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n"),
        "a coding with a vertical tab": body(b"Transfer-Encoding: \x0bchunked\r\n"),
        "chunks of HTTP/1.0": body(chunked, b"0\r\n\r\n").replace(b"HTTP/1.1", b"HTTP/1.0", 1),
        "a chunk size that is no number": body(chunked, b"zz\r\n{}\r\n0\r\n\r\n"),
        "a signed chunk size": body(chunked, b"+2\r\n{}\r\n0\r\n\r\n"),
        "a chunk size with 0x": body(chunked, b"0x2\r\n{}\r\n0\r\n\r\n"),
        "an endless chunk size": body(chunked, b"2" * 30 + b"\r\n{}\r\n0\r\n\r\n"),
        "a chunk that is longer": body(chunked, b"2\r\n{}XX0\r\n\r\n"),
        "a chunk that ends with LF": body(chunked, b"2\n{}\n0\n\n"),
        "an extension with LF": body(chunked, b"2;a\nb\r\n{}\r\n0\r\n\r\n"),
        "bare LF": get.replace(b"\r\n", b"\n") + b"\n" + _SMUGGLED,
        "one bare LF": get + b"X: 1\nContent-Length: 2\r\n\r\n" + _SMUGGLED,
        "bare CR": get + b"X: 1\rContent-Length: 2\r\n\r\n" + _SMUGGLED,
        "a folded header": get + b"X: 1\r\n  2\r\n\r\n" + _SMUGGLED,
        "a folded first header": b"GET / HTTP/1.1\r\n Host: localhost\r\n\r\n" + _SMUGGLED,
        "NUL in a header": get + b"X: a\0b\r\n\r\n" + _SMUGGLED,
        "NUL in the path": line(b"GET /v1/\0health HTTP/1.1"),
        "a control character": get + b"X: a\x01b\r\n\r\n" + _SMUGGLED,
        "a blank before the colon": get + b"Content-Length : 2\r\n\r\n" + _SMUGGLED,
        "a header without a name": get + b": 1\r\n\r\n" + _SMUGGLED,
        "a header without a colon": get + b"Content-Length\r\n\r\n" + _SMUGGLED,
        "two hosts": get + b"Host: localhost\r\n\r\n" + _SMUGGLED,
        "two tokens": get + bearer * 2 + b"\r\n" + _SMUGGLED,
        "an empty line first": b"\r\n" + get + b"\r\n" + _SMUGGLED,
        "an absolute target": line(b"GET http://localhost/v1/health HTTP/1.1") + _SMUGGLED,
        "a target of another server": line(b"GET http://example.org/ HTTP/1.1") + _SMUGGLED,
        "CONNECT": line(b"CONNECT example.org:443 HTTP/1.1") + _SMUGGLED,
        "an asterisk": line(b"OPTIONS * HTTP/1.1") + _SMUGGLED,
        "a blank in the path": line(b"GET /v1/ health HTTP/1.1") + _SMUGGLED,
        "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0",
        "HTTP/0.9": b"GET /v1/health\r\n\r\n",
        "HTTP/3.0": line(b"GET /v1/health HTTP/3.0"),
        "a lower-case version": line(b"GET /v1/health http/1.1"),
        "no words": b"\r\n\r\n",
        "a TLS hello": bytes.fromhex("160301020001000001fc0303") + bytes(40) + b"\n\r\n",
        "SSH": b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    }


def list_attacks(token: str) -> list[Attack]:
    """Return the attacks."""
    get, line = _GET, _end_line
    bearer = _build_bearer(token)
    upgrade = b"Connection: upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    others = {
        "a long path": line(b"GET /" + b"a" * 9_000 + b" HTTP/1.1"),
        "a long header": get + b"X: " + b"x" * 20_000 + b"\r\n\r\n",
        "an endless header": get + b"X: " + b"x" * 200_000,
        "many headers": get + b"X: 1\r\n" * 200 + b"\r\n",
        "a large body": _build_post(token, b"Content-Length: 999999999999\r\n" + _CLOSE),
        "no host": b"GET /v1/health HTTP/1.1\r\n" + _CLOSE + b"\r\n",
        "another host": b"GET / HTTP/1.1\r\nHost: example.org\r\n" + _CLOSE + b"\r\n",
        "another page": get + b"Origin: http://example.org\r\n" + _CLOSE + b"\r\n",
        "an unknown method": line(b"BREW /v1/health HTTP/1.1", _CLOSE.strip()),
        "an encoded path": line(b"GET /v1/%2e%2e/%00 HTTP/1.1", bearer.strip(), _CLOSE.strip()),
        "HTTP/1.0 without a host": b"GET /v1/health HTTP/1.0\r\n\r\n",
        "a websocket": get + upgrade + b"\r\n",
        "an upgrade to h2c": get + upgrade.replace(b"websocket", b"h2c") + b"\r\n",
        "20 requests at once": _SMUGGLED * 20 + _LAST,
        "a body of GET": get + b"Content-Length: 5\r\n\r\nhello" + _LAST,
    }
    return [Attack(name, raw) for name, raw in (_list_wrong_frames(token) | others).items()]


def send_attack(address: tuple[str, int], raw: bytes) -> bytes:
    """Return what a server answers to bytes until it has ended, or waits for more."""
    with socket.create_connection(address, timeout=_PATIENCE_S) as connection:
        received = b""
        try:
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65_536):
                received += piece
        except TimeoutError:
            raise
        except OSError:  # the server does not read what follows a refused request
            pass
    return received


_STATUS = re.compile(rb"^HTTP/1\.1 (\d{3}) ", re.MULTILINE)


def read_statuses(raw: bytes) -> list[int]:
    """Return the statuses of the answers."""
    return [int(one) for one in _STATUS.findall(raw)]


def find_fault(address: tuple[str, int], attack: Attack) -> str | None:
    """Return how the answer to an attack, or the next one, is wrong."""
    raw = send_attack(address, attack.raw)
    if any(status >= _FAILURE for status in read_statuses(raw)):
        return f"{attack.name}: {raw[:300]!r}"
    if read_statuses(send_attack(address, _LAST)) != [200]:
        return f"{attack.name}: the server does not answer the next request"
    return None


_FAILURE = 500


def main() -> int:
    """Attack a server over the sample notes."""
    from tools.surfaces.home import build_environment
    from tools.surfaces.servers import run_http_server

    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        with run_http_server(build_environment(home), home) as client:
            attacks = list_attacks(client.token)
            faults = [fault for one in attacks if (fault := find_fault(client.address, one))]
    for line in (*faults, f"{len(attacks)} attacks, {len(faults)} faults"):
        sys.stdout.write(f"{line}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
