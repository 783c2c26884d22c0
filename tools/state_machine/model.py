"""Contains the plain model: files in memory, and the documents that an index must have of them.

It follows what the documentation promises, in the simplest way, and shares no code with kebab.
Paths are relative to a folder of notes; a source is one of its folders.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

IGNORE_FILE = ".kebabignore"
_BINARY = ".bin"


class Files:
    """The files of a folder, in memory and on disk.

    Args:
        root: The folder, which is empty.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.texts: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self._stamps: dict[str, int] = {}
        self._writes = 0

    @property
    def paths(self) -> list[str]:
        """The paths of all files and links."""
        return sorted({*self.texts, *self.links})

    def write(self, path: str, text: str) -> None:
        """Write a file in place, or create it; a link of this name is replaced."""
        self.links.pop(path, None)
        if (self.root / path).is_symlink():
            (self.root / path).unlink()
        self.texts[path] = text
        self._writes += 1
        self._stamps[path] = self._writes
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        head = b"\0\1" if path.endswith(_BINARY) else b""
        (self.root / path).write_bytes(head + text.encode())

    def link(self, path: str, target: str) -> None:
        """Create a symbolic link to a file, which may not exist."""
        self.delete(path)
        self.links[path] = target
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).symlink_to(self.root / target)

    def delete(self, path: str) -> None:
        """Delete a file or a link."""
        if path in self.texts or path in self.links:
            (self.root / path).unlink()
        self.texts.pop(path, None)
        self.links.pop(path, None)

    def move(self, path: str, target: str) -> None:
        """Rename a file; one of the new name is replaced."""
        self.delete(target)
        (self.root / target).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).rename(self.root / target)
        for names in (self.texts, self.links, self._stamps):
            _rename(names, path, target)

    def swap(self, path: str, other: str) -> None:
        """Exchange the names of two files."""
        aside = f"{path}.aside"
        for old, new in ((path, aside), (other, path), (aside, other)):
            self.move(old, new)

    def move_folder(self, folder: str, target: str) -> None:
        """Rename a folder whose new name is free."""
        (self.root / target).parent.mkdir(parents=True, exist_ok=True)
        (self.root / folder).rename(self.root / target)
        for names in (self.texts, self.links, self._stamps):
            for path in [one for one in names if is_below(one, folder)]:
                _rename(names, path, target + path.removeprefix(folder))

    def has_folder(self, folder: str) -> bool:
        """Return whether a folder exists, which may be empty."""
        return (self.root / folder).is_dir()

    def read(self, path: str) -> str | None:
        """Return the text of a file, or of the target of a link; None when there is none."""
        return self.texts.get(self.resolve(path))

    def resolve(self, path: str) -> str:
        """Return the file that a link leads to, over other links; a path that is none otherwise."""
        return self.list_steps(path)[-1]

    def list_steps(self, path: str) -> list[str]:
        """Return a path, the links that it leads over, and where they end."""
        steps = [path]
        while steps[-1] in self.links:
            steps.append(self.links[steps[-1]])
        return steps

    def read_stamp(self, path: str) -> int:
        """Return what changes with each write of a file, also of the same text."""
        return self._stamps[self.resolve(path)]


def _rename(names: dict[str, Any], path: str, target: str) -> None:
    if path in names:
        names[target] = names.pop(path)


def is_below(path: str, folder: str) -> bool:
    """Return whether a path lies in a folder."""
    return path.startswith(f"{folder}/")


def is_ignored(path: str, source: str, files: Files, *, folder: bool = False) -> bool:
    """Return whether hidden names or the ignore file of a source leave a path out.

    A pattern names files or, with a slash at its end, folders, at any depth; `*.x` names a suffix.
    """
    parts = path.removeprefix(f"{source}/").split("/")
    folders, name = (parts, "") if folder else (parts[:-1], parts[-1])
    if any(part.startswith(".") for part in parts):
        return True
    for pattern in (files.texts.get(f"{source}/{IGNORE_FILE}") or "").split():
        if pattern.endswith("/"):
            found = pattern[:-1] in folders
        elif pattern.startswith("*"):
            found = any(part.endswith(pattern[1:]) for part in (*folders, name))
        else:
            found = pattern in (*folders, name)
        if found:
            return True
    return False


@dataclass(slots=True)
class Document:
    """A document of the index: the text and the stamp of its last ingest, and its id.

    `chunk_tokens` is the limit of its passages.
    """

    text: str
    chunk_tokens: int
    stamp: int
    doc_id: str = ""


class Key(NamedTuple):
    """The source of a document, and its path, which begins with that of the source."""

    source: str
    path: str


class Scope(NamedTuple):
    """A part of a source: all below `below`, or the paths `named`, to which no rule applies.

    `changed` are paths that changed: files, or folders that are gone.
    """

    source: str
    below: str
    named: tuple[str, ...] = ()
    changed: tuple[str, ...] | None = None

    def contains(self, path: str) -> bool:
        """Return whether a path lies in the scope."""
        if self.named:
            return path in self.named
        if self.changed is not None:
            return any(path == one or is_below(path, one) for one in self.changed)
        return is_below(path, self.below)


@dataclass(slots=True)
class Changes:
    """What an ingest must report, and the documents whose id it must choose."""

    new: list[Key] = field(default_factory=list)
    updated: list[Key] = field(default_factory=list)
    moved: dict[Key, set[str]] = field(default_factory=dict)
    """The ids that a new path may have: those of missing documents with the same text."""
    moves: int = 0
    removed: list[Key] = field(default_factory=list)
    unchanged: int = 0
    touched: int = 0
    """The unchanged documents whose file was written, which have another date then."""

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of the report."""
        return {
            "new": len(self.new) + len(self.moved) - self.moves,
            "updated": len(self.updated),
            "moved": self.moves,
            "removed": len(self.removed) - self.moves,
            "unchanged": self.unchanged,
        }

    @property
    def is_empty(self) -> bool:
        """Whether the documents stay as they are."""
        return not (self.new or self.updated or self.moved or self.removed or self.touched)


class Index:
    """The documents that the index must have.

    Args:
        files: The files.
        chunk_tokens: The longest passage.
    """

    def __init__(self, files: Files, chunk_tokens: int = 0) -> None:
        self._files = files
        self.exists = False
        self.chunk_tokens = chunk_tokens
        self.sources: set[str] = set()
        self.documents: dict[Key, Document] = {}
        self.exempt: defaultdict[str, set[str]] = defaultdict(set)
        """Files that were named although rules leave them out, by source."""

    def find_source(self, path: str) -> str | None:
        """Return the nearest source of a path, which may be the path itself."""
        above = [one for one in self.sources if path == one or is_below(path, one)]
        return max(above, key=len, default=None)

    def choose_scope(self, folder: str) -> Scope:
        """Return the scope of a folder that the user names; a new source is not added."""
        source = self.find_source(folder)
        if source is None or source == folder:
            return Scope(folder, folder)
        is_part = not is_ignored(folder, source, self._files, folder=True)
        return Scope(source, folder) if is_part else Scope(folder, folder)

    def choose_changed(self, paths: Iterable[str]) -> list[Scope]:
        """Return the scopes of paths that changed."""
        scopes: dict[str, set[str]] = defaultdict(set)
        whole: set[str] = set()
        for path in paths:
            whole |= {one for one in self.sources if one == path or is_below(one, path)}
            source = self.find_source(path)
            if source is None:
                continue
            is_rule = path == f"{source}/{IGNORE_FILE}"
            if is_rule or path in self._files.links or path == source:
                whole.add(source)
            else:
                scopes[source].add(path)
        chosen = [Scope(one, one) for one in whole]
        return chosen + [
            Scope(source, source, changed=tuple(sorted(found)))
            for source, found in scopes.items()
            if source not in whole
        ]

    def list_found(self, scope: Scope) -> dict[str, str]:
        """Return the texts of the files that a scan of a scope finds."""
        found: dict[str, str] = {}
        followed: set[str] = set()
        for path in sorted(self._files.paths, key=lambda one: (one in self._files.links, one)):
            text = self._files.read(path)
            if text is None or path.endswith(_BINARY) or not scope.contains(path):
                continue
            exempt = path in scope.named or path in self.exempt[scope.source]
            target = self._files.resolve(path) if path in self._files.links else None
            is_link_found = target is None or self._is_followed(target, scope.source, followed)
            if exempt or (is_link_found and self._is_found(path, scope.source)):
                found[path] = text
                followed |= {target} if target and not exempt else set()
        return found

    def _is_followed(self, target: str, source: str, followed: Collection[str]) -> bool:
        """Return whether a link adds its target, which the scan does not find otherwise."""
        is_inside = is_below(target, source)
        return is_inside and target not in followed and is_ignored(target, source, self._files)

    def _is_found(self, path: str, source: str) -> bool:
        """Return whether a source has a path: no rule and no source below leaves it out."""
        inner = [one for one in self.sources if is_below(one, source) and is_below(path, one)]
        return not inner and not is_ignored(path, source, self._files)

    def apply(self, scopes: Iterable[Scope], *, force: bool = False) -> Changes:
        """Apply an ingest; ids of new and moved documents are chosen by `adopt_ids`."""
        changes = Changes()
        missing: dict[Key, Document] = {}
        scopes = list(scopes)
        self.sources |= {scope.source for scope in scopes}
        self.exists = True
        for scope in scopes:
            self.exempt[scope.source] |= {
                path for path in scope.named if is_ignored(path, scope.source, self._files)
            }
            found = self.list_found(scope)
            known = {
                key: document
                for key, document in self.documents.items()
                if key.source == scope.source and scope.contains(key.path)
            }
            missing |= {key: one for key, one in known.items() if key.path not in found}
            for path, text in found.items():
                self._compare(Key(scope.source, path), text, changes, force=force)
            if scope == Scope(scope.source, scope.source):
                self.exempt[scope.source] &= found.keys()
        self._match_moved(missing, changes)
        return changes

    def _compare(self, key: Key, text: str, changes: Changes, *, force: bool) -> None:
        old = self.documents.get(key)
        stamp = self._files.read_stamp(key.path)
        now = Document(text, self.chunk_tokens, stamp, old.doc_id if old else "")
        if old and (old.text, old.chunk_tokens) == (text, self.chunk_tokens) and not force:
            changes.unchanged += 1
            changes.touched += old.stamp != stamp
        elif old is not None:
            changes.updated.append(key)
        else:
            changes.new.append(key)
        self.documents[key] = now

    def _match_moved(self, missing: Mapping[Key, Document], changes: Changes) -> None:
        """Find which new documents may be missing ones under another name."""
        changes.removed = sorted(missing)
        ids: defaultdict[str, set[str]] = defaultdict(set)
        for key, document in missing.items():
            ids[document.text].add(document.doc_id)
            del self.documents[key]
        fresh = [key for key in changes.new if self.documents[key].text in ids]
        changes.new = [key for key in changes.new if key not in fresh]
        changes.moved = {key: ids[self.documents[key].text] for key in fresh}
        for text, found in ids.items():
            count = sum(self.documents[key].text == text for key in fresh)
            changes.moves += min(len(found), count)

    def find_gaps(self) -> tuple[set[Key], set[Key], set[Key]]:
        """Return the documents of new files, of changed files, and without a file."""
        found = {
            Key(source, path): text
            for source in self.sources
            for path, text in self.list_found(Scope(source, source)).items()
        }
        new = found.keys() - self.documents.keys()
        texts = {key: self._files.read(key.path) for key in self.documents}
        changed = {
            key for key, text in texts.items() if text not in (None, self.documents[key].text)
        }
        return set(new), changed, {key for key, text in texts.items() if text is None}
