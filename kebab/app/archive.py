"""Exports a knowledge base into one file, and makes such a file the knowledge base.

An archive is a zip file: copies of the databases, the files of the vectors, the texts from standard
input, and `manifest.json`. The files of the vectors are listed after the copy of the index, and a
passage is marked only after its vector is saved; so the archive has every vector that is marked in
it, but for those that a writer deletes meanwhile. The next ingest embeds such a passage again.
"""

import errno
import os
import shutil
import stat
import zipfile
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, TYPE_CHECKING, BinaryIO

import msgspec

from kebab import __version__
from kebab.app.context import AppContext, parse_dimension
from kebab.core.progress import ProgressCallback, ProgressKind
from kebab.errors.catalog import InvalidInput
from kebab.errors.system import build_io_error, translate_os_errors
from kebab.ingest.job import ProgressReporter
from kebab.ingest.run import is_own_file_name
from kebab.platform import create_folder, replace_file
from kebab.store import vectors
from kebab.store.archive import (
    FORMAT_VERSION,
    INDEX,
    MANIFEST,
    REVIEWS,
    TEXTS,
    VECTORS,
    open_archive,
    read_manifest,
    translate_damage,
)
from kebab.store.sqlite import lock
from kebab.wire.published import (
    ArchiveManifest,
    ExportReport,
    ExportRequest,
    ImportReport,
    ImportRequest,
)
from kebab.wire.record import fill_record, format_timestamp

if TYPE_CHECKING:
    from kebab.store.sqlite.copies import Contents

_COPIED_AT_ONCE = 1 << 20
_TRIES = 3
"""How often the files of the vectors are opened while a writer replaces them."""


def export(context: AppContext, request: ExportRequest, report: ProgressCallback) -> ExportReport:
    """Write everything that belongs to the knowledge base into one file.

    A writer may be at work; the file holds one state.

    Raises:
        InvalidInput: The file exists already, or it would be in the data directory.
        IoError: It cannot be written.
        NotIndexed: There is no index with the schema of this build.
    """
    started = context.clock.monotonic()
    context.open_reader().close()
    target = _parse_path(request.path)
    data = Path(os.path.realpath(context.paths.data))
    if Path(os.path.realpath(target)).is_relative_to(data):
        cause = "an archive cannot be inside the folder of the knowledge base"
        raise InvalidInput(field="$.path", cause=cause)
    if not target.parent.is_dir():
        raise build_io_error(OSError(errno.ENOENT, "no such folder"), "create", target)
    _refuse_taken(target, force=request.force)
    ProgressReporter(report, context.clock).send(ProgressKind.HEARTBEAT, phase="export")
    with translate_os_errors(target, "write"), replace_file(target) as draft:
        manifest = _write_archive(context, draft, target)
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


def _refuse_taken(target: Path, *, force: bool) -> None:
    """Refuse to replace a file without `force`, and a device, a pipe, a link or a folder ever."""
    if not os.path.lexists(target):
        return
    if not stat.S_ISREG(target.lstat().st_mode):
        raise InvalidInput(field="$.path", cause="only a regular file can be replaced")
    if not force:
        raise InvalidInput(field="$.path", cause="the file exists; `--force` replaces it")


def _write_archive(context: AppContext, draft: IO[bytes], target: Path) -> ArchiveManifest:
    from kebab.store.sqlite.copies import copy_database, read_contents
    from kebab.store.sqlite.reviews import get_reviews_path

    data, reviews, texts = context.paths.data, get_reviews_path(context.paths.data), []
    with ExitStack() as opened:
        # Beside the target, where the archive needs space anyway.
        with translate_os_errors(target.parent, "create"):
            copies = Path(mkdtemp(prefix=".", dir=target.parent))
        # `TemporaryDirectory` calls itself without end where a folder cannot be read.
        opened.callback(shutil.rmtree, copies)
        copy_database(context.database, copies / INDEX)
        if reviews.exists():
            copy_database(reviews, copies / REVIEWS)
        contents = read_contents(copies / INDEX)
        vectors = _open_vector_files(context, contents, opened)
        if context.paths.stdin_dir.is_dir():  # a glob says nothing of one that cannot be read
            texts = [one for one in context.paths.stdin_dir.iterdir() if _is_text(one.name)]
        files = [
            opened.enter_context(one.open("rb")) for one in (*copies.iterdir(), *sorted(texts))
        ]
        archive = opened.enter_context(zipfile.ZipFile(draft, "w", allowZip64=True))
        for file in (*files, *vectors):
            path = Path(file.name)
            info = zipfile.ZipInfo(
                path.relative_to(copies if path.parent == copies else data).as_posix()
            )
            # The components of vectors hardly shrink.
            info.compress_type = zipfile.ZIP_STORED if file in vectors else zipfile.ZIP_DEFLATED
            info.external_attr = 0o600 << 16
            with archive.open(info, "w", force_zip64=True) as member:
                shutil.copyfileobj(file, member, _COPIED_AT_ONCE)
        manifest = fill_record(
            ArchiveManifest,
            contents,
            format_version=FORMAT_VERSION,
            kebab_version=__version__,
            created_at=format_timestamp(context.clock.now()),
            index_schema=contents.schema_version,
            chunks=contents.passages,
            vectors=contents.vectors if vectors else 0,
        )
        archive.writestr(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    return manifest


def _is_text(name: str) -> bool:
    return is_own_file_name(name) and name.endswith(".md")


def _open_vector_files(
    context: AppContext, contents: "Contents", opened: ExitStack
) -> list[BinaryIO]:
    """Open the files of the newest snapshot of the vectors, which a writer may delete meanwhile."""
    data, version = context.paths.data, contents.embedding_version
    if version is None or not contents.vectors:
        return []
    if not (context.read_only or vectors.list_vector_files(data, version)):
        with context.acquire_writer_lock():
            context.open_vector_table(version).save()
    for _ in range(_TRIES):
        with suppress(FileNotFoundError):
            paths = vectors.list_vector_files(data, version)
            return [opened.enter_context(path.open("rb")) for path in paths]
    return []


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
    if not request.dry_run:
        context.refuse_when_read_only("import")
    path = _parse_path(request.path)
    started = context.clock.monotonic()
    with closing(open_archive(path)) as archive:
        with translate_damage(path):
            manifest = read_manifest(archive, _is_text)
            if request.dry_run and (member := archive.testzip()):
                raise ValueError(f"a member is damaged: {member}")
        ProgressReporter(report, context.clock).send(ProgressKind.HEARTBEAT, phase="import")
        if request.dry_run:
            replaced = _count_documents(context)
        else:
            with context.acquire_writer_lock():
                replaced = _count_documents(context)
                _replace(context, archive, path)
            context.close()
    return ImportReport(
        path=str(path),
        data_dir=str(context.paths.data),
        dry_run=request.dry_run,
        replaced_documents=replaced,
        manifest=manifest,
        duration_ms=(context.clock.monotonic() - started) * 1000,
    )


def _count_documents(context: AppContext) -> int | None:
    from kebab.store.sqlite.copies import find_contents

    if not context.database.exists():
        return None
    contents = find_contents(context.database)
    return contents.documents if contents else -1


def _replace(context: AppContext, archive: zipfile.ZipFile, path: Path) -> None:
    """Build the new files beside the old ones, then let them take their place."""
    data = context.paths.data
    staged = lock.get_staging_folder(data)
    try:
        with translate_damage(path):
            _stage(context, archive, staged)
        lock.decide_replacement(data)
    except BaseException:
        if not lock.is_incomplete(data):
            shutil.rmtree(data / lock.FOLDER, ignore_errors=True)
        raise
    with suppress(KeyboardInterrupt):
        lock.complete_replacement(data)
    lock.complete_replacement(data)


def _stage(context: AppContext, archive: zipfile.ZipFile, staged: Path) -> None:
    """Unpack every member, check the databases, and build the table of the vectors."""
    from kebab.store.sqlite import reviews
    from kebab.store.sqlite.copies import adopt_copy, read_contents

    with translate_os_errors(staged, "write"):
        create_folder(staged / TEXTS, 0o700)
        create_folder(staged / VECTORS, 0o700)
        for info in archive.infolist():
            if info.filename != MANIFEST:
                archive.extract(info, staged)
    adopt_copy(staged / INDEX, stdin_dir=context.paths.stdin_dir)
    version = read_contents(staged / INDEX).embedding_version
    if version is not None:
        vectors.LanceVectors(staged, version, parse_dimension(version)).rebuild()
    if (staged / REVIEWS).exists():
        adopt_copy(staged / REVIEWS, reviews.MIGRATIONS)
    else:
        (staged / REVIEWS).touch(0o600)  # without a table it holds no review
