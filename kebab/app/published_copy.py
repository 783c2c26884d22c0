"""Follows published bases: brings their copies up to date, or asks their stores for candidates."""

import os
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kebab.config.load import replace_setting
from kebab.config.settings import AUTO, Settings, find_copy_folder
from kebab.core.durable import create_folder, delete_path
from kebab.errors.catalog import InvalidInput
from kebab.errors.system import translate_os_errors

if TYPE_CHECKING:
    from kebab.core.chunks import Vector
    from kebab.store.copies import BaseCopy, CopyState
    from kebab.wire.published import Registration

PULL: Literal["pull"] = "pull"
REMOTE: Literal["remote"] = "remote"
_MB = 1_000_000
_FOUND, _KEPT_S = "found-", 3_600.0
"""How the folders with candidates begin, and how long those of other processes are kept."""

_CANDIDATES = 1_000
"""How many passages a store is asked for by words, and as many by meaning."""


def choose_settings(settings: Settings, base: "Registration") -> Settings:
    """Return the settings under which a listed base is read."""
    settings = replace_setting(settings, "data_dir", base.url)
    return replace_setting(settings, "published.mode", base.mode)


class PublishedCopy:
    """The copy of the published base that the setting `data_dir` names."""

    def __init__(self, settings: Settings) -> None:
        self.url = settings.data_dir
        self.settings = replace_setting(settings, "models.embedding.model", AUTO)
        self.state: CopyState | None = None

    @cached_property
    def mode(self) -> Literal["pull", "remote"]:
        """Whether the base is copied, or its store is searched; that of a web server cannot be.

        Raises:
            IoError: Its size decides, and the store cannot be read.
            StoreCorrupt: Its size decides, and what is published is damaged.
        """
        from kebab.store.objects import ObjectStore
        from kebab.store.published import require_base

        chosen = self.settings.published.mode
        is_web = self.url.lower().startswith("http")
        if chosen == REMOTE and is_web:
            raise InvalidInput(field="$.mode", cause="a web server can only be copied: `pull`")
        if chosen != AUTO or is_web:
            return REMOTE if chosen == REMOTE else PULL
        for mode in (PULL, REMOTE):
            if self.build_copy(mode=mode).read_state():
                return mode
        files = require_base(ObjectStore(self.url)).manifest.files
        limit = self.settings.published.remote_from_mb * _MB
        return REMOTE if sum(file.bytes for file in files) >= limit else PULL

    @property
    def is_remote(self) -> bool:
        """Whether the store is searched."""
        return self.mode == REMOTE

    def build_copy(
        self,
        count: Callable[[int], None] = lambda _: None,
        mode: Literal["pull", "remote"] | None = None,
    ) -> "BaseCopy":
        """Return the copy in the cache folder; `count` receives the size of each file read."""
        from kebab.app.published_index import update_index
        from kebab.store.copies import BaseCopy

        mode = mode or self.mode
        folder = find_copy_folder(self.url) / mode
        return BaseCopy(folder, self.url, update_index, count, copies_files=mode == PULL)

    def open(self, now: float) -> Path:
        """Return the folder of the index. Raises what `BaseCopy.refresh` raises."""
        copy = self.build_copy()
        self.state = copy.refresh(now)
        return copy.find_index(self.state)

    def has_changed(self, now: float) -> bool:
        """Return whether the index is in another folder than before."""
        if self.state is None:
            return False
        before, self.state = self.state, self.build_copy().refresh(now)
        return before.index != self.state.index

    def find_candidates(
        self, words: Sequence[str], vector: "Vector | None", weights: Sequence[float]
    ) -> Path:
        """Return the folder with an index of what the store finds for a query.

        Each process has a folder of its own, which its next query replaces.
        """
        from kebab.app.published_index import index_candidates
        from kebab.store.objects import ObjectStore
        from kebab.store.published import Dataset, require_base

        manifest = require_base(ObjectStore(self.url)).manifest
        dataset = Dataset(self.url)
        dataset.checkout(manifest.versions)
        found = dataset.find_candidates(words, vector, weights, _CANDIDATES)
        copies = find_copy_folder(self.url) / REMOTE
        folder = copies / f"{_FOUND}{os.getpid()}"
        with translate_os_errors(copies, "write"):
            oldest = time.time() - _KEPT_S
            for path in copies.glob(f"{_FOUND}*"):
                if path == folder or path.stat().st_mtime < oldest:
                    delete_path(path)
            create_folder(folder, 0o700)
        index_candidates(folder, manifest, dataset, found)
        return folder

    def describe_age(self) -> str | None:
        """Return how old the copy is when the store could not be asked; None else."""
        if self.state is None or self.state.problem is None:
            return None
        return f"the copy of {self.state.created_at} is searched: {self.state.problem}"

    def describe_reading(self) -> str | None:
        """Return that the store is searched; None of a copy."""
        if not self.is_remote:
            return None
        return f"remote: the {_CANDIDATES} nearest passages by words, and by meaning, are compared"
