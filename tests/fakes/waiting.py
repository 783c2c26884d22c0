"""Waits for what other processes and threads do, instead of for a fixed time."""

import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar

PATIENCE_S = 60.0
"""What a busy machine may need; nothing takes that long on purpose."""

T = TypeVar("T")


def wait_until(condition: Callable[[], T]) -> T:
    """Return what a condition returns as soon as it holds."""
    ends = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < ends
        time.sleep(0.01)
    return found


def has_ended(pid: int) -> bool:
    """Return whether a process has ended; one that nobody waited for is a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def interrupt_until_it_ends(process: "subprocess.Popen[bytes]") -> None:
    """Interrupt again and again: of two signals that come before one is noticed one is lost."""
    for _ in range(600):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
            return


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
