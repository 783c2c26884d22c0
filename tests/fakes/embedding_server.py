"""A model server that embeds by words, with Ollama's API and the OpenAI-compatible one."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class FakeEmbeddingServer:
    """The record of a server; `dimension` is the length of its vectors, `longest` its window."""

    def __init__(self, dimension: int = 64, longest: int = 100_000) -> None:
        self.dimension = dimension
        self.longest = longest
        self.asked: list[dict[str, Any]] = []
        self.url = ""

    def reply(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Return the status and the body of a response."""
        self.asked.append(body)
        if any(len(text) > self.longest for text in body["input"]):
            return 500, {"error": {"message": "input (900 tokens) is too large to process"}}
        vectors = [self._embed(text) for text in body["input"]]
        if path == "/api/embed":
            return 200, {"embeddings": vectors}
        rows = [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]
        return 200, {"data": rows[::-1]}

    def _embed(self, text: str) -> list[float]:
        vector = [0.01] * self.dimension
        for word in text.casefold().split():
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % self.dimension] += 1.0
        return vector


@contextmanager
def serve_embeddings(server: FakeEmbeddingServer) -> Iterator[FakeEmbeddingServer]:
    """Serve on loopback for as long as the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, reply = server.reply(self.path, body)
            content = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        server.url = f"http://127.0.0.1:{listener.server_port}"
        Thread(target=listener.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield server
        finally:
            listener.shutdown()
