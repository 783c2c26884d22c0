"""Receives one call from a client, and keeps its output until the result is sent."""

import array
import errno
import fcntl
import marshal
import os
import signal
import socket
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from kebab.warm.client import ACKNOWLEDGED, ALIVE, COLD, LENGTH_BYTES, LIVE, RESULT, SHOW
from kebab.warm.place import is_own_peer

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_RECEIVE_S = 1.0
_DESCRIPTORS = 3
_CHUNK = 1 << 16
_MAX_BYTES = 1 << 26
_FORM = 2
_LEAVING_COUNT = 2


class Request(NamedTuple):
    """What a client sends: the command line and the process state that it depends on."""

    identity: bytes
    arguments: list[str]
    folder: str
    environ: dict[str, str]
    umask: int


class Call:
    """One call, with the standard descriptors of its client.

    Output is kept, and sent together with the exit status, so that a worker that dies leaves
    nothing behind and the call can run cold. When the client has waited a while, the output so far
    is written to the descriptors, and the call goes on live.
    """

    def __init__(self, connection: socket.socket, request: Request, descriptors: list[int]) -> None:
        self.connection = connection
        self.request = request
        self.descriptors = descriptors
        self.write_live: Callable[[int, bytes], None] = lambda _stream, _data: None
        """Writes to a descriptor of the client; stream 1 is stdout and 2 stderr."""
        self.interrupted = 0
        """How often the client interrupted the call or left."""
        self._pieces: list[tuple[int, bytes]] = []
        self._live = False
        self._ended = False
        self._lock = threading.RLock()

    def collect(self, stream: int, data: bytes) -> bool:
        """Keep output; return whether that was possible, as a live call writes it itself."""
        with self._lock:
            if not self._live:
                self._pieces.append((stream, data))
            return not self._live

    def show_output(self) -> None:
        """Go on live if there is output."""
        with self._lock:
            if self._live or not self._pieces:
                return
            try:
                self.connection.sendall(LIVE)
            except OSError:  # the client left
                return
            self._live = True
            pieces, self._pieces = self._pieces, []
            for stream, data in pieces:
                self.write_live(stream, data)

    def acknowledge(self) -> None:
        """Tell the client that the call runs, and listen to the client from now on."""
        # With a timeout of its own a socket would wait for bytes in spite of `MSG_DONTWAIT`.
        self.connection.settimeout(None)
        self.connection.sendall(ACKNOWLEDGED)
        signal.signal(signal.SIGIO, self._hear)
        number = self.connection.fileno()
        fcntl.fcntl(number, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(number, fcntl.F_GETFL)
        fcntl.fcntl(number, fcntl.F_SETFL, flags | os.O_ASYNC)
        self._hear(signal.SIGIO, None)

    def ignore_client(self) -> None:
        """Hear no more of the client."""
        signal.signal(signal.SIGIO, signal.SIG_IGN)

    def _hear(self, number: int, frame: "FrameType | None") -> None:
        """Read what the client sent; a client that left interrupts the call."""
        del number
        try:
            heard = self.connection.recv(64, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            heard = b""
        if not heard:
            self.ignore_client()
            self._interrupt(signal.SIGINT, frame)
        if SHOW in heard:
            self._answer_client()
        for signum in heard:
            if signum in (signal.SIGINT, signal.SIGTERM):
                self._interrupt(signum, frame)

    def _answer_client(self) -> None:
        """Show the output so far, and tell the client that this worker does not hang."""
        with self._lock:
            if not self._ended:
                self.show_output()
                self._send(ALIVE)

    def _interrupt(self, number: int, frame: "FrameType | None") -> None:
        self.interrupted += 1
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            handler(number, frame)

    @property
    def is_abandoned(self) -> bool:
        """Whether so many interruptions came that the process must not be used again."""
        return self.interrupted >= _LEAVING_COUNT

    def send_result(self, status: int) -> None:
        """Send the exit status and the output that is left."""
        with self._lock:
            self._ended = True
            pieces, self._pieces = self._pieces, []
        data = marshal.dumps((int(status), pieces), _FORM)
        self._send(RESULT + len(data).to_bytes(LENGTH_BYTES, "big") + data)

    def send_cold(self) -> None:
        """Tell the client to run the call itself; one of a live call has to give up."""
        with self._lock:
            if not self._live:
                self._send(COLD)

    def _send(self, data: bytes) -> None:
        try:
            self.connection.sendall(data)
        except OSError:  # the client left
            return

    def close(self) -> None:
        """Close the connection and the descriptors."""
        self.connection.close()
        for number in self.descriptors:
            os.close(number)


def receive_call(connection: socket.socket) -> Call | None:
    """Return the call of a client; None when it left, or is not one of this user."""
    descriptors = array.array("i")
    try:
        if not is_own_peer(connection):
            return None
        data = _receive_bytes(connection, descriptors)
        _require_complete(descriptors)
        request = Request(*marshal.loads(data))
    except (OSError, ValueError, TypeError, EOFError):
        for number in descriptors:
            os.close(number)
        return None
    return Call(connection, request, list(descriptors))


def _require_complete(descriptors: "array.array[int]") -> None:
    if len(descriptors) != _DESCRIPTORS:
        raise OSError(errno.EBADMSG, "no descriptors")


def _receive_bytes(connection: socket.socket, descriptors: "array.array[int]") -> bytes:
    """Return the whole message, and append the descriptors that came with it."""
    deadline = time.monotonic() + _RECEIVE_S
    connection.settimeout(_RECEIVE_S)
    space = socket.CMSG_SPACE(_DESCRIPTORS * descriptors.itemsize)
    data, ancillary, _, _ = connection.recvmsg(_CHUNK, space)
    for level, kind, rights in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(rights[: len(rights) - len(rights) % descriptors.itemsize])
    for number in descriptors:
        os.set_inheritable(number, False)
    message = bytearray(data)
    while len(message) < LENGTH_BYTES or len(message) < LENGTH_BYTES + _read_size(message):
        more = connection.recv(_CHUNK)
        if not more or len(message) > _MAX_BYTES or time.monotonic() > deadline:
            raise OSError(errno.EBADMSG, "the call is not complete")
        message += more
    return bytes(message[LENGTH_BYTES:])


def _read_size(message: bytearray) -> int:
    return int.from_bytes(message[:LENGTH_BYTES], "big")
