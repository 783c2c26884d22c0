"""Follows published bases: keeps a copy of one, or asks its store for candidates.

A copy is the files of the dataset, and an ordinary index made of them. The index is brought up to
date in one transaction, so a reader sees one state or the next, and a call that was killed leaves
the old one. When the store cannot be used, the copy stays in use. Where the store itself is
searched, only `base.json` is read, and the index has no documents.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from typing import TYPE_CHECKING, Any, Literal
from weakref import finalize

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kebab.config.load import replace_setting
from kebab.config.settings import AUTO, Settings, find_copy_folder
from kebab.core.chunks import DocId, compute_digest, find_missing_keys
from kebab.core.documents import (
    CURSOR_SALT,
    EMBEDDING_VERSION,
    PUBLISHED_ROOT,
    STDIN,
    Source,
    VectorRow,
)
from kebab.errors.catalog import InvalidInput, IoError, NotIndexed, StoreCorrupt
from kebab.errors.system import translate_os_errors
from kebab.platform import create_folder, delete_path, hold_lock, replace_file
from kebab.store.objects import ObjectStore, StoredObject
from kebab.store.published import Dataset, Row, read_document, require_base
from kebab.wire.published import PublishedFile, PublishedManifest

if TYPE_CHECKING:
    from kebab.core.chunks import Vector
    from kebab.store.sqlite.writer import SqliteWriter
    from kebab.store.vectors import LanceVectors


PULL: Literal["pull"] = "pull"
REMOTE: Literal["remote"] = "remote"
CHECK_S = 60.0
"""A store is asked for a new state once in this time at most."""

_STATE, _LOCK, _DATASET, _INDEX = "state.json", "copy.lock", "dataset", "index"
_MB, _ROWS = 1_000_000, 16_384
_CANDIDATES = 1_000
"""How many passages a store is asked for by words, and as many by meaning."""


class CopyState(Struct, frozen=True, kw_only=True):
    """What a copy holds, and when the store was read and tried last, in seconds since the epoch.

    The manifest names no files.
    """

    index: str
    manifest: PublishedManifest
    checked_at: float
    tried_at: float
    problem: str | None = None


class PublishedCopy:
    """The copy of the published base that the setting `data_dir` names."""

    def __init__(self, settings: Settings) -> None:
        self.url = settings.data_dir
        self.settings = replace_setting(settings, "models.embedding.model", AUTO)
        self.state: CopyState | None = None
        self.pulled_bytes = 0
        """The size of the files that were read from the store."""
        self._discard: Callable[[], object] = lambda: None

    @cached_property
    def _store(self) -> ObjectStore:
        return ObjectStore(self.url)

    @cached_property
    def mode(self) -> Literal["pull", "remote"]:
        """Whether the base is copied, or its store is searched; that of a web server cannot be.

        Raises:
            IoError: Its size decides, and the store cannot be read.
            StoreCorrupt: Its size decides, and what is published is damaged.
        """
        chosen = self.settings.published.mode
        if self.url.lower().startswith("http"):
            if chosen == REMOTE:
                cause = "a web server can only be copied: `pull`"
                raise InvalidInput(field="$.mode", cause=cause)
            return PULL
        if chosen != "auto":
            return chosen
        for mode in (PULL, REMOTE):
            if read_state(self.url, mode):
                return mode
        size = sum(file.bytes for file in require_base(self._store).files)
        return REMOTE if size >= self.settings.published.remote_from_mb * _MB else PULL

    @property
    def _folder(self) -> Path:
        return find_copy_folder(self.url) / self.mode

    def open(self, now: float) -> Path:
        """Return the folder of the index. Raises what `refresh` raises."""
        return self._folder / self.refresh(now).index

    def has_changed(self, now: float) -> bool:
        """Return whether the index is in another folder than before."""
        before = self.state
        return before is not None and before.index != self.refresh(now).index

    def refresh(self, now: float, *, at_once: bool = False) -> CopyState:
        """Bring the copy up to date, unless that was tried within a minute.

        Raises:
            IoError: There is no copy yet, and the store cannot be read.
            StoreCorrupt: There is no copy yet, and what is published is damaged.
            NotIndexed: There is no copy yet, and something newer is published.
        """

        def is_fresh(state: CopyState) -> bool:
            return not at_once and 0 <= now - state.tried_at < CHECK_S

        state = self.state = read_state(self.url, self.mode)
        if state and is_fresh(state):
            return state
        found = None if state else require_base(self._store)  # a wrong address leaves no folder
        folder = self._folder
        with translate_os_errors(folder, "create"):
            create_folder(folder, 0o700)
        lock = hold_lock(folder / _LOCK, wait=state is None or at_once)
        with translate_os_errors(folder, "write"), lock as held:
            # Another process may have done it meanwhile.
            state = self.state = read_state(self.url, self.mode)
            if state and (not held or is_fresh(state)):
                return state
            try:
                new = self._pull(state, found or require_base(self._store), now)
            except (IoError, StoreCorrupt, NotIndexed) as fault:
                if state is None:
                    raise
                new = replace(state, tried_at=now, problem=fault.format_message())
            self.state = new
            with replace_file(folder / _STATE) as draft:
                draft.write(msgspec.json.encode(new))
            for path in folder.glob(f"{_INDEX}-*"):
                if path.name != new.index:
                    delete_path(path)
        return new

    def _pull(self, state: CopyState | None, manifest: PublishedManifest, now: float) -> CopyState:
        files, manifest = manifest.files, replace(manifest, files=[])
        if state and state.manifest == manifest:
            return replace(state, checked_at=now, tried_at=now, problem=None)
        # Vectors of another model, and records of another schema, make another index.
        key = f"{manifest.embedding_version} {manifest.index_schema}"
        index = f"{_INDEX}-{compute_digest(key, size=8)}"
        create_folder(self._folder / index, 0o700)
        if self.mode == REMOTE:
            update_index(self._folder / index, manifest, [], lambda _: iter(()))
        else:
            self._load_files(files)
            dataset = Dataset(str(self._folder / _DATASET), manifest.versions)
            documents = dataset.read_documents()
            update_index(self._folder / index, manifest, documents, dataset.iterate_passages)
        return CopyState(index=index, manifest=manifest, checked_at=now, tried_at=now)

    def _load_files(self, files: Iterable[PublishedFile]) -> None:
        """Read the files of the dataset that the copy lacks, and delete those of older states."""
        folder = self._folder / _DATASET
        sizes = {file.name: file.bytes for file in files}
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            if sizes.get(path.relative_to(folder).as_posix()) != path.stat().st_size:
                path.unlink()
        missing = (
            StoredObject(name, size, 0.0)
            for name, size in sizes.items()
            if not (folder / name).exists()
        )
        for one, fault in self._store.download_all(missing, folder):
            if fault:
                raise fault
            self.pulled_bytes += one.size

    def find_candidates(
        self, words: Sequence[str], vector: "Vector | None", weights: Sequence[float]
    ) -> Path:
        """Return a folder with an index of what the store finds for a query.

        It is deleted before that of the next query, or when this process ends.
        """
        assert self.state is not None, "the base was opened"
        manifest = self.state.manifest
        dataset = Dataset(self.url, manifest.versions)
        found: dict[str, list[Row]] = {}
        rows = dataset.find_candidates(words, vector, weights, _CANDIDATES)
        for row in sorted(rows, key=lambda one: int(one["ordinal"])):
            some = found.setdefault(row["document"], [])
            some.append({**row, "ordinal": len(some)})  # among what there is of the document
        self._discard()
        with translate_os_errors(gettempdir(), "create"):
            folder = Path(mkdtemp(prefix="kebab-found-"))
        self._discard = finalize(self, rmtree, folder, ignore_errors=True)
        documents = dataset.read_documents(found)
        update_index(
            folder, manifest, documents, lambda names: ((one, found[one]) for one in names)
        )
        return folder

    def list_notes(self) -> list[str]:
        """Return what a search lacks: a recent copy, or passages that are not compared."""
        notes = []
        if self.state is not None and self.state.problem is not None:
            age = self.state.manifest.created_at
            notes.append(f"the copy of {age} is searched: {self.state.problem}")
        if self.mode == REMOTE:
            notes.append(
                f"remote: the {_CANDIDATES} nearest passages by words, and by meaning, are compared"
            )
        return notes


def read_state(url: str, mode: Literal["pull", "remote"]) -> CopyState | None:
    """Return the state of the copy of a base; None without one that can be read."""
    folder = find_copy_folder(url) / mode
    try:
        state = msgspec.json.decode((folder / _STATE).read_bytes(), type=CopyState)
    except (OSError, msgspec.MsgspecError):
        return None
    return state if (folder / state.index).is_dir() else None


_KEYS = "published_keys"
"""The name of the value with the key of each document in the index of a copy."""


def update_index(
    folder: Path,
    manifest: PublishedManifest,
    documents: Sequence[Row],
    read_passages: Callable[[Collection[str]], Iterable[tuple[str, list[Row]]]],
) -> None:
    """Bring the index in a data folder to these documents of a dataset, in one transaction.

    `read_passages` returns the rows of the passages of some documents.
    """
    from kebab.store.sqlite.writer import SqliteWriter
    from kebab.store.vectors import LanceVectors
    from kebab.text.tokenizer import join_tokens

    version = manifest.embedding_version
    vectors = LanceVectors(folder, version, manifest.dimension or 0) if version else None
    with SqliteWriter(folder, join_tokens) as library:
        stored = msgspec.json.decode(library.get_value(_KEYS) or "{}", type=dict[str, str])
        rows = {row["document"]: row for row in documents}
        keys = {name: row["key"] for name, row in rows.items()}
        _delete_strays(library, vectors)
        with library.transaction():
            for name in manifest.sources:
                kind: Literal["stdin", "files"] = "stdin" if name == STDIN else "files"
                library.add_source(Source(name=name, root=f"{PUBLISHED_ROOT}{name}", kind=kind))
            library.set_value(CURSOR_SALT, manifest.salt)
            library.remove_documents([DocId(name) for name in stored.keys() - keys.keys()])
            found: dict[str, Any] = {}
            changed = [name for name, key in keys.items() if stored.get(name) != key]
            for name, passages in read_passages(changed):
                document = read_document(rows[name], passages)
                library.put_document(document)
                for chunk, passage in zip(document.chunks, passages, strict=True):
                    if passage["vector"] is not None:
                        found[chunk.chunk_id] = passage["vector"]
            if vectors is not None:
                _store_vectors(library, vectors, manifest, found)
            library.set_value(_KEYS, msgspec.json.encode(keys).decode())
        _delete_strays(library, vectors)
        library.checkpoint()


def _delete_strays(library: "SqliteWriter", vectors: "LanceVectors | None") -> None:
    """Delete the vectors that no passage has: those of a killed pull, and of an earlier state."""
    if vectors is not None:
        vectors.delete(find_missing_keys(vectors.list_keys(), library.list_committed_keys()))
        vectors.save()


def _store_vectors(
    library: "SqliteWriter",
    vectors: "LanceVectors",
    manifest: PublishedManifest,
    found: Mapping[str, Any],
) -> None:
    """Store the vectors of passages that have none yet, by the id of the chunk."""
    version = manifest.embedding_version or ""
    library.set_value(EMBEDDING_VERSION, version)
    pending = library.list_pending_ids()
    waiting = [VectorRow(key, found[name]) for name, key in pending if name in found]
    for start in range(0, len(waiting), _ROWS):
        vectors.append(waiting[start : start + _ROWS])
    vectors.save()
    library.mark_vectors([row.key for row in waiting], "committed", version)
    if manifest.coverage and not manifest.coverage.pending_vectors:
        rest = [key for name, key in pending if name not in found]
        library.mark_vectors(rest, "unsupported", version)  # the model gives them no vector
