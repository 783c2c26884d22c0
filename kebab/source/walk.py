"""Scans a folder for documents, and follows symbolic links safely."""

import errno
import os
import stat as modes
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from kebab.source.ignore import (
    IgnoreRules,
    Layer,
    Skips,
    base_layer,
    enter,
    layer_above,
    refusal,
    refusal_from_root,
)
from kebab.source.media import media_of, suffix_of


class Link(NamedTuple):
    """A symbolic link below the root."""

    path: str
    absolute: str
    layer: Layer | None


class Target(NamedTuple):
    """What a link leads to."""

    real: str
    stat: os.stat_result
    folder: bool


def resolve(link: Link, root: str, rules: IgnoreRules, followed: set[str]) -> Target | str:
    """Return what a link adds to the scan, or the reason for which it is left out."""
    try:
        real = os.path.realpath(link.absolute, strict=True)
        stat = Path(real).stat()
    except OSError:
        return "symlink_broken"
    folder = modes.S_ISDIR(stat.st_mode)
    if real != root and not real.startswith(_with_slash(root)):
        return "symlink_outside"
    if not folder and not modes.S_ISREG(stat.st_mode):
        return "special_file"
    if folder and (real in followed or _with_slash(link.absolute).startswith(_with_slash(real))):
        return "symlink_loop"
    if _found_anyway(real[len(_with_slash(root)) :], root, rules, folder=folder):
        return "duplicate"
    return Target(real, stat, folder)


def _found_anyway(path: str, root: str, rules: IgnoreRules, *, folder: bool) -> bool:
    if not folder and media_of(path.rpartition("/")[2]) is None:
        return False
    return refusal_from_root(root, rules, path, folder=folder) is None


def _with_slash(folder: str) -> str:
    return folder if folder.endswith("/") else f"{folder}/"


_by_name = attrgetter("name")


class FileEntry(NamedTuple):
    """A file that can be a document; `path` is relative to the root, with slashes."""

    path: str
    absolute: str
    size: int
    mtime_ns: int
    inode: int
    media: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRules:
    """What the settings say about scanning; `max_file_bytes` 0 means no limit."""

    ignore: IgnoreRules = field(default_factory=IgnoreRules)
    max_file_bytes: int = 0


@dataclass(slots=True)
class Scan:
    """What a scan found.

    `unreadable` holds the paths that could not be looked at, folders with a slash at their end:
    of what lies there nothing is known, so nothing there may count as deleted. `seen` counts the
    entries that are not hidden, whether they can be documents or not; `largest` is the size of the
    largest file above the limit.
    """

    entries: list[FileEntry] = field(default_factory=list)
    skips: Skips = field(default_factory=Skips)
    unreadable: list[str] = field(default_factory=list)
    seen: int = 0
    largest: int = 0

    def take(
        self, path: str, absolute: str, stat: os.stat_result, media: str, *, limit: int
    ) -> None:
        """Add a document, unless it is above the limit; 0 means none."""
        if limit and stat.st_size > limit:
            self.skips.add("over_limit", path)
            self.largest = max(self.largest, stat.st_size)
            return
        entry = FileEntry(path, absolute, stat.st_size, stat.st_mtime_ns, stat.st_ino, media)
        self.entries.append(entry)

    def pass_over(self, path: str) -> None:
        """Count a file that no parser takes."""
        self.skips.add("unsupported", path)
        self.skips.by_extension[suffix_of(path.rpartition("/")[2])] += 1

    def refuse(self, path: str) -> None:
        """Remember what cannot be looked at."""
        self.skips.add("unreadable", path)
        self.unreadable.append(path)


class _Folder(NamedTuple):
    path: str
    absolute: str
    layer: Layer | None


def scan(
    root: str,
    rules: ScanRules,
    *,
    below: str = "",
    claimed: Mapping[str, str] | None = None,
    tick: Callable[[], None] = lambda: None,
) -> Scan:
    """Return the files of the folder `below` in `root`, sorted by path.

    `claimed` gives, by absolute path, the reason for which a folder or file is left to others.
    `tick` is called once for each folder. Symbolic links are followed inside the root when what
    they lead to would not be found otherwise.

    Raises:
        OSError: The folder itself cannot be listed.
    """
    walk = _Walk(root, rules, claimed or {})
    walk.start(below)
    while walk.step():
        tick()
    walk.found.entries.sort()
    return walk.found


class _Walk:
    """One scan at work."""

    def __init__(self, root: str, rules: ScanRules, claimed: Mapping[str, str]) -> None:
        self.found = Scan()
        self._root = root
        self._rules = rules.ignore
        self._limit = rules.max_file_bytes
        self._claimed = claimed
        self._folders: list[_Folder] = []
        self._links: list[Link] = []
        self._followed: set[str] = set()

    def start(self, below: str) -> None:
        """Read the folder that the scan begins with, under the rules of those above it."""
        if below:
            layer = layer_above(self._root, self._rules, below)
            self._read(_Folder(f"{below}/", str(Path(self._root, below)), layer))
        else:
            self._read(_Folder("", self._root, base_layer(self._rules)))

    def step(self) -> bool:
        """Look into one more folder or link; return False when there is none."""
        if self._folders:
            folder = self._folders.pop()
            try:
                self._read(folder)
            except OSError as failure:
                self._failed(failure, folder.path)
            return True
        if self._links:
            links, self._links = sorted(self._links, key=attrgetter("path")), []
            for link in links:
                self._link(link)
            return True
        return False

    def _read(self, folder: _Folder) -> None:
        with os.scandir(folder.absolute) as listing:
            children = sorted(listing, key=_by_name)
        names = {child.name for child in children}
        layer = enter(folder.layer, folder.path, folder.absolute, names)
        for child in children:
            self._look(child, folder.path + child.name, layer)

    def _look(self, child: os.DirEntry[str], path: str, layer: Layer | None) -> None:
        self.found.seen += child.name[0] != "."
        if not child.name.isascii() and not _decodable(child.name):
            self.found.skips.add("undecodable_name", path)
        elif child.is_symlink():
            self._links.append(Link(path, child.path, layer))
        elif child.is_dir(follow_symlinks=False):
            if not self._left_out(path, child.path, layer, folder=True):
                self._folders.append(_Folder(f"{path}/", child.path, layer))
        elif not self._left_out(path, child.path, layer, folder=False):
            self._file(child, path)

    def _left_out(self, path: str, absolute: str, layer: Layer | None, *, folder: bool) -> bool:
        reason = refusal(layer, self._rules, path, folder=folder)
        if reason is None and self._claimed:
            reason = self._claimed.get(absolute)
        if reason is not None:
            self.found.skips.add(reason, path)
        return reason is not None

    def _file(self, child: os.DirEntry[str], path: str) -> None:
        media = media_of(child.name)
        if not child.is_file(follow_symlinks=False):
            self.found.skips.add("special_file", path)
        elif media is None:
            self.found.pass_over(path)
        else:
            try:
                stat = child.stat(follow_symlinks=False)
            except OSError as failure:
                self._failed(failure, path)
            else:
                self.found.take(path, child.path, stat, media, limit=self._limit)

    def _failed(self, failure: OSError, path: str) -> None:
        """Remember what cannot be looked at; what is no longer there needs no word."""
        if failure.errno not in {errno.ENOENT, errno.ENOTDIR}:
            self.found.refuse(path)

    def _link(self, link: Link) -> None:
        target = resolve(link, self._root, self._rules, self._followed)
        if not isinstance(target, Target):
            self.found.skips.add(target, link.path)
        elif self._left_out(link.path, link.absolute, link.layer, folder=target.folder):
            return
        elif target.folder:
            self._followed.add(target.real)
            self._folders.append(_Folder(f"{link.path}/", link.absolute, link.layer))
        else:
            self._linked_file(link, target)

    def _linked_file(self, link: Link, target: Target) -> None:
        media = media_of(link.path.rpartition("/")[2])
        if media is None:
            self.found.pass_over(link.path)
        elif target.real in self._followed:
            self.found.skips.add("duplicate", link.path)
        else:
            self._followed.add(target.real)
            self.found.take(link.path, link.absolute, target.stat, media, limit=self._limit)


def _decodable(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
