"""Keeps a copy of a published base: the files of its dataset, and an ordinary index made of them.

The index is brought up to date in one transaction, so a reader sees one state or the next, and a
call that was killed leaves the old one. When the store cannot be used, the copy stays in use.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kebab.core.durable import create_folder, delete_path, hold_lock, replace_file
from kebab.core.ids import compute_digest
from kebab.errors.catalog import IoError, NotIndexed, StoreCorrupt
from kebab.errors.system import translate_os_errors
from kebab.store.objects import ObjectStore, StoredObject
from kebab.store.published import Dataset, FoundBase, require_base
from kebab.wire.published import PublishedFile, PublishedManifest

UpdateIndex: TypeAlias = Callable[[Path, PublishedManifest, Dataset | None], None]
"""Brings the index in a data folder to the state of a dataset, in one transaction."""

CHECK_S = 60.0
"""A store is asked for a new state once in this time at most."""
_STATE, _LOCK, _DATASET, _INDEX = "state.json", "copy.lock", "dataset", "index"
_LOADERS = 4


class CopyState(Struct, frozen=True, kw_only=True):
    """What a copy holds, and when the store was read and tried last, in seconds since the epoch.

    The manifest names no files.
    """

    url: str
    index: str
    digest: str
    manifest: PublishedManifest
    checked_at: float
    tried_at: float
    problem: str | None = None


class BaseCopy:
    """The copy of one published base; `count` receives the size of each file that is read.

    Where the store itself is searched, only `base.json` is read, and `update` gets no dataset.
    """

    def __init__(
        self,
        folder: Path,
        url: str,
        update: UpdateIndex,
        count: Callable[[int], None] = lambda _: None,
        *,
        copies_files: bool = True,
    ) -> None:
        self.folder = folder
        self._url, self._update, self._count = url, update, count
        self._copies_files = copies_files
        self.pulled = 0

    @cached_property
    def _store(self) -> ObjectStore:
        return ObjectStore(self._url)

    def read_state(self) -> CopyState | None:
        """Return the state of the copy; None without one."""
        try:
            raw = (self.folder / _STATE).read_bytes()
            state = msgspec.json.decode(raw, type=CopyState)
        except (OSError, msgspec.MsgspecError):
            return None
        return state if state.url == self._url and self.find_index(state).is_dir() else None

    def find_index(self, state: CopyState) -> Path:
        """Return the data folder of a state."""
        return self.folder / state.index

    def refresh(self, now: float, *, at_once: bool = False) -> CopyState:
        """Bring the copy up to date, unless that was tried within a minute.

        Raises:
            IoError: There is no copy yet, and the store cannot be read.
            StoreCorrupt: There is no copy yet, and what is published is damaged.
            NotIndexed: There is no copy yet, and something newer is published.
        """
        state = self.read_state()
        if state and not at_once and 0 <= now - state.tried_at < CHECK_S:
            return state
        found = None if state else require_base(self._store)  # a wrong address leaves no folder
        with translate_os_errors(self.folder, "create"):
            create_folder(self.folder, 0o700)
        lock = hold_lock(self.folder / _LOCK, wait=state is None or at_once)
        with translate_os_errors(self.folder, "write"), lock as held:
            # Another process may have done it meanwhile.
            state = self.read_state()
            if state and (not held or (not at_once and 0 <= now - state.tried_at < CHECK_S)):
                return state
            try:
                if state or found is None:
                    found = require_base(self._store)
                new = self._pull(state, found, now)
            except (IoError, StoreCorrupt, NotIndexed) as fault:
                if state is None:
                    raise
                new = replace(state, tried_at=now, problem=fault.format_message())
            with replace_file(self.folder / _STATE) as draft:
                draft.write(msgspec.json.encode(new))
            for path in self.folder.glob(f"{_INDEX}-*"):
                if path.name != new.index:
                    delete_path(path)
        return new

    def _pull(self, state: CopyState | None, found: FoundBase, now: float) -> CopyState:
        digest = compute_digest(found.version.data.decode("utf-8", "replace"))
        if state and state.digest == digest:
            return replace(state, checked_at=now, tried_at=now, problem=None)
        manifest = found.manifest
        # Vectors of another model, and records of another schema, make another index.
        key = f"{manifest.embedding_version} {manifest.index_schema}"
        index = f"{_INDEX}-{compute_digest(key, size=8)}"
        create_folder(self.folder / index, 0o700)
        dataset = None
        if self._copies_files:
            self._load_files(manifest)
            dataset = Dataset(str(self.folder / _DATASET))
            dataset.checkout(manifest.versions)
        self._update(self.folder / index, manifest, dataset)
        return CopyState(
            url=self._url,
            index=index,
            digest=digest,
            manifest=replace(manifest, files=[]),
            checked_at=now,
            tried_at=now,
        )

    def _load_files(self, manifest: PublishedManifest) -> None:
        """Read the files of the dataset that the copy lacks, and delete those of older states."""
        folder = self.folder / _DATASET
        sizes = {file.name: file.bytes for file in manifest.files}
        for name in sizes:
            if name.startswith("/") or ".." in name.split("/") or "\0" in name:
                raise StoreCorrupt(
                    path=self._url, cause=f"not a file of a base: {name}", published=True
                )
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            if sizes.get(path.relative_to(folder).as_posix()) != path.stat().st_size:
                path.unlink()
        missing = [file for file in manifest.files if not (folder / file.name).exists()]
        data = [file for file in missing if not file.name.endswith(".manifest")]
        with ThreadPoolExecutor(_LOADERS, "pull") as pool:
            for size in pool.map(self._load_file, data):
                self._add(size)
        # A manifest comes last: it makes a version of a table.
        for file in missing:
            if file not in data:
                self._add(self._load_file(file))

    def _add(self, size: int) -> None:
        self.pulled += size
        self._count(size)

    def _load_file(self, file: PublishedFile) -> int:
        path = self.folder / _DATASET / file.name
        create_folder(path.parent, 0o700)
        self._store.download(StoredObject(file.name, file.bytes, 0.0, None), path)
        return file.bytes
