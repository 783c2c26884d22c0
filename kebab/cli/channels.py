"""Our own two channels, apart from what libraries write to descriptors 1 and 2.

Rust logs, progress bars of the model hub and Python warnings all end up at those descriptors.
`take_over` keeps the real ones for us and gives everyone else the null device.
"""

import errno
import os
import select
import sys
import threading
from typing import NamedTuple

_STANDARD = (0, 1, 2)


class Channel:
    """One output. A line is written by itself, unbuffered, so no line is ever torn by an exit.

    What cannot be written to an output that is `expendable` is lost, and the work goes on.
    """

    def __init__(self, descriptor: int, name: str, *, expendable: bool = False) -> None:
        self.descriptor = descriptor
        self.name = name
        self.expendable = expendable
        self._lock = threading.RLock()

    @property
    def terminal(self) -> bool:
        """Whether a person is looking."""
        return os.isatty(self.descriptor)

    @property
    def columns(self) -> int:
        """How wide the terminal is; `COLUMNS` outranks it."""
        said = os.environ.get("COLUMNS", "")
        if said.isdecimal() and int(said) > 0:
            return int(said)
        try:
            return os.get_terminal_size(self.descriptor).columns or 80
        except OSError:
            return 80

    def write(self, text: str) -> None:
        """Write text as UTF-8, whatever the locale says."""
        self.write_bytes(text.encode("utf-8", "backslashreplace"))

    def write_bytes(self, data: bytes) -> None:
        """Write all of it.

        Raises:
            BrokenPipeError: The reader went away.
            IoError: The bytes cannot be written, for instance because the disk is full.
        """
        rest = memoryview(data)
        with self._lock:
            while rest:
                rest = rest[self._write_some(rest) :]

    def _write_some(self, data: memoryview) -> int:
        try:
            return os.write(self.descriptor, data)
        except BlockingIOError:
            select.select([], [self.descriptor], [])
            return 0
        except BrokenPipeError:
            raise
        except OSError as fault:
            if self.expendable:
                return len(data)
            from kebab.errors.refusal import refusal

            raise refusal(fault, "write", self.name) from fault


class Channels(NamedTuple):
    """Where results go, and where everything else goes."""

    out: Channel
    err: Channel


def take_over() -> Channels:
    """Keep the real descriptors 1 and 2 for us and point the standard ones at the null device."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in _STANDARD:
        _ensure_open(descriptor, null)
    out, err = Channel(os.dup(1), "<stdout>"), Channel(os.dup(2), "<stderr>", expendable=True)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os.dup2(null, 1)
    os.dup2(null, 2)
    if null not in _STANDARD:
        os.close(null)
    return Channels(out, err)


def _ensure_open(descriptor: int, null: int) -> None:
    """Give a descriptor that the caller closed to the null device, lest a database gets it."""
    try:
        os.fstat(descriptor)
    except OSError as fault:
        if fault.errno != errno.EBADF:
            raise
        os.dup2(null, descriptor)
