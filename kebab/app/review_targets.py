"""Finds the files that the names of a review mean: documents, files, folders and patterns."""

import difflib
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.app.references import ReferenceFinder, build_lookup_fault
from kebab.app.review_library import ReviewLibrary, build_path
from kebab.app.review_text import read_reviewed_file
from kebab.core.documents import DocumentName
from kebab.core.files import ScanRules
from kebab.core.media import detect_media_type, is_prose
from kebab.errors.catalog import NOT_UTF8
from kebab.errors.system import build_read_error, translate_os_errors
from kebab.text.globs import matches_glob
from kebab.text.normalize import escape_undecodable
from kebab.wire.library import NotFound

if TYPE_CHECKING:
    from kebab.core.files import FileEntry

_ANY_DEPTH = "**"
_MAX_SUGGESTIONS = 5


def find_targets(
    context: AppContext, library: ReviewLibrary, names: Sequence[str]
) -> list[str] | NotFound:
    """Return the absolute paths of the files in order, each once, or which name means none.

    A path on disk wins over a document of the index. Files of other formats are left out of
    folders and patterns.

    Raises:
        UnsupportedMedia: A file is named that is no prose.
        IoError: A name is no path, or its file cannot be read.
    """
    finder = _TargetFinder(context, library)
    files: dict[str, None] = {}
    for name in names:
        found = finder.find(name)
        if isinstance(found, NotFound):
            return found
        files |= dict.fromkeys(found)
    return list(files)


class _TargetFinder:
    """Finds the files of names, one after another."""

    def __init__(self, context: AppContext, library: ReviewLibrary) -> None:
        self._library = library
        self._settings = context.settings.ingest

    def find(self, name: str) -> list[str] | NotFound:
        """Return the files of a name."""
        if "\0" in name:
            raise build_read_error(repr(name), "not a path")
        if escape_undecodable(name) != name:
            raise build_read_error(escape_undecodable(name), NOT_UTF8)
        path = _resolve(name)
        if os.path.isdir(path):  # noqa: PTH112 - a plain string
            return [entry.absolute for entry in self._scan(os.path.realpath(path))]
        if os.path.lexists(path):  # a broken link is an error, too
            self._check_file(path)
            return [path]
        if glob.has_magic(name):
            return list(self._match(name)) or self._find_indexed(name)
        return self._find_indexed(name)

    @property
    def _max_bytes(self) -> int:
        return self._settings.max_file_bytes

    def _scan(self, folder: str) -> "Iterator[FileEntry]":
        """Yield the files of a folder that are prose, by the ignore rules of its source."""
        from kebab.source.walk import FolderScanner

        root = self._library.find_root(folder) or folder
        rules = ScanRules(
            exclude=tuple(self._settings.exclude),
            hidden=self._settings.hidden,
            max_file_bytes=self._max_bytes,
        )
        below = "" if folder == root else os.path.relpath(folder, root)
        with translate_os_errors(folder, "read"):
            found = FolderScanner().scan(root, rules, below=below)
        return (entry for entry in found.entries if is_prose(entry.media))

    def _match(self, pattern: str) -> Iterator[str]:
        """Yield the files that match a pattern; with `**` the ignore rules apply."""
        fixed, rest = _cut_pattern(pattern)
        folder = os.path.realpath(_resolve(fixed))
        if not os.path.isdir(folder):  # noqa: PTH112 - a plain string
            return
        whole = f"{glob.escape(folder.rstrip('/'))}/{rest}"
        if _ANY_DEPTH in rest:
            for entry in self._scan(folder):
                if matches_glob(whole, entry.absolute):
                    yield entry.absolute
            return
        for path in sorted(glob.glob(whole)):  # noqa: PTH207 - plain strings
            if os.path.isfile(path) and self._is_prose_file(path):  # noqa: PTH113 - a plain string
                yield path

    def _is_prose_file(self, path: str) -> bool:
        from kebab.source.detect import detect_file_media

        with translate_os_errors(path, "read"):
            return is_prose(detect_file_media(path, os.path.getsize(path)))  # noqa: PTH202 - a plain string

    def _find_indexed(self, name: str) -> list[str] | NotFound:
        """Return the file of a document of the index, or those that a pattern matches."""
        with self._library.open() as catalogue:
            if catalogue is None:
                return _build_missing(name)
            names = catalogue.list_names()
            if matching := _match_names(name, names):
                return matching
            finder = ReferenceFinder(catalogue, chunks=False)
            target = finder.find(name)
        if isinstance(target, NotFound):
            return target
        path = next(build_path(one) for one in names if one.doc_id == target.doc_id)
        self._check_file(path)
        return [path]

    def _check_file(self, path: str) -> None:
        """Raise what is wrong with a file that was named."""
        stored = self._library.find_document(path)
        read_reviewed_file(Path(path), self._max_bytes, stored.media if stored else None)


def _match_names(pattern: str, names: Sequence[DocumentName]) -> list[str]:
    """Return the prose files of the documents whose path matches a pattern."""
    if not glob.has_magic(pattern):
        return []
    found = [build_path(one) for one in names if matches_glob(pattern, one.path)]
    return [path for path in found if is_prose(detect_media_type(path))]


def _resolve(name: str) -> str:
    """Return the absolute path of a name, its folder without links."""
    whole = os.path.abspath(os.path.expanduser(name))  # noqa: PTH100, PTH111 - no link is resolved
    folder, last = os.path.split(whole)
    return os.path.join(os.path.realpath(folder), last)  # noqa: PTH118 - a plain string


def _cut_pattern(pattern: str) -> tuple[str, str]:
    """Return the folder before the first part with a wildcard, and the rest."""
    parts = pattern.split("/")
    first = next(index for index, part in enumerate(parts) if glob.has_magic(part))
    folder = "/".join(parts[:first])
    return folder or ("/" if pattern.startswith("/") else "."), "/".join(parts[first:])


def _build_missing(name: str) -> NotFound:
    """Return that there is neither a file nor a document, with files of nearly the same name."""
    path = Path(_resolve(name))
    try:
        beside = sorted(one.name for one in path.parent.iterdir())
    except OSError:
        beside = []
    near = difflib.get_close_matches(path.name, beside, n=_MAX_SUGGESTIONS)
    folder = os.path.dirname(name)  # noqa: PTH120 - as it was given
    candidates = [os.path.join(folder, one) for one in near]  # noqa: PTH118 - as it was given
    return build_lookup_fault(name, f"no such file: {name}", candidates)
