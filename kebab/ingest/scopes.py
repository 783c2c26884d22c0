"""Chooses the scopes of a run: sources, parts that the user names, or what changed.

A path that a watcher of files reports may be a file, a folder, or gone: its folder is scanned with
everything below it. So a change of an ignore file is applied too.
"""

import os
import stat as modes
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from kebab.core.documents import KnownDocument, Listing, Source
from kebab.core.files import (
    add_working_folder,
    cut_root,
    is_below,
    join_root,
    list_containers,
    resolve_folder_links,
    resolve_links,
)
from kebab.errors.system import build_io_error, build_read_error
from kebab.ingest.job import IngestJob
from kebab.text.normalize import escape_undecodable

if TYPE_CHECKING:
    from kebab.source.walk import FolderScanner
    from kebab.store.sqlite.writer import SqliteWriter


class EmptyLibrary:
    """The state of a library that does not exist yet."""

    def list_sources(self) -> list[Source]:
        """Return no roots."""
        return []

    def load_known_documents(self, source: str) -> dict[str, KnownDocument]:
        """Return no documents."""
        del source
        return {}

    def list_children(self, source: str, folder: str) -> set[str]:
        """Return nothing."""
        del source, folder
        return set()

    def load_listing(self, source: str) -> Listing:
        """Return no rules and no files."""
        del source
        return Listing()

    def get_value(self, name: str) -> str | None:
        """Return no value."""
        del name
        return None


LibraryState: TypeAlias = "SqliteWriter | EmptyLibrary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A part of a source: the folder `below` its root, or only `files`.

    `named` means that the user named the files, so that ignore rules do not apply to them.
    """

    source: Source
    below: str = ""
    files: tuple[str, ...] | None = None
    named: bool = False

    @property
    def location(self) -> str:
        """The absolute path of the scope."""
        if self.files is not None and len(self.files) == 1:
            return join_root(self.source.root, self.files[0])
        return join_root(self.source.root, self.below) if self.below else self.source.root

    @property
    def is_whole(self) -> bool:
        """Whether the scope is all of the source."""
        return not (self.below or self.named)

    def contains(self, path: str) -> bool:
        """Return whether a path of the source lies in the scope."""
        if self.files is not None:
            return any(one in self.files for one in (path, *list_containers(path)))
        return not self.below or path == self.below or path.startswith(f"{self.below}/")


def choose_scopes(job: IngestJob, library: LibraryState, scanner: "FolderScanner") -> list[Scope]:
    """Return the scopes of a run; none when the user names no path and no source is known.

    Raises:
        IoError: A path does not exist.
    """
    chooser = _ScopeChooser(job, library, scanner)
    if job.paths:
        return _merge_scopes(chooser.choose_named(path) for path in job.paths)
    scopes = [build_source_scope(source, library) for source in library.list_sources()]
    if job.workspace:
        scopes.append(chooser.choose_folder(_resolve(job.workspace)))
    return _merge_scopes(scopes)


def build_source_scope(source: Source, library: LibraryState) -> Scope:
    """Return the scope of a whole source."""
    if source.kind != "files":
        return Scope(source=source)
    return Scope(source=source, files=tuple(sorted(library.list_children(source.name, ""))))


class _ScopeChooser:
    """Chooses the scope of a path: a source, a part of one, or a new source."""

    def __init__(self, job: IngestJob, library: LibraryState, scanner: "FolderScanner") -> None:
        self._job = job
        self._library = library
        self._scanner = scanner
        self._sources = library.list_sources()

    def choose_named(self, path: str) -> Scope:
        """Return the scope of a path that the user names."""
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116 - a Path would take no name for this folder
        except OSError as failure:
            resolved = _resolve(path)
            if self._job.force and any(resolved == source.root for source in self._sources):
                return self.choose_folder(resolved)
            raise build_io_error(failure, "read", escape_undecodable(path)) from failure
        except ValueError as failure:
            raise build_read_error(repr(path), str(failure)) from failure
        if modes.S_ISDIR(mode):
            return self.choose_folder(_resolve(path))
        # The name stays as the user wrote it: a link is a document under its own name.
        return self._choose_file(_resolve(str(Path(path).parent)), Path(path).name)

    def choose_folder(self, path: str) -> Scope:
        """Return the scope of a folder: a source, a part of one, or a new source."""
        for source in self._sources:
            if source.root == path and source.kind == "folder":
                return Scope(source=source)
        owner = self._find_folder_above(path)
        if owner is not None:
            below = cut_root(path, owner.root)
            rules = self._job.rules
            if self._scanner.find_skip_reason(owner.root, rules, below, folder=True) is None:
                return Scope(source=owner, below=below)
        return Scope(source=Source(name=path, root=path, kind="folder"))

    def _choose_file(self, folder: str, name: str) -> Scope:
        for source in self._sources:
            if source.root == folder and source.kind == "stdin":
                return Scope(source=source, files=(name,), named=True)
        exact = Source(name=folder, root=folder, kind="files")
        if exact not in self._sources or name not in self._library.load_known_documents(folder):
            path = join_root(folder, name)
            owner = self._find_folder_above(path)
            if owner is not None:
                return Scope(source=owner, files=(cut_root(path, owner.root),), named=True)
        return Scope(source=exact, files=(name,), named=True)

    def _find_folder_above(self, path: str) -> Source | None:
        above = [
            source
            for source in self._sources
            if source.kind == "folder" and is_below(path, source.root)
        ]
        return max(above, key=lambda source: len(source.root), default=None)


def _merge_scopes(scopes: Iterable[Scope]) -> list[Scope]:
    """Merge the files of one source into one scope, and drop scopes that another covers."""
    by_key: dict[tuple[str, str, bool], Scope] = {}
    for scope in scopes:
        key = (scope.source.name, scope.below, scope.named)
        earlier = by_key.get(key)
        if earlier is not None and earlier.files is not None and scope.files is not None:
            files = tuple(dict.fromkeys(earlier.files + scope.files))
            scope = replace(earlier, files=files)  # noqa: PLW2901 - the merged form of the same scope
        by_key[key] = scope
    merged = list(by_key.values())
    return [scope for scope in merged if not any(_covers(other, scope) for other in merged)]


def _covers(wide: Scope, narrow: Scope) -> bool:
    if wide is narrow or wide.files is not None or wide.source.name != narrow.source.name:
        return False
    if narrow.files is not None:
        return not narrow.named
    return wide.contains(f"{narrow.below}/") and wide.below != narrow.below


def _resolve(path: str) -> str:
    resolved = resolve_links(path)
    try:
        resolved.encode("utf-8")
    except UnicodeEncodeError as failure:
        raise build_read_error(
            escape_undecodable(resolved), "the name is not valid UTF-8"
        ) from failure
    return resolved


def choose_changed_scopes(
    job: IngestJob, library: LibraryState, scanner: "FolderScanner"
) -> list[Scope]:
    """Return the folders of registered sources in which something changed.

    A path in no source has none. What became of a path is found by the scan of its folder.
    """
    sources = [source for source in library.list_sources() if source.kind != "stdin"]
    scopes = []
    for path in dict.fromkeys(map(add_working_folder, filter(_can_be_document, job.paths))):
        owners = _find_owners(path, sources) or _find_owners(resolve_folder_links(path), sources)
        for source, found in owners:
            below = _find_scanned_folder(source, found, job, scanner)
            is_part = below and source.kind == "folder"
            scopes.append(
                Scope(source=source, below=below)
                if is_part
                else build_source_scope(source, library)
            )
    return _merge_scopes(scopes)


def _find_scanned_folder(
    source: Source, path: str, job: IngestJob, scanner: "FolderScanner"
) -> str:
    """Return the nearest folder above a path that a scan enters; empty for the root."""
    private = [resolve_links(folder) for folder in job.private]
    folder = path.rpartition("/")[0]
    while folder:
        found = join_root(source.root, folder)
        is_real = os.path.isdir(found) and resolve_links(found) == found  # noqa: PTH112 - a plain string
        own = any(found == one or is_below(found, one) for one in private)
        skip = scanner.find_skip_reason(source.root, job.rules, folder, folder=True)
        if is_real and not own and skip is None:
            break
        folder = folder.rpartition("/")[0]
    return folder


def _can_be_document(path: str) -> bool:
    """Return whether a scan could find this name."""
    return bool(path) and "\0" not in path and escape_undecodable(path) == path


def _find_owners(path: str, sources: list[Source]) -> list[tuple[Source, str]]:
    """Return each source that a path can change, with the path below its root."""
    inside = [one for one in sources if one.root == path or is_below(one.root, path)]
    owners = [(source, "") for source in inside]
    folders = [one for one in sources if one.kind == "folder" and is_below(path, one.root)]
    if folders:
        nearest = max(folders, key=lambda source: len(source.root))
        owners.append((nearest, cut_root(path, nearest.root)))
    folder = os.path.dirname(path)  # noqa: PTH120 - a plain string
    named = [one for one in sources if one.kind == "files" and one.root == folder]
    return owners + [(source, cut_root(path, source.root)) for source in named]
