"""A server of the scripted knowledge base, in this process or behind a real socket."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from starlette.testclient import TestClient

from kebab.config.settings import Settings
from kebab.http.application import HEALTH_PATH, MountedApp, build_application
from kebab.http.guard import Admission, build_hosts
from kebab.http.server import Address, HttpServer, open_listener, silence_loggers
from kebab.http.service import Service, ServiceOptions
from tests.fakes.facade import FakeKebab

TOKEN = "a-token-of-these-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
LIMIT = 10_000


class FakePool:
    """Lends knowledge bases that answer from a script, and remembers them."""

    def __init__(self) -> None:
        self.lent: list[FakeKebab] = []
        self.interrupted = 0

    @contextmanager
    def lease(
        self, settings: Settings, *, config_path: Path, read_only: bool = False
    ) -> Iterator[FakeKebab]:
        kebab = FakeKebab(settings, config_path=config_path, read_only=read_only)
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
def pool():
    return FakePool()


@pytest.fixture
def make_service(pool, tmp_path):
    """Return a function that builds a service with these options over the scripted pool."""
    built: list[Service] = []

    def make(**options: Any) -> Service:
        defaults: dict[str, Any] = {
            "config_path": tmp_path / "config.toml",
            "load_settings": lambda: Settings(data_dir=str(tmp_path)),
            "allow_write": True,
        }
        service = Service(ServiceOptions(**{**defaults, **options}), pool)
        built.append(service)
        return service

    yield make
    for service in built:
        service.close()


def build_app(service: Service, *mounts: MountedApp, host: str = "127.0.0.1") -> Any:
    hosts, any_address = build_hosts(host)
    admission = Admission(
        token=TOKEN,
        hosts=hosts,
        any_address=any_address,
        max_body_bytes=LIMIT,
        open_paths={HEALTH_PATH},
    )
    return build_application(service, admission, mounts)


@pytest.fixture
def make_client(make_service):
    """Return a function that returns a client of a server with these options."""

    def make(*mounts: MountedApp, host: str = "127.0.0.1", **options: Any) -> TestClient:
        app = build_app(make_service(**options), *mounts, host=host)
        return TestClient(app, base_url="http://127.0.0.1:7717", headers=BEARER)

    return make


@pytest.fixture
def client(make_client):
    return make_client()


@pytest.fixture
def serve(make_service) -> Iterator[Callable[..., tuple[Address, HttpServer]]]:
    """Return a function that starts a server behind a real socket."""
    started: list[tuple[HttpServer, Thread]] = []

    def start(**options: Any) -> tuple[Address, HttpServer]:
        silence_loggers()
        service = make_service(**options)
        listener = open_listener(Address("127.0.0.1", 0))
        server = HttpServer(build_app(service), service.stop)
        thread = Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        started.append((server, thread))
        return Address("127.0.0.1", listener.getsockname()[1]), server

    yield start
    for server, _ in started:
        server.should_exit = server.force_exit = True
    for _, thread in started:
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture
def send() -> Iterator[Callable[..., socket.socket]]:
    """Return a function that sends a request and returns the socket."""
    opened: list[socket.socket] = []

    def send_request(
        address: Address, path: str, body: object, accept: str = "application/x-ndjson"
    ) -> socket.socket:
        raw = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
            f"Content-Type: application/json\r\nAccept: {accept}\r\nConnection: close\r\n"
            f"Content-Length: {len(raw)}\r\n\r\n"
        )
        connection = socket.create_connection(address, timeout=10)
        opened.append(connection)
        connection.sendall(head.encode() + raw)
        return connection

    yield send_request
    for connection in opened:
        connection.close()


def read_until(connection: socket.socket, mark: bytes) -> bytes:
    """Return what a server sends until these bytes came."""
    text = b""
    while mark not in text:
        piece = connection.recv(65_536)
        assert piece, text
        text += piece
    return text
