"""Hands a command line to the warm process, or says that it must run cold.

It runs before anything else of kebab, so what it imports decides how fast a warm call is: `_socket`
takes half a millisecond, and `socket` with its `selectors` and `enum` five; the same holds for
`_signal` and `signal`.
"""

import marshal
import os
import sys
from time import monotonic

from kebab.warm import place

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Mapping, Sequence

COMMANDS = frozenset(
    (
        "ask",
        "dupes",
        "explain",
        "fetch",
        "grep",
        "inspect",
        "list",
        "outline",
        "related",
        "schema",
        "search",
        "session",
        "source",
        "why",
    )
)
"""The commands that only read."""

_READING = {"session": ("list", "show"), "source": ("list",)}
"""The subcommands that only read, of groups that also delete."""

_COLD_FLAGS = frozenset(("--bulk", "--in", "--interactive", "--refresh", "--session", "-i"))
"""Flags with which a command writes, reads stdin or asks a person.

The table only saves time, because a worker refuses these calls itself.
"""

_FLAGS_WITH_VALUE = frozenset(("--color", "--config", "--data-dir", "--lang", "--output-format"))
_OFF = ("0", "false", "no", "off")

ACKNOWLEDGED, LIVE, ALIVE, COLD, RESULT = b"A", b"L", b"Y", b"C", b"R"
"""The first bytes of what a worker sends: it runs the call, it begins to write itself, it answers
`SHOW`, the call must run cold, and the result."""

SHOW = b"\0"
"""A client sends it while it waits: the worker may show now what the call has written so far, and
says that it is alive. Any other byte is the number of a signal that the client received."""

LENGTH_BYTES = 4
VARIABLE = "KEBAB_DAEMON_AUTO"
_ANSWER_S = 0.05
_SHOW_S = 0.2
_MOST_UNANSWERED = 150
"""So often a client asks a worker in vain until it takes it for hung, after half a minute."""
_SIGINT, _SIGTERM = 2, 15
_LEAVING_COUNT = 3
_UNWINDING_S = 5.0
"""The longest wait for the answer of an interrupted call."""
_INTERRUPTED, _READER_GONE = 130, 141
_MAX_MESSAGE = 1 << 30
_FORM = 2
"""The format of `marshal`, which is the same on both sides, as they run the same Python."""


class WarmProcessDiedError(Exception):
    """The warm process ended while the call wrote its output."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class _ColdError(Exception):
    """The call must run cold."""


def is_warm_call(arguments: "Sequence[str]", environ: "Mapping[str, str]") -> bool:
    """Return whether the warm process may run this command line."""
    if environ.get(VARIABLE, "").strip().lower() in _OFF or sys.platform == "win32":
        return False
    words = _list_words(arguments)
    if not words or words[0] not in COMMANDS:
        return False
    reading = _READING.get(words[0])
    if reading and words[1:2] and words[1] not in reading:
        return False
    return not any(word.partition("=")[0] in _COLD_FLAGS for word in arguments)


def _list_words(arguments: "Sequence[str]") -> list[str]:
    """Return the first two words that are neither flags nor values of global flags."""
    found: list[str] = []
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in _FLAGS_WITH_VALUE:
            skip = True
        elif not argument.startswith("-"):
            found.append(argument)
            if len(found) == 2:  # noqa: PLR2004 - a command and its subcommand
                break
    return found


def run_warm(arguments: "Sequence[str]") -> int | None:
    """Run a command line in the warm process; return its exit status, None to run it cold.

    Raises:
        WarmProcessDiedError: It ended while the call wrote its output.
    """
    connection = None
    try:
        identity = place.compute_identity(os.environ)
        path = place.find_socket(os.environ, identity)
        if path is None or not place.is_private_folder(os.path.dirname(path)):
            return None
        connection = connect(path)
        if not place.is_own_peer(connection):
            return None
        _send_call(connection, arguments, identity)
        return _Waiting(connection, path).wait()
    except (OSError, _ColdError, ImportError):
        return None
    finally:
        if connection is not None:
            connection.close()


def connect(path: str) -> "_socket.socket":
    """Connect to a socket that answers soon.

    Raises:
        OSError: Nothing listens, or it is too busy.
    """
    import _socket

    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(_ANSWER_S)
    connection.connect(path)
    return connection


def _send_call(connection: "_socket.socket", arguments: "Sequence[str]", identity: bytes) -> None:
    """Send the call with the standard descriptors, and wait for the acknowledgement."""
    import _socket

    if connection.fileno() <= 2:  # noqa: PLR2004 - a standard descriptor is closed
        raise _ColdError
    umask = os.umask(0o077)
    os.umask(umask)
    call = (identity, [*arguments], os.getcwd(), dict(os.environ), umask)
    data = marshal.dumps(call, _FORM)
    data = len(data).to_bytes(LENGTH_BYTES, "big") + data
    # Three descriptors as C integers, without the import of `array`.
    descriptors = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)]
    sent = connection.sendmsg([data], rights)
    connection.sendall(data[sent:])
    if connection.recv(1) != ACKNOWLEDGED:
        raise _ColdError


class _Waiting:
    """Waits for the result of a call, and forwards signals."""

    def __init__(self, connection: "_socket.socket", path: str) -> None:
        self._connection = connection
        self._path = path
        self._live = False
        self._complete = False
        self._unanswered = 0
        self._signals = 0
        self._signalled = 0.0
        self._before: dict[int, object] = {}

    def wait(self) -> int:
        """Return the exit status of the call, after writing its output."""
        import _signal  # type: ignore[import-not-found]  # `signal` without its enums

        for number in (_SIGINT, _SIGTERM):
            self._before[number] = _signal.signal(number, self._forward)
        try:
            status, pieces = self._receive_result()
            self._complete = True
            return _write_pieces(pieces, status)
        except (OSError, EOFError, ValueError, TypeError):
            if self._live:
                raise WarmProcessDiedError(self._path) from None
            raise _ColdError from None
        finally:
            for number, handler in self._before.items():
                _signal.signal(number, handler)

    def _forward(self, number: int, frame: object) -> None:
        del frame
        if self._complete:
            raise KeyboardInterrupt
        self._signals += 1
        self._signalled = self._signalled or monotonic()
        if self._signals >= _LEAVING_COUNT:
            os._exit(_INTERRUPTED)
        try:
            self._connection.send(bytes((number,)))
        except OSError:
            return

    def _receive_result(self) -> tuple[int, list[tuple[int, bytes]]]:
        while True:
            kind = self._receive(1)
            if kind == LIVE:
                self._live = True
            elif kind == RESULT:
                break
            elif kind != ALIVE:
                raise OSError
        size = int.from_bytes(self._receive(LENGTH_BYTES), "big")
        if size > _MAX_MESSAGE:
            raise OSError
        status, pieces = marshal.loads(self._receive(size))
        return status, pieces

    def _receive(self, size: int) -> bytes:
        """Return exactly this many bytes; while they are missing, let the worker show output."""
        parts: list[bytes] = []
        self._connection.settimeout(_SHOW_S)
        while size:
            try:
                part = self._connection.recv(min(size, 1 << 20))
            except TimeoutError:
                if self._signalled and monotonic() - self._signalled > _UNWINDING_S:
                    os._exit(_INTERRUPTED)
                self._ask_for_output()
                continue
            if not part:
                raise EOFError
            self._unanswered = 0
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _ask_for_output(self) -> None:
        """Let the worker show its output.

        Raises:
            OSError: The worker does not answer any more.
        """
        if self._unanswered >= _MOST_UNANSWERED:
            raise OSError
        self._unanswered += 1
        self._connection.send(SHOW)


def _write_pieces(pieces: list[tuple[int, bytes]], status: int) -> int:
    """Write the output in its order; return the exit status."""
    for descriptor, data in pieces:
        try:
            _write_all(descriptor, data)
        except BrokenPipeError:
            return _READER_GONE
        except OSError:
            if descriptor == 1:
                raise  # a cold call reports a full disk
    return status


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            from select import select

            select([], [descriptor], [])
