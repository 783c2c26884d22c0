"""Finds documents by the names that people and other output use for them."""

import difflib
import os
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from kebab.core.documents import DocumentName, StoredDocument

_ELLIPSIS = "…"
_REPLACEMENT = "\ufffd"
_MAX_SUGGESTIONS = 5
_SIMILAR = 0.75
"""The ratio of equal letters from which two names are near; two letters of eight may differ."""


def fold_name(name: str) -> str:
    """Return a name in NFC with a space for each blank or invisible character, as text shows it."""
    composed = unicodedata.normalize("NFC", name)
    if composed.isascii() and composed.isprintable():
        return composed
    return "".join(
        " "
        if character == _REPLACEMENT or unicodedata.category(character)[0] in "CZ"
        else character
        for character in composed
    )


class DocumentNames:
    """The names of all documents, in dictionaries that are built when they are first needed."""

    def __init__(self, names: Iterable[DocumentName]) -> None:
        self._names = list(names)

    def find_exact(self, name: str) -> list[DocumentName]:
        """Return the documents with this path, below their source or else on disk."""
        return next(filter(None, (self._by_path.get(form) for form in _list_forms(name))), [])

    def find_folded(self, name: str) -> list[DocumentName]:
        """Return the documents whose path differs in its Unicode form or in blanks only."""
        folded = map(fold_name, _list_forms(name))
        return next(filter(None, (self._by_folded_path.get(form) for form in folded)), [])

    def find_ending(self, name: str) -> list[DocumentName]:
        """Return the documents whose whole path ends with these parts; `…` stands for any text."""
        if _ELLIPSIS in name:
            return self._find_shortened(name)
        end = fold_name(os.path.normpath(name))
        return [
            found
            for found in self._by_file_name.get(end.rpartition("/")[2], [])
            if fold_name(join_path(found)).endswith(f"/{end}")
        ]

    def _find_shortened(self, name: str) -> list[DocumentName]:
        """Return the documents whose path a terminal shortens to this text."""
        start, _, end = fold_name(name).partition(_ELLIPSIS)
        if not end:
            return []
        return [
            found
            for found in self._names
            if (path := fold_name(found.path)).endswith(end) and path.startswith(start)
        ]

    def list_folder(self, name: str) -> list[DocumentName]:
        """Return the documents below a folder, which is a path below a source or on disk."""
        starts = tuple(f"{fold_name(form).rstrip('/')}/" for form in _list_forms(name))
        return [
            found
            for found in self._names
            if fold_name(found.path).startswith(starts)
            or fold_name(join_path(found)).startswith(starts)
        ]

    def suggest(self, name: str) -> list[DocumentName]:
        """Return the documents with a similar name: the same file elsewhere, then spellings."""
        wanted = _fold_case(name).rpartition("/")[2]
        if not wanted:
            return []
        named = self._by_folded_case
        near = [wanted] if wanted in named else []
        near += [known for known in named if known.partition(".")[0] == wanted and known != wanted]
        near += difflib.get_close_matches(wanted, named, n=_MAX_SUGGESTIONS, cutoff=_SIMILAR)
        found = _collect(named[known] for known in near)
        return sorted(found, key=lambda one: _rate_distance(name, one))[:_MAX_SUGGESTIONS]

    def format(self, found: DocumentName) -> str:
        """Return the shortest path that names only this document."""
        return found.path if len(self._by_path[found.path]) == 1 else join_path(found)

    @cached_property
    def _by_path(self) -> dict[str, list[DocumentName]]:
        return _group((text, name) for name in self._names for text in (name.path, join_path(name)))

    @cached_property
    def _by_folded_path(self) -> dict[str, list[DocumentName]]:
        return _group(
            (fold_name(text), name) for name in self._names for text in (name.path, join_path(name))
        )

    @cached_property
    def _by_file_name(self) -> dict[str, list[DocumentName]]:
        return _group((fold_name(name.path).rpartition("/")[2], name) for name in self._names)

    @cached_property
    def _by_folded_case(self) -> dict[str, list[DocumentName]]:
        return _group((_fold_case(name.path).rpartition("/")[2], name) for name in self._names)


def join_path(name: DocumentName | StoredDocument) -> str:
    """Return the path of a document on disk."""
    return f"{name.root.rstrip('/')}/{name.path}"


def make_absolute(name: str) -> str:
    """Return the real path of a name, relative to the working directory; `~` is the home."""
    if not name or "\0" in name:
        return name
    try:
        return os.path.realpath(os.path.expanduser(name))  # noqa: PTH111 - a name, perhaps no path
    except OSError:  # the working directory was deleted
        return name


def _list_forms(name: str) -> list[str]:
    """Return the spellings of a path: as given, on disk, and without `./`."""
    return list(dict.fromkeys((name, make_absolute(name), os.path.normpath(name)))) if name else []


def _fold_case(name: str) -> str:
    return fold_name(name).casefold()


def _group(pairs: Iterable[tuple[str, DocumentName]]) -> dict[str, list[DocumentName]]:
    groups: defaultdict[str, list[DocumentName]] = defaultdict(list)
    for key, name in pairs:
        groups[key].append(name)
    return dict(groups)


def _collect(groups: Iterable[list[DocumentName]]) -> list[DocumentName]:
    """Return the documents of all groups, each once."""
    return list(dict.fromkeys(name for group in groups for name in group))


def _rate_distance(name: str, found: DocumentName) -> tuple[float, str]:
    """Return how far a path is from a name; smaller is nearer."""
    ratio = difflib.SequenceMatcher(None, _fold_case(name), _fold_case(found.path)).ratio()
    return -ratio, found.path
