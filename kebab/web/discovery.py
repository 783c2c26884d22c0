"""Lets `kebab open --web` find a server that runs: a private file in the state folder names it."""

import hashlib
import http.client
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import msgspec
from msgspec import Struct

from kebab.config.settings import Paths
from kebab.core.durable import create_folder, replace_file
from kebab.web.sessions import make_ticket

_HEALTH_S = 2.0
_PAUSE_S = 0.1
_MOST_BYTES = 256


class ServerRecord(Struct, frozen=True):
    """A server that runs: its address, and the instance that its tickets are for."""

    url: str
    instance: str
    pid: int

    def build_login(self, token: str, query: dict[str, str]) -> str:
        """Return the address that lets a browser in once, and leads it to a search."""
        return (
            f"{self.url}/login?{urlencode({'ticket': make_ticket(token, self.instance), **query})}"
        )


def build_local_url(url: str) -> str:
    """Return the address of a server for a browser of its own machine."""
    parts = urlsplit(url)
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(parts.hostname or "")  # noqa: S104 - compared
    return f"http://{host}:{parts.port}" if host else url


def _find_file(paths: Paths) -> Path:
    """Return the file for the servers of a data folder."""
    digest = hashlib.sha256(os.fsencode(paths.data)).hexdigest()[:16]
    return paths.state / f"http.{digest}.json"


def write_record(paths: Paths, record: ServerRecord) -> None:
    """Write which server runs; the last one that starts is found.

    Raises:
        OSError: The file cannot be written.
    """
    create_folder(paths.state, 0o700)
    with replace_file(_find_file(paths)) as draft:
        draft.write(msgspec.json.encode(record))


def remove_record(paths: Paths, instance: str) -> None:
    """Remove the file unless another server has written it since."""
    found = _read_record(paths)
    if found is not None and found.instance == instance:
        with suppress(OSError):
            _find_file(paths).unlink()


def _read_record(paths: Paths) -> ServerRecord | None:
    with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
        return msgspec.json.decode(_find_file(paths).read_bytes(), type=ServerRecord)
    return None


def find_server(paths: Paths) -> ServerRecord | None:
    """Return the server of a data folder that answers, None when there is none."""
    record = _read_record(paths)
    return record if record is not None and _is_alive(record) else None


def wait_for_server(paths: Paths, seconds: float) -> ServerRecord | None:
    """Wait until a server of a data folder answers."""
    end = time.monotonic() + seconds
    while (found := find_server(paths)) is None and time.monotonic() < end:
        time.sleep(_PAUSE_S)
    return found


def _is_alive(record: ServerRecord) -> bool:
    """Return whether a server answers at the address; it is told nothing that another may not know.

    A ticket is of no use to any other server.
    """
    parts = urlsplit(record.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_HEALTH_S)
    with suppress(OSError, ValueError, http.client.HTTPException):
        connection.request("GET", "/v1/health")
        answer = connection.getresponse()
        body: object = json.loads(answer.read(_MOST_BYTES))
        return body == {"status": "ok"}
    return False
