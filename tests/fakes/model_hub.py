"""Stand-ins for the model hub and the package index: small servers on this machine."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REVISION = "0123456789abcdef0123456789abcdef01234567"


class _Handler(BaseHTTPRequestHandler):
    """Serves the files of its server by path; `silent` accepts and never answers."""

    @property
    def _of(self) -> "_Server":
        assert isinstance(self.server, _Server)
        return self.server

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        self._of.asked.append(self.path)
        if self._of.silent.is_set():
            self._of.release.wait(60)
            return
        body = self._of.files.get(self.path.partition("?")[0])
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "text/html")
        self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = files
        self.asked: list[str] = []
        self.silent = threading.Event()
        self.release = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *arguments: object) -> None:
        """Ignore clients that were stopped in the middle."""


def build_repository(repo: str, files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the paths under which the hub serves the files of a repository, and its lists."""
    rows = [
        {
            "type": "file",
            "path": name,
            "rfilename": name,
            "size": len(body),
            "oid": REVISION,
            "blobId": REVISION,
            "lfs": {
                "oid": hashlib.sha256(body).hexdigest(),
                "sha256": hashlib.sha256(body).hexdigest(),
                "size": len(body),
                "pointerSize": 1,
            },
        }
        for name, body in files.items()
    ]
    info = json.dumps({"_id": "1", "id": repo, "sha": REVISION, "siblings": rows}).encode()
    served = {
        f"/{repo}/resolve/{revision}/{name}": body
        for name, body in files.items()
        for revision in ("main", REVISION)
    }
    paths = ("", "/revision/main", f"/revision/{REVISION}")
    served |= {f"/api/models/{repo}{path}": info for path in paths}
    return served | {f"/api/models/{repo}/tree/{REVISION}": json.dumps(rows).encode()}


def build_index(project: str, wheel: str, body: bytes) -> dict[str, bytes]:
    """Return the paths under which a package index serves one wheel."""
    digest = hashlib.sha256(body).hexdigest()
    page = f'<html><body><a href="/files/{wheel}#sha256={digest}">{wheel}</a></body></html>'
    return {f"/simple/{project}/": page.encode(), f"/files/{wheel}": body}


@contextmanager
def serve(files: dict[str, bytes]) -> Iterator[_Server]:
    """Run a server for the length of the block."""
    server = _Server(files)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.release.set()
        server.shutdown()
        server.server_close()
        thread.join()
