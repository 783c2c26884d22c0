"""Follows published bases: keeps a copy of one, or asks its store for candidates.

A copy is the files of the dataset, and an ordinary index made of them. The index is brought up to
date in one transaction, so a reader sees one state or the next, and a call that was killed leaves
the old one. When the store cannot be used, the copy stays in use. Where the store itself is
searched, only `base.json` is read, and the index has no documents.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kebab.config.load import replace_setting
from kebab.config.settings import AUTO, Settings, find_copy_folder
from kebab.core.documents import (
    CURSOR_SALT,
    EMBEDDING_VERSION,
    PUBLISHED_ROOT,
    STDIN,
    Source,
    VectorRow,
)
from kebab.core.ids import DocId, compute_digest, find_missing_keys
from kebab.durable import create_folder, delete_path, hold_lock, replace_file
from kebab.errors.catalog import InvalidInput, IoError, NotIndexed, StoreCorrupt
from kebab.errors.system import translate_os_errors
from kebab.wire.published import PublishedManifest, Registration

if TYPE_CHECKING:
    from kebab.core.chunks import Vector
    from kebab.store.objects import ObjectStore
    from kebab.store.published import Dataset, FoundBase
    from kebab.store.sqlite.writer import SqliteWriter
    from kebab.store.vectors import LanceVectors


PULL: Literal["pull"] = "pull"
REMOTE: Literal["remote"] = "remote"
CHECK_S = 60.0
"""A store is asked for a new state once in this time at most."""

_STATE, _LOCK, _DATASET, _INDEX = "state.json", "copy.lock", "dataset", "index"
_MB = 1_000_000
_CANDIDATES = 1_000
"""How many passages a store is asked for by words, and as many by meaning."""


def choose_settings(settings: Settings, base: Registration) -> Settings:
    """Return the settings under which a listed base is read."""
    settings = replace_setting(settings, "data_dir", base.url)
    return replace_setting(settings, "published.mode", base.mode)


class CopyState(Struct, frozen=True, kw_only=True):
    """What a copy holds, and when the store was read and tried last, in seconds since the epoch.

    The manifest names no files.
    """

    index: str
    digest: str
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
    def _store(self) -> "ObjectStore":
        from kebab.store.objects import ObjectStore

        return ObjectStore(self.url)

    @cached_property
    def mode(self) -> Literal["pull", "remote"]:
        """Whether the base is copied, or its store is searched; that of a web server cannot be.

        Raises:
            IoError: Its size decides, and the store cannot be read.
            StoreCorrupt: Its size decides, and what is published is damaged.
        """
        from kebab.store.published import require_base

        chosen = self.settings.published.mode
        is_web = self.url.lower().startswith("http")
        if chosen == REMOTE and is_web:
            raise InvalidInput(field="$.mode", cause="a web server can only be copied: `pull`")
        if chosen != AUTO or is_web:
            return REMOTE if chosen == REMOTE else PULL
        for mode in (PULL, REMOTE):
            if _read_state(find_copy_folder(self.url) / mode):
                return mode
        files = require_base(self._store).manifest.files
        limit = self.settings.published.remote_from_mb * _MB
        return REMOTE if sum(file.bytes for file in files) >= limit else PULL

    @property
    def is_remote(self) -> bool:
        """Whether the store is searched."""
        return self.mode == REMOTE

    @property
    def _folder(self) -> Path:
        return find_copy_folder(self.url) / self.mode

    def read_state(self) -> CopyState | None:
        """Return the state of the copy; None without one."""
        return _read_state(self._folder)

    def open(self, now: float) -> Path:
        """Return the folder of the index. Raises what `refresh` raises."""
        self.state = self.refresh(now)
        return self._folder / self.state.index

    def has_changed(self, now: float) -> bool:
        """Return whether the index is in another folder than before."""
        if self.state is None:
            return False
        before, self.state = self.state, self.refresh(now)
        return before.index != self.state.index

    def refresh(self, now: float, *, at_once: bool = False) -> CopyState:
        """Bring the copy up to date, unless that was tried within a minute.

        Raises:
            IoError: There is no copy yet, and the store cannot be read.
            StoreCorrupt: There is no copy yet, and what is published is damaged.
            NotIndexed: There is no copy yet, and something newer is published.
        """
        from kebab.store.published import require_base

        def is_fresh(state: CopyState) -> bool:
            return not at_once and 0 <= now - state.tried_at < CHECK_S

        state = self.read_state()
        if state and is_fresh(state):
            return state
        found = None if state else require_base(self._store)  # a wrong address leaves no folder
        folder = self._folder
        with translate_os_errors(folder, "create"):
            create_folder(folder, 0o700)
        lock = hold_lock(folder / _LOCK, wait=state is None or at_once)
        with translate_os_errors(folder, "write"), lock as held:
            # Another process may have done it meanwhile.
            state = self.read_state()
            if state and (not held or is_fresh(state)):
                return state
            try:
                new = self._pull(state, found or require_base(self._store), now)
            except (IoError, StoreCorrupt, NotIndexed) as fault:
                if state is None:
                    raise
                new = replace(state, tried_at=now, problem=fault.format_message())
            with replace_file(folder / _STATE) as draft:
                draft.write(msgspec.json.encode(new))
            for path in folder.glob(f"{_INDEX}-*"):
                if path.name != new.index:
                    delete_path(path)
        return new

    def _pull(self, state: CopyState | None, found: "FoundBase", now: float) -> CopyState:
        from kebab.store.published import Dataset

        digest = compute_digest(found.version.data.decode("utf-8", "replace"))
        if state and state.digest == digest:
            return replace(state, checked_at=now, tried_at=now, problem=None)
        manifest = found.manifest
        # Vectors of another model, and records of another schema, make another index.
        key = f"{manifest.embedding_version} {manifest.index_schema}"
        index = f"{_INDEX}-{compute_digest(key, size=8)}"
        create_folder(self._folder / index, 0o700)
        dataset = None
        if not self.is_remote:
            self._load_files(manifest)
            dataset = Dataset(str(self._folder / _DATASET))
            dataset.checkout(manifest.versions)
        update_index(self._folder / index, manifest, dataset)
        return CopyState(
            index=index,
            digest=digest,
            manifest=replace(manifest, files=[]),
            checked_at=now,
            tried_at=now,
        )

    def _load_files(self, manifest: PublishedManifest) -> None:
        """Read the files of the dataset that the copy lacks, and delete those of older states."""
        from kebab.store.objects import StoredObject

        folder = self._folder / _DATASET
        sizes = {file.name: file.bytes for file in manifest.files}
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
        from shutil import rmtree
        from tempfile import gettempdir, mkdtemp
        from weakref import finalize

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

    def list_notes(self) -> list[str]:
        """Return what a search lacks: a recent copy, or passages that are not compared."""
        notes = []
        if self.state is not None and self.state.problem is not None:
            age = self.state.manifest.created_at
            notes.append(f"the copy of {age} is searched: {self.state.problem}")
        if self.is_remote:
            notes.append(
                f"remote: the {_CANDIDATES} nearest passages by words, and by meaning, are compared"
            )
        return notes


def _read_state(folder: Path) -> CopyState | None:
    """Return the state of the copy in a folder; None without one that can be read."""
    try:
        state = msgspec.json.decode((folder / _STATE).read_bytes(), type=CopyState)
    except (OSError, msgspec.MsgspecError):
        return None
    return state if (folder / state.index).is_dir() else None


_KEYS = "published_keys"
"""The name of the value with the key of each document in the index of a copy."""

_ROWS = 16_384


def update_index(folder: Path, manifest: PublishedManifest, dataset: "Dataset | None") -> None:
    """Bring the index in a data folder to the state of a dataset, in one transaction.

    Without a dataset it holds the sources only.
    """
    from kebab.store.sqlite.writer import SqliteWriter
    from kebab.text.tokenizer import join_tokens

    with SqliteWriter(folder, join_tokens) as library:
        if dataset is None:
            with library.transaction():
                fill_index(library, None, manifest, iter(()))
            return
        stored = msgspec.json.decode(library.get_value(_KEYS) or "{}", type=dict[str, str])
        documents = {row["document"]: row for row in dataset.read_documents()}
        changed = {name: row for name, row in documents.items() if stored.get(name) != row["key"]}
        pairs = ((changed[name], rows) for name, rows in dataset.iterate_passages(changed))
        vectors = open_vectors(folder, manifest)
        delete_strays(library, vectors)
        with library.transaction():
            gone = [DocId(name) for name in stored.keys() - documents.keys()]
            library.remove_documents(gone)
            fill_index(library, vectors, manifest, pairs)
            keys = {name: row["key"] for name, row in documents.items()}
            library.set_value(_KEYS, msgspec.json.encode(keys).decode())
        delete_strays(library, vectors)
        library.checkpoint()


def delete_strays(library: "SqliteWriter", vectors: "LanceVectors | None") -> None:
    """Delete the vectors that no passage has: those of a killed pull, and of an earlier state."""
    if vectors is not None:
        vectors.delete(find_missing_keys(vectors.list_keys(), library.list_committed_keys()))
        vectors.save()


def open_vectors(folder: Path, manifest: PublishedManifest) -> "LanceVectors | None":
    """Return the vectors of an index that is made of a published base; None without any."""
    from kebab.store.vectors import LanceVectors

    version = manifest.embedding_version
    return LanceVectors(folder, version, manifest.dimension or 0) if version else None


def fill_index(
    library: "SqliteWriter",
    vectors: "LanceVectors | None",
    manifest: PublishedManifest,
    pairs: Iterator[tuple[dict[str, Any], list[dict[str, Any]]]],
) -> None:
    """Store documents with their passages and vectors; the caller has begun a transaction."""
    from kebab.store.published import read_document

    for name in manifest.sources:
        root, is_text = f"{PUBLISHED_ROOT}{name}", name == STDIN
        library.add_source(Source(name=name, root=root, kind="stdin" if is_text else "files"))
    library.set_value(CURSOR_SALT, manifest.salt)
    version = manifest.embedding_version
    found: dict[str, Any] = {}
    if vectors is not None and version:
        library.set_value(EMBEDDING_VERSION, version)
    for row, passages in pairs:
        document = read_document(row, passages)
        library.put_document(document)
        for chunk, passage in zip(document.chunks, passages, strict=True):
            if passage["vector"] is not None:
                found[chunk.chunk_id] = passage["vector"]
    if vectors is not None and version:
        pending = library.list_pending_ids()
        waiting = [(key, found[name]) for name, key in pending if name in found]
        for start in range(0, len(waiting), _ROWS):
            vectors.append([VectorRow(*one) for one in waiting[start : start + _ROWS]])
        vectors.save()
        library.mark_vectors([key for key, _ in waiting], "committed", version)
        if manifest.coverage and not manifest.coverage.pending_vectors:
            rest = [key for name, key in pending if name not in found]
            library.mark_vectors(rest, "unsupported", version)  # the model gives them no vector


def index_candidates(
    folder: Path, manifest: PublishedManifest, dataset: "Dataset", passages: list[dict[str, Any]]
) -> None:
    """Make the index of some passages of a dataset, and of their documents."""
    from kebab.store.sqlite.writer import SqliteWriter
    from kebab.text.tokenizer import join_tokens

    found: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(passages, key=lambda one: int(one["ordinal"])):
        some = found.setdefault(row["document"], [])
        some.append({**row, "ordinal": len(some)})  # among what there is of the document
    rows = {row["document"]: row for row in dataset.read_documents(found)}
    pairs = ((rows[name], some) for name, some in found.items() if name in rows)
    with SqliteWriter(folder, join_tokens) as library, library.transaction():
        fill_index(library, open_vectors(folder, manifest), manifest, pairs)
