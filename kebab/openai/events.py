"""Server-sent events, as the WHATWG standard cuts them, and as servers misframe their errors."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ERROR = "error"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name, empty for most, and its data."""

    name: str
    data: bytes


def events(lines: Iterable[bytes]) -> Iterator[Event]:
    """Yield the events of a stream.

    Three things go beyond the standard: the last event may lack its blank line, and a field
    `error` or a line of bare JSON is an event of its own, for so some servers send their errors.
    """
    name, data = "", list[bytes]()
    for line in _split(lines):
        field, value = _field(line)
        if line.startswith(b"{"):
            yield Event("", line)
        elif field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace")
        elif field == b"error":
            yield Event(ERROR, value)
        elif not line:
            yield from _whole(name, data)
            name, data = "", []
    yield from _whole(name, data)


def _whole(name: str, data: list[bytes]) -> Iterator[Event]:
    """Yield an event unless it has no data."""
    if any(data):
        yield Event(name, b"\n".join(data))


def _split(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines that end in LF, CRLF or CR, given those that end in LF or CRLF."""
    first = True
    for line in lines:
        yield from (line.removeprefix(_BYTE_ORDER_MARK) if first else line).split(b"\r")
        first = False


def _field(line: bytes) -> tuple[bytes, bytes]:
    """Return name and value of a line; a comment has an empty name."""
    name, _, value = line.partition(b":")
    return name, value.removeprefix(b" ")
