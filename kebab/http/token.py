"""Reads the bearer token of the HTTP server from a private file, and creates it on first use."""

import hmac
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kebab.errors.catalog import IoError
from kebab.errors.system import translate_os_errors

TOKEN_NAME = "http.token"  # noqa: S105 - the name of the file
_TOKEN_BYTES = 32
_MIN_CHARS = 16
_MAX_BYTES = 4_096
_FOREIGN = stat.S_IRWXG | stat.S_IRWXO


def load_token(state: Path) -> str:
    """Return the token in the state directory; create it when there is none.

    A token that other users could read is replaced.

    Raises:
        IoError: The file cannot be read or written, or does not contain a token.
    """
    path = state / TOKEN_NAME
    token = _read_private(path)
    if token is None:
        _create(path)
        token = _read_private(path) or ""
    if len(token) < _MIN_CHARS or not (token.isascii() and token.isprintable()) or " " in token:
        cause = f"it is not a token of at least {_MIN_CHARS} ASCII characters"
        raise IoError(path=str(path), op="read", cause=cause)
    return token


def is_authorized(header: str | None, token: str) -> bool:
    """Return whether an `Authorization` header has the token; the time tells nothing about it."""
    scheme, _, given = (header or "").strip().partition(" ")
    same = hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.encode())
    return same and scheme.lower() == "bearer"


def _read_private(path: Path) -> str | None:
    """Return the token; None when there is none that only its owner can read."""
    with translate_os_errors(path, "read"):
        try:
            file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        with os.fdopen(file, "rb") as opened:
            status = os.fstat(file)
            private = status.st_uid == os.geteuid() and not status.st_mode & _FOREIGN
            if not stat.S_ISREG(status.st_mode):
                raise IoError(path=str(path), op="read", cause="it is not a regular file")
            raw = opened.read(_MAX_BYTES) if private else b""
    return raw.decode("latin-1").strip() if private else None


def _create(path: Path) -> None:
    """Write a new token under its name in one step, unless another process was first."""
    with translate_os_errors(path, "create"):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _lock(path.parent):
            if _read_private(path) is not None:
                return
            new = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
            try:
                _write_private(new, secrets.token_urlsafe(_TOKEN_BYTES) + "\n")
                new.replace(path)
            finally:
                new.unlink(missing_ok=True)


def _write_private(path: Path, text: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "w") as opened:
        opened.write(text)


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Let one process at a time into the block; a process that ends leaves it."""
    import fcntl

    held = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)
