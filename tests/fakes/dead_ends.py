"""Places where no server answers, each in its own way, without any network."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


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


def _url(bound: socket.socket) -> str:
    return f"http://127.0.0.1:{bound.getsockname()[1]}"
