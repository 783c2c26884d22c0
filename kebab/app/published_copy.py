"""Follows published bases: brings their copies up to date, and holds one snapshot of each."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.config.load import replace_setting
from kebab.config.settings import AUTO, Settings, find_copy_folder

if TYPE_CHECKING:
    from kebab.store.published.mirror import Mirror, MirrorState

_MB = 1_000_000


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

        Raises what `Mirror.open` raises.
        """
        self.state, held, folder = self.build_mirror().open(now)
        self._release()
        self._held = held
        return folder

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
