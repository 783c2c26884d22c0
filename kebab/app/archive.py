"""Exports a knowledge base into one file, and makes such a file the knowledge base.

An archive is a zip file: copies of the databases, the files of the vectors, the texts from standard
input, and `manifest.json`. The files of the vectors are listed after the copy of the index, and a
passage is marked only after its vector is saved; so the archive has every vector that is marked in
it, but for those that a writer deletes meanwhile. The next ingest embeds such a passage again.
"""

import errno
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO, TYPE_CHECKING, BinaryIO

import msgspec

from kebab import __version__
from kebab.app.context import AppContext, parse_dimension
from kebab.app.conversions import format_timestamp
from kebab.core.durable import create_folder, replace_file
from kebab.core.progress import ProgressCallback, ProgressKind, require_own_process
from kebab.errors.catalog import InvalidInput, NotIndexed, StoreCorrupt
from kebab.errors.system import build_io_error, build_read_error, translate_os_errors
from kebab.ingest.job import ProgressReporter
from kebab.ingest.run import is_own_file_name
from kebab.wire.archive import (
    ArchiveManifest,
    ExportReport,
    ExportRequest,
    ImportReport,
    ImportRequest,
)
from kebab.wire.record import DECODE_ERRORS

if TYPE_CHECKING:
    from kebab.store.sqlite.copies import Contents

FORMAT_VERSION = 2
MANIFEST, INDEX, REVIEWS = "manifest.json", "kebab.sqlite", "reviews.sqlite"
TEXTS, VECTORS = "stdin", "lance"
"""The folders of the texts from standard input and of the vectors."""
_COPIED_AT_ONCE = 1 << 20
_MAX_MANIFEST_BYTES = 1 << 20
_TRIES = 3
"""How often the files of the vectors are opened while a writer replaces them."""
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    KeyError,
    *DECODE_ERRORS,
)
"""What the readers of zip files and of JSON raise for damaged ones."""


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

    def copy(self, source: IO[bytes], target: IO[bytes]) -> None:
        """Copy the rest of a file, and count its bytes."""
        while part := source.read(_COPIED_AT_ONCE):
            target.write(part)
            self.add(len(part))


def export(context: AppContext, request: ExportRequest, report: ProgressCallback) -> ExportReport:
    """Write everything that belongs to the knowledge base into one file.

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
        manifest = _write_archive(context, draft, target, progress)
        _refuse_taken(target, force=request.force)
        size = draft.tell()
    return ExportReport(
        path=str(target),
        bytes=size,
        manifest=manifest,
        duration_ms=(context.clock.monotonic() - started) * 1000,
    )


def _parse_path(text: str) -> Path:
    if not text or "\0" in text:
        raise InvalidInput(field="$.path", cause="not a path")
    return Path(os.path.abspath(os.path.expanduser(text)))  # noqa: PTH100, PTH111 - links stay


def _choose_target(context: AppContext, request: ExportRequest) -> Path:
    target = _parse_path(request.path)
    data = Path(os.path.realpath(context.paths.data))
    if Path(os.path.realpath(target)).is_relative_to(data):
        cause = "an archive cannot be inside the folder of the knowledge base"
        raise InvalidInput(field="$.path", cause=cause)
    if not target.parent.is_dir():
        raise build_io_error(OSError(errno.ENOENT, "no such folder"), "create", target)
    _refuse_taken(target, force=request.force)
    return target


def _refuse_taken(target: Path, *, force: bool) -> None:
    """Refuse to replace a file without `force`, and a device, a pipe, a link or a folder ever."""
    if not os.path.lexists(target):
        return
    if not stat.S_ISREG(target.lstat().st_mode):
        raise InvalidInput(field="$.path", cause="only a regular file can be replaced")
    if not force:
        raise InvalidInput(field="$.path", cause="the file exists; `--force` replaces it")


def _write_archive(
    context: AppContext, draft: IO[bytes], target: Path, progress: ByteProgress
) -> ArchiveManifest:
    from kebab.store.sqlite.copies import read_contents
    from kebab.store.sqlite.reviews import get_reviews_path

    data, reviews = context.paths.data, get_reviews_path(context.paths.data)
    with zipfile.ZipFile(draft, "w", allowZip64=True) as archive:

        def write(source: IO[bytes], name: str, compression: int = zipfile.ZIP_DEFLATED) -> None:
            info = zipfile.ZipInfo(name)
            info.compress_type, info.external_attr = compression, 0o600 << 16
            with archive.open(info, "w", force_zip64=True) as member:
                progress.copy(source, member)

        def add(path: Path, name: str) -> None:
            with path.open("rb") as source:
                write(source, name)

        with _copy_database(context.database, target) as copy, ExitStack() as opened:
            contents = read_contents(copy)
            vectors = _open_vector_files(context, contents, opened)
            sizes = [copy.stat().st_size, *(os.fstat(file.fileno()).st_size for file in vectors)]
            progress.total = sum(sizes)
            add(copy, INDEX)
            for file in vectors:  # the components of vectors hardly shrink
                write(file, Path(file.name).relative_to(data).as_posix(), zipfile.ZIP_STORED)
        if reviews.exists():
            with _copy_database(reviews, target) as copy:
                add(copy, REVIEWS)
        for path in sorted(context.paths.stdin_dir.glob("[!.]*")):
            if is_own_file_name(path.name):
                add(path, f"{TEXTS}/{path.name}")
        manifest = ArchiveManifest(
            format_version=FORMAT_VERSION,
            kebab_version=__version__,
            created_at=format_timestamp(context.clock.now()),
            index_schema=contents.schema_version,
            embedding_version=contents.embedding_version,
            documents=contents.documents,
            chunks=contents.passages,
            vectors=contents.vectors if vectors else 0,
            sessions=contents.sessions,
        )
        archive.writestr(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    return manifest


def _open_vector_files(
    context: AppContext, contents: "Contents", opened: ExitStack
) -> list[BinaryIO]:
    """Open the files of the newest snapshot of the vectors, which a writer may delete meanwhile."""
    from kebab.store.vectors import list_vector_files

    data, version = context.paths.data, contents.embedding_version
    if version is None or not contents.vectors:
        return []
    if not (context.read_only or list_vector_files(data, version)):
        with context.acquire_writer_lock():
            context.open_vector_table(version).save()
    for _ in range(_TRIES):
        with suppress(FileNotFoundError):
            paths = list_vector_files(data, version)
            return [opened.enter_context(path.open("rb")) for path in paths]
    return []


@contextmanager
def _copy_database(path: Path, target: Path) -> Iterator[Path]:
    """Yield a copy of a database beside the target, where the archive needs space anyway."""
    from kebab.store.sqlite.copies import copy_database

    copy = target.with_name(f".{target.name}.{token_hex(4)}")
    try:
        copy_database(path, copy)
        yield copy
    finally:
        copy.unlink(missing_ok=True)


def import_archive(
    context: AppContext, request: ImportRequest, report: ProgressCallback
) -> ImportReport:
    """Make an archive the knowledge base; a dry run only checks it.

    Raises:
        IoError: A file cannot be read or written.
        Locked: Another process is writing.
        NotIndexed: A newer kebab wrote the archive.
        ReadOnly: Writing is switched off.
        StoreCorrupt: The archive is damaged, or kebab did not write it.
    """
    require_own_process()
    if not request.dry_run:
        context.refuse_when_read_only("import")
    path = _parse_path(request.path)
    started = context.clock.monotonic()
    progress = ByteProgress(report, context, "import")
    with closing(_open_archive(path)) as archive:
        with _translate_damage(path):
            manifest = _read_manifest(archive, path)
            if request.dry_run and (member := archive.testzip()):
                raise ValueError(f"a member is damaged: {member}")
        progress.total = sum(info.file_size for info in archive.infolist())
        if request.dry_run:
            replaced = _count_documents(context)
        else:
            with context.acquire_writer_lock():
                replaced = _count_documents(context)
                _replace(context, archive, path, progress)
            context.close()
    return ImportReport(
        path=str(path),
        data_dir=str(context.paths.data),
        dry_run=request.dry_run,
        replaced_documents=replaced,
        manifest=manifest,
        duration_ms=(context.clock.monotonic() - started) * 1000,
    )


def _open_archive(path: Path) -> zipfile.ZipFile:
    with translate_os_errors(path, "read"):
        if not stat.S_ISREG(path.stat().st_mode):
            raise build_read_error(path, "it is not a regular file")
        with _translate_damage(path):
            return zipfile.ZipFile(path)


@contextmanager
def _translate_damage(path: Path) -> Iterator[None]:
    """Raise what the content of an archive is to blame for as signals that name the archive."""
    try:
        yield
    except StoreCorrupt as fault:
        raise StoreCorrupt(path=str(path), cause=fault.cause, archive=str(path)) from fault
    except NotIndexed as fault:
        raise NotIndexed(
            data_dir=str(path), expected=fault.expected, found=fault.found, file=str(path)
        ) from fault
    except _DAMAGE as fault:
        cause = f"it is not whole: {fault}"
        raise StoreCorrupt(path=str(path), cause=cause, archive=str(path)) from fault


def _read_manifest(archive: zipfile.ZipFile, path: Path) -> ArchiveManifest:
    """Return the manifest of an archive that has only members of known names."""
    from kebab.store.sqlite.connection import get_expected_schema_version

    info = archive.getinfo(MANIFEST)
    if info.file_size > _MAX_MANIFEST_BYTES:
        raise ValueError("its manifest is too long")
    raw = archive.read(info)
    version = msgspec.json.decode(raw, type=_Format).format_version
    if version > FORMAT_VERSION:
        raise NotIndexed(data_dir=str(path), expected=FORMAT_VERSION, found=version)
    manifest = msgspec.json.decode(raw, type=ArchiveManifest)
    expected = get_expected_schema_version()
    if manifest.index_schema > expected:
        raise NotIndexed(data_dir=str(path), expected=expected, found=manifest.index_schema)
    names = [one.filename for one in archive.infolist()]
    unknown = [name for name in names if not _is_member(name)]
    if unknown or INDEX not in names or len({*names}) < len(names):
        raise ValueError(f"not its members: {', '.join(unknown) or 'one is missing or repeated'}")
    return manifest


class _Format(msgspec.Struct, frozen=True):
    """The part of a manifest that every version of the format has."""

    format_version: int


def _is_member(name: str) -> bool:
    from kebab.store.vectors import is_own

    folder, _, below = name.partition("/")
    if not below:
        return name in (MANIFEST, INDEX, REVIEWS)
    if {"/", "\\", "\0"}.intersection(below):
        return False
    if folder == TEXTS:
        return is_own_file_name(below)
    return folder == VECTORS and is_own(below) and below.endswith(".npy")


def _count_documents(context: AppContext) -> int | None:
    from kebab.store.sqlite.copies import find_contents

    if not context.database.exists():
        return None
    contents = find_contents(context.database)
    return contents.documents if contents else -1


def _replace(
    context: AppContext, archive: zipfile.ZipFile, path: Path, progress: ByteProgress
) -> None:
    """Build the new files beside the old ones, then let them take their place."""
    from kebab.store.sqlite import replacement

    data = context.paths.data
    staged = replacement.get_staging_folder(data)
    try:
        with _translate_damage(path):
            _unpack(context, archive, staged, progress)
        replacement.decide_replacement(data)
    except BaseException:
        if not replacement.is_incomplete(data):
            replacement.discard_staged_files(data)
        raise
    with suppress(KeyboardInterrupt):
        replacement.complete_replacement(data)
    replacement.complete_replacement(data)


def _unpack(
    context: AppContext, archive: zipfile.ZipFile, staged: Path, progress: ByteProgress
) -> None:
    """Unpack every member, whose checksum is compared, and check the databases."""
    from kebab.store.sqlite import reviews
    from kebab.store.sqlite.copies import adopt_copy, read_contents
    from kebab.store.vectors import LanceVectors

    with translate_os_errors(staged, "write"):
        create_folder(staged / TEXTS, 0o700)
        for name in archive.namelist():
            target = staged / name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with archive.open(name) as member, target.open("xb") as file:
                progress.copy(member, file)
        (staged / MANIFEST).unlink()
    adopt_copy(staged / INDEX, stdin_dir=context.paths.stdin_dir)
    version = read_contents(staged / INDEX).embedding_version
    if version is not None and (staged / VECTORS).exists():
        LanceVectors(staged, version, parse_dimension(version)).rebuild()
    if (staged / REVIEWS).exists():
        adopt_copy(staged / REVIEWS, reviews.MIGRATIONS)
