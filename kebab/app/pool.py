"""Keeps knowledge bases open between the calls of a long-running process."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeAlias

import msgspec

from kebab.app.facade import Kebab
from kebab.app.model_adapters import Embedders
from kebab.config.settings import Paths, Settings, resolve_paths
from kebab.errors.catalog import InvalidCursor, InvalidInput, StaleCursor
from kebab.store.sqlite.connection import get_database_path

_Key: TypeAlias = tuple[bytes, Paths, Path, bool]
_FileIdentity: TypeAlias = tuple[int, int] | None


class _IdleKebab(NamedTuple):
    """An open knowledge base that no caller uses, and the database file that it opened."""

    key: _Key
    file: _FileIdentity
    kebab: Kebab


class KebabPool:
    """Leases open knowledge bases, each to one caller at a time; threads may share the pool.

    The knowledge bases of the same settings share their embedding models. The one used last is
    leased first, and of those that are idle the oldest is closed.
    """

    def __init__(self, most_idle: int = 4) -> None:
        self._most_idle = most_idle
        self._idle: list[_IdleKebab] = []
        self._embedders: dict[bytes, Embedders] = {}
        self._lock = Lock()

    @contextmanager
    def lease(
        self, settings: Settings, *, config_path: Path, read_only: bool = False
    ) -> Iterator[Kebab]:
        """Yield the knowledge base of these settings.

        After an exception other than a refused request it is closed, and the next caller gets a
        new one.

        Raises:
            ConfigInvalid: The settings name an embedding model that does not exist.
        """
        paths, config_path = resolve_paths(settings), config_path.absolute()
        key = (msgspec.json.encode(settings), paths, config_path, read_only)
        file = _identify_file(get_database_path(paths.data))
        kebab = self._take(key, file) or self._open(settings, config_path, read_only=read_only)
        try:
            yield kebab
        except (InvalidInput, InvalidCursor, StaleCursor):
            self._keep(_IdleKebab(key, file, kebab))
            raise
        except BaseException:  # Ctrl-C too may have stopped it between two statements
            kebab.close()
            raise
        self._keep(_IdleKebab(key, file, kebab))

    def close(self) -> None:
        """Close the knowledge bases that no caller uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            one.kebab.close()

    def _take(self, key: _Key, file: _FileIdentity) -> Kebab | None:
        """Return an idle knowledge base; those whose database was replaced are closed."""
        with self._lock:
            replaced = [one for one in self._idle if one.key == key and one.file != file]
            fitting = [one for one in self._idle if one.key == key and one.file == file]
            for one in [*replaced, *fitting[-1:]]:
                self._idle.remove(one)
        for one in replaced:
            one.kebab.close()
        return fitting[-1].kebab if fitting else None

    def _open(self, settings: Settings, config_path: Path, *, read_only: bool) -> Kebab:
        models = resolve_paths(settings).models
        key = msgspec.json.encode([settings.models.embedding, settings.offline, str(models)])
        with self._lock:
            if key not in self._embedders:
                self._embedders[key] = Embedders(settings, models)
            embedders = self._embedders[key]
        return Kebab(settings, config_path=config_path, read_only=read_only, embedders=embedders)

    def _keep(self, kebab: _IdleKebab) -> None:
        with self._lock:
            self._idle.append(kebab)
            too_many = self._idle[: -self._most_idle]
            del self._idle[: -self._most_idle]
        for one in too_many:
            one.kebab.close()


def _identify_file(path: Path) -> _FileIdentity:
    """Return the device and the number of a file, None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
