"""Follows published bases: brings their copies up to date, and holds one snapshot of each.

A base that is too large for a copy is read from its store while it is searched.
"""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kebab.config.load import replace_setting
from kebab.config.settings import AUTO, Settings, find_copy_folder

if TYPE_CHECKING:
    from kebab.store.published.mirror import Mirror, MirrorState
    from kebab.store.published.remote import RemoteBase
    from kebab.wire.published import Registration

PULL: Literal["pull"] = "pull"
REMOTE: Literal["remote"] = "remote"
_MB = 1_000_000


def choose_settings(settings: Settings, base: "Registration") -> Settings:
    """Return the settings under which a listed base is read."""
    settings = replace_setting(settings, "data_dir", base.url)
    return replace_setting(settings, "published.mode", base.mode)


class PublishedCopy:
    """The copy of the published base that the setting `data_dir` names."""

    def __init__(self, settings: Settings, key: str | None = None) -> None:
        self.url = settings.data_dir
        self.settings = replace_setting(settings, "models.embedding.model", AUTO)
        self.key = key
        """The pinned key of the publisher."""
        self.state: MirrorState | None = None
        self._held: int | None = None
        self.remote: RemoteBase | None = None
        """The open snapshot of a base that is not copied."""

    @cached_property
    def mode(self) -> Literal["pull", "remote"]:
        """Whether the base is copied or read from its store.

        Raises:
            IoError: Its size decides, and the store cannot be read.
            StoreCorrupt: Its size decides, and what is published is damaged.
        """
        from kebab.store.published.manifest import measure_base

        chosen = self.settings.published.mode
        if chosen != AUTO:
            return PULL if chosen == PULL else REMOTE
        for mode in (PULL, REMOTE):
            if self.build_mirror(mode=mode).read_state():
                return mode
        limit = self.settings.published.remote_from_mb * _MB
        return REMOTE if measure_base(self.url, self.key) >= limit else PULL

    def build_mirror(
        self,
        count: Callable[[int], None] = lambda _: None,
        mode: Literal["pull", "remote"] | None = None,
    ) -> "Mirror":
        """Return the copy in the cache folder; `count` receives the size of each object read."""
        from kebab.store.published.mirror import Mirror

        folder, limit = find_copy_folder(self.url), self.settings.published.cache_mb * _MB
        if (mode or self.mode) == PULL:
            return Mirror(folder, self.url, self.key, limit, count)
        from kebab.store.published.remote import RemoteMirror

        return RemoteMirror(folder / REMOTE, self.url, self.key, limit, count)

    def open(self, now: float) -> Path:
        """Return the folder of the current snapshot, and hold it until another one is opened.

        Raises what `Mirror.open` raises.
        """
        mirror = self.build_mirror()
        self.state, held, folder = mirror.open(now)
        self._release()
        self._held = held
        if self.mode == REMOTE:
            from kebab.store.published.remote import RemoteBase

            limit = self.settings.published.cache_mb * _MB
            self.remote = RemoteBase(
                folder, self.url, self.state.chunks, limit, mirror.forget_check
            )
        return folder

    def has_changed(self, now: float) -> bool:
        """Return whether there is another snapshot than the one that is held."""
        if self.state is None:
            return False
        held, self.state = self.state, self.build_mirror().refresh(now)
        return held.snapshot != self.state.snapshot

    def _release(self) -> None:
        from kebab.platform import close_locked

        if self.remote is not None:
            self.remote.close()
            self.remote = None
        if self._held is not None:
            close_locked(self._held)
            self._held = None

    def describe_age(self) -> str | None:
        """Return how old the snapshot is when the store could not be asked; None else."""
        if self.state is None or self.state.problem is None:
            return None
        return f"the copy of {self.state.created_at} is searched: {self.state.problem}"

    def describe_reading(self) -> str | None:
        """Return that the base is read from its store; None of a copy.

        The words that were left out since the last call are named.
        """
        if self.remote is None:
            return None
        words = ", ".join(f"`{word}`" for word in sorted(self.remote.pages.skipped))
        self.remote.pages.skipped.clear()
        left_out = f"; these words are too frequent and were not looked up: {words}"
        return f"remote: only what is needed is read{left_out if words else ''}"
