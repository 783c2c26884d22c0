"""Waits for what other processes and threads do, instead of for a fixed time."""

import time
from collections.abc import Callable
from typing import IO, Any, TypeVar

PATIENCE_S = 30.0
"""What a busy machine may need; nothing takes that long on purpose."""

T = TypeVar("T")


def wait_until(condition: Callable[[], T]) -> T:
    """Return what a condition returns as soon as it holds."""
    ends = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < ends
        time.sleep(0.01)
    return found


def read_until(stream: IO[bytes] | None, words: bytes) -> bytes:
    """Return what a process wrote up to the line with these words."""
    assert stream is not None
    seen = b""
    for line in iter(stream.readline, b""):
        seen += line
        if words in line:
            return seen
    raise AssertionError(seen)


def wait_for_request(server: Any) -> Any:
    """Return the request for an answer once a fake server has it."""
    wait_until(lambda: server.asked and server.asked[-1].method == "POST")
    return server.asked[-1]
