"""Imports an archive as the knowledge base.

The archive is checked and built beside the files that are there, and then takes their place.
"""

import os
import stat
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from kebab.app.archive import (
    ByteProgress,
    find_home,
    list_settings,
    make_temporary_folder,
    parse_archive_path,
    refuse_small_disk,
)
from kebab.app.context import AppContext, parse_dimension
from kebab.app.library import check_folder
from kebab.core.documents import STDIN, VECTOR_FILES, FileStamp, Source
from kebab.core.files import cut_root, is_below, join_root, resolve_links, to_slashes
from kebab.core.ids import DocId, hash_file
from kebab.core.progress import ProgressCallback, require_own_process
from kebab.errors.catalog import InvalidInput
from kebab.errors.system import translate_os_errors
from kebab.ingest.run import is_own_file_name
from kebab.platform import get_inode
from kebab.store.archive_file import INDEX, REVIEWS, TEXTS, VECTORS, ArchiveFile
from kebab.store.sqlite import archive as copies
from kebab.store.sqlite import replacement, reviews
from kebab.wire.archive import ImportedSource, ImportReport, ImportRequest, SettingDifference

_DATABASE_EXPANSION = 2
"""A copy grows when it is migrated and adapted, and vectors are stored twice."""


class _Place(NamedTuple):
    """The folder of a source on this machine, and why it is another one than in the archive."""

    folder: str
    mapped: str


def import_archive(
    context: AppContext, request: ImportRequest, report: ProgressCallback
) -> ImportReport:
    """Make an archive the knowledge base; a dry run only checks it.

    Raises:
        InvalidInput: There is a knowledge base already, or a mapping fits no source.
        IoError: The file cannot be read, or there is too little space.
        Locked: Another process is writing.
        NotIndexed: A newer kebab wrote the archive.
        ReadOnly: Writing is switched off.
        StoreCorrupt: The archive is damaged, or kebab did not write it.
    """
    require_own_process()
    if not request.dry_run:
        context.refuse_when_read_only("import")
    path = parse_archive_path(request.path)
    started = context.clock.monotonic()
    with closing(ArchiveFile(path, is_own_file_name)) as archive:
        importer = _Importer(context, request, archive, ByteProgress(report, context, "import"))
        result = importer.check() if request.dry_run else importer.replace()
    return msgspec.structs.replace(result, duration_ms=(context.clock.monotonic() - started) * 1000)


class _Importer:
    def __init__(
        self,
        context: AppContext,
        request: ImportRequest,
        archive: ArchiveFile,
        progress: ByteProgress,
    ) -> None:
        self._context = context
        self._request = request
        self._archive = archive
        self._manifest = archive.manifest
        self._progress = progress
        self._sources: list[ImportedSource] = []

    def check(self) -> ImportReport:
        """Check the archive in a temporary folder."""
        replaced = copies.count_documents(self._context.paths.data)
        with make_temporary_folder(None, "kebab-") as folder:
            self._require_space(folder)
            self._stage_databases(folder)
        return self._build_report(replaced)

    def replace(self) -> ImportReport:
        """Build the new files beside the old ones, then let them take their place."""
        data = self._context.paths.data
        with self._context.acquire_writer_lock():
            replaced = copies.count_documents(data)
            if replaced is not None and not self._request.replace:
                cause = "there is a knowledge base already; `--replace` replaces it"
                raise InvalidInput(field="$.replace", cause=cause)
            self._require_space(data)
            staged = replacement.get_staging_folder(data)
            try:
                with translate_os_errors(staged, "create"):
                    (staged / TEXTS).mkdir(mode=0o700, parents=True)
                self._stage_vectors(staged, self._stage_databases(staged))
                replacement.decide_replacement(data)
            except BaseException:
                if not replacement.is_incomplete(data):
                    replacement.discard_staged_files(data)
                raise
            with suppress(KeyboardInterrupt):
                replacement.complete_replacement(data)
            replacement.complete_replacement(data)
        return self._build_report(replaced)

    def _require_space(self, folder: Path) -> None:
        """Refuse an archive that cannot fit, whatever it claims."""
        self._progress.total = sum(member.bytes for member in self._manifest.members)
        refuse_small_disk(folder, self._progress.total * _DATABASE_EXPANSION)

    def _stage_databases(self, folder: Path) -> copies.Contents:
        """Unpack the members, and give the databases the folders of this machine.

        Return what the archive contains.
        """
        names = {member.name for member in self._manifest.members}
        # A dry run compares the hash of the vectors, and needs no copy of them.
        unpacked = names - {VECTORS} if self._request.dry_run else names
        (folder / TEXTS).mkdir(mode=0o700, exist_ok=True)
        self._archive.unpack(folder, unpacked, self._progress.add)
        index = folder / INDEX
        copies.check_copy(index, self._archive.path)
        contents = copies.read_contents(index)
        if REVIEWS in names:
            copies.check_copy(folder / REVIEWS, self._archive.path, reviews.MIGRATIONS)
        if {name.removeprefix(TEXTS) for name in names if name.startswith(TEXTS)} - {
            *contents.texts
        }:
            self._archive.refuse("it has texts that are no documents")
        files = copies.list_files(index)
        for file in files:
            if file.source == STDIN:
                with suppress(OSError):  # the archive may lack the text
                    os.utime(folder / TEXTS / file.path, ns=(file.mtime_ns, file.mtime_ns))
        places = self._choose_places([source for source, _ in contents.sources], files)
        stamps = self._compare_files(files, places, contents.sources, folder / TEXTS)
        folders = {name: place.folder for name, place in places.items()}
        copies.adapt_index(index, folders, stamps)
        if REVIEWS in names:
            copies.adapt_reviews(folder / REVIEWS, folders)
        return contents

    def _choose_places(
        self, sources: list[Source], files: list[copies.StoredFile]
    ) -> dict[str, _Place]:
        """Return the place of each source by its name in the archive."""
        maps = [_parse_map(text) for text in self._request.map]
        for old, _ in maps:
            if not any(source.root == old or is_below(source.root, old) for source in sources):
                raise InvalidInput(field="$.map", cause=f"no source is at or below this: {old}")
        paths: dict[str, list[str]] = {}
        for file in files:
            paths.setdefault(file.source, []).append(file.path)
        places = {
            source.name: self._choose_place(source, maps, paths.get(source.name, []))
            for source in sources
        }
        folders = Counter(place.folder for place in places.values())
        if twice := next((folder for folder, count in folders.items() if count > 1), None):
            raise InvalidInput(field="$.map", cause=f"two sources would have this folder: {twice}")
        return places

    def _choose_place(
        self, source: Source, maps: list[tuple[str, str]], paths: list[str]
    ) -> _Place:
        root = source.root
        if source.name == STDIN:
            return _Place(str(self._context.paths.stdin_dir), "no")
        fitting = [pair for pair in maps if root == pair[0] or is_below(root, pair[0])]
        if fitting:
            old, new = max(fitting, key=lambda pair: len(pair[0]))
            return _Place(join_root(new, cut_root(root, old)).rstrip("/") or "/", "asked")
        home = self._manifest.home
        if not Path(root).is_dir() and home and is_below(root, home) and find_home():
            folder = join_root(find_home(), cut_root(root, home))
            # A folder with other files would lose the documents at the next ingest.
            found = sum(os.path.exists(f"{folder}/{path}") for path in paths)  # noqa: PTH110
            if Path(folder).is_dir() and found * 2 >= len(paths):
                return _Place(folder, "home")
        return _Place(root, "no")

    def _compare_files(
        self,
        files: list[copies.StoredFile],
        places: Mapping[str, _Place],
        sources: list[tuple[Source, int]],
        texts: Path,
    ) -> dict[DocId, FileStamp]:
        """Compare the documents with the files of this machine, and note the sources.

        Returns:
            The stamps of the files that are there.
        """
        stamps: dict[DocId, FileStamp] = {}
        counts: dict[str, Counter[str]] = {source.name: Counter() for source, _ in sources}
        for file in files:
            folder = texts if file.source == STDIN else Path(places[file.source].folder)
            state, stamp = _compare_file(folder / file.path, file)
            counts[file.source][state] += 1
            if stamp:
                stamps[file.doc_id] = stamp
        for source, documents in sources:
            place, count = places[source.name], counts[source.name]
            there = "present" if source.name == STDIN else check_folder(place.folder)
            self._sources.append(
                ImportedSource(
                    exported_folder=source.root,
                    folder=place.folder,
                    mapped=place.mapped,  # type: ignore[arg-type]
                    state=there,
                    documents=documents,
                    same=count["same"],
                    changed=count["changed"],
                    gone=count["gone"],
                )
            )
        return stamps

    def _stage_vectors(self, folder: Path, contents: copies.Contents) -> None:
        """Build the index of the vectors, and mark the databases as complete."""
        from kebab.store.lance.archive import build_vectors, compute_row_bytes
        from kebab.store.lance.vectors import LanceVectors

        index, packed = folder / INDEX, folder / VECTORS
        version = contents.embedding_version or ""
        dimension, values = parse_dimension(version), {}
        if packed.exists() != bool(contents.committed):
            self._archive.refuse("its vectors are of other passages")
        if packed.exists():
            if packed.stat().st_size != len(contents.committed) * compute_row_bytes(dimension):
                self._archive.refuse("its vectors have another dimension")
            vectors = LanceVectors(folder, version, dimension)
            ids = copies.list_chunk_ids(index)
            for rows in build_vectors(packed, vectors, dimension, ids, self._archive.path):
                self._progress.add(rows * compute_row_bytes(dimension))
            vectors.maintain()
            values[VECTOR_FILES] = vectors.describe_files()
            packed.unlink()
        copies.finish_copy(index, values)
        if (folder / REVIEWS).exists():
            copies.finish_copy(folder / REVIEWS, {})

    def _build_report(self, replaced: int | None) -> ImportReport:
        here = {one.name: one.value for one in list_settings(self._context)}
        return ImportReport(
            path=str(self._archive.path),
            data_dir=str(self._context.paths.data),
            dry_run=self._request.dry_run,
            replaced_documents=replaced,
            manifest=self._manifest,
            sources=self._sources,
            settings=[
                SettingDifference(name=one.name, archived=one.value, here=here[one.name])
                for one in self._manifest.settings
                if one.name in here and here[one.name] != one.value
            ],
            duration_ms=0.0,
        )


def _parse_map(text: str) -> tuple[str, str]:
    old, sign, new = text.partition("=")
    if not (old and sign and new) or "\0" in text:
        raise InvalidInput(field="$.map", cause=f"not of the form OLD=NEW: {text}")
    # OLD is a folder of another machine, so links are not followed.
    folder = resolve_links(os.path.expanduser(new))  # noqa: PTH111 - a plain string
    return to_slashes(os.path.normpath(old)), folder


def _compare_file(path: Path, file: copies.StoredFile) -> tuple[str, FileStamp | None]:
    """Return the state of a document here, and the stamp that it gets."""
    try:
        status = path.stat()
        is_same = status.st_size == file.size and stat.S_ISREG(status.st_mode)
        if is_same:
            with path.open("rb") as opened:
                is_same = hash_file(opened) == file.content_hash
    except (FileNotFoundError, NotADirectoryError):
        return "gone", None
    except (OSError, ValueError):
        return "changed", None
    if is_same:
        inode = get_inode(status)
        return "same", FileStamp(size=file.size, mtime_ns=status.st_mtime_ns, inode=inode)
    if (status.st_size, status.st_mtime_ns) == (file.size, file.mtime_ns):
        # The content tells that the file is another one, so no later look may take it for the same.
        return "changed", FileStamp(size=file.size, mtime_ns=file.mtime_ns - 1, inode=0)
    return "changed", None
