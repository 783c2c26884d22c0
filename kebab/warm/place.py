"""Says which warm process may serve a call, and where its socket is.

The client imports this module before anything else, so it uses built-in modules only.
"""

import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Mapping

_INTERPRETER = ("PYTHON", "LC_", "LANG", "LD_", "DYLD_", "OMP_", "MALLOC_", "SSL_CERT_")
"""The variables that the interpreter and native libraries read once, at their start."""

_NAMESPACES = ("mnt", "net", "pid", "user")
_SANDBOX = (b"NoNewPrivs:", b"Seccomp:", b"CapEff:")
"""The lines of `/proc/self/status` that tell a sandboxed process from others."""

_LONGEST_ADDRESS = 95
"""The longest path of a Unix socket on every system, without the endings that the server adds."""

_MAX_IDENTITY = 1 << 61


def compute_identity(environ: "Mapping[str, str]") -> bytes:
    """Return what a warm process must share with a call that it serves.

    It has the installation with the time of its last change, the interpreter and what that read at
    its start, the file system and the namespaces, and the rights of the process.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    read_once = sorted(item for item in environ.items() if item[0].startswith(_INTERPRETER))
    parts = (
        *(_stat(place) for place in (os.path.join(package, "__init__.py"), sys.executable, "/")),
        *(_read_link(f"/proc/self/ns/{name}") for name in _NAMESPACES),
        _read_restrictions(),
        os.geteuid(),
        os.getegid(),
        sorted(os.getgroups()),
        package,
        sys.version,
        sys.getfilesystemencoding(),
        read_once,
    )
    return repr(parts).encode("utf-8", "surrogatepass")


def find_folder(environ: "Mapping[str, str]") -> str:
    """Return the folder of the sockets of this user, whether or not it exists."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime):
        return os.path.join(runtime, "kebab")
    temporary = environ.get("TMPDIR", "")
    return os.path.join(temporary if os.path.isabs(temporary) else "/tmp", f"kebab-{os.getuid()}")  # noqa: S108 - the folder is checked before use


def find_socket(environ: "Mapping[str, str]", identity: bytes) -> str | None:
    """Return the path of the socket, None when the system cannot address it.

    The name is short and the same in every process. Two identities may share it, so the worker
    compares them too.
    """
    name = hash(int.from_bytes(identity, "big")) % _MAX_IDENTITY
    path = os.path.join(find_folder(environ), f"{name:015x}")
    return path if len(os.fsencode(path)) <= _LONGEST_ADDRESS else None


def is_private_folder(path: str) -> bool:
    """Return whether a path is a folder of this user that nobody else can enter."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    private = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & 0o077
    return private and status.st_uid == os.geteuid()


def is_own_peer(connection: "_socket.socket") -> bool:
    """Return whether the process at the other end of a socket belongs to this user."""
    if sys.platform != "linux":
        return True  # the folder of the socket is closed to others
    import _socket

    # Three integers: the process, the user and the group.
    raw = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(raw[4:8], sys.byteorder) == os.geteuid()


def _stat(path: str) -> tuple[int, ...]:
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
