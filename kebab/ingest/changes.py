"""Chooses the scopes of a run over what changed, as a watcher of files reports it.

A changed path may be a file, a folder, or gone. It is compared with what the library knows at the
path and below it. A change of an ignore file or of a symbolic link can affect other paths, so that
its folder or its whole source is scanned.
"""

import os
import stat as modes
from collections.abc import Iterator
from pathlib import Path

from kebab.core.documents import Source
from kebab.core.file_ports import FileScanner
from kebab.core.files import IGNORE_FILES, cut_root, is_below
from kebab.ingest.job import IngestJob
from kebab.ingest.scopes import (
    LibraryState,
    Scope,
    build_source_scope,
)
from kebab.text.normalize import escape_undecodable


def choose_changed_scopes(
    job: IngestJob, library: LibraryState, scanner: FileScanner
) -> list[Scope]:
    """Return the parts of registered sources that changed; a path in no source has none."""
    sources = [source for source in library.list_sources() if source.kind != "stdin"]
    changed = {source.name: _ChangedSource(source, job, library, scanner) for source in sources}
    for path in dict.fromkeys(map(os.path.abspath, filter(_can_be_document, job.paths))):
        owners = _find_owners(path, sources) or _find_owners(resolve_folder_of(path), sources)
        for source, found in owners:
            changed[source.name].add(found)
    return [scope for one in changed.values() for scope in one.build_scopes()]


def _can_be_document(path: str) -> bool:
    """Return whether a scan could find this name."""
    return bool(path) and "\0" not in path and escape_undecodable(path) == path


def resolve_folder_of(path: str) -> str:
    """Return an absolute path whose folder has no links; a link itself keeps its name."""
    folder, _, name = os.path.abspath(path).rpartition("/")  # noqa: PTH100 - keeps a link
    return os.path.join(os.path.realpath(folder or "/"), name)  # noqa: PTH118 - a plain string


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


class _ChangedSource:
    """Collects what changed in one source."""

    def __init__(
        self, source: Source, job: IngestJob, library: LibraryState, scanner: FileScanner
    ) -> None:
        self._source = source
        self._job = job
        self._library = library
        self._scanner = scanner
        self._files: dict[str, None] = {}
        self._folders: set[str] = set()
        self._is_whole = False

    def add(self, path: str) -> None:
        """Add a path below the root; an empty one is the root."""
        if not path:
            self._is_whole = True
        elif self._source.kind == "files":
            if path in self._library.list_children(self._source.name, ""):
                self._files[path] = None
        elif path.rpartition("/")[2] in IGNORE_FILES:
            self._add_folder(path.rpartition("/")[0])
        else:
            self._add_entry(path)

    def build_scopes(self) -> Iterator[Scope]:
        """Yield the scopes, of which none covers another."""
        if self._is_whole:
            yield build_source_scope(self._source, self._library)
            return
        folders = [path for path in sorted(self._folders) if not self._is_covered(path)]
        yield from (Scope(source=self._source, below=path) for path in folders)
        files = tuple(path for path in self._files if not self._is_covered(path))
        if files:
            yield Scope(source=self._source, files=files, changed=True)

    def _is_covered(self, path: str) -> bool:
        return any(is_below(path, folder) for folder in self._folders)

    def _add_entry(self, path: str) -> None:
        try:
            mode = Path(self._source.root, path).lstat().st_mode
        except (OSError, ValueError):
            mode = 0
        folder = self._source.root + f"/{path}".rpartition("/")[0]
        if modes.S_ISLNK(mode) or os.path.realpath(folder) != folder:
            self._is_whole = True
        elif not modes.S_ISDIR(mode):
            self._files[path] = None
        elif self._is_skipped(path):
            self._add_known_files(path)
        else:
            self._add_folder(path)

    def _add_folder(self, path: str) -> None:
        self._is_whole = self._is_whole or not path
        self._folders.add(path)

    def _add_known_files(self, path: str) -> None:
        known = self._library.load_known_documents(self._source.name, [path])
        self._files.update(dict.fromkeys(known))

    def _is_skipped(self, path: str) -> bool:
        root, rules = self._source.root, self._job.rules
        return self._scanner.find_skip_reason(root, rules, path, folder=True) is not None
