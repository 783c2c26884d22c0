"""Parses server-sent events by the WHATWG standard, and the malformed errors of some servers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ERROR = "error"


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event: its name, empty for most, and its data."""

    name: str
    data: bytes


def parse_events(lines: Iterable[bytes]) -> Iterator[ServerSentEvent]:
    """Yield the events of a stream.

    Three things extend the standard: the last event may lack its blank line, and a field `error`
    or a line of bare JSON is an event, because some servers send their errors this way.
    """
    name, data = "", list[bytes]()
    for line in _split_lines(lines):
        field, value = _split_field(line)
        if line.startswith(b"{"):
            yield ServerSentEvent("", line)
        elif field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace")
        elif field == b"error":
            yield ServerSentEvent(ERROR, value)
        elif not line:
            yield from _build_event(name, data)
            name, data = "", []
    yield from _build_event(name, data)


def _build_event(name: str, data: list[bytes]) -> Iterator[ServerSentEvent]:
    """Yield an event unless it has no data."""
    if any(data):
        yield ServerSentEvent(name, b"\n".join(data))


def _split_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines that end in LF, CRLF or CR, given those that end in LF or CRLF."""
    first = True
    for line in lines:
        yield from (line.removeprefix(_BYTE_ORDER_MARK) if first else line).split(b"\r")
        first = False


def _split_field(line: bytes) -> tuple[bytes, bytes]:
    """Return the name and the value of a line; a comment has an empty name."""
    name, _, value = line.partition(b":")
    return name, value.removeprefix(b" ")
