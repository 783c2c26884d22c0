"""Follows published bases: brings their copies up to date, and holds one snapshot of each."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kebab.config.load import replace_setting
from kebab.config.settings import AUTO, Settings, find_copy_folder
from kebab.core.durable import create_folder, replace_file
from kebab.errors.catalog import StoreCorrupt
from kebab.errors.system import translate_os_errors
from kebab.wire.published import Registry

if TYPE_CHECKING:
    from kebab.store.published.mirror import Mirror, MirrorState

_MB = 1_000_000
_TRIES = 3


class PublishedCopy:
    """The copy of the published base that the setting `data_dir` names."""

    def __init__(self, settings: Settings, key: str | None = None) -> None:
        self.url = settings.data_dir
        self.settings = replace_setting(settings, "models.embedding.model", AUTO)
        self.key = key
        """The pinned key of the publisher."""
        self.state: MirrorState | None = None
        self._held: int | None = None

    def build_mirror(self, count: Callable[[int], None] = lambda _: None) -> "Mirror":
        """Return the copy in the cache folder."""
        from kebab.store.published.mirror import Mirror

        limit = self.settings.published.cache_mb * _MB
        return Mirror(find_copy_folder(self.url), self.url, self.key, limit, count)

    def open(self, now: float) -> Path:
        """Return the folder of the current snapshot, and hold it until another one is opened.

        Raises what `Mirror.refresh` raises.
        """
        from kebab.store.published.mirror import hold_snapshot

        mirror = self.build_mirror()
        for _ in range(_TRIES):
            self.state = mirror.refresh(now)
            folder = mirror.find_snapshot(self.state)
            held = hold_snapshot(folder)
            if held is not None and folder.is_dir():
                self._release()
                self._held = held
                return folder
        raise StoreCorrupt(
            path=str(mirror.folder), cause="its snapshots are deleted again and again"
        )

    def has_changed(self, now: float) -> bool:
        """Return whether there is another snapshot than the one that is held."""
        if self.state is None:
            return False
        held, self.state = self.state, self.build_mirror().refresh(now)
        return held.snapshot != self.state.snapshot

    def _release(self) -> None:
        from kebab.platform import close_locked

        if self._held is not None:
            close_locked(self._held)
            self._held = None

    def describe_age(self) -> str | None:
        """Return how old the snapshot is when the store could not be asked; None else."""
        if self.state is None or self.state.problem is None:
            return None
        return f"the copy of {self.state.created_at} is searched: {self.state.problem}"


REGISTRY = "published.json"
"""The file of the data folder that lists the published bases."""


def load_registry(data_dir: Path) -> Registry:
    """Return the list of published bases of a data folder; it is empty without its file.

    Raises:
        StoreCorrupt: The file is damaged.
    """
    path = data_dir / REGISTRY
    try:
        return msgspec.json.decode(path.read_bytes(), type=Registry)
    except (FileNotFoundError, NotADirectoryError):
        return Registry()
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise StoreCorrupt(path=str(path), cause="it cannot be read") from fault


def store_registry(data_dir: Path, registry: Registry) -> None:
    """Replace the list of published bases of a data folder."""
    path = data_dir / REGISTRY
    with translate_os_errors(path, "write"):
        create_folder(data_dir, 0o700)
        with replace_file(path) as draft:
            draft.write(msgspec.json.format(msgspec.json.encode(registry), indent=1))
