"""Keeps a copy of a published base in the cache folder: packs by their hash, and whole snapshots.

A snapshot is a data folder. It is built beside the others and named when it is complete, so readers
see one snapshot or the next. When the store cannot be used, the last one stays in use.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kebab.core.documents import CURSOR_SALT, PUBLISHED_ROOT, VECTOR_FILES
from kebab.core.durable import create_folder, delete_path, hold_lock, replace_file
from kebab.core.progress import require_own_process
from kebab.errors.catalog import IoError, NotIndexed, StoreCorrupt
from kebab.errors.system import translate_os_errors
from kebab.platform import close_locked, lock_descriptor, open_descriptor
from kebab.store.published.manifest import read_contents, read_manifest, read_pointer
from kebab.store.published.objects import ObjectStore
from kebab.store.published.packs import (
    CURRENT,
    PACKS,
    Contents,
    PackReader,
    build_damage,
    check_object,
    name_object,
)
from kebab.wire.published import PublishedCurrent, PublishedManifest

CHECK_S = 60.0
"""A store is asked for a new snapshot once in this time at most."""
_STATE, _LOCK, _SNAPSHOTS, _IN_USE = "state.json", "mirror.lock", "snapshots", ".in-use"
_DRAFT = ".draft-"
FILES = "files"
"""The folder of a snapshot with the files that came with it, one folder for each source."""
_LOADERS = 4
_TRIES = 3


class MirrorState(Struct, frozen=True, kw_only=True):
    """What a copy holds, and when the store was asked last, in seconds since the epoch."""

    url: str
    public_key: str
    manifest: str
    snapshot: str
    sequence: int
    created_at: str
    checked_at: float
    documents: int
    chunks: int
    problem: str | None = None


class Snapshot(NamedTuple):
    """What is published. `salt` authenticates cursors.

    All copies of a base have the same, so that one server continues what another has begun.
    """

    manifest: PublishedManifest
    contents: Contents
    salt: str


class Mirror:
    """The copy of one published base.

    `key` is the pinned public key; without one the key of the first copy is pinned. `count`
    receives the size of each object that is read.
    """

    def __init__(
        self,
        folder: Path,
        url: str,
        key: str | None,
        cache_bytes: int,
        count: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self._url, self._key = url, key
        self._cache_bytes, self._count = cache_bytes, count
        self.pulled = 0

    @cached_property
    def _store(self) -> ObjectStore:
        return ObjectStore(self._url)

    def read_state(self) -> MirrorState | None:
        """Return the state of the copy; None without one that is whole."""
        try:
            raw = (self.folder / _STATE).read_bytes()
            state = msgspec.json.decode(raw, type=MirrorState)
        except (OSError, msgspec.MsgspecError):
            return None
        fits = state.url == self._url and self._key in (None, state.public_key)
        return state if fits and self.find_snapshot(state).is_dir() else None

    def find_snapshot(self, state: MirrorState) -> Path:
        """Return the data folder of a state."""
        return self.folder / _SNAPSHOTS / state.snapshot

    def refresh(self, now: float, *, at_once: bool = False) -> MirrorState:
        """Bring the copy up to date, unless that was tried within a minute.

        Raises:
            IoError: There is no copy yet, and the store cannot be read.
            StoreCorrupt: There is no copy yet, and what is published is damaged.
            NotIndexed: There is no copy yet, and nothing, or something newer, is published.
            RunCold: There is a new snapshot, and this is the warm process.
        """
        state = self.read_state()
        if state and not at_once and 0 <= now - state.checked_at < CHECK_S:
            return state
        current = None if state else self._read_current(None)  # a wrong address leaves no folder
        with translate_os_errors(self.folder, "create"):
            create_folder(self.folder, 0o700)
        lock = hold_lock(self.folder / _LOCK, wait=state is None or at_once)
        with translate_os_errors(self.folder, "write"), lock as held:
            # Another process may have done it meanwhile.
            state = self.read_state()
            if state and (not held or (not at_once and 0 <= now - state.checked_at < CHECK_S)):
                return state
            try:
                if state or current is None:
                    current = self._read_current(state)
                new = self._pull(state, current)
            except (IoError, StoreCorrupt, NotIndexed) as fault:
                if state is None:
                    raise
                new = replace(state, problem=fault.format_message())
            new = replace(new, checked_at=now)
            self._write_state(new)
            with translate_os_errors(self.folder, "write"):
                self._delete_old(new)
        return new

    def _write_state(self, state: MirrorState) -> None:
        path = self.folder / _STATE
        with translate_os_errors(path, "write"), replace_file(path) as draft:
            draft.write(msgspec.json.encode(state))

    def open(self, now: float) -> tuple[MirrorState, int, Path]:
        """Return the current state, a descriptor that holds its snapshot, and its folder.

        Raises what `refresh` raises.
        """
        for _ in range(_TRIES):
            state = self.refresh(now)
            folder = self.find_snapshot(state)
            held = hold_snapshot(folder)
            if held is not None and folder.is_dir():
                return state, held, folder
        raise StoreCorrupt(path=str(self.folder), cause="its snapshots are deleted again and again")

    def forget_check(self) -> None:
        """Let the next command look for a new snapshot."""
        if state := self.read_state():
            self._write_state(replace(state, checked_at=0.0))

    def _pull(self, state: MirrorState | None, current: PublishedCurrent) -> MirrorState:
        digest = current.manifest
        if state and state.manifest == digest:
            return replace(state, problem=None)
        require_own_process()
        manifest = read_manifest(self._store, digest)
        if state and manifest.sequence <= state.sequence:
            cause = (
                f"it names snapshot {manifest.sequence}, older than {state.sequence} of the copy"
            )
            raise build_damage(self._store.describe(CURRENT), cause)
        contents = read_contents(self._store, manifest)
        self._load_packs(contents)
        name = digest[:32]
        with translate_os_errors(self.folder, "write"):
            self._build(name, Snapshot(manifest, contents, current.public_key))
        return MirrorState(
            url=self._url,
            public_key=current.public_key,
            manifest=digest,
            snapshot=name,
            sequence=manifest.sequence,
            created_at=manifest.created_at,
            checked_at=0.0,
            documents=manifest.documents,
            chunks=manifest.chunks,
        )

    def _read_current(self, state: MirrorState | None) -> PublishedCurrent:
        """Return what is published, signed with the pinned key.

        Raises:
            IoError: Nothing is published, or the store cannot be read.
            StoreCorrupt: It is damaged, or another key has signed it.
        """
        found = read_pointer(self._store, self._key or (state.public_key if state else None))
        if found is None:
            address = self._store.describe(CURRENT)
            raise IoError(path=address, op="read", cause="nothing is published there")
        return found.current

    def _load_packs(self, contents: Contents) -> None:
        """Read the packs that the cache lacks."""
        folder = self.folder / PACKS
        with translate_os_errors(folder, "create"):
            create_folder(folder, 0o700)

        names = (contents.packs[run.pack] for run in contents.list_runs(copied=True))
        missing = [one for one in names if not (folder / one).is_file()]
        with ThreadPoolExecutor(_LOADERS, "pull") as pool:
            for data in pool.map(self._load_pack, dict.fromkeys(missing)):
                self.pulled += len(data)
                self._count(len(data))

    def _load_pack(self, name: str) -> bytes:
        address, path = f"{PACKS}/{name}", self.folder / PACKS / name
        data = check_object(self._store.read(address), name, self._store.describe(address))
        with translate_os_errors(path, "write"), replace_file(path) as draft:
            draft.write(data)
        return data

    def _read_pack(self, name: str) -> bytes:
        """Return a pack of the cache; one that is damaged or gone there is read again."""
        data = b""
        with suppress(FileNotFoundError):
            data = (self.folder / PACKS / name).read_bytes()
        return data if name_object(data) == name else self._load_pack(name)

    def _build(self, name: str, snapshot: Snapshot) -> None:
        """Build a snapshot beside the others, then give it its name."""
        folder = self.folder / _SNAPSHOTS
        create_folder(folder, 0o700)
        for left in folder.glob(f"{_DRAFT}*"):
            delete_path(left)
        draft = folder / f"{_DRAFT}{name}"
        draft.mkdir(mode=0o700)
        target = folder / name
        try:
            self._fill(draft, target, snapshot)
            if target.exists():
                delete_path(target)
            draft.rename(target)
        finally:
            if draft.exists():
                delete_path(draft)

    def _fill(self, draft: Path, target: Path, snapshot: Snapshot) -> None:
        """Fill the folder of a snapshot, which becomes `target`."""
        build_snapshot(draft, target, snapshot, PackReader(snapshot.contents, self._read_pack))

    def _delete_old(self, state: MirrorState) -> None:
        """Delete snapshots that nobody uses, and the packs that the cache has no room for."""
        for path in (self.folder / _SNAPSHOTS).iterdir():
            if path.name != state.snapshot and not _is_in_use(path):
                with suppress(OSError):
                    delete_path(path)
        packs = sorted(
            ((path.stat(), path) for path in (self.folder / PACKS).iterdir()),
            key=lambda one: one[0].st_mtime,
        )
        total = sum(status.st_size for status, _ in packs)
        for status, path in packs:
            if total <= self._cache_bytes:
                break
            path.unlink(missing_ok=True)
            total -= status.st_size


def hold_snapshot(folder: Path) -> int | None:
    """Mark a snapshot as used until the returned descriptor is closed; None when it is gone."""
    with suppress(OSError):
        file = open_descriptor(folder / _IN_USE, os.O_RDWR | os.O_CREAT)
        if lock_descriptor(file, shared=True):
            return file
        close_locked(file)
    return None


def _is_in_use(folder: Path) -> bool:
    try:
        file = open_descriptor(folder / _IN_USE, os.O_RDWR)
    except OSError:
        return False
    held = lock_descriptor(file)
    close_locked(file)
    return not held


def build_snapshot(draft: Path, target: Path, snapshot: Snapshot, reader: PackReader) -> None:
    """Fill a folder, which becomes `target`, with the database, the vectors and the files.

    Raises:
        StoreCorrupt: A part is damaged, or does not come from kebab.
        NotIndexed: The schema is newer than that of this build.
    """
    from kebab.store.sqlite import archive, connection, published

    manifest, contents, _ = snapshot
    index = connection.get_database_path(draft)
    with index.open("wb") as file:
        for number, page in reader.place_items(contents.pages):
            file.seek(number * contents.page_bytes)
            file.write(page)
    try:
        archive.check_copy(index, index)
        names = _list_names(index)
        _write_files(draft, contents, reader, names)
    except StoreCorrupt as fault:
        raise build_damage(manifest.contents.sha256, fault.cause) from fault
    kept = {name: str(target / FILES / name) for name in names if manifest.with_texts}
    published.adapt_published(index, kept)
    values = {CURSOR_SALT: snapshot.salt}
    if contents.rows:
        values[VECTOR_FILES] = _build_vectors(draft, manifest, contents, reader)
    archive.finish_copy(index, values)


def _list_names(index: Path) -> set[str]:
    """Return the names of the sources, which must not reach any other folder of this machine."""
    from kebab.store.sqlite import archive

    sources = [source for source, _ in archive.read_contents(index).sources]
    for one in sources:
        if (
            "/" in one.name
            or one.name in ("", ".", "..")
            or one.root != f"{PUBLISHED_ROOT}{one.name}"
        ):
            raise build_damage(one.name, f"not a published source: {one.name}")
    return {one.name for one in sources}


def _build_vectors(
    draft: Path, manifest: PublishedManifest, contents: Contents, reader: PackReader
) -> str:
    from kebab.store.lance.archive import build_vectors
    from kebab.store.lance.vectors import LanceVectors
    from kebab.store.sqlite import archive, connection

    packed = draft / "vectors.f32"
    with packed.open("wb") as file:
        for row in reader.read_items(contents.rows):
            file.write(row)
    dimension = manifest.dimension or 0
    vectors = LanceVectors(draft, manifest.embedding_version or "", dimension)
    ids = archive.list_chunk_ids(connection.get_database_path(draft))
    for _ in build_vectors(packed, vectors, dimension, ids, packed):
        pass
    vectors.maintain()
    packed.unlink()
    return vectors.describe_files()


def _write_files(draft: Path, contents: Contents, reader: PackReader, names: set[str]) -> None:
    for one in contents.files:
        parts = one.path.split("/")
        if one.source not in names or {"", ".", ".."} & {*parts} or "\0" in one.path:
            raise build_damage(one.path, f"not a path below a source: {one.path}")
        path = draft.joinpath(FILES, one.source, *parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for item in reader.read_items(one.runs):
                file.write(item)
        os.utime(path, ns=(one.mtime_ns, one.mtime_ns))
