"""A server of a scripted or a small knowledge base, in this process or behind a real socket."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from starlette.testclient import TestClient

from kebab.app.facade import Kebab
from kebab.cli.commands.serve import render_for_model
from kebab.config.settings import Settings
from kebab.server.application import (
    Address,
    Server,
    Site,
    build_application,
    build_config,
    open_listener,
    silence_loggers,
)
from kebab.server.mcp import McpServer
from kebab.server.requests import Operations, ServerOptions
from kebab.server.running import create_pass
from kebab.wire.ask import Answer, AnswerEvent, AskRequest
from kebab.wire.ingest import IngestRequest
from tests.fakes.facade import FakeKebab
from tests.fakes.waiting import PATIENCE_S
from tests.pdf_files import Text, build_pdf

TOKEN = "a-token-of-these-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ORIGIN = "http://127.0.0.1:7717"
LIMIT = 10_000
PNG = b"\x89PNG\r\n\x1a\n"


class ServedKebab(FakeKebab):
    """A scripted knowledge base whose endless work says that it goes on."""

    def ask(self, request: AskRequest, report: Callable[[Any], None]) -> Answer:
        """Say a word again and again to a question that is `stuck`."""
        if request.question == "stuck":
            self._note("ask", request)
        while request.question == "stuck":
            report(AnswerEvent(type="token", delta="x"))
            time.sleep(0.01)
        return super().ask(request, report)


class FakePool:
    """Lends knowledge bases that answer from a script, and remembers them."""

    def __init__(self) -> None:
        self.lent: list[FakeKebab] = []
        self.interrupted = 0

    @contextmanager
    def lease(self, settings: Settings, *, read_only: bool = False) -> Iterator[FakeKebab]:
        kebab = ServedKebab(settings, config_path=Path("config.toml"), read_only=read_only)
        self.lent.append(kebab)
        try:
            yield kebab
        except KeyboardInterrupt:
            self.interrupted += 1
            raise

    @property
    def asked(self) -> list[tuple[str, Any]]:
        """What any of them was asked."""
        return [one for kebab in self.lent for one in kebab.asked]

    def close(self) -> None:
        """Close nothing."""


@pytest.fixture
def pool(monkeypatch) -> FakePool:
    """Let servers answer from a script."""
    pool = FakePool()
    monkeypatch.setattr("kebab.server.requests.KebabPool", lambda *_, **__: pool)
    return pool


@pytest.fixture
def opened() -> list[Any]:
    """What was opened in the editor."""
    return []


@pytest.fixture
def make_options(tmp_path, opened) -> Callable[..., ServerOptions]:
    """Return a function that returns the options of a server, with changes."""

    def make(**changes: Any) -> ServerOptions:
        usual: dict[str, Any] = {
            "config_path": tmp_path / "config.toml",
            "load_settings": lambda: Settings(data_dir=str(tmp_path), offline=True),
            "render": render_for_model,
            "open_file": lambda found, line: opened.append((found.doc_path, line)),
            "allow_write": True,
        }
        return ServerOptions(**{**usual, **changes})

    return make


@pytest.fixture
def make_operations(make_options) -> Iterator[Callable[..., Operations]]:
    """Return a function that returns what runs operations with these options."""
    with ExitStack() as stack:

        def make(**changes: Any) -> Operations:
            operations = Operations(make_options(**changes))
            stack.callback(operations.close)
            return operations

        yield make


@pytest.fixture
def make_site(make_options, tmp_path) -> Callable[..., Site]:
    """Return a function that returns a site with these options."""

    def make(host: str = "127.0.0.1", **changes: Any) -> Site:
        folder = tmp_path / "server"
        folder.mkdir(exist_ok=True)
        return Site(
            options=make_options(**changes),
            token=TOKEN,
            folder=folder,
            host=host,
            max_body_bytes=LIMIT,
        )

    return make


@pytest.fixture
def make_client(make_site, pool) -> Callable[..., TestClient]:
    """Return a function that returns a client of a scripted server with these options."""

    def make(**changes: Any) -> TestClient:
        app: Any = build_application(make_site(**changes))
        client: TestClient = TestClient(app, base_url=ORIGIN, headers=BEARER)
        return client

    return make


@pytest.fixture
def client(make_client: Callable[..., TestClient]) -> TestClient:
    return make_client()


@pytest.fixture
def serve(make_site, pool) -> Iterator[Callable[..., tuple[Address, Server]]]:
    """Return a function that starts a scripted server behind a real socket."""
    started: list[tuple[Server, Thread]] = []

    def start(**changes: Any) -> tuple[Address, Server]:
        silence_loggers()
        listener = open_listener(Address("127.0.0.1", 0))
        server = Server(build_config(make_site(**changes)))
        thread = Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        started.append((server, thread))
        return Address("127.0.0.1", listener.getsockname()[1]), server

    yield start
    for server, _ in started:
        server.should_exit = server.force_exit = True
    for _, thread in started:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


@pytest.fixture
def send() -> Iterator[Callable[..., socket.socket]]:
    """Return a function that sends a request and returns the socket."""
    with ExitStack() as stack:

        def send_request(
            address: Address, path: str, body: object, accept: str = "application/x-ndjson"
        ) -> socket.socket:
            raw = json.dumps(body).encode()
            head = (
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
                f"Content-Type: application/json\r\nAccept: {accept}\r\nConnection: close\r\n"
                f"Content-Length: {len(raw)}\r\n\r\n"
            )
            connection = stack.enter_context(socket.create_connection(address, timeout=PATIENCE_S))
            connection.sendall(head.encode() + raw)
            return connection

        yield send_request


def read_until(connection: socket.socket, mark: bytes) -> bytes:
    """Return what a server sends until these bytes came."""
    text = b""
    while mark not in text:
        piece = connection.recv(65_536)
        assert piece, text
        text += piece
    return text


BREAD = """\
# Bread

Flour and water. The **oven** is hot at night.

See [soup](soup.md), [[soup|the same]] and [a site](https://example.org/).

![loaf](loaf.png) ![far](https://far.example/x.png)
"""


@pytest.fixture(scope="session")
def base(tmp_path_factory) -> Path:
    """Return a folder with the files `notes` and their index `data`."""
    folder: Path = tmp_path_factory.mktemp("web")
    notes = folder / "notes"
    (notes / "my plans").mkdir(parents=True)
    (notes / "bread.md").write_text(BREAD)
    (notes / "soup.md").write_text("# Soup\n\nBoil the leeks.\n")
    (notes / "my plans" / "garten ü#1.md").write_text("# Garten\n\nDie Hecke erst im Juni.\n")
    (notes / "oven.py").write_text('def heat():\n    """Heat the oven."""\n    return 62\n')
    (notes / "long.md").write_text(
        "".join(f"## Part {n}\n\nLine {n} of rye.\n\n" for n in range(900))
    )
    (notes / "report.pdf").write_bytes(
        build_pdf([[Text(72, 700, "The kiln is cold.")], [Text(72, 700, "Two.")]])
    )
    key = "aws_access_key_id = AKIA" + "Z7QX4JH2M5RT3WPK"  # in parts, so that no scanner finds it
    (notes / "key.pdf").write_bytes(build_pdf([[Text(72, 700, key)]]))
    (notes / "loaf.png").write_bytes(PNG)
    (notes / "page.png.html").write_text("<script>alert(1)</script>")
    (folder / "secret.png").write_bytes(PNG)
    (notes / "out.png").symlink_to(folder / "secret.png")
    with Kebab(make_settings(folder), config_path=folder / "config.toml") as kebab:
        kebab.run(IngestRequest(paths=[str(notes)]))
    return folder


def make_settings(folder: Path) -> Settings:
    return Settings(data_dir=str(folder / "data"), offline=True)


@pytest.fixture
def ticket(tmp_path) -> Callable[[], str]:
    """Return a function that makes a ticket of the server."""
    return partial(create_pass, tmp_path / "server", "ticket")


@pytest.fixture
def make_browser(base, make_site, ticket) -> Iterator[Callable[..., TestClient]]:
    """Return a function that returns a browser, let in unless told, of one server."""
    app: Any = build_application(
        make_site(load_settings=lambda: make_settings(base), allow_write=False)
    )

    def make(*, is_in: bool = True, client: str = "127.0.0.1") -> TestClient:
        browser = TestClient(
            app,
            base_url=ORIGIN,
            headers={"Accept": "text/html", "Sec-Fetch-Site": "none"},
            client=(client, 50_000),
            follow_redirects=False,
        )
        if is_in:
            browser.get(f"/login?ticket={ticket()}")
        return browser

    with TestClient(app):  # runs what the application needs, and ends it
        yield make


@pytest.fixture
def browser(make_browser: Callable[..., TestClient]) -> TestClient:
    return make_browser()


@pytest.fixture
def find_doc(browser) -> Callable[[str], str]:
    """Return a function that returns the id of a document by its path."""

    def find(path: str) -> str:
        answer = browser.post("/v1/inspect_doc", json={"name": path}, headers=BEARER)
        doc_id: str = answer.json()["document"]["doc_id"]
        return doc_id

    return find


@pytest.fixture
def make_mcp(base, make_operations) -> Callable[..., McpServer]:
    """Return a function that returns a server of the tools on the small knowledge base."""

    def make(**changes: Any) -> McpServer:
        own = {name: changes.pop(name) for name in ("text_only",) if name in changes}
        changes.setdefault("load_settings", lambda: make_settings(base))
        return McpServer(make_operations(**changes), **own)

    return make


@pytest.fixture
def ask_mcp(make_mcp) -> Callable[..., Any]:
    """Return a function that lets the official client call a method of a server."""

    def ask(method: str, *arguments: Any, server: McpServer | None = None, **named: Any) -> Any:
        async def main() -> Any:
            async with Client((server or make_mcp()).server) as client:
                try:
                    return await getattr(client, method)(*arguments, **named)
                except MCPError as refused:  # raised here, it would become a group
                    return refused

        result = anyio.run(main)
        if isinstance(result, MCPError):
            raise result
        return result

    return ask
