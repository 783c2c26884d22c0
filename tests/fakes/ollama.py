"""A twin of an Ollama server: real HTTP on loopback, answers scripted by path."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server says to one path.

    It waits `delay_s` first, or until the server closes. With `pieces_s` the body drips out a byte
    at a time, and with `cut` the connection ends before the body does.
    """

    body: bytes
    status: int = 200
    content_type: str = "application/json; charset=utf-8"
    delay_s: float = 0.0
    pieces_s: float = 0.0
    cut: bool = False


def json_answer(value: object, status: int = 200) -> Answer:
    """Return an answer of JSON."""
    return Answer(body=json.dumps(value).encode(), status=status)


@dataclass
class FakeOllama:
    """The script and the record of one server."""

    answers: dict[str, Answer] = field(default_factory=dict)
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path and `Host` of everything that was asked."""
    closing: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def install(self, *models: str) -> None:
        """Let the server list these models, full names with tags."""
        self.answers["/api/tags"] = json_answer({"models": [{"name": name} for name in models]})


@contextmanager
def fake_ollama(*models: str, version: str = "0.32.15") -> Iterator[FakeOllama]:
    """Serve until the block ends."""
    fake = FakeOllama(answers={"/api/version": json_answer({"version": version})})
    fake.install(*models)
    server = _Server(("127.0.0.1", 0), _handler(fake))
    fake.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Say nothing: a client that hangs up is part of the play."""


def _handler(fake: FakeOllama) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            fake.requests.append((self.command, self.path, self.headers.get("Host", "")))
            answer = fake.answers.get(self.path)
            if answer is None:
                text = b"404 page not found"
                answer = Answer(body=text, status=404, content_type="text/plain")
            self._play(answer)

        def _play(self, answer):
            fake.closing.wait(answer.delay_s)
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            body = answer.body[: len(answer.body) // 2] if answer.cut else answer.body
            for piece in _pieces(body, answer.pieces_s):
                fake.closing.wait(answer.pieces_s)
                self.wfile.write(piece)
            self.close_connection = answer.cut

        def log_message(self, format, *args):  # noqa: A002 - the name is the standard library's
            """Say nothing."""

    return Handler


def _pieces(body: bytes, pause: float) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))] if pause else [body]
