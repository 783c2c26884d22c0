"""Follows published bases: brings their copies up to date, or asks their stores for candidates."""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kebab.config.load import replace_setting
from kebab.config.settings import AUTO, Settings, find_copy_folder
from kebab.errors.catalog import InvalidInput
from kebab.errors.system import translate_os_errors

if TYPE_CHECKING:
    from kebab.core.chunks import Vector
    from kebab.store.copies import BaseCopy, CopyState
    from kebab.wire.published import Registration

PULL: Literal["pull"] = "pull"
REMOTE: Literal["remote"] = "remote"
_MB = 1_000_000

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
        self._discard: Callable[[], object] = lambda: None

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
        """Return a folder with an index of what the store finds for a query.

        It is deleted before that of the next query, or when this process ends.
        """
        from shutil import rmtree
        from tempfile import gettempdir, mkdtemp
        from weakref import finalize

        from kebab.app.published_index import index_candidates
        from kebab.store.published import Dataset

        assert self.state is not None, "the base was opened"
        manifest, dataset = self.state.manifest, Dataset(self.url)
        dataset.checkout(manifest.versions)
        found = dataset.find_candidates(words, vector, weights, _CANDIDATES)
        self._discard()
        with translate_os_errors(gettempdir(), "create"):
            folder = Path(mkdtemp(prefix="kebab-found-"))
        self._discard = finalize(self, rmtree, folder, ignore_errors=True)
        index_candidates(folder, manifest, dataset, found)
        return folder

    def describe_age(self) -> str | None:
        """Return how old the copy is when the store could not be asked; None else."""
        if self.state is None or self.state.problem is None:
            return None
        return f"the copy of {self.state.manifest.created_at} is searched: {self.state.problem}"

    def describe_reading(self) -> str | None:
        """Return that the store is searched; None of a copy."""
        if not self.is_remote:
            return None
        return f"remote: the {_CANDIDATES} nearest passages by words, and by meaning, are compared"
