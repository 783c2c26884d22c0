"""Exports a knowledge base into one archive.

An archive is a zip file. Its members are copies of the databases, the vectors as packed rows, the
texts from standard input, and `manifest.json`, which lists all others with their hashes.
"""

import errno
import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import msgspec

from kebab import __version__
from kebab.app.context import AppContext, parse_dimension
from kebab.app.conversions import format_timestamp
from kebab.core.durable import replace_file
from kebab.core.files import resolve_links
from kebab.core.ids import Key, Keys, hash_content
from kebab.core.progress import ProgressCallback, ProgressKind, require_own_process
from kebab.errors.catalog import InvalidInput, IoError
from kebab.errors.system import build_io_error, build_read_error, translate_os_errors
from kebab.ingest.job import ProgressReporter
from kebab.store.archive_file import (
    COPIED_AT_ONCE,
    FORMAT_VERSION,
    INDEX,
    MANIFEST,
    REVIEWS,
    TEXTS,
    VECTORS,
)
from kebab.wire.archive import (
    ArchivedSetting,
    ArchivedSource,
    ArchiveManifest,
    ArchiveMember,
    ExportReport,
    ExportRequest,
)

if TYPE_CHECKING:
    from kebab.store.lance.exact_index import ExactIndex
    from kebab.store.sqlite.archive import Contents

SETTINGS = (
    "ingest.hidden",
    "ingest.exclude",
    "ingest.max_file_bytes",
    "ingest.archives",
    "ingest.ocr",
    "ingest.ocr_languages",
    "ingest.captions",
    "models.vision",
    "index.chunk_tokens",
    "models.embedding.model",
    "review.disable",
    "review.glossary",
)
"""The settings that decide what the index contains, or what a review finds."""

_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of all members, so that equal contents give equal members."""
_SHRINKS_BY = 4
"""How far an archive may be smaller than its members; less space is refused at once."""
_MORE_SNAPSHOTS = 2
"""How often a copy is tried again that has all its vectors, while an ingest deletes some."""


class ByteProgress:
    """Reports how many bytes of a phase are done, with an event for every percent."""

    def __init__(self, report: ProgressCallback, context: AppContext, phase: str) -> None:
        self._reporter = ProgressReporter(report, context.clock)
        self._phase = phase
        self._done = self._told = 0
        self.total = 0

    def add(self, size: int) -> None:
        """Count bytes."""
        self._done += size
        if (self._done - self._told) * 100 >= self.total:
            self._told = self._done
            count = (self._done, max(self._done, self.total))
            self._reporter.send(
                ProgressKind.HEARTBEAT, phase=self._phase, count=count, unit="bytes"
            )


def list_settings(context: AppContext) -> list[ArchivedSetting]:
    """Return the settings that decide what the index contains."""
    encode = msgspec.json.encode
    return [
        ArchivedSetting(name=name, value=encode(attrgetter(name)(context.settings)).decode())
        for name in SETTINGS
    ]


def export(context: AppContext, request: ExportRequest, report: ProgressCallback) -> ExportReport:
    """Write everything that belongs to the knowledge base, or its passages, into one file.

    A writer may be at work; the file holds one state.

    Raises:
        InvalidInput: The file exists already, or it would be in the data directory.
        IoError: It cannot be written.
        NotIndexed: There is no index with the schema of this build.
    """
    require_own_process()
    started = context.clock.monotonic()
    context.open_reader().close()
    target = _choose_target(context, request)
    progress = ByteProgress(report, context, "export")
    with translate_os_errors(target, "write"), replace_file(target) as draft:
        with make_temporary_folder(target.parent, f".{target.name}.") as folder:
            whole = request.format == "archive"
            copies = _Copies(context, folder, sessions=whole and not request.without_sessions)
            copies.take(reviews=whole)
            progress.total = copies.estimate_size()
            refuse_small_disk(target, progress.total // _SHRINKS_BY)
            write = _write_archive if whole else _write_parquet
            manifest = write(draft, copies, progress)
        _refuse_existing(target, force=request.force)
        size = draft.tell()
    return ExportReport(
        path=str(target),
        format=request.format,
        bytes=size,
        manifest=manifest,
        duration_ms=(context.clock.monotonic() - started) * 1000,
    )


@contextmanager
def make_temporary_folder(parent: Path | None, prefix: str) -> Iterator[Path]:
    """Yield a new private folder, which is deleted afterwards.

    `tempfile.TemporaryDirectory` never ends when the system refuses to list the folder.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        yield folder
        undo.pop_all()
    # What is left is private, so nobody may think that it is gone.
    shutil.rmtree(folder)


def parse_archive_path(text: str) -> Path:
    """Return the absolute path of an archive.

    Raises:
        InvalidInput: The text is no path.
    """
    if not text or "\0" in text:
        raise InvalidInput(field="$.path", cause="not a path")
    return Path(os.path.abspath(os.path.expanduser(text)))  # noqa: PTH100, PTH111 - links stay


def _choose_target(context: AppContext, request: ExportRequest) -> Path:
    target = parse_archive_path(request.path)
    data = Path(os.path.realpath(context.paths.data))
    if Path(os.path.realpath(target)).is_relative_to(data):
        cause = "an archive cannot be inside the folder of the knowledge base"
        raise InvalidInput(field="$.path", cause=cause)
    if not target.parent.is_dir():
        raise _build_create_error(target, "no such folder")
    _refuse_existing(target, force=request.force)
    return target


def _refuse_existing(target: Path, *, force: bool) -> None:
    if target.is_dir():
        raise _build_create_error(target, "it is a folder")
    if os.path.lexists(target) and not force:
        raise InvalidInput(field="$.path", cause="the file exists; `--force` replaces it")


def _build_create_error(target: Path, cause: str) -> IoError:
    return build_io_error(OSError(errno.EEXIST, cause), "create", target)


def refuse_small_disk(path: Path, size: int) -> None:
    """Refuse to begin what cannot fit.

    Raises:
        IoError: Less space is free in the folder of a path, or in a folder.
    """
    free = shutil.disk_usage(path if path.is_dir() else path.parent).free
    if free < size:
        cause = f"not enough space: {size:,} bytes are needed, {free:,} are free"
        raise build_io_error(OSError(errno.ENOSPC, cause), "write", path)


class _Text(NamedTuple):
    """A text from standard input: its name in the archive, its file, and its hash."""

    member: str
    path: Path
    content_hash: str

    def read(self) -> bytes:
        """Return the text as it was indexed.

        Raises:
            IoError: The file cannot be read, or has another content.
        """
        data = self.path.read_bytes()
        if hash_content(data) != self.content_hash:
            raise build_read_error(
                self.path, "it is not the text that was indexed; `kebab ingest` reads it again"
            )
        return data


def copy_with_vectors(
    context: AppContext, target: Path, copy: Callable[[], object]
) -> "tuple[Contents, ExactIndex | None]":
    """Copy the index to a file with `copy`; return what the copy holds, and its vectors.

    It is repeated when vectors of the copy have been deleted meanwhile. Vectors that are still
    missing then are marked as pending in the copy.
    """
    from kebab.store.sqlite import archive

    if context.database.exists():
        refuse_small_disk(target, context.database.stat().st_size)
    contents, vectors, missing = _copy_once(context, target, copy)
    for _ in range(_MORE_SNAPSHOTS):
        if missing:
            contents, vectors, missing = _copy_once(context, target, copy)
    if missing:
        archive.mark_pending(target, missing)
        contents = archive.read_contents(target)
    return contents, vectors


def _copy_once(
    context: AppContext, target: Path, copy: Callable[[], object]
) -> "tuple[Contents, ExactIndex | None, list[Key]]":
    """Return what a copy holds, its vectors, and the passages whose vectors are gone."""
    from kebab.embed.install import find_version
    from kebab.store.lance.vectors import MappedVectors
    from kebab.store.sqlite import archive

    target.unlink(missing_ok=True)
    copy()
    contents = archive.read_contents(target)
    version, keys, vectors = contents.embedding_version, contents.committed, None
    if version is not None and keys:
        # The model may be one that is not installed any more.
        model = find_version(version, context.paths.models)
        index = MappedVectors(
            context.paths.data,
            version,
            parse_dimension(version),
            keep=False,
            load_axes=model.load_language_axes if model else lambda: None,
        )
        vectors = index.load_index()
    missing = [Key(key) for key in keys] if vectors is None else vectors.find_missing(keys)
    return contents, vectors, missing


class _Copies:
    """Copies of the databases in a folder, and the vectors and texts that belong to them."""

    def __init__(self, context: AppContext, folder: Path, *, sessions: bool) -> None:
        self.context = context
        self._sessions = sessions
        self.index_path, self.reviews_path = folder / INDEX, folder / REVIEWS
        self.contents: Contents
        self.vectors: ExactIndex | None = None
        self.reviews_version, self.review_runs = 0, 0

    def take(self, *, reviews: bool) -> None:
        """Copy the databases."""
        from kebab.store.sqlite import archive
        from kebab.store.sqlite.reviews import get_reviews_path

        data = self.context.paths.data
        copy = partial(archive.copy_index, data, self.index_path, sessions=self._sessions)
        self.contents, self.vectors = copy_with_vectors(self.context, self.index_path, copy)
        path = get_reviews_path(data)
        if reviews and path.exists():
            self.reviews_version, self.review_runs = archive.copy_reviews(path, self.reviews_path)

    @property
    def keys(self) -> Keys:
        return self.contents.committed

    def list_texts(self) -> list[_Text]:
        """Return the texts from standard input whose files are there."""
        folder = self.context.paths.stdin_dir
        texts = [
            _Text(f"{TEXTS}{name}", folder / name, content_hash)
            for name, content_hash in self.contents.texts.items()
        ]
        return [text for text in texts if text.path.is_file()]

    def estimate_size(self) -> int:
        databases = (self.index_path, self.reviews_path)
        files = [*databases, *(text.path for text in self.list_texts())]
        vectors = len(self.keys) * 4 * parse_dimension(self.contents.embedding_version)
        return vectors + sum(path.stat().st_size for path in files if path.exists())


def _write_archive(file: IO[bytes], copies: _Copies, progress: ByteProgress) -> ArchiveManifest:
    members: list[ArchiveMember] = []
    dimension = None
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:

        def add(name: str, parts: Iterable[bytes], *, compress: bool = True) -> None:
            digest, size = hashlib.sha256(), 0
            info = _build_info(name, compress=compress)
            with archive.open(info, "w", force_zip64=True) as member:
                for part in parts:
                    member.write(part)
                    digest.update(part)
                    size += len(part)
                    progress.add(len(part))
            members.append(ArchiveMember(name=name, bytes=size, sha256=digest.hexdigest()))

        add(INDEX, _read_parts(copies.index_path))
        if copies.reviews_version:
            add(REVIEWS, _read_parts(copies.reviews_path))
        if copies.vectors is not None and copies.keys:
            from kebab.store.lance.archive import pack_vectors

            # The components of vectors hardly shrink.
            add(VECTORS, pack_vectors(copies.vectors, copies.keys), compress=False)
            dimension = parse_dimension(copies.contents.embedding_version)
        for text in copies.list_texts():
            add(text.member, [text.read()])
        manifest = _build_manifest(copies, members, dimension)
        # The size of the archive does not depend on the time in the manifest.
        with archive.open(_build_info(MANIFEST, compress=False), "w") as member:
            member.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    return manifest


def _write_parquet(file: IO[bytes], copies: _Copies, progress: ByteProgress) -> ArchiveManifest:
    from kebab.store.lance.archive import write_passages
    from kebab.store.sqlite import archive

    dimension = parse_dimension(copies.contents.embedding_version)
    vectors = copies.vectors if copies.keys else None
    passages = archive.iterate_passages(copies.index_path)
    for size in write_passages(file, passages, vectors, dimension):
        progress.add(size)
    return _build_manifest(copies, [], dimension if vectors else None)


def _build_info(name: str, *, compress: bool = True) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EARLIEST)
    info.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    info.external_attr = 0o600 << 16
    return info


def _read_parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while part := file.read(COPIED_AT_ONCE):
            yield part


def _build_manifest(
    copies: _Copies, members: list[ArchiveMember], dimension: int | None
) -> ArchiveManifest:
    contents, context = copies.contents, copies.context
    return ArchiveManifest(
        format_version=FORMAT_VERSION,
        kebab_version=__version__,
        created_at=format_timestamp(context.clock.now()),
        index_schema=contents.schema_version,
        reviews_schema=copies.reviews_version or None,
        embedding_version=contents.embedding_version,
        dimension=dimension,
        documents=contents.documents,
        chunks=contents.chunks,
        vectors=len(copies.keys),
        sessions=contents.sessions,
        review_runs=copies.review_runs,
        home=find_home(),
        sources=[
            ArchivedSource(folder=source.root, kind=source.kind, documents=count)
            for source, count in contents.sources
        ],
        settings=list_settings(context),
        members=members,
    )


def find_home() -> str:
    """Return the home directory without links; empty when there is none."""
    with suppress(RuntimeError):
        return resolve_links(str(Path.home()))
    return ""
