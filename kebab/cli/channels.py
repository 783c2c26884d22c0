"""Contains the two output channels of kebab, and the base classes of displays that use them.

Libraries write Rust logs, progress bars and Python warnings to descriptors 1 and 2.
`open_channels` duplicates these descriptors for kebab and redirects the originals to the null
device.
"""

from __future__ import annotations

import errno
import os
import select
import sys
import threading
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

_STANDARD = (0, 1, 2)
_CLOSED = -1
"""The descriptor of a channel that the caller closed: every write fails."""


class OutputChannel:
    """An output without a buffer, so an exit never cuts a line.

    When writing to a `best_effort` channel fails, the text is dropped and the work continues.
    """

    def __init__(self, descriptor: int, name: str, *, best_effort: bool = False) -> None:
        self.descriptor = descriptor
        self.name = name
        self.best_effort = best_effort
        self._lock = threading.RLock()

    def require_open(self) -> None:
        """Refuse work whose result cannot be written.

        Raises:
            IoError: The caller closed the descriptor.
        """
        try:
            os.fstat(self.descriptor)
        except OSError as error:
            from kebab.errors.system import build_io_error

            raise build_io_error(error, "write", self.name) from error

    @property
    def is_terminal(self) -> bool:
        """Whether it is a terminal."""
        return os.isatty(self.descriptor)

    @property
    def columns(self) -> int:
        """The width of the terminal; `COLUMNS` overrides it."""
        return self._measure("COLUMNS", 0, 80)

    @property
    def rows(self) -> int:
        """The height of the terminal; `LINES` overrides it."""
        return self._measure("LINES", 1, 24)

    def _measure(self, variable: str, index: int, usual: int) -> int:
        override = os.environ.get(variable, "")
        if override.isdecimal() and int(override) > 0:
            return int(override)
        try:
            return os.get_terminal_size(self.descriptor)[index] or usual
        except OSError:
            return usual

    def write(self, text: str) -> None:
        """Write text as UTF-8 in every locale."""
        self.write_bytes(text.encode("utf-8", "backslashreplace"))

    def write_lines(self, lines: Iterable[str]) -> None:
        """Write lines in one piece."""
        self.write("".join(f"{line}\n" for line in lines))

    def write_bytes(self, data: bytes) -> None:
        """Write all bytes.

        Raises:
            BrokenPipeError: The reader closed the pipe.
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
        except OSError as error:
            if self.best_effort:
                return len(data)
            from kebab.errors.system import build_io_error

            raise build_io_error(error, "write", self.name) from error


class OutputChannels(NamedTuple):
    """The channel of results, and the channel of everything else."""

    out: OutputChannel
    err: OutputChannel


def open_channels() -> OutputChannels:
    """Duplicate descriptors 1 and 2 for kebab and redirect them to the null device."""
    null = os.open(os.devnull, os.O_RDWR)
    is_open = [_ensure_open(descriptor, null) for descriptor in _STANDARD]
    out, err = (
        OutputChannel(os.dup(1) if is_open[1] else _CLOSED, "<stdout>"),
        OutputChannel(os.dup(2) if is_open[2] else _CLOSED, "<stderr>", best_effort=True),
    )
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os.dup2(null, 1)
    os.dup2(null, 2)
    if null not in _STANDARD:
        os.close(null)
    return OutputChannels(out, err)


def _ensure_open(descriptor: int, null: int) -> bool:
    """Open a descriptor that the caller closed, so that no database file gets its number.

    Returns:
        Whether it was open.
    """
    try:
        os.fstat(descriptor)
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        os.dup2(null, descriptor)
        return False
    # The null device got the number of a descriptor that was closed.
    return descriptor != null


E = TypeVar("E")


class Display(Generic[E]):
    """Shows the events of work. Methods that a display does not override do nothing."""

    silence_s: float = 1.0
    """The longest time without an event or a heartbeat."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the display."""

    def __call__(self, event: E) -> bool | None:
        """Show an event; return False when the reader does not see it."""
        raise NotImplementedError

    def show_heartbeat(self, elapsed_ms: float) -> None:
        """Show that the work continues."""

    def announce_stop(self) -> None:
        """Show that the work stops soon."""

    def abort(self) -> None:
        """Prepare for the end of the process without unwinding."""

    def finish(self, status: int, reply: Any = None, *, cancelled: bool = False) -> None:
        """Show the end."""
