"""Compares what the index knows of sources with the disk, within a time.

New and deleted files show in the times of their folders; a folder with another time is listed again
under the rules of a scan. Files that were edited in place show in their own times only.
"""

import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from kebab.core.chunks import compute_named_hash, hash_file
from kebab.core.documents import Extent, FileCounts
from kebab.core.files import (
    IGNORE_FILES,
    ScanResult,
    ScanRules,
    SeenFiles,
    cut_root,
    find_container,
    is_below,
    join_root,
)
from kebab.core.queries import Filters

if TYPE_CHECKING:
    from kebab.store.sqlite.reader import KnownFiles

_FEWEST = 256
"""How many folders, and how many files, are looked at however long it takes."""
_FEWEST_STEPS = 16
"""How many steps are walked however long it takes: folders, and parts of large ones."""
_BYTES_PER_S = 200_000_000
"""How fast a file is read and hashed, for an estimate."""
_STEP = 64
"""How many of them are looked at between two looks at the clock."""


Tick: TypeAlias = Callable[[], None]


class _TimeUp(Exception):  # noqa: N818 - it ends a walk and is no error
    """The time for looking at the disk is over."""


class _Budget:
    """Counts looks at the disk, and says when no more are allowed; None means no limit."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.started = time.monotonic()
        self.steps = 0

    def allows(self, looks: int) -> bool:
        """Return whether another look is allowed after so many of one kind."""
        if self.seconds is None or looks < _FEWEST:
            return True
        return time.monotonic() - self.started < self.seconds

    def allows_reading(self, size: int) -> bool:
        """Return whether there is time to read and hash a file of so many bytes."""
        if self.seconds is None:
            return True
        return time.monotonic() - self.started + size / _BYTES_PER_S < self.seconds

    def tick(self) -> None:
        """Count a step of a walk, and end the walk when the time is over."""
        self.steps += 1
        if self.steps >= _FEWEST_STEPS and not self.allows(_FEWEST):
            raise _TimeUp


class DiskChanges:
    """What differs on disk from what is known, as absolute paths, and how much was looked at."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        self.new: set[str] = set()
        self.gone: set[str] = set()
        self.touched: set[str] = set()
        """Files with another time and the same content."""
        self.unreadable: set[str] = set()
        self.checked = 0
        self.unchecked_folders = 0


class DiskSurvey:
    """Compares what a snapshot knows of some extents with the disk."""

    def __init__(
        self,
        known: "KnownFiles",
        filters: Filters,
        rules: ScanRules,
        scan_again: "Callable[[DiskSurvey, Extent, SeenFiles, Tick], ScanResult]",
    ) -> None:
        """Select the extents that filters name.

        `scan_again` scans the changed folders of an extent, and calls its tick at every step.
        """
        self.known = known
        self.sources = known.list_extents()
        self._scan_again = scan_again
        self.extents: list[Extent] = []
        for extent in _select_extents(known, self.sources, filters):
            # A new folder shows in the time of the nearest known one.
            while extent.below and not known.holds(extent):
                above = extent.below.rpartition("/")[0]
                extent = extent._replace(below=above)  # noqa: PLW2901 - the same, wider
            self.extents.append(extent)
        counts = map(self.known.count_files, self.extents)
        self.counts = FileCounts(*map(sum, zip(FileCounts(), *counts, strict=True)))
        digest = rules.compute_digest()
        self.unlisted = [
            extent.source.root
            for extent in self.extents
            if extent.source.kind == "folder" and extent.rules != digest and not filters.doc_id
        ]
        if filters.folder is not None and not self.extents and self.sources:
            self.unlisted = [filters.folder]

    def is_unread(self, file: str) -> bool:
        """Return whether a file, an absolute path, is known and not read."""
        for extent in self.extents:
            if is_below(file, root := extent.source.root):
                counts = self.known.count_files(extent._replace(below=cut_root(file, root)))
                if counts.unread or counts.failed:
                    return True
        return False

    def compare(self, seconds: float | None, *, contents: bool = False) -> DiskChanges:
        """Compare folders, then files, within a time; with `contents` that of every file."""
        changes, budget = DiskChanges(), _Budget(seconds)
        for extent in self.extents:
            if extent.source.kind == "folder":
                self._compare_folders(extent, changes, budget)
        for extent in self.extents:
            if contents:
                self._compare_contents(extent, changes)
            else:
                self._compare_files(extent, changes, budget)
        return changes

    def _compare_contents(self, extent: Extent, changes: DiskChanges) -> None:
        """Compare the hash of every file; a member of a container is compared with it.

        Of a file that is found by its name only, size and time are all that is known.
        """
        for path, _, _ in self.known.iterate_documents(extent):
            absolute = join_root(extent.source.root, path)
            file = find_container(absolute)
            try:
                status = os.stat(file)  # noqa: PTH116 - a plain string
                if not stat.S_ISREG(status.st_mode):
                    changes.unreadable.add(file)
                elif file == absolute:
                    known = self.known.find_content_hash(extent, path)
                    with open(file, "rb") as opened:  # noqa: PTH123 - a plain string
                        hashes = (
                            compute_named_hash(status.st_size, status.st_mtime_ns),
                            hash_file(opened),
                        )
                    if known not in hashes:
                        changes.changed.add(file)
            except (FileNotFoundError, NotADirectoryError):
                changes.gone.add(file)
            except OSError:
                changes.unreadable.add(file)
            changes.checked += 1

    def _compare_folders(self, extent: Extent, changes: DiskChanges, budget: _Budget) -> None:
        listed = self.known.list_folders(extent)
        root, differing = extent.source.root, []
        for looks, (path, listed_ns) in enumerate(listed.items()):
            if looks % _STEP == 0 and not budget.allows(looks):
                changes.unchecked_folders += len(listed) - looks
                break
            if _read_time(join_root(root, path)) != listed_ns:
                differing.append(path)
                # Rules that came since may have been applied to a part of the folders.
                new = {f"{path}/{name}".lstrip("/") for name in IGNORE_FILES} - listed.keys()
                differing += [one for one in new if _read_time(join_root(root, one)) is not None]
        if self._has_changed_rules_above(extent):
            folders = [path for path in listed if path.rpartition("/")[2] not in IGNORE_FILES]
        else:
            found: dict[str, None] = {}
            for path in differing:
                folder, _, name = path.rpartition("/")
                if name in IGNORE_FILES:  # all folders below it are listed again
                    below = (one for one in listed if f"{one}/".startswith(f"{folder}/"))
                    found.update(dict.fromkeys(below if folder else listed))
                else:
                    found[path] = None
            folders = [path for path in found if path.rpartition("/")[2] not in IGNORE_FILES]
        if not folders:
            return
        try:
            self._list_again(extent, folders, listed, changes, budget)
        except _TimeUp:
            changes.unchecked_folders += len(folders)

    def _has_changed_rules_above(self, extent: Extent) -> bool:
        """Return whether an ignore file in a folder above the extent has another time."""
        above = extent.below
        while above:
            above = above.rpartition("/")[0]
            for name in IGNORE_FILES:
                path = f"{above}/{name}".lstrip("/")
                listed = self.known.list_folders(extent._replace(below=path))
                if listed.get(path) != _read_time(join_root(extent.source.root, path)):
                    return True
        return False

    def _list_again(
        self,
        extent: Extent,
        folders: Sequence[str],
        listed: Collection[str],
        changes: DiskChanges,
        budget: _Budget,
    ) -> None:
        """Add the new files of changed folders, and the documents that are gone from them."""
        root, documents, unread = extent.source.root, set[str](), set[str]()
        for looks, folder in enumerate(folders):
            if looks % _STEP == 0 and not budget.allows(looks):
                raise _TimeUp
            documents |= self.known.list_in("documents", extent, folder)
            unread |= self.known.list_in("unread_files", extent, folder)
        for looks, path in enumerate(documents - unread):
            if looks % _STEP == 0 and not budget.allows(looks):
                raise _TimeUp
            absolute = join_root(root, path)
            if not os.path.lexists(find_container(absolute)):
                changes.gone.add(absolute)
        seen = SeenFiles(changed=folders, folders=listed, files=documents | unread)
        found = self._scan_again(self, extent, seen, budget.tick)
        known: set[str] = set()
        for folder in found.folders.keys() - set(folders):
            known |= self.known.list_in("documents", extent, folder)
            known |= self.known.list_in("unread_files", extent, folder)
        changes.new |= {join_root(root, one.path) for one in found.entries if one.path not in known}

    def _compare_files(self, extent: Extent, changes: DiskChanges, budget: _Budget) -> None:
        start = f"{extent.source.root.rstrip('/')}/"
        documents = self.known.iterate_documents(extent)
        for looks, (path, size, mtime_ns) in enumerate(documents):
            if looks % _STEP == 0 and not budget.allows(looks):
                return
            absolute = find_container(start + path)
            is_member = absolute != start + path
            try:
                status = os.stat(absolute)  # noqa: PTH116 - called for every file
            except (FileNotFoundError, NotADirectoryError):
                changes.gone.add(absolute)
            except OSError:
                continue
            else:
                if status.st_size != size and not is_member:
                    changes.changed.add(absolute)
                elif status.st_mtime_ns != mtime_ns:
                    if is_member:  # the container is compared by itself
                        continue
                    if not budget.allows_reading(size):
                        continue
                    is_same = False
                    with suppress(OSError), open(absolute, "rb") as file:  # noqa: PTH123 - a plain string
                        known = self.known.find_content_hash(extent, path)
                        is_same = hash_file(file) == known
                    (changes.touched if is_same else changes.changed).add(absolute)
            changes.checked += 1


def _select_extents(known: "KnownFiles", sources: list[Extent], filters: Filters) -> list[Extent]:
    """Return the sources, or the folder or the document in one, that filters name."""
    if filters.doc_id is not None:
        number, path = known.find_document_place(filters.doc_id) or (None, "")
        return [one._replace(below=path) for one in sources if one.number == number]
    if filters.source:
        sources = [one for one in sources if one.source.name in filters.source]
    if filters.folder is not None:
        sources = _narrow(sources, filters.folder)
    literal = re.split(r"[*?\[]", filters.path_glob or "", maxsplit=1)[0].rpartition("/")[0]
    if literal.startswith("/"):
        return _narrow(sources, literal)
    return [two for one in sources for two in _narrow([one], join_root(one.source.root, literal))]


def _narrow(extents: Iterable[Extent], folder: str) -> list[Extent]:
    """Return what these extents have in a folder."""
    narrowed = []
    for one in extents:
        location = join_root(one.source.root, one.below).rstrip("/") or "/"
        if location == folder or is_below(location, folder):
            narrowed.append(one)
        elif is_below(folder, location):
            narrowed.append(one._replace(below=cut_root(folder, one.source.root)))
    return narrowed


def _read_time(path: str) -> int | None:
    """Return the time of a folder or an ignore file; None when it cannot be read."""
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116 - called for every folder
    except OSError:
        return None
