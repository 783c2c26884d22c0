"""Keeps tests away from whoever runs them: an empty home, no settings, no network."""

import ipaddress
import os
import re
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_MEMORY = "/dev/shm"
_LEAST_FREE = 2 << 30


def _move_to_memory() -> Path | None:
    """Let temporary files lie in memory, where no test waits for a disk.

    Returns:
        The folder, which is to be removed in the end. None where another folder was chosen, where
        memory is short, and where no program may be run from it.
    """
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK):
        return None
    system = os.statvfs(_MEMORY)
    if system.f_flag & os.ST_NOEXEC or system.f_bavail * system.f_frsize < _LEAST_FREE:
        return None
    folder = os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix="kt-", dir=_MEMORY)
    return Path(folder)


MEMORY_FOLDER = _move_to_memory()
"""The folder in memory that this process made for all processes of the run."""

REAL: Mapping[str, str] = dict(os.environ)
"""The environment of whoever runs the tests."""

KEPT = frozenset(("LD_LIBRARY_PATH", "LOGNAME", "PATH", "TERM", "TMPDIR", "USER", "VIRTUAL_ENV"))
KEPT_PREFIXES = ("COV_", "COVERAGE_", "PYTEST_", "PYTHON")
"""What a test may know of the environment: where programs are, and how the tests are run."""

NOWHERE = "127.0.0.1:9"
"""An address where nothing listens."""

UNREACHABLE = {
    "HF_ENDPOINT": f"http://{NOWHERE}",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "OLLAMA_HOST": NOWHERE,
    # No folder can be made in it, so no warm process starts, and every call runs cold.
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_INDEX_URL": f"http://{NOWHERE}/simple",
}
"""The services that a process would reach, its language and its time zone."""

DEFAULT_PORTS = (8080, 11434)
"""Where a model server of the person who runs the tests may listen."""


_HOST_NAME = re.compile(r"[\w.-]+", re.ASCII)


class NetworkUseError(RuntimeError):
    """A test tried to leave this machine."""


class Isolation:
    """An empty home and an environment without settings, in place of the real ones."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="kebab-tests-"))
        self._homes = 0
        self._network = False
        sys.addaudithook(self._watch)

    def start(self) -> None:
        """Replace the environment; nothing reaches the network from here on."""
        _replace_environment(
            {
                **{name: value for name, value in REAL.items() if is_kept(name)},
                **UNREACHABLE,
                "HOME": str(self._folder),
                # As in an activated environment; hints say then `pip` and no path.
                "PATH": f"{Path(sys.executable).parent}:{REAL.get('PATH', os.defpath)}",
            }
        )

    def stop(self) -> None:
        """Put the real environment back and remove the homes."""
        self._network = True
        _replace_environment(REAL)
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def own_home(self) -> Iterator[Path]:
        """Live in an empty home."""
        before = os.environ.get("HOME", "")
        self._homes += 1
        home = self._folder / str(self._homes)
        home.mkdir()
        os.environ["HOME"] = str(home)
        try:
            yield home
        finally:
            os.environ["HOME"] = before

    @contextmanager
    def real_world(self) -> Iterator[None]:
        """Live in the real environment, with the network."""
        with self.open_network():
            before = dict(os.environ)
            _replace_environment(REAL)
            try:
                yield
            finally:
                _replace_environment(before)

    @contextmanager
    def open_network(self) -> Iterator[None]:
        """Let connections leave this machine."""
        before, self._network = self._network, True
        try:
            yield
        finally:
            self._network = before

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Refuse what would leave this machine, by whatever class of socket."""
        if self._network or not event.startswith("socket."):
            return
        if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            _check_address(arguments[0].family, arguments[1])
        elif event == "socket.getaddrinfo":
            _check_name(arguments[0])


def is_kept(name: str) -> bool:
    """Return whether tests see a variable of the real environment."""
    # With it each process compiles again what it imports: a search takes .64 s instead of .35 s.
    if name == "PYTHONDONTWRITEBYTECODE":
        return False
    return name in KEPT or name.startswith(KEPT_PREFIXES)


def _replace_environment(wanted: Mapping[str, str]) -> None:
    for name in set(os.environ) - set(wanted):
        del os.environ[name]
    os.environ.update(wanted)
    time.tzset()


def _check_address(family: int, address: Any) -> None:
    if family not in (socket.AF_INET, socket.AF_INET6) or address is None:
        return
    host, port = address[:2]
    if not _is_loopback(host):
        raise NetworkUseError(f"connects to {host}:{port}")
    if port in DEFAULT_PORTS:
        raise ConnectionRefusedError(111, "Connection refused")


def _check_name(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost") or _parse_address(name):
        return
    if name.endswith(".invalid") or not _HOST_NAME.fullmatch(name):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    raise NetworkUseError(f"looks up {name!r}")


def _is_loopback(host: str) -> bool:
    address = _parse_address(host)
    if address is None:
        return host in ("", "localhost")
    return address.is_loopback or address.is_unspecified


def _parse_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address that a host is, None for a name."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
