"""Tells the parent of the warm process which knowledge base wants a watcher of its files."""

import marshal
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from kebab.config.paths import find_default_config, resolve_paths
from kebab.config.settings import Settings
from kebab.store.sqlite.connection import get_database_path
from kebab.warm.client import LENGTH_BYTES

WATCH = b"w"
"""What a worker tells its parent before it sends a demand."""

_PATH_VARIABLES = ("KEBAB_MODELS_DIR", "KEBAB_WORKSPACE")
_FORM = 2


class Demand(NamedTuple):
    """What a watcher of one knowledge base needs."""

    data_dir: str
    flags: list[str]
    environ: dict[str, str]

    def has_index(self) -> bool:
        """Return whether the knowledge base exists."""
        return get_database_path(Path(self.data_dir)).exists()


def build_demand(
    settings: Settings, config_path: Path, environ: Mapping[str, str]
) -> Demand | None:
    """Return the demand of a call; None when its settings want no watcher, or it has no index.

    A watcher runs in another folder, so every path is made absolute.
    """
    if not settings.watch.auto:
        return None
    data_dir = str(resolve_paths(settings).data)
    flags = ["--data-dir", data_dir]
    config = config_path.absolute()
    if config != find_default_config().absolute():
        flags += ["--config", str(config)]
    paths = {
        name: os.path.abspath(os.path.expanduser(environ[name]))
        for name in _PATH_VARIABLES
        if environ.get(name)
    }
    demand = Demand(data_dir, flags, {**environ, **paths})
    return demand if demand.has_index() else None


def send_demand(control: socket.socket, demand: Demand) -> None:
    """Send a demand to the parent.

    Raises:
        OSError: The parent ended.
    """
    data = marshal.dumps(tuple(demand), _FORM)
    control.sendall(WATCH + len(data).to_bytes(LENGTH_BYTES, "big") + data)


def receive_demand(control: socket.socket) -> Demand:
    """Return the demand that follows `WATCH`.

    Raises:
        OSError: The worker ended or stopped while it sent the demand.
    """
    size = int.from_bytes(_receive(control, LENGTH_BYTES), "big")
    return Demand(*marshal.loads(_receive(control, size)))


def _receive(control: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = control.recv(size - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data
