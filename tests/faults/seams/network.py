"""The network as sockets see it: connecting, sending, receiving, in whatever thread."""

import errno
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.faults.world import Fault, World

_connect = socket.create_connection
_FRAMING = (b"\r\n", b"0\r\n")
"""What may still be under way when the answer is known: a race that nobody waits for."""
_NUMBERS = {
    "net.connect": ("ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "EMFILE", "EACCES"),
    "net.send": ("ECONNRESET", "EPIPE", "ETIMEDOUT"),
    "net.receive": ("ECONNRESET", "ETIMEDOUT", "EIO"),
}


def _refuse_connection(name: str) -> Fault:
    number = getattr(errno, name)
    return _build_lost_connection(name, lambda: OSError(number, os.strerror(number)))


def _build_lost_connection(name: str, make: Callable[[], OSError]) -> Fault:
    """Return the fault of a connection that is lost for both sides."""

    def act(real: Callable[..., Any], *args: Any, **options: Any) -> Any:
        del args, options
        connection = getattr(real, "__self__", None)
        if isinstance(connection, socket.socket):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        raise make()

    return Fault(name, act)


def _hang_up(real: Callable[..., Any], *args: Any, **options: Any) -> bytes:
    """Say that the server has hung up."""
    del real, args, options
    return b""


def _change_bytes(real: Callable[..., Any], *args: Any, **options: Any) -> bytes:
    """Give other bytes than came."""
    return bytes(255 - one for one in real(*args, **options))


def list_faults(point: str) -> list[Fault]:
    """Return all that can go wrong at a point."""
    found = [_refuse_connection(name) for name in _NUMBERS[point]]
    found.append(_build_lost_connection("timeout", lambda: TimeoutError("timed out")))
    if point == "net.connect":
        unknown = (socket.EAI_NONAME, "Name or service not known")
        found.append(_build_lost_connection("gaierror", lambda: socket.gaierror(*unknown)))
    if point == "net.receive":
        found += [Fault("over", _hang_up), Fault("noise", _change_bytes)]
    return found


def install(world: World, patch: pytest.MonkeyPatch) -> None:
    """Stand between kebab and the network; the server of the tests makes no connections."""

    def connected(*args: Any, **options: Any) -> socket.socket:
        plain = world.anywhere("net.connect", _connect, *args, **options)
        limit = plain.gettimeout()
        found = _Socket(plain.family, plain.type, plain.proto, plain.detach())
        found.settimeout(limit)
        found.world = world
        return found

    patch.setattr(socket, "create_connection", connected)


class _Socket(socket.socket):
    world: World

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Receive no more than a line, so that the count does not depend on what came together."""
        ready = super().recv(size, flags | socket.MSG_PEEK)
        line = ready[: ready.find(b"\n") + 1 or len(ready)]
        if line in _FRAMING:
            return super().recv(len(line), flags)
        data: bytes = self.world.anywhere("net.receive", super().recv, len(line) or size, flags)
        return data

    def send(self, *args: Any) -> int:
        count: int = self.world.anywhere("net.send", super().send, *args)
        return count

    def sendall(self, *args: Any) -> None:
        self.world.anywhere("net.send", super().sendall, *args)
