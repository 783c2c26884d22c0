"""Hands a command line to the warm process, or says that it must run cold.

It runs before anything else of kebab, so what it imports decides how fast a warm call is: `_socket`
takes half a millisecond, and `socket` with its `selectors` and `enum` five; the same holds for
`_signal` and `signal`. So it uses built-in modules only.
"""

import marshal
import os
import sys
from time import monotonic

from kebab.config.sockets import find_folder, is_private_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Mapping, Sequence

_INTERPRETER = ("PYTHON", "LC_", "LANG", "LD_", "DYLD_", "OMP_", "MALLOC_", "SSL_CERT_")
"""The variables that the interpreter and native libraries read once, at their start."""

_HOMES = ("HOME", "XDG_STATE_HOME")
"""Calls with another home have a warm process of their own, which `serve --stop` ends alone."""

_NAMESPACES = ("mnt", "net", "pid", "user")
_SANDBOX = (b"NoNewPrivs:", b"Seccomp:", b"CapEff:")
"""The lines of `/proc/self/status` that tell a sandboxed process from others."""

_LONGEST_ADDRESS = 95
"""The longest path of a Unix socket on every system, without the endings that the server adds."""

_MAX_IDENTITY = 1 << 61


def compute_identity(environ: "Mapping[str, str]") -> bytes:
    """Return what a warm process must share with a call that it serves.

    It has the installation with the time of its last change, the interpreter and what that read at
    its start, the file system and the namespaces, the rights of the process, and the home.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    read_once = sorted(item for item in environ.items() if item[0].startswith(_INTERPRETER))
    parts = (
        *map(identify_file, (os.path.join(package, "__init__.py"), sys.executable, "/")),
        *(_read_link(f"/proc/self/ns/{name}") for name in _NAMESPACES),
        _read_restrictions(),
        os.geteuid(),
        os.getegid(),
        sorted(os.getgroups()),
        package,
        sys.version,
        sys.getfilesystemencoding(),
        read_once,
        [environ.get(name) for name in _HOMES],
    )
    return repr(parts).encode("utf-8", "surrogatepass")


def find_socket(environ: "Mapping[str, str]", identity: bytes) -> str | None:
    """Return the path of the socket, None when the system cannot address it.

    The name is short and the same in every process. Two identities may share it, so the worker
    compares them too.
    """
    name = hash(int.from_bytes(identity, "big")) % _MAX_IDENTITY
    path = os.path.join(find_folder(environ), f"{name:015x}")
    return path if len(os.fsencode(path)) <= _LONGEST_ADDRESS else None


def is_own_peer(connection: "_socket.socket") -> bool:
    """Return whether the process at the other end of a socket belongs to this user."""
    if sys.platform != "linux":
        return True  # the folder of the socket is closed to others
    import _socket

    # Three integers: the process, the user and the group.
    raw = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(raw[4:8], sys.byteorder) == os.geteuid()


def identify_file(path: str) -> tuple[int, ...]:
    """Return what changes when a file is replaced or written; nothing for no file."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    # Files below `/` come and go, so the time of the root says nothing.
    changed = () if path == "/" else (status.st_mtime_ns, status.st_size)
    return (status.st_dev, status.st_ino, *changed)


def _read_link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _read_restrictions() -> list[bytes]:
    try:
        file = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        lines = os.read(file, 1 << 14).splitlines()
    finally:
        os.close(file)
    return [line for line in lines if line.startswith(_SANDBOX)]


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
CONTROL = ".ctl"
"""The end of the name of the socket for questions about the process itself."""
RELEASE_REQUEST = b"release\n"

VARIABLE = "KEBAB_DAEMON_AUTO"
_ANSWER_S = 0.05
_RELEASE_S = 0.5
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
        identity = compute_identity(os.environ)
        path = find_socket(os.environ, identity)
        if path is None or not is_private_folder(os.path.dirname(path)):
            return None
        connection = connect(path)
        if not is_own_peer(connection):
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


def release_stores(environ: "Mapping[str, str]", seconds: float = _RELEASE_S) -> None:
    """Ask the warm processes of this user to close the files of all knowledge bases.

    Call it before you replace or delete such files. A worker does so after the call that it runs,
    and nobody waits for longer than `seconds`. It opens the files again when a call needs them.
    A process that does not answer changes nothing: each one notices what was replaced.
    """
    folder = find_folder(environ)
    if not is_private_folder(folder):
        return
    ends = monotonic() + seconds
    for name in os.listdir(folder):
        if not name.endswith(CONTROL):
            continue
        connection = None
        try:
            connection = connect(os.path.join(folder, name))
            if is_own_peer(connection):
                connection.sendall(RELEASE_REQUEST)
                connection.settimeout(max(_ANSWER_S, ends - monotonic()))
                connection.recv(1)
        except (OSError, ImportError):
            continue
        finally:
            if connection is not None:
                connection.close()


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

    def _forward(self, number: int, _frame: object) -> None:
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
        """Let the worker show its output."""
        if self._unanswered >= _MOST_UNANSWERED:
            raise OSError
        self._unanswered += 1
        self._connection.send(SHOW)


def _write_pieces(pieces: list[tuple[int, bytes]], status: int) -> int:
    """Write the output in its order; return the exit status."""
    for descriptor, data in pieces:
        try:
            rest = memoryview(data)
            while rest:
                try:
                    rest = rest[os.write(descriptor, rest) :]
                except BlockingIOError:
                    from select import select

                    select([], [descriptor], [])
        except BrokenPipeError:
            return _READER_GONE
        except OSError:
            if descriptor == 1:
                raise  # a cold call reports a full disk
    return status
