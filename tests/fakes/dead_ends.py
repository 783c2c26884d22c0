"""Places where no server answers, each in its own way, without any network."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress


@contextmanager
def refusing() -> Iterator[str]:
    """Give the URL of a port on which nothing listens and that nobody else can take."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        yield _url(free)


@contextmanager
def never_accepting() -> Iterator[str]:
    """Give the URL of a server that takes no connection: its queue is full and stays so."""
    with socket.socket() as full, ExitStack() as opened:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            waiting = opened.enter_context(socket.socket())
            waiting.settimeout(0)
            waiting.connect_ex(full.getsockname())
        yield _url(full)


@contextmanager
def greeting(banner: bytes = b"") -> Iterator[str]:
    """Give the URL of a program that sends a banner to each connection, and then stays silent."""
    with socket.socket() as listening, ExitStack() as opened:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    opened.enter_context(connection)
                    connection.sendall(banner)

        threading.Thread(target=serve, daemon=True).start()
        yield _url(listening)
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)


def _url(bound: socket.socket) -> str:
    return f"http://127.0.0.1:{bound.getsockname()[1]}"
