"""Publishes a snapshot of the knowledge base to a folder or an object store.

Objects that others have already are not sent again. Everything is written before one conditional
write makes the new snapshot the current one, so a reader never sees a part of one.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kebab import __version__
from kebab.app.archive import ByteProgress
from kebab.app.context import AppContext, parse_dimension
from kebab.app.conversions import format_timestamp
from kebab.config.settings import FILE_ADDRESS, find_cache_folder, find_default_config, is_address
from kebab.core.durable import create_folder, delete_path
from kebab.core.ids import hash_content
from kebab.core.progress import ProgressCallback, require_own_process
from kebab.errors.catalog import InvalidInput, NotIndexed, StoreCorrupt
from kebab.errors.system import translate_os_errors
from kebab.store.published import packs
from kebab.store.published.manifest import read_contents, read_manifest, read_pointer, write_pointer
from kebab.wire.published import (
    PublishedCurrent,
    PublishedManifest,
    PublishedObject,
    PublishedSource,
    PublishReport,
    PublishRequest,
)

if TYPE_CHECKING:
    from kebab.store.published.manifest import PublisherKey
    from kebab.store.published.objects import ObjectStore, Versioned
    from kebab.store.sqlite.archive import Contents as IndexContents

_KEPT_MANIFESTS = 3
_KEPT_S = 86_400.0
"""So many snapshots stay whole, and objects that are younger than a day stay in any case: another
publisher may be about to use them."""
_SENDERS, _MOST_WAITING = 4, 8


def publish(
    context: AppContext, request: PublishRequest, report: ProgressCallback
) -> PublishReport:
    """Publish the knowledge base; an ingest may be at work, the snapshot holds one state.

    Raises:
        InvalidInput: Nothing can be published there, or another key signs the base there.
        Locked: Another publisher was faster.
        IoError: The store refused.
        NotIndexed: There is no index with the schema of this build.
        DependencyMissing: The extra is not installed.
    """
    from kebab.store.published.manifest import PublisherKey
    from kebab.store.published.objects import ObjectStore

    require_own_process()
    started = context.clock.monotonic()
    context.open_reader().close()
    store = ObjectStore(_choose_target(context, request.dest))
    if not store.can_write:
        cause = "a web server only sends what is published; publish to its folder or its store"
        raise InvalidInput(field="$.dest", cause=cause)
    key = PublisherKey(find_key_file(context), create=not request.dry_run)
    publication = _Publication(
        context, request, store, key, ByteProgress(report, context, "publish")
    )
    manifest = publication.run()
    objects = [manifest.contents, *manifest.packs]
    return PublishReport(
        dest=store.address,
        dry_run=request.dry_run,
        public_key=key.public,
        manifest=manifest,
        bytes=sum(one.bytes for one in objects) + publication.manifest_bytes,
        sent_bytes=publication.sent_bytes,
        sent_objects=publication.sent_objects,
        removed_objects=publication.removed,
        left_out_files=publication.left_out,
        duration_ms=(context.clock.monotonic() - started) * 1000,
    )


def find_key_file(context: AppContext) -> Path:
    """Return the file with the key of the publisher."""
    named = context.settings.published.key_file
    return Path(named).expanduser() if named else find_default_config().with_name("publish.key")


def _prepare_drafts(context: AppContext) -> Path:
    """Return the folder of the copies that are published, without those of killed publishers."""
    folder = find_cache_folder() / "publish"
    with translate_os_errors(folder, "create"):
        create_folder(folder, 0o700)
        for path in folder.iterdir():
            if path.stat().st_mtime < context.clock.now() - _KEPT_S:
                delete_path(path)
    return folder


def _choose_target(context: AppContext, dest: str) -> str:
    if is_address(dest) and not dest.startswith(FILE_ADDRESS):
        return dest.rstrip("/")
    dest = dest.removeprefix(FILE_ADDRESS)
    if not dest or "\0" in dest or "://" in dest:
        raise InvalidInput(field="$.dest", cause="neither a folder nor an address of a store")
    target = Path(dest).expanduser().absolute()
    if target.resolve().is_relative_to(context.paths.data.resolve()):
        cause = "a published base cannot be inside the folder of the knowledge base"
        raise InvalidInput(field="$.dest", cause=cause)
    return str(target)


def _split(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


class _Publication:
    """One run of `publish`."""

    def __init__(
        self,
        context: AppContext,
        request: PublishRequest,
        store: "ObjectStore",
        key: "PublisherKey",
        progress: ByteProgress,
    ) -> None:
        self._context, self._request, self._store = context, request, store
        self._key, self._progress = key, progress
        self.sent_bytes = self.sent_objects = self.removed = self.left_out = 0
        self.manifest_bytes = 0
        self._sizes: dict[str, int] = {}
        self._present: dict[str, int] = {}
        self._kept_contents: str | None = None
        self._index: IndexContents
        self._roots: Mapping[str, str] = {}

    def run(self) -> PublishedManifest:
        """Publish; return the manifest."""
        from kebab.app.archive import make_temporary_folder

        current, before, name = self._read_current()
        old = None
        if before:
            with suppress(StoreCorrupt):  # everything is sent again
                old = read_contents(self._store, before)
                self._kept_contents = before.contents.sha256
            self._sizes = {one.sha256: one.bytes for one in before.packs}
            found = self._store.list(packs.PACKS)
            self._present = {one.name.rpartition("/")[2]: one.size for one in found}
        with (
            make_temporary_folder(_prepare_drafts(self._context), "copy-") as folder,
            ThreadPoolExecutor(_SENDERS, "publish") as pool,
        ):
            self._pool: ThreadPoolExecutor = pool
            self._sending: list[Future[None]] = []
            contents = self._write_packs(folder / "copy.sqlite", old)
            self._await_sent(0)
        manifest = self._build_manifest(contents, before, name)
        raw = msgspec.json.encode(manifest)
        digest = packs.name_object(raw)
        self.manifest_bytes = len(raw)
        self._send(f"{packs.MANIFESTS}/{digest}.json", raw)
        new = PublishedCurrent(
            format_version=packs.FORMAT_VERSION,
            manifest=digest,
            public_key=self._key.public,
            signature=self._key.sign(digest),
        )
        if self._request.dry_run:
            return manifest
        write_pointer(self._store, new, current)
        self._remove_leftovers(digest, manifest)
        return manifest

    def _read_current(self) -> "tuple[Versioned | None, PublishedManifest | None, str | None]":
        """Return the current pointer, its manifest unless it is damaged, and the name of it."""
        found = read_pointer(self._store, None)
        if found is None:
            return None, None, None
        if found.current.public_key != self._key.public:
            cause = "it is published with another key; `published.key_file` names the file with it"
            raise InvalidInput(field="$.dest", cause=cause)
        name = found.current.manifest
        before = None
        with suppress(StoreCorrupt):
            before = read_manifest(self._store, name)
        return found.version, before, name

    def _read_ids(self, pack: str) -> list[bytes] | None:
        """Return the identities of a pack; None when it is not as it was sent."""
        name = f"{packs.PACKS}/{pack}"
        if self._present.get(pack) != self._sizes[pack]:
            return None
        return packs.read_identities(
            lambda size: self._store.read_range(name, 0, size) or b"", self._store.describe(name)
        )

    def _send(self, name: str, data: bytes) -> None:
        self.sent_bytes += len(data)
        self.sent_objects += 1
        if not self._request.dry_run:
            self._store.write(name, data)

    def _send_pack(self, name: str, data: bytes) -> None:
        self._sizes[name] = len(data)
        self._sending.append(self._pool.submit(self._send, f"{packs.PACKS}/{name}", data))
        self._await_sent(_MOST_WAITING)

    def _await_sent(self, most: int) -> None:
        """Wait until at most so many packs are on their way; raise what went wrong."""
        while len(self._sending) > most:
            self._sending.pop(0).result()

    def _write_packs(self, copy: Path, old: packs.Contents | None) -> packs.Contents:
        from kebab.store.sqlite import published

        binary = copy.with_suffix(".binary")
        vectors = self._take_copy(copy, binary)
        writer = packs.PackWriter(old, self._read_ids, self._send_pack)
        dimension = parse_dimension(self._index.embedding_version)
        self._progress.total = copy.stat().st_size + len(self._index.committed) * 4 * dimension

        def count(items: Iterator[bytes]) -> Iterator[bytes]:
            for item in items:
                self._progress.add(len(item))
                yield item

        pages = writer.add(count(published.read_pages(copy)))
        writer.flush()  # pages and vectors change at different times
        rows = writer.add(count(vectors))
        writer.flush()
        signs = writer.add(_split(binary.read_bytes(), packs.SIGNS_BYTES)) if rows else []
        writer.flush()
        writer.apart = False
        files = [*self._list_files(copy, writer)] if self._request.with_texts else []
        size, top = published.read_page_bytes(copy), published.list_top_pages(copy)
        return writer.finish(size, pages, rows, files, signs, top)

    def _take_copy(self, copy: Path, binary: Path) -> Iterator[bytes]:
        """Copy the index, and write the binary index of its vectors to a file.

        It returns the rows of the vectors in the order of their keys.
        """
        from kebab.app.archive import copy_with_vectors
        from kebab.store.lance.archive import iterate_rows
        from kebab.store.sqlite import published

        def copy_index() -> None:
            self._roots = published.copy_for_publication(self._context.paths.data, copy)

        self._index, vectors = copy_with_vectors(self._context, copy, copy_index)
        if vectors is None:
            return iter(())
        vectors.write_binary(binary, keys=self._index.committed)
        dimension = parse_dimension(self._index.embedding_version)
        return iterate_rows(vectors, self._index.committed, dimension)

    def _list_files(self, copy: Path, writer: packs.PackWriter) -> Iterator[packs.PublishedFile]:
        """Yield the files whose content is the indexed one."""
        from kebab.core.files import find_container, join_root
        from kebab.store.sqlite import archive

        for file in archive.list_files(copy):
            path = Path(join_root(self._roots[file.source], file.path))
            if find_container(str(path)) != str(path):
                continue  # it is a part of a file that travels itself
            try:
                data = path.read_bytes()
            except OSError:
                data = b""
            if hash_content(data) != file.content_hash:
                self.left_out += 1
                continue
            runs: list[packs.Run] = writer.add(_split(data, packs.PART_BYTES))
            yield packs.PublishedFile(file.source, file.path, file.mtime_ns, runs)

    def _build_manifest(
        self, contents: packs.Contents, before: PublishedManifest | None, previous: str | None
    ) -> PublishedManifest:
        raw = packs.encode_contents(contents)
        digest = packs.name_object(raw)
        if digest != self._kept_contents:
            self._send(f"{packs.PACKS}/{digest}", raw)
        index = self._index
        return PublishedManifest(
            format_version=packs.FORMAT_VERSION,
            kebab_version=__version__,
            created_at=format_timestamp(self._context.clock.now()),
            sequence=(before.sequence if before else self._guess_sequence(previous)) + 1,
            previous=previous,
            index_schema=index.schema_version,
            embedding_version=index.embedding_version,
            dimension=parse_dimension(index.embedding_version) or None,
            chunker_version=self._context.chunker_version,
            documents=index.documents,
            chunks=index.chunks,
            vectors=len(index.committed),
            with_texts=self._request.with_texts,
            sources=[
                PublishedSource(name=source.name, documents=count)
                for source, count in index.sources
            ],
            contents=PublishedObject(sha256=digest, bytes=len(raw)),
            packs=[
                PublishedObject(sha256=name, bytes=self._sizes[name]) for name in contents.packs
            ],
        )

    def _guess_sequence(self, previous: str | None) -> int:
        """Return the number of a snapshot whose manifest is damaged: it followed all others."""
        if previous is None:
            return 0
        names = [one.name.rpartition("/")[2] for one in self._store.list(packs.MANIFESTS)]
        others = filter(None, (self._find_manifest(name.removesuffix(".json")) for name in names))
        return max((one.sequence for one in others), default=0) + 1

    def _remove_leftovers(self, digest: str, manifest: PublishedManifest) -> None:
        """Delete old objects that none of the last snapshots needs."""
        kept, names = {digest}, set[str]()
        name: str | None = digest
        one: PublishedManifest | None = manifest
        while one is not None:
            names |= {one.contents.sha256, *(pack.sha256 for pack in one.packs)}
            name = one.previous if len(kept) < _KEPT_MANIFESTS else None
            one = self._find_manifest(name) if name else None
            kept |= {name} if name and one else set()
        names |= {f"{name}.json" for name in kept}
        listed = [
            one for folder in (packs.PACKS, packs.MANIFESTS) for one in self._store.list(folder)
        ]
        # The store has just received the manifest, and its clock counts: that here may be wrong.
        oldest = max((found.modified for found in listed), default=0.0) - _KEPT_S
        for found in listed:
            if found.name.rpartition("/")[2] not in names and found.modified < oldest:
                self._store.delete(found.name)
                self.removed += 1

    def _find_manifest(self, digest: str) -> PublishedManifest | None:
        try:
            return read_manifest(self._store, digest)
        except (StoreCorrupt, NotIndexed):
            return None
